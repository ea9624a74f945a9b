//! Orders in which entries are listed: by key, and by time of change.
//!
//! Both are plain sets. A page starts behind a cursor, which is the position of the last entry given and
//! need not be there any more: so an entry that does not move is neither skipped nor given twice while
//! others come and go.

use alloc::collections::BTreeSet;
use alloc::collections::btree_set::Range;
use alloc::string::String;
use alloc::sync::Arc;
use core::ops::Bound;

/// Keys in the order of their UTF-8 bytes, which is also that of their characters.
#[derive(Clone, Debug, Default)]
pub struct KeyOrder {
    keys: BTreeSet<Arc<str>>,
}

impl KeyOrder {
    /// An empty order.
    #[must_use]
    pub const fn new() -> Self {
        Self { keys: BTreeSet::new() }
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Adds a key. False when it was there; then the old pointer stays.
    pub fn insert(&mut self, key: Arc<str>) -> bool {
        self.keys.insert(key)
    }

    /// Removes a key. False when it was not there.
    pub fn remove(&mut self, key: &str) -> bool {
        self.keys.remove(key)
    }

    /// Adds a key, or puts this pointer in place of the equal one, which is given back: so that an entry
    /// created anew shares its key with the order again.
    pub fn replace(&mut self, key: Arc<str>) -> Option<Arc<str>> {
        self.keys.replace(key)
    }

    /// Keys with this prefix in rising order, those at or before the cursor left out.
    pub fn ascending<'a>(&'a self, prefix: &str, after: Option<&str>) -> impl Iterator<Item = &'a Arc<str>> + use<'a> {
        let start = match after {
            Some(cursor) if cursor >= prefix => Bound::Excluded(cursor),
            _ => Bound::Included(prefix),
        };
        let end = successor(prefix);
        let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        self.range(start, end)
    }

    /// Keys with this prefix in falling order, those at or behind the cursor left out.
    pub fn descending<'a>(
        &'a self,
        prefix: &str,
        before: Option<&str>,
    ) -> impl Iterator<Item = &'a Arc<str>> + use<'a> {
        let end = successor(prefix);
        let end = match (before, end.as_deref()) {
            (Some(cursor), Some(end)) => Bound::Excluded(cursor.min(end)),
            (Some(end), None) | (None, Some(end)) => Bound::Excluded(end),
            (None, None) => Bound::Unbounded,
        };
        self.range(Bound::Included(prefix), end).rev()
    }

    fn range(&self, start: Bound<&str>, end: Bound<&str>) -> impl DoubleEndedIterator<Item = &Arc<str>> + use<'_> {
        in_order(&start, &end).then(|| self.keys.range::<str, _>((start, end))).into_iter().flatten()
    }
}

/// The least string above all that begin with `prefix`; none when there is no such string.
fn successor(prefix: &str) -> Option<String> {
    let mut chars = prefix.chars();
    while let Some(last) = chars.next_back() {
        // The range skips the surrogates, as UTF-8 does.
        if let Some(next) = (last..=char::MAX).nth(1) {
            let mut above = String::from(chars.as_str());
            above.push(next);
            return Some(above);
        }
    }
    None
}

/// Whether a range is one that `BTreeSet::range` accepts: it panics at a start behind the end.
fn in_order<T: Ord + ?Sized>(start: &Bound<&T>, end: &Bound<&T>) -> bool {
    match (start, end) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => true,
        (Bound::Included(start), Bound::Included(end)) => start <= end,
        (Bound::Included(start) | Bound::Excluded(start), Bound::Included(end) | Bound::Excluded(end)) => start < end,
    }
}

/// Times between which entries are listed, in microseconds, both ends left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Only later ones.
    pub after: Option<i64>,
    /// Only earlier ones.
    pub before: Option<i64>,
}

/// Keys in the order of the times of their last change, equal times in the order of their keys.
#[derive(Clone, Debug, Default)]
pub struct TimeOrder {
    entries: BTreeSet<(i64, Arc<str>)>,
}

impl TimeOrder {
    /// An empty order.
    #[must_use]
    pub const fn new() -> Self {
        Self { entries: BTreeSet::new() }
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a key under its time. False when it was there under this time.
    ///
    /// The order does not know under which other time a key may be: see [`TimeOrder::replace`].
    pub fn insert(&mut self, time: i64, key: Arc<str>) -> bool {
        self.entries.insert((time, key))
    }

    /// Removes a key from under its time. False when it was not there.
    pub fn remove(&mut self, time: i64, key: &Arc<str>) -> bool {
        self.entries.remove(&(time, Arc::clone(key)))
    }

    /// Moves a key from one time to another. False when it was not under the old one; it is added all the same.
    pub fn replace(&mut self, old: i64, new: i64, key: Arc<str>) -> bool {
        let was_there = self.remove(old, &key);
        self.insert(new, key);
        was_there
    }

    /// Oldest first, those at or before the cursor left out.
    pub fn ascending<'a>(
        &'a self,
        window: Window,
        cursor: Option<(i64, &str)>,
    ) -> impl Iterator<Item = (i64, &'a Arc<str>)> + use<'a> {
        self.range(window, cursor, None)
    }

    /// Newest first, those at or behind the cursor left out.
    pub fn descending<'a>(
        &'a self,
        window: Window,
        cursor: Option<(i64, &str)>,
    ) -> impl Iterator<Item = (i64, &'a Arc<str>)> + use<'a> {
        self.range(window, None, cursor).rev()
    }

    fn range<'a>(
        &'a self,
        window: Window,
        after: Option<(i64, &str)>,
        before: Option<(i64, &str)>,
    ) -> impl DoubleEndedIterator<Item = (i64, &'a Arc<str>)> + use<'a> {
        let owned = |(time, key): (i64, &str)| (time, Arc::<str>::from(key));
        // Before the empty key there is none, so it marks the beginning of a time.
        let first_of = |time| (time, Arc::<str>::from(""));
        let (after, before) = (after.map(owned), before.map(owned));
        // Nothing is later than the last time.
        let possible = window.after != Some(i64::MAX);
        let since = window.after.map(|t| first_of(t.saturating_add(1)));
        let until = window.before.map(first_of);
        let start = match (&since, &after) {
            (Some(since), Some(after)) if after < since => Bound::Included(since),
            (_, Some(after)) => Bound::Excluded(after),
            (Some(since), None) => Bound::Included(since),
            (None, None) => Bound::Unbounded,
        };
        let end = match (&until, &before) {
            (Some(until), Some(before)) => Bound::Excluded(until.min(before)),
            (Some(end), None) | (None, Some(end)) => Bound::Excluded(end),
            (None, None) => Bound::Unbounded,
        };
        let found: Option<Range<'a, _>> =
            (possible && in_order(&start, &end)).then(|| self.entries.range((start, end)));
        found.into_iter().flatten().map(|(time, key)| (*time, key))
    }
}

#[cfg(test)]
mod tests;
