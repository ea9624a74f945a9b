//! Ranked search.

mod ranked;

use std::ops::ControlFlow;

use bilinc_core::{Entry, Key, Rejection, Seq, State, Timestamp};
use bilinc_projections::recall::Recall;

use self::ranked::{Found, Ranked};
use super::Memory;
use crate::answer::RecallHit;
use crate::codec::Bodies;
use crate::error::Error;
use crate::query::{At, MAX_RESULTS, Profile, QUERY_CHARS, RecallQuery};
use crate::store::{EarlierValues, index_entry};

impl Memory {
    /// Ranked search over the present entries, or over those of a past time.
    ///
    /// The first recall of an open store makes its index, from a checkpoint or by reading the log once, and
    /// so does its first with [`Profile::Deep`]; one of a past time reads the log up to there.
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
        let search = |recall: &Recall, values: Option<&Recall>| {
            let published = self.store.published();
            let ranked = Ranked { query, state: &published.state, present: &published.state, time: now };
            values.map_or_else(|| ranked.search(recall), |values| ranked.join_earlier(recall, values))
        };
        let found = if query.profile == Profile::Deep {
            self.store.with_recall(|recall| self.store.with_earlier(|values| search(recall, Some(values))))??
        } else {
            self.store.with_recall(|recall| search(recall, None))?
        };
        let mut results = Vec::with_capacity(found.len());
        for found in found {
            let entry = self.store.published().state.entry(&found.key, now).cloned();
            if let Some(entry) = entry {
                results.push(self.hit(found, entry, now)?);
            }
        }
        Ok(results)
    }

    /// Folds the log up to that time and searches what was there, but for what a later forget hides.
    fn recall_then(&self, query: &RecallQuery, time: Timestamp) -> Result<Vec<RecallHit>, Error> {
        let point = self.point(At::Time(time), "query_timestamp")?;
        let deep = query.profile == Profile::Deep;
        let mut then = State::new(self.store.hash_seed());
        let mut values = EarlierValues::new(self.store.hash_seed());
        let bodies = if deep { Bodies::Readable } else { Bodies::ForState };
        self.store.visit(Seq::ZERO, point.seq, bodies, &mut |event| {
            then.evolve(event);
            if deep {
                values.learn(event);
            }
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
        recall.settle();
        let found = {
            let published = self.store.published();
            let ranked = Ranked { query, state: &then, present: &published.state, time };
            if deep { ranked.join_earlier(&recall, values.index()) } else { ranked.search(&recall) }
        };
        let mut results = Vec::new();
        for found in found {
            if let Some(entry) = then.entry(&found.key, time).cloned() {
                results.push(self.hit(found, entry, time)?);
            }
        }
        Ok(results)
    }

    fn hit(&self, found: Found, entry: Entry, now: Timestamp) -> Result<RecallHit, Error> {
        let age_seconds = now.micros().saturating_sub(entry.updated_at.micros()).max(0) / 1_000_000;
        let Found { key, score, matched, earlier_at } = found;
        let memory = self.shown(Key::from_shared(key), entry, false)?;
        Ok(RecallHit { memory, score, age_seconds, matched, earlier_at })
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
