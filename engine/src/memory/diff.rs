//! The changes between two points.

use std::collections::BTreeSet;

use bilinc_core::{Entry, History, Key};

use super::Memory;
use super::list::page_limit;
use super::point::Point;
use crate::answer::{Diff, DiffItem};
use crate::error::Error;
use crate::query::DiffQuery;
use crate::store::LogHistory;

impl Memory {
    /// The keys that were added, modified and removed between two points.
    ///
    /// Walks what was recorded since the earlier one, and the chains of keys that changed between them or
    /// were made anew since.
    ///
    /// # Errors
    /// When a point is not there, the limit is wrong, or the log cannot be read.
    pub fn diff(&self, query: &DiffQuery) -> Result<Diff, Error> {
        let limit = page_limit(Some(query.limit))?;
        let (from, to) = (self.point(query.from, "from")?, self.point(query.to, "to")?);
        let head = self.store.published().head();
        let history = LogHistory::new(&self.store, head);
        let mut lists: [Vec<DiffItem>; 3] = Default::default();
        let mut counts = [0_u64; 3];
        for key in self.keys_between(&history, from, to)? {
            let then = self.key_then(&history, &key)?;
            let (before, after) = (then.at(from.seq), then.at(to.seq));
            let sides = (before.live(from.time), after.live(to.time));
            let which = match sides {
                (None, Some(_)) => 0,
                (Some(then), Some(now)) if !then.same_content(now) => 1,
                (Some(_), None) => 2,
                _ => continue,
            };
            if let (Some(count), Some(list)) = (counts.get_mut(which), lists.get_mut(which)) {
                *count += 1;
                if list.len() < limit {
                    let hidden = |entry: Option<&Entry>| entry.is_some_and(|entry| then.present.hides_entry(entry));
                    list.push(DiffItem {
                        values_redacted: hidden(sides.0) || hidden(sides.1),
                        before: self.side(sides.0, &then.present, query.include_values)?,
                        after: self.side(sides.1, &then.present, query.include_values)?,
                        key,
                    });
                }
            }
        }
        let [added, modified, removed] = lists;
        let truncated = counts.iter().any(|count| *count > limit as u64);
        Ok(Diff { from: from.seq, to: to.seq, counts, added, modified, removed, truncated })
    }

    /// The keys that can differ: those with a change between the points, and those that expired
    /// between their times.
    fn keys_between(&self, history: &LogHistory<'_>, from: Point, to: Point) -> Result<BTreeSet<Key>, Error> {
        let (first, last) = if from.seq <= to.seq { (from, to) } else { (to, from) };
        let mut keys = BTreeSet::new();
        history.between(first.seq, last.seq, &mut |event| {
            if let Some(key) = event.event.key().filter(|_| event.event.is_change()) {
                keys.insert(key.clone());
            }
        })?;
        let (after, through) = (first.time.min(last.time), first.time.max(last.time));
        keys.extend(self.store.published().state.expiring(after, through).cloned());
        // An entry that expired there and was made anew since has left the present order of expiry.
        let mut made_anew = BTreeSet::new();
        history.between(last.seq, history.through(), &mut |event| {
            let over_an_old_one = event.event.creates() && event.prev.is_some();
            if let Some(key) = event.event.key().filter(|_| over_an_old_one) {
                made_anew.insert(key.clone());
            }
        })?;
        keys.extend(made_anew);
        Ok(keys)
    }
}
