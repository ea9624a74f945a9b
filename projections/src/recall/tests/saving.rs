//! An index that changes while it is saved.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::recall::saving::Saved;

fn loaded(bytes: &[u8]) -> Recall {
    Recall::load(9, bytes, &mut |key| Some(Arc::from(key)), &mut one_by_one).expect("own bytes")
}

#[test]
fn words_that_only_removed_documents_had_do_not_get_into_the_bytes() {
    let mut recall = index(&[note("a", "\"hidden painted\""), note("b", "\"paints seen\"")]);
    recall.remove("a");
    put(&mut recall, &note("b", "\"painting\""));
    let bytes = recall.save();
    let text = String::from_utf8_lossy(&bytes);
    for gone in ["hidden", "painted", "paints", "seen"] {
        assert!(!text.contains(gone), "{gone}");
    }
    let loaded = loaded(&bytes);
    assert_eq!(balanced(&loaded, "painter paint"), balanced(&recall, "painter paint"));
    assert!(loaded.is_same(&recall));
}

#[test]
fn a_compaction_on_the_way_ends_a_saving() {
    let mut recall = index(&[note("a", "\"one\""), note("b", "\"two\"")]);
    let mut saving = recall.begin_saving();
    assert_eq!(recall.go_on_saving(&mut saving), Saved::Partly);
    recall.compact();
    assert_eq!(recall.go_on_saving(&mut saving), Saved::Outdated);
}

proptest! {
    /// Whoever keeps an index names the documents that changed since it began, and puts these again.
    #[test]
    fn what_was_saved_step_by_step_and_brought_up_is_what_the_index_became(
        first in proptest::collection::vec((0_u8..12, 0_u8..6), 0..30),
        meanwhile in proptest::collection::vec((0_u8..12, 0_u8..6), 0..30),
    ) {
        const WORDS: [&str; 5] = ["painting tea", "painted", "paints paint", "relational tea", "relations"];
        let mut recall = Recall::new(7);
        let mut now: BTreeMap<String, Option<Note>> = BTreeMap::new();
        let mut change = |recall: &mut Recall, key: u8, what: u8| {
            let key = format!("key{key}");
            let text = WORDS.get(usize::from(what)).map(|words| note(&key, &format!("\"{words}\"")));
            match &text {
                Some(text) => put(recall, text),
                None => recall.remove(&key),
            }
            now.insert(key.clone(), text);
            key
        };
        for (key, what) in first {
            change(&mut recall, key, what);
        }
        let mut saving = recall.begin_saving();
        let mut changed = Vec::new();
        let mut meanwhile = meanwhile.into_iter();
        while recall.go_on_saving(&mut saving) == Saved::Partly {
            for (key, what) in meanwhile.by_ref().take(2) {
                changed.push(change(&mut recall, key, what));
            }
        }
        let mut kept = loaded(&saving.into_bytes());
        for key in changed {
            match &now[&key] {
                Some(note) => put(&mut kept, note),
                None => kept.remove(&key),
            }
        }
        prop_assert!(kept.is_same(&recall));
        for query in ["paint", "painter tea", "relation", "key3 relate"] {
            prop_assert_eq!(balanced(&kept, query), balanced(&recall, query));
        }
    }
}
