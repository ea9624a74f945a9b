//! What was purged is in no file of the store any more, in no read, and comes back by no command.

use std::sync::Arc;

use bilinc::log::{Log, LogError, LogOptions};
use bilinc::storage::{FileStorage, MemoryStorage, OpenMode, Storage};
use bilinc::{
    At, ChangeOp, Commit, DiffQuery, EngineError, Error, Forget, ImportOptions, LogQuery, Memory, PurgeSummary,
    RecallQuery, Rejection, Revise, Selection, Seq, Snapshot, Undo, UndoConflictReason,
};

use crate::support::*;

pub(crate) const SECRET: &str = "Quixotic-zebra#4711 lives in Villach";
pub(crate) const LATER: &str = "Quixotic-zebra#4711 moved to Bregenz";
pub(crate) const META: &str = r#"{"passport":"PX-99887766-K"}"#;

pub(crate) fn purge(name: &str) -> Forget {
    Forget { purge: true, reason: "asked to be erased".into(), ..forget(name) }
}

pub(crate) fn secret(name: &str) -> Commit {
    Commit { metadata: Some(json(META)), ..commit(name, SECRET) }
}

/// Every file of a store with its bytes.
pub(crate) fn files(storage: &dyn Storage) -> Vec<(String, Vec<u8>)> {
    let (mut found, mut left) = (Vec::new(), vec![String::new()]);
    while let Some(dir) = left.pop() {
        for entry in storage.list(&dir).unwrap() {
            let path = if dir.is_empty() { entry.name.clone() } else { format!("{dir}/{}", entry.name) };
            if entry.is_dir {
                left.push(path);
                continue;
            }
            let file = storage.open(&path, OpenMode::Read).unwrap();
            let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
            let mut read = 0;
            while read < bytes.len() {
                read += file.read_at(&mut bytes[read..], read as u64).unwrap();
            }
            found.push((path, bytes));
        }
    }
    found
}

/// The files that hold any eight bytes in a row of what was to be erased.
pub(crate) fn traces(storage: &dyn Storage) -> Vec<String> {
    let needles: Vec<&[u8]> = [SECRET, LATER, META].iter().flat_map(|text| text.as_bytes().windows(8)).collect();
    let holds = |bytes: &[u8]| bytes.windows(8).any(|window| window[0] != 0 && needles.contains(&window));
    let files = files(storage);
    println!("searched {} bytes", files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>());
    files.into_iter().filter(|(_, bytes)| holds(bytes)).map(|(path, _)| path).collect()
}

/// A store in which `k` was written, revised and confirmed, with others around it.
fn story() -> Bench {
    let bench = Bench::new();
    bench.put("before", "stays");
    bench.memory.with_idempotency_key("once").commit(secret("k")).unwrap();
    bench.revise("k", LATER);
    bench.memory.confirm(confirm("k")).unwrap();
    bench.put("after", "stays too");
    bench
}

fn verified(memory: &Memory) -> (u64, u64) {
    let verified = memory.verify(&mut |_, _| {}).unwrap();
    assert!(verified.state_equal);
    (verified.bodies, verified.erased_bodies)
}

#[test]
fn no_file_of_the_store_holds_what_was_purged_and_the_proof_still_holds() {
    let bench = story();
    // A torn end that was set aside, and a file in the making, hold copies.
    let storage = &bench.storage;
    for path in ["quarantine/1.torn", "quarantine/1.torn.tmp", "log/00000000000000000009.seg.tmp"] {
        storage.open(path, OpenMode::Create).unwrap().write_at(SECRET.as_bytes(), 0).unwrap();
    }
    assert_eq!(traces(storage.as_ref()).len(), 4);
    assert_eq!(verified(&bench.memory), (4, 0));
    let written = bench.memory.forget(purge("k")).unwrap();
    let bytes = (SECRET.len() + 2 + LATER.len() + 2 + META.len()) as u64;
    let summary = PurgeSummary { bodies: 2, bytes, events: 2, also_in: Vec::new() };
    assert_eq!((written.answer.op, written.answer.purged), (ChangeOp::Purge, Some(summary)));
    assert_eq!(traces(storage.as_ref()), [""; 0]);
    assert_eq!(verified(&bench.memory), (2, 2));
    let status = bench.memory.status().unwrap();
    assert_eq!(status.counts.purged_bytes, bytes);
    assert_eq!((bench.value("before").as_deref(), bench.value("after").as_deref()), (Some("stays"), Some("stays too")));
    bench.assert_sound();
    // Closing and opening changes nothing of it.
    drop(bench.memory);
    assert_eq!(traces(bench.storage.as_ref()), [""; 0]);
}

