//! What a profile makes of the index: which documents may take a place, and in which order.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Place;
use std::sync::Arc;

use bilinc_core::{Entry, MemoryType, Seq, State, Timestamp};
use bilinc_projections::recall::{self as index, Field, Hit, How, Recall, SearchOptions};

use crate::answer::MatchedTerm;
use crate::query::{Profile, RecallQuery};
use crate::store::named_by;

/// An entry found, and by what.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) key: Arc<str>,
    pub(super) score: f64,
    pub(super) matched: Vec<MatchedTerm>,
    /// The position of the earlier value that was found, when it was not what the entry holds.
    pub(super) earlier_at: Option<Seq>,
}

/// A query, and the entries among which it looks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranked<'a> {
    pub(super) query: &'a RecallQuery,
    /// The entries, as they stand or stood.
    pub(super) state: &'a State,
    /// As they stand now: it decides what is hidden.
    pub(super) present: &'a State,
    /// The time at which they are looked at.
    pub(super) time: Timestamp,
}

/// How far an entry is trusted by [`Profile::Verified`]; less is more.
fn doubt(entry: &Entry) -> u8 {
    match (entry.flags.is_empty(), entry.confirmed_at.is_some()) {
        (true, true) => 0,
        (true, false) => 1,
        (false, _) => 2,
    }
}

impl Ranked<'_> {
    /// Searches the index of the entries themselves.
    pub(super) fn search(&self, recall: &Recall) -> Vec<Found> {
        if self.query.profile != Profile::Verified {
            return self.found(recall.search(&self.query.query, &self.options(), &mut |key| self.entry(key).is_some()));
        }
        // One search for each degree of doubt: the whole order by trust and score, and the index knows of no trust.
        let mut all = Vec::new();
        for degree in 0..=2 {
            let options = SearchOptions { limit: self.query.limit - all.len(), ..self.options() };
            let accept = &mut |key: &str| self.entry(key).is_some_and(|entry| doubt(entry) == degree);
            all.extend(self.found(recall.search(&self.query.query, &options, accept)));
            if all.len() >= self.query.limit {
                break;
            }
        }
        all
    }

    /// Adds entries that an earlier value answers for. Each entry stands there once, with its better score.
    pub(super) fn join_earlier(&self, recall: &Recall, values: &Recall) -> Vec<Found> {
        let present = self.search(recall);
        let mut best: HashMap<Arc<str>, Found> = present.into_iter().map(|hit| (Arc::clone(&hit.key), hit)).collect();
        for found in self.earlier(recall, values) {
            match best.entry(Arc::clone(&found.key)) {
                Place::Vacant(place) => drop(place.insert(found)),
                Place::Occupied(mut place) if place.get().score < found.score => drop(place.insert(found)),
                Place::Occupied(_) => {}
            }
        }
        let mut all: Vec<Found> = best.into_values().collect();
        all.sort_by(|left, right| {
            let importance = |found: &Found| self.entry(&found.key).map_or(0.0, |entry| entry.facts.importance);
            let changed = |found: &Found| self.state.slot(&found.key).map_or(Seq::ZERO, |slot| slot.changed);
            (right.score.total_cmp(&left.score))
                .then_with(|| importance(right).total_cmp(&importance(left)))
                .then_with(|| changed(right).cmp(&changed(left)))
                .then_with(|| left.key.cmp(&right.key))
        });
        all.truncate(self.query.limit);
        all
    }

    /// The best earlier values, one for each entry: those of as many entries as results are wanted, or all.
    ///
    /// An earlier value counts only when it answers a word of the query that the entry does not answer now;
    /// else a shorter text of old would stand for each entry that is found by its key.
    fn earlier(&self, recall: &Recall, values: &Recall) -> Vec<Found> {
        let mut limit = self.query.limit;
        loop {
            let options = SearchOptions { limit, memory_types: u8::MAX, explain: true, ..self.options() };
            let hits = values.search(&self.query.query, &options, &mut |name| self.is_earlier_value(name));
            let all = hits.len() < limit;
            let mut answered: HashMap<Arc<str>, Vec<index::MatchedTerm>> = HashMap::new();
            let mut found: HashMap<Arc<str>, Found> = HashMap::new();
            for hit in hits {
                let Some((key, at)) = named_by(&hit.key) else { continue };
                let key: Arc<str> = key.into();
                let now = answered.entry(Arc::clone(&key)).or_insert_with(|| self.answered_now(recall, &key));
                if hit.matched.iter().any(|term| now.iter().all(|now| now.term != term.term)) {
                    // The hits come best first.
                    found.entry(Arc::clone(&key)).or_insert_with(|| Found {
                        key,
                        score: hit.score,
                        matched: self.matched(&hit),
                        earlier_at: Some(at),
                    });
                }
            }
            if all || found.len() >= self.query.limit {
                return found.into_values().collect();
            }
            limit = limit.saturating_mul(4);
        }
    }

    /// The words of the query that an entry answers by what it holds.
    fn answered_now(&self, recall: &Recall, key: &str) -> Vec<index::MatchedTerm> {
        let options = SearchOptions { limit: 1, explain: true, ..self.options() };
        let found = recall.search(&self.query.query, &options, &mut |other| other == key);
        found.into_iter().next().map(|hit| hit.matched).unwrap_or_default()
    }

    /// Whether a value stood earlier in an entry of the wanted types that is there, and is not hidden.
    fn is_earlier_value(&self, name: &str) -> bool {
        let Some((key, at)) = named_by(name) else { return false };
        let Some(entry) = self.entry(key) else { return false };
        let hidden = self.present.slot(key).is_none_or(|slot| slot.hides_value(at) || slot.hides_metadata(at));
        let wanted = self.options().memory_types & bit(entry.facts.memory_type) != 0;
        entry.value_at != at && wanted && !hidden
    }

    fn entry(&self, key: &str) -> Option<&Entry> {
        self.state.entry(key, self.time)
    }

    fn options(&self) -> SearchOptions {
        SearchOptions {
            profile: match self.query.profile {
                Profile::Fast => index::Profile::Fast,
                Profile::Balanced | Profile::Verified | Profile::Deep => index::Profile::Balanced,
            },
            limit: self.query.limit,
            explain: self.query.explain,
            memory_types: if self.query.memory_types.is_empty() {
                u8::MAX
            } else {
                self.query.memory_types.iter().copied().map(bit).fold(0, std::ops::BitOr::bitor)
            },
            ..SearchOptions::default()
        }
    }

    fn found(&self, hits: Vec<Hit>) -> Vec<Found> {
        let found = |hit: Hit| Found { matched: self.matched(&hit), key: hit.key, score: hit.score, earlier_at: None };
        hits.into_iter().map(found).collect()
    }

    fn matched(&self, hit: &Hit) -> Vec<MatchedTerm> {
        if !self.query.explain {
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
}

/// The bit of a memory type in the index's mask of types.
const fn bit(kind: MemoryType) -> u8 {
    1 << (kind as u8)
}
