//! Ranked search.

use std::ops::ControlFlow;

use bilinc_core::{Key, MemoryType, Rejection, State, Timestamp};
use bilinc_projections::recall::{self as index, Field, How, Recall, SearchOptions};

use super::Memory;
use crate::answer::{MatchedTerm, RecallHit};
use crate::codec::Bodies;
use crate::error::Error;
use crate::query::{At, MAX_RESULTS, Profile, QUERY_CHARS, RecallQuery};
use crate::store::index_entry;

impl Memory {
    /// Ranked search over the present entries, or over those of a past time.
    ///
    /// The first recall of an open store reads the log once to make its index; one of a past time
    /// reads the log up to there.
    ///
    /// # Errors
    /// When the query or the limit is malformed, or the log cannot be read.
    pub fn recall(&self, query: &RecallQuery) -> Result<Vec<RecallHit>, Error> {
        check(query)?;
        match query.query_timestamp {
            None => self.recall_now(query),
            Some(time) => self.recall_then(query, time),
        }
    }

    fn recall_now(&self, query: &RecallQuery) -> Result<Vec<RecallHit>, Error> {
        self.store.refresh()?;
        let now = self.now();
        let hits = self.store.with_recall(|recall| {
            let published = self.store.published();
            recall.search(&query.query, &options(query), &mut |key| published.state.entry(key, now).is_some())
        })?;
        let mut results = Vec::with_capacity(hits.len());
        for hit in hits {
            let entry = self.store.published().state.entry(&hit.key, now).cloned();
            if let Some(entry) = entry {
                let age_seconds = age(entry.updated_at, now);
                let memory = self.shown(Key::from_recorded(&hit.key), entry, false)?;
                results.push(RecallHit { memory, score: hit.score, age_seconds, matched: matched(query, &hit) });
            }
        }
        Ok(results)
    }

    /// Folds the log up to that time and searches what was there, but for what a later forget hides.
    fn recall_then(&self, query: &RecallQuery, time: Timestamp) -> Result<Vec<RecallHit>, Error> {
        let point = self.point(At::Time(time), "query_timestamp")?;
        let mut then = State::new(self.store.hash_seed());
        self.store.visit(bilinc_core::Seq::ZERO, point.seq, Bodies::ForState, &mut |event| {
            then.evolve(event);
            ControlFlow::Continue(())
        })?;
        let mut recall = Recall::new(self.store.hash_seed());
        for (key, slot) in then.slots() {
            let Some(entry) = slot.live(time) else { continue };
            let hidden = self.store.published().state.slot(key.as_str()).is_some_and(|now| now.hides_entry(entry));
            if !hidden {
                index_entry(&mut recall, key, entry, slot.changed, &self.store.text(entry)?);
            }
        }
        let mut results = Vec::new();
        for hit in recall.search(&query.query, &options(query), &mut |_| true) {
            if let Some(entry) = then.entry(&hit.key, time).cloned() {
                let age_seconds = age(entry.updated_at, time);
                let memory = self.shown(Key::from_recorded(&hit.key), entry, false)?;
                results.push(RecallHit { memory, score: hit.score, age_seconds, matched: matched(query, &hit) });
            }
        }
        Ok(results)
    }
}

fn check(query: &RecallQuery) -> Result<(), Rejection> {
    let chars = query.query.chars().count();
    if query.query.trim().is_empty() || chars > QUERY_CHARS {
        let message = format!("a query has 1 to {QUERY_CHARS} characters, this one {chars}");
        return Err(Rejection::invalid("query", "out_of_range", message));
    }
    if query.limit == 0 || query.limit > MAX_RESULTS {
        return Err(Rejection::invalid("limit", "out_of_range", format!("a recall gives 1 to {MAX_RESULTS} results")));
    }
    Ok(())
}

fn options(query: &RecallQuery) -> SearchOptions {
    let bit = |kind: &MemoryType| 1_u8 << (*kind as u8);
    SearchOptions {
        profile: match query.profile {
            Profile::Fast => index::Profile::Fast,
            Profile::Balanced => index::Profile::Balanced,
        },
        limit: query.limit,
        memory_types: if query.memory_types.is_empty() {
            u8::MAX
        } else {
            query.memory_types.iter().map(bit).fold(0, std::ops::BitOr::bitor)
        },
        ..SearchOptions::default()
    }
}

fn age(updated_at: Timestamp, now: Timestamp) -> i64 {
    now.micros().saturating_sub(updated_at.micros()).max(0) / 1_000_000
}

fn matched(query: &RecallQuery, hit: &index::Hit) -> Vec<MatchedTerm> {
    if !query.explain {
        return Vec::new();
    }
    let field = |field: &Field| match field {
        Field::Key => "key",
        Field::Value => "value",
        Field::Metadata => "metadata",
    };
    let term = |term: &index::MatchedTerm| MatchedTerm {
        term: term.term.clone(),
        how: match term.how {
            How::Exact => "exact",
            How::Stem => "stem",
            How::Prefix => "prefix",
            How::Typo => "typo",
        },
        fields: term.fields.iter().map(field).collect(),
    };
    hit.matched.iter().map(term).collect()
}