#[test]
fn a_key_forgotten_earlier_is_purged_and_a_second_purge_finds_nothing() {
    let bench = story();
    bench.forget("k");
    assert!(!traces(bench.storage.as_ref()).is_empty(), "a forget keeps it");
    bench.memory.forget(purge("k")).unwrap();
    assert_eq!(traces(bench.storage.as_ref()), [""; 0]);
    let head = bench.head();
    let again = rejection(bench.memory.forget(purge("k")).unwrap_err());
    assert_eq!((again, bench.head()), (Rejection::MemoryNotFound { key: key("k") }, head));
    bench.memory.commit(secret("k")).unwrap();
    assert_eq!(bench.memory.forget(purge("k")).unwrap().answer.purged.unwrap().events, 1);
    assert_eq!(traces(bench.storage.as_ref()), [""; 0]);
    bench.assert_sound();
}

#[test]
fn reads_of_the_past_say_that_the_value_is_gone_and_never_fail() {
    let bench = story();
    bench.memory.commit(Commit { ttl: Some(1e9), ..commit("zebra", "Villach") }).unwrap();
    let then = bench.head();
    let time = bench.now();
    bench.tick();
    bench.memory.forget(purge("k")).unwrap();
    let memory = bench.open_again();
    for memory in [&bench.memory, &memory] {
        assert!(memory.get("k").unwrap().is_none());
        for seq in 2..=4 {
            let entry = memory.get_at("k", At::Position(Seq::new(seq))).unwrap().unwrap();
            assert_eq!((entry.value, entry.metadata, entry.values_redacted), (None, None, true));
            assert_eq!(&*entry.entry.facts.source, "");
            assert!(entry.entry.value_bytes > 30, "lengths stay");
        }
        let history = memory.history("k", 10, true).unwrap();
        let ops: Vec<_> = history.items.iter().map(|item| (item.op, item.values_redacted)).collect();
        let told = [ChangeOp::Purge, ChangeOp::Confirm, ChangeOp::Update, ChangeOp::Create].map(|op| (op, true));
        assert_eq!(ops, told);
        assert_eq!(history.items[0].reason.as_deref(), Some("asked to be erased"));
        let diff = DiffQuery { from: At::Position(then), to: At::Now, include_values: true, limit: 10 };
        let diff = memory.diff(&diff).unwrap();
        assert!(diff.removed[0].values_redacted && diff.removed[0].before.as_ref().unwrap().value.is_none());
        let page = memory.log(&LogQuery { include_values: true, ..LogQuery::default() }).unwrap();
        let told: Vec<_> = page.events.iter().map(|event| (event.op, event.value.is_some())).take(2).collect();
        assert_eq!(told, [("purge_complete", false), ("purge", false)]);
        assert!(!format!("{page:?}{history:?}{diff:?}").contains("Quixotic"));
        let mut query = RecallQuery::new("Villach Quixotic");
        let found = |query: &RecallQuery| -> Vec<String> {
            memory.recall(query).unwrap().iter().map(|hit| hit.memory.key.to_string()).collect()
        };
        assert_eq!(found(&query), ["zebra"]);
        query.query_timestamp = Some(time);
        assert_eq!(found(&query), ["zebra"]);
        let mut lines = Vec::new();
        memory.export(&mut lines, &mut |_, _| {}).unwrap();
        assert!(!String::from_utf8(lines).unwrap().contains("\"k\""));
        let earlier = memory.replayed_through(Seq::new(3)).unwrap();
        let entry = earlier.get("k").unwrap().unwrap();
        assert_eq!((entry.value, entry.values_redacted), (None, true));
    }
    bench.assert_sound();
}

