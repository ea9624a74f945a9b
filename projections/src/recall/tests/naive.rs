//! The index against a scorer that has none: it reads every document for every query.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use proptest::prelude::*;

use super::super::analysis::{Side, each_word, text_of};
use super::super::checkpoint::Reader;
use super::super::dictionary::Dictionary;
use super::super::postings::Counts;
use super::super::rank::{Formula, worth};
use super::super::slots::{Facts, Totals};
use super::*;

type Words = BTreeMap<String, Counts>;

fn read(note: &Note) -> (Words, Facts) {
    let mut words = Words::new();
    let mut lens = [0; 3];
    let json = |text: &str| {
        let mut out = String::new();
        text_of(text, &mut out);
        out
    };
    let texts = [note.key.clone(), json(&note.value), json(&note.metadata)];
    let fields = [Field::Key, Field::Value, Field::Metadata];
    for ((text, field), len) in texts.iter().zip(fields).zip(&mut lens) {
        each_word(text, Side::Stored, &mut |word| {
            *len += 1;
            words.entry(word.into()).or_default().add(field);
        });
    }
    (words, Facts::new(&note.key, note.memory_type, lens[1], lens[0]))
}

fn one_slip(left: &str, right: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    if a.len() < 5 || a[0] != b[0] || a == b {
        return false;
    }
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same..], &b[same..]);
    let swapped = a.len() >= 2 && b.len() >= 2 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..];
    let skip = |text: &[char]| text.get(1..).unwrap_or_default().to_vec();
    swapped
        || skip(a) == skip(b) && !a.is_empty() && !b.is_empty()
        || !a.is_empty() && skip(a) == b
        || !b.is_empty() && a == skip(b)
}

/// The weight of each document for one word, and the word's rarity.
fn answer(
    word: &str,
    documents: &[(Words, Facts)],
    formula: &Formula,
    stems: &Dictionary,
) -> (Vec<Option<(f64, How)>>, f64) {
    let stem = |word: &str| stems.stem(word).unwrap_or_else(|| word.into());
    let sum = |words: &Words, facts: Facts, how: &dyn Fn(&str) -> Option<How>| {
        let mut found: Vec<_> = words.iter().filter_map(|(word, counts)| Some((how(word)?, *counts))).collect();
        // The word itself first, then its relatives in byte order, as they are in the map.
        found.sort_by_key(|(how, _)| *how);
        let key = found.iter().any(|(_, counts)| counts.of(Field::Key) > 0);
        let how = found.first()?.0;
        let occurrences: f64 = found
            .iter()
            .map(|&(how, counts)| {
                let worth = if how == How::Stem { worth(how) } else { 1.0 };
                worth * formula.occurrences(counts, facts)
            })
            .sum();
        Some((formula.saturate(occurrences, key), how))
    };
    let full = |other: &str| {
        let root = stem(word);
        match other {
            _ if other == word => Some(How::Exact),
            _ if other == root || stem(other) == root => Some(How::Stem),
            _ => None,
        }
    };
    let mut found: Vec<Option<(f64, How)>> = documents.iter().map(|(words, facts)| sum(words, *facts, &full)).collect();
    let holders = found.iter().flatten().count();
    let root = Some(stem(word)).filter(|stem| stem.len() >= 4).unwrap_or(word.into());
    let longer = |other: &str| {
        let longer = other.len() > root.len() && other.starts_with(&root);
        (word.chars().count() >= 3 && longer).then_some(How::Prefix)
    };
    let slip = |other: &str| one_slip(word, other).then_some(How::Typo);
    let all = |how: &dyn Fn(&str) -> Option<How>| -> Vec<Option<(f64, How)>> {
        documents.iter().map(|(words, facts)| sum(words, *facts, how)).collect()
    };
    let mut looser = all(&longer);
    if holders == 0 && looser.iter().all(Option::is_none) {
        looser = all(&slip);
    }
    let extra = looser.iter().zip(&found).filter(|(l, f)| l.is_some() && f.is_none()).count();
    let rarity = formula.rarity(if holders == 0 { extra } else { holders });
    let loose_rarity = formula.rarity(holders + extra);
    for (found, looser) in found.iter_mut().zip(looser) {
        *found = match (*found, looser) {
            (Some((weight, how)), _) => Some((rarity * weight, how)),
            (None, Some((weight, how))) => Some((loose_rarity * worth(how) * weight, how)),
            (None, None) => None,
        };
    }
    (found, if holders + extra == 0 { 0.0 } else { rarity })
}

