//! What every fold of entries is.

use bilinc_core::Change;

use crate::order::{KeyOrder, TimeOrder};

/// A read model: the fold of the changes of entries, one after the other. It cannot fail, and the
/// same changes always give the same model.
///
/// Recall is none of these, because it needs the words of values, which no change holds.
pub trait Projection {
    /// What it is called where it is kept.
    const NAME: &'static str;
    /// Moves when the same changes give another model: what was kept under an older number is made
    /// anew.
    const VERSION: u32;

    /// Folds the next change in.
    fn apply(&mut self, change: &Change);
}

impl Projection for KeyOrder {
    const NAME: &'static str = "keys";
    const VERSION: u32 = 1;

    fn apply(&mut self, change: &Change) {
        match (change.before, change.after) {
            (None, Some(_)) => drop(self.insert(change.key.shared())),
            (Some(_), None) => drop(self.remove(change.key.as_str())),
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
}

impl Projection for TimeOrder {
    const NAME: &'static str = "times";
    const VERSION: u32 = 1;

    fn apply(&mut self, change: &Change) {
        let key = change.key.shared();
        if let Some(before) = change.before {
            self.remove(before.micros(), &key);
        }
        if let Some(after) = change.after {
            self.insert(after.micros(), key);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use bilinc_core::{Key, Timestamp};

    use super::*;
    use crate::order::Window;

    fn change(key: &str, before: Option<i64>, after: Option<i64>) -> Change {
        let time = |micros: Option<i64>| micros.map(Timestamp::from_micros);
        Change { key: Key::from_recorded(key), before: time(before), after: time(after) }
    }

    #[test]
    fn orders_follow_what_comes_moves_and_goes() {
        let (mut keys, mut times) = (KeyOrder::new(), TimeOrder::new());
        let changes = [
            change("b", None, Some(1)),
            change("a", None, Some(2)),
            change("b", Some(1), Some(3)),
            change("c", None, Some(4)),
            change("c", Some(4), None),
            // A flag on an entry that is not there changes nothing.
            change("d", None, None),
        ];
        for change in &changes {
            keys.apply(change);
            times.apply(change);
        }
        let by_key: Vec<&str> = keys.ascending("", None).map(AsRef::as_ref).collect();
        let by_time: Vec<i64> = times.ascending(Window::default(), None).map(|(time, _)| time).collect();
        assert_eq!((by_key, by_time), (["a", "b"].into(), [2, 3].into()));
    }
}