#[test]
fn no_undo_redo_or_rollback_brings_it_back() {
    let bench = story();
    let taken = bench.memory.snapshot(Snapshot::default()).unwrap().answer.id;
    let dream = bench.dream();
    let revise = action(bilinc::ActionOp::Revise, "k", Some(bench.version("k")));
    let other = action(bilinc::ActionOp::Revise, "after", Some(bench.version("after")));
    let apply = bilinc::DreamApply { dream, actions: vec![revise, other], report: None, finish: true, dry_run: false };
    bench.memory.dream_apply_page(apply).unwrap();
    let undone = bench.undo(Seq::new(3)).undone;
    assert_eq!(undone.conflicts[0].reason, UndoConflictReason::Changed);
    bench.memory.forget(purge("k")).unwrap();
    for selection in [Selection::Seqs(vec![Seq::new(3)]), Selection::Range(Seq::new(1), bench.head())] {
        let dry = bench.memory.undo(Undo { selection, dry_run: true }).unwrap().answer.undone;
        let conflict = dry.conflicts.iter().find(|conflict| conflict.key == key("k")).unwrap();
        assert_eq!(conflict.reason, UndoConflictReason::Purged);
    }
    let undo = bilinc::DreamUndo { dream, dry_run: false, restore_metadata: true };
    let undone = bench.memory.dream_undo(undo).unwrap().answer.undone;
    assert_eq!((undone.restored[0].key.as_str(), undone.conflicts[0].reason), ("after", UndoConflictReason::Purged));
    let preview = bench.memory.rollback_preview(taken, "back", 10).unwrap();
    assert_eq!(preview.skipped_keys, [key("k")]);
    let done = bench.memory.rollback(taken, "back", &preview.confirmation_token).unwrap().answer.done;
    assert_eq!(done.skipped.iter().map(|skipped| skipped.key.as_str()).collect::<Vec<_>>(), ["k"]);
    assert!(bench.memory.get("k").unwrap().is_none());
    assert_eq!(invalid(bench.memory.undo(undo_seq(bench.head_of("purge"))).unwrap_err()).1, "not_undoable");
    assert_eq!(traces(bench.storage.as_ref()), [""; 0]);
    bench.assert_sound();
}

impl Bench {
    /// The position of the newest event of that kind.
    fn head_of(&self, op: &str) -> Seq {
        let page = self.memory.log(&LogQuery::default()).unwrap();
        page.events.iter().find(|event| event.op == op).unwrap().seq
    }
}

#[test]
fn a_late_retry_of_what_was_purged_is_refused_and_a_retry_of_the_purge_is_answered_again() {
    let bench = story();
    let first = bench.memory.with_idempotency_key("p").forget(purge("k")).unwrap();
    let retry = bench.memory.with_idempotency_key("once").commit(secret("k")).unwrap_err();
    assert_eq!(rejection(retry), Rejection::IdempotencyConflict);
    let again = bench.memory.with_idempotency_key("p").forget(purge("k")).unwrap();
    assert_eq!((again.replayed, again.answer), (true, first.answer));
    bench.assert_sound();
}

#[test]
fn one_line_of_an_import_is_erased_with_the_fingerprint_of_all_of_it() {
    let bench = Bench::new();
    let lines =
        format!("{{\"key\":\"a\",\"value\":\"one\"}}\n{{\"key\":\"k\",\"value\":\"{SECRET}\",\"metadata\":{META}}}\n");
    let named = bench.memory.with_idempotency_key("import");
    let import = || named.import(lines.as_bytes(), ImportOptions::default(), &mut |_, _| {});
    import().unwrap();
    assert!(import().unwrap().replayed);
    let purged = bench.memory.forget(purge("k")).unwrap().answer.purged.unwrap();
    assert_eq!((purged.bodies, purged.events), (2, 1));
    assert_eq!(bench.value("a").as_deref(), Some("one"));
    assert_eq!(rejection(import().unwrap_err()), Rejection::IdempotencyConflict);
    assert_eq!(traces(bench.storage.as_ref()), [""; 0]);
    bench.assert_sound();
}