/// Keys and scores, best first. Words of the query must differ in stem and be no stop words.
fn scores(notes: &[Note], query: &[&str]) -> Vec<(String, f64)> {
    let documents: Vec<(Words, Facts)> = notes.iter().map(read).collect();
    let mut totals = Totals::default();
    for (_, facts) in &documents {
        totals.documents += 1;
        totals.value_words += u64::from(facts.value_len);
        totals.key_words += u64::from(facts.key_len);
    }
    let formula = Formula::new(totals, &SearchOptions::default());
    let stems = Dictionary::new(0);
    let answers: Vec<_> = query.iter().map(|word| answer(word, &documents, &formula, &stems)).collect();
    let whole: f64 = answers.iter().map(|(_, rarity)| rarity).sum();
    let mut hits: Vec<(f64, &Note)> = Vec::new();
    for (place, note) in notes.iter().enumerate() {
        let (mut sum, mut share) = (0.0, 0.0);
        for (found, rarity) in &answers {
            if let Some((weight, how)) = found[place] {
                sum += weight;
                share += rarity * worth(how);
            }
        }
        if share > 0.0 {
            hits.push((formula.score(sum, share / whole), note));
        }
    }
    hits.sort_by(|(left, a), (right, b)| {
        (right.total_cmp(left))
            .then_with(|| b.importance.total_cmp(&a.importance))
            .then_with(|| b.changed.cmp(&a.changed))
            .then_with(|| a.key.cmp(&b.key))
    });
    hits.into_iter().map(|(score, note)| (note.key.clone(), score)).collect()
}

/// Words that share beginnings, stems and slips.
const POOL: [&str; 16] = [
    "paint",
    "painting",
    "paints",
    "painted",
    "pants",
    "maria",
    "marina",
    "mario",
    "tea",
    "teapot",
    "happy",
    "happiness",
    "went",
    "going",
    "photograph",
    "photographs",
];

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&POOL[..]), 0..6).prop_map(|words| words.join(" "))
}

fn a_note() -> impl Strategy<Value = Note> {
    let numbers = (0_u8..8, 0_u8..3, 0_u64..3);
    ("[a-d]", text(), text(), text(), numbers).prop_map(|(name, key, value, metadata, numbers)| {
        let (memory_type, importance, changed) = numbers;
        Note {
            key: alloc::format!("{name}. {key}"),
            value: alloc::format!("\"{value}\""),
            metadata: alloc::format!("{{\"maria\":\"{metadata}\"}}"),
            memory_type,
            importance: f64::from(importance) / 2.0,
            changed,
        }
    })
}

