//! Flags, imports and repeated requests of a run.

use std::collections::BTreeMap;

use bilinc::{Commit, Flag, Json, Unflag, limits};

use super::run::{Run, committed, key_of, placed};
use super::step::{KEYS, SHORT};
use crate::model::{Mem, Standing, Verdict, What};
use crate::support::*;

impl Run {
    pub(super) fn flag(&mut self, key: usize) {
        let verdict = self.model.judge_other(KEYS[key], None, self.now());
        match (verdict, self.memory().flag(Flag { evidence_keys: vec![key_of(0)], ..flag(KEYS[key]) })) {
            (Verdict::Write, Ok(written)) => {
                assert_eq!(written.answer.version, None);
                self.model.entries.get_mut(KEYS[key]).unwrap().flags.push(None);
                self.model.keep(written.answer.seq, written.answer.at, None);
            }
            (Verdict::Refuse(code), Err(error)) => assert_eq!(error.code(), code),
            (verdict, done) => panic!("expected {verdict:?}, got {done:?}"),
        }
    }

    pub(super) fn unflag(&mut self, key: usize) {
        let flags = self.model.live(KEYS[key], self.now()).map(|mem| mem.flags.len());
        let unflag = Unflag { key: key_of(key), reason: None, expected_version: None };
        match (flags, self.memory().unflag(unflag)) {
            (Some(1..), Ok(written)) => {
                self.model.entries.get_mut(KEYS[key]).unwrap().flags.clear();
                self.model.keep(written.answer.seq, written.answer.at, None);
            }
            (Some(0), Err(error)) => assert_eq!(error.code(), "invalid_request"),
            (None, Err(error)) => assert_eq!(error.code(), "memory_not_found"),
            (flags, done) => panic!("with {flags:?} flags: {done:?}"),
        }
    }

    pub(super) fn repeat(&mut self, pick: usize, other_payload: bool) {
        if self.named.is_empty() {
            return;
        }
        let named = &self.named[pick % self.named.len()];
        if self.now() > named.answer.at.plus(limits::IDEMPOTENCY_MICROS) {
            return;
        }
        let memory = self.handles[named.writer].with_idempotency_key(&named.name);
        let mut commit = named.commit.clone();
        if other_payload {
            commit.value = Json::string("another");
            assert_eq!(memory.commit(commit).unwrap_err().code(), "idempotency_conflict");
        } else {
            let again = memory.commit(commit).unwrap();
            assert!(again.replayed);
            assert_eq!(again.answer, named.answer);
        }
        self.nothing_written();
    }

    pub(super) fn import(&mut self, keys: &[usize], if_absent: bool) {
        let now = self.now();
        let mut lines = String::from("{\"key\":\"bilinc:dream:x\",\"value\":1}\n");
        let mut entries: Vec<(usize, String)> = Vec::new();
        for key in keys {
            let value = self.value().as_str().to_owned();
            let ttl = if *key == SHORT { ",\"ttl\":1000.0" } else { "" };
            lines += &format!("{{\"key\":\"{}\",\"value\":{value},\"source\":\"file\"{ttl}}}\n", KEYS[*key]);
            entries.push((*key, value));
        }
        let options = bilinc::ImportOptions { if_absent };
        let summary = self.memory().import(lines.as_bytes(), options, &mut |_, _| {}).unwrap().answer;
        assert_eq!((summary.lines, summary.skipped_reserved), (keys.len() as u64 + 1, 1));
        let through = self.head();
        let (mut created, mut replaced, mut skipped) = (0, 0, 0);
        for (key, value) in entries {
            let name = KEYS[key];
            let before = self.model.live(name, now).cloned();
            match &before {
                Some(_) if if_absent => {
                    skipped += 1;
                    continue;
                }
                Some(_) => replaced += 1,
                None => created += 1,
            }
            let mut commit = Commit::new(key_of(key), Json::from_recorded(&value));
            (commit.source, commit.ttl) = (Some("file".into()), (key == SHORT).then_some(1_000.0));
            let facts = self.facts_of(&commit).replace(r#"Some("night")"#, "None");
            let version = self.version_at(name);
            let standing = Standing { seq: None, through, dream: None, what: What::Other, before };
            // Only the last line of a key gives the version that is seen.
            self.model.change(name, standing, |mem| {
                Some(Mem { version, ..placed(committed(&commit, facts, mem, now), through) })
            });
        }
        assert_eq!((summary.created, summary.replaced, summary.skipped_existing), (created, replaced, skipped));
        let seen: BTreeMap<_, _> = keys.iter().map(|key| (KEYS[*key], self.version_at(KEYS[*key]))).collect();
        if created + replaced > 0 {
            self.model.keep(through, now, None);
            self.model.versions.extend(seen.into_values());
        } else {
            self.nothing_written();
        }
    }
}