#[test]
fn an_open_handle_sees_it_and_cannot_bring_words_or_values_back() {
    let bench = story();
    let other = bench.open_again();
    // What it has read lies in its memory.
    assert_eq!(other.recall(&RecallQuery::new("Bregenz")).unwrap().len(), 1);
    assert_eq!(value_of(&other, "k").as_deref(), Some(LATER));
    let version = Some(other.get("k").unwrap().unwrap().entry.version);
    bench.memory.forget(purge("k")).unwrap();
    assert!(other.get("k").unwrap().is_none());
    assert_eq!(other.recall(&RecallQuery::new("Bregenz Villach Quixotic")).unwrap().len(), 0);
    assert!(other.history("k", 10, true).unwrap().items.iter().all(|item| item.values_redacted));
    let late = other.revise(Revise { expected_version: version, ..revise("k", "late") }).unwrap_err();
    assert_eq!(rejection(late), Rejection::MemoryNotFound { key: key("k") });
    let undone = other.undo(undo_seq(Seq::new(3))).unwrap().answer.undone;
    assert_eq!(undone.conflicts[0].reason, UndoConflictReason::Purged);
    other.commit(commit("k", "anew")).unwrap();
    assert_eq!(bench.value("k").as_deref(), Some("anew"));
    assert_eq!(verified(&other), (3, 2));
    bench.assert_sound();
}

#[test]
fn a_body_erased_by_nobody_or_brought_back_by_hand_is_damage() {
    let storage = MemoryStorage::new();
    let bench = Bench::on(Arc::new(storage.clone()));
    bench.put("k", SECRET);
    bench.put("other", "stays");
    let segment = "log/00000000000000000001.seg";
    let whole = storage.contents(segment).unwrap();
    let (at, len) = {
        let options = LogOptions { read_only: true, ..LogOptions::default() };
        let (log, _) = Log::open(Arc::new(storage.clone()), options, 1).unwrap();
        log.frame_at(1).unwrap().body_of(0).unwrap().region()
    };
    let (at, end) = (at as usize, (at + len) as usize);
    let refused = |bytes: Vec<u8>| {
        let copy = storage.fork();
        copy.put(segment, bytes);
        let memory = Bench::on_maybe(Arc::new(copy)).unwrap();
        match memory.verify(&mut |_, _| {}).unwrap_err() {
            Error::Engine(EngineError::Log(LogError::Damage(damage))) => (damage.position, damage.reason),
            other => panic!("{other}"),
        }
    };
    let mut zeroed = whole.clone();
    zeroed[at..end].fill(0);
    assert_eq!(refused(zeroed.clone()), (1, "the body is erased, and no purge names it".to_owned()));
    zeroed[at + 3] = 1;
    assert_eq!(refused(zeroed), (1, "the body fails its checksum".to_owned()));
    bench.memory.forget(purge("k")).unwrap();
    assert_eq!(verified(&bench.memory), (1, 1));
    let mut back = storage.contents(segment).unwrap();
    back[at..end].copy_from_slice(&whole[at..end]);
    assert_eq!(refused(back.clone()), (1, "the body is there, though a purge erased it".to_owned()));
}

#[test]
fn a_folder_on_disk_holds_nothing_of_it_for_any_process() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::on(Arc::new(FileStorage::new(folder.path())));
    bench.memory.commit(secret("k")).unwrap();
    let other = bench.open_again();
    assert_eq!(value_of(&other, "k").as_deref(), Some(SECRET));
    bench.memory.forget(purge("k")).unwrap();
    assert_eq!(traces(bench.storage.as_ref()), [""; 0]);
    assert!(other.get("k").unwrap().is_none());
    other.commit(commit("more", "work")).unwrap();
    assert_eq!(verified(&other), (1, 1));
    bench.assert_sound();
}
