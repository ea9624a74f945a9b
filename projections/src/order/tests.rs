//! Both orders against a sorted list.

use super::*;
use alloc::vec::Vec;
use proptest::prelude::*;

fn key() -> impl Strategy<Value = String> {
    "[ab\u{7ff}\u{d7ff}\u{e000}\u{10ffff}]{0,3}"
}

proptest! {
    #[test]
    fn keys_come_as_a_sorted_list_has_them(
        changes in proptest::collection::vec((key(), any::<bool>()), 0..40),
        prefix in key(),
        cursor in proptest::option::of(key()),
    ) {
        let mut order = KeyOrder::new();
        let mut list: Vec<String> = Vec::new();
        for (key, put) in changes {
            let there = list.contains(&key);
            if put {
                prop_assert_eq!(order.replace(key.as_str().into()).is_some(), there);
                prop_assert!(!order.insert(key.as_str().into()));
            } else {
                prop_assert_eq!(order.remove(&key), there);
            }
            list.retain(|other| *other != key);
            if put {
                list.push(key);
            }
        }
        list.sort_unstable();
        prop_assert_eq!(order.len(), list.len());
        let cursor = cursor.as_deref();
        let found: Vec<&str> = order.ascending(&prefix, cursor).map(AsRef::as_ref).collect();
        let wanted: Vec<&str> = list.iter().map(String::as_str)
            .filter(|key| key.starts_with(&prefix) && cursor.is_none_or(|cursor| *key > cursor))
            .collect();
        prop_assert_eq!(found, wanted);
        let found: Vec<&str> = order.descending(&prefix, cursor).map(AsRef::as_ref).collect();
        let wanted: Vec<&str> = list.iter().rev().map(String::as_str)
            .filter(|key| key.starts_with(&prefix) && cursor.is_none_or(|cursor| *key < cursor))
            .collect();
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn times_come_as_a_sorted_list_has_them(
        changes in proptest::collection::vec((time(), "[ab]{0,2}", any::<bool>()), 0..40),
        after in proptest::option::of(time()),
        before in proptest::option::of(time()),
        cursor in proptest::option::of((time(), "[ab]{0,2}")),
    ) {
        let mut order = TimeOrder::new();
        let mut list: Vec<(i64, Arc<str>)> = Vec::new();
        for (time, key, put) in changes {
            let key: Arc<str> = key.into();
            let at = list.iter().position(|(_, other)| *other == key);
            match at.map(|at| list.remove(at).0) {
                Some(old) if put => prop_assert!(order.replace(old, time, Arc::clone(&key))),
                Some(old) => prop_assert!(order.remove(old, &key)),
                None if put => prop_assert!(order.insert(time, Arc::clone(&key))),
                None => prop_assert!(!order.remove(time, &key)),
            }
            if put {
                list.push((time, key));
            }
        }
        list.sort_unstable();
        prop_assert_eq!(order.len(), list.len());
        let cursor = cursor.as_ref().map(|(time, key)| (*time, key.as_str()));
        let inside = |time: i64| after.is_none_or(|after| time > after)
            && before.is_none_or(|before| time < before);
        let position = |(time, key): &(i64, Arc<str>)| (*time, String::from(&**key));
        let cursor_position = cursor.map(|(time, key)| (time, String::from(key)));
        let window = Window { after, before };

        let found: Vec<_> = order.ascending(window, cursor)
            .map(|(time, key)| (time, String::from(&**key))).collect();
        let wanted: Vec<_> = list.iter().map(position)
            .filter(|at| inside(at.0) && cursor_position.as_ref().is_none_or(|cursor| at > cursor))
            .collect();
        prop_assert_eq!(found, wanted);
        let found: Vec<_> = order.descending(window, cursor)
            .map(|(time, key)| (time, String::from(&**key))).collect();
        let wanted: Vec<_> = list.iter().rev().map(position)
            .filter(|at| inside(at.0) && cursor_position.as_ref().is_none_or(|cursor| at < cursor))
            .collect();
        prop_assert_eq!(found, wanted);
    }
}

fn time() -> impl Strategy<Value = i64> {
    prop_oneof![Just(i64::MIN), Just(i64::MAX), -3_i64..3]
}