proptest! {
    #[test]
    fn any_way_to_the_same_documents_gives_the_same_search(
        steps in proptest::collection::vec((a_note(), 0_u8..4), 0..24),
        query in proptest::sample::subsequence(
            &["painting", "maria", "teapo", "tea", "happy", "go", "fotograph", "photograhp"][..], 1..4),
    ) {
        let mut recall = Recall::new(7);
        let mut living: BTreeMap<String, Note> = BTreeMap::new();
        for (note, step) in steps {
            match step {
                0 => {
                    // Removes an old one with the same first letter, if there is any.
                    let key = living.keys().find(|key| key[..1] == note.key[..1]).cloned();
                    let key = key.unwrap_or(note.key);
                    recall.remove(&key);
                    living.remove(&key);
                }
                1 => recall.compact(),
                _ => {
                    put(&mut recall, &note);
                    living.insert(note.key.clone(), note);
                }
            }
        }
        let notes: Vec<Note> = living.into_values().rev().collect();
        let text = query.join(" ");
        let fresh = index(&notes);
        let bytes = recall.save();
        let loaded = Recall::load(9, &bytes, &mut |key| Some(Arc::from(key)), &mut one_by_one);
        let loaded = loaded.expect("own bytes");
        prop_assert_eq!(recall.len(), notes.len());
        for profile in [Profile::Fast, Profile::Balanced] {
            for limit in [3, 100] {
                let options = SearchOptions { profile, limit, ..SearchOptions::default() };
                let found = recall.search(&text, &options, &mut |_| true);
                prop_assert_eq!(&found, &fresh.search(&text, &options, &mut |_| true));
                prop_assert_eq!(&found, &loaded.search(&text, &options, &mut |_| true));
                if profile == Profile::Balanced {
                    let found: Vec<_> = found.iter().map(|hit| (String::from(&*hit.key), hit.score)).collect();
                    let mut wanted = scores(&notes, &query);
                    wanted.truncate(limit);
                    prop_assert_eq!(found.len(), wanted.len());
                    for (found, wanted) in found.iter().zip(&wanted) {
                        prop_assert_eq!(found.1.total_cmp(&wanted.1), Ordering::Equal);
                        prop_assert_eq!(&found.0, &wanted.0);
                    }
                }
            }
        }
    }
}

/// A value of one to three words, each some times, among other words of any number.
fn a_value() -> impl Strategy<Value = String> {
    let words = proptest::collection::vec((proptest::sample::select(&POOL[..]), 1_usize..4), 1..4);
    (words, proptest::sample::select(&[0_usize, 1, 2, 7, 150, 198, 260, 1_500][..])).prop_map(|(words, others)| {
        let words = words.into_iter().flat_map(|(word, times)| core::iter::repeat_n(word, times));
        words.chain(core::iter::repeat_n("zzz", others)).collect::<Vec<_>>().join(" ")
    })
}

proptest! {
    /// Most documents are passed over because they cannot take a place: none may be that could.
    #[test]
    fn few_places_among_values_of_any_length_go_to_the_best(
        values in proptest::collection::vec((a_value(), 0_u8..3), 8..40),
        keyed in proptest::sample::subsequence(&["paint", "maria", "tea"][..], 0..3),
        query in proptest::sample::subsequence(&["painting", "maria", "teapo", "tea", "happy"][..], 1..4),
        limit in 1_usize..5,
    ) {
        let of = |(place, (value, importance)): (usize, (String, u8))| Note {
            key: if place % 5 == 0 { format!("k{place}. {}", keyed.join(" ")) } else { format!("k{place}") },
            importance: f64::from(importance),
            changed: 7 * place as u64 % 11,
            ..note("", &format!("\"{value}\""))
        };
        let notes: Vec<Note> = values.into_iter().enumerate().map(of).collect();
        let options = SearchOptions { limit, ..SearchOptions::default() };
        let found = index(&notes).search(&query.join(" "), &options, &mut |_| true);
        let mut wanted = scores(&notes, &query);
        wanted.truncate(limit);
        let found: Vec<_> = found.iter().map(|hit| (String::from(&*hit.key), hit.score.to_bits())).collect();
        let wanted: Vec<_> = wanted.into_iter().map(|(key, score)| (key, score.to_bits())).collect();
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn a_stem_that_is_remembered_is_that_of_the_word(
        words in proptest::collection::vec(
            "(relat|happi|paint|analys|went|go)(|e|s|es|is|ed|ing|ion|ions|ional|ness|er|y)", 1..40),
    ) {
        let mut kept = Dictionary::new(3);
        for word in &words {
            kept.intern(word);
        }
        let mut bytes = Vec::new();
        kept.to_write().write(&mut alloc::vec![true; kept.len()], &mut bytes);
        let read = Dictionary::read(4, &mut Reader::new(&bytes)).expect("own bytes");
        let none = Dictionary::new(0);
        for word in &words {
            prop_assert_eq!(kept.stem(word), none.stem(word));
            prop_assert_eq!(read.stem(word), none.stem(word));
        }
    }
}
