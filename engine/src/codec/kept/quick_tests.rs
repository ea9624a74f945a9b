//! Reading by hand gives what reading in the general way gives, of whatever bytes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::borrow::Cow;

use bilinc_core::{DreamId, OpenFlag, Row};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};

use super::super::rows::{RowDecoder, encode_row, next_row};
use super::*;

fn name() -> impl Strategy<Value = Arc<str>> {
    prop_oneof!["agent", "s-1", "", "[a-zé\u{1f600}]{0,300}"].prop_map(Arc::from)
}

fn seq() -> impl Strategy<Value = Seq> {
    prop_oneof![0_u64..300, any::<u64>()].prop_map(Seq::new)
}

fn time() -> impl Strategy<Value = Timestamp> {
    prop_oneof![any::<i64>(), -300_i64..300].prop_map(Timestamp::from_micros)
}

fn facts() -> impl Strategy<Value = Facts> {
    let number = || prop::option::of(any::<f64>());
    let importance = prop_oneof![Just(1.0), any::<f64>()];
    let parts = (0_usize..5, importance, name(), prop::option::of(name()), any::<Option<bool>>(), number(), number());
    parts.prop_map(|(memory_type, importance, source, session_id, canonical, priority, ttl)| Facts {
        memory_type: MemoryType::ALL[memory_type],
        importance,
        source,
        session_id,
        canonical,
        priority,
        ttl,
    })
}

fn entry() -> impl Strategy<Value = Entry> {
    let bytes = || prop_oneof![0_u32..300, any::<u32>()];
    let times = (time(), time(), prop::option::of(time()));
    let flag = (seq(), any::<Option<u128>>(), name(), time()).prop_map(|(seq, dream, reason, at)| OpenFlag {
        seq,
        dream: dream.map(DreamId::from_u128),
        reason,
        evidence_keys: vec![Key::from_recorded("evidence")],
        at,
    });
    let flags = prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(flag, 1..3)];
    let parts = (facts(), times, any::<u128>(), (seq(), seq()), (bytes(), bytes()), flags, any::<bool>());
    parts.prop_map(|(facts, times, version, places, bytes, flags, incomplete)| Entry {
        facts,
        created_at: times.0,
        updated_at: times.1,
        confirmed_at: times.2,
        version: Version::from_u128(version),
        value_at: places.0,
        metadata_at: places.1,
        value_bytes: bytes.0,
        metadata_bytes: bytes.1,
        flags,
        incomplete,
    })
}

fn row() -> impl Strategy<Value = Row<'static>> {
    let slot = ((seq(), seq(), seq(), seq(), seq()), time(), prop::option::of(entry()));
    let slot = slot.prop_map(|((head, changed, hidden_through, purged_through, lost_at), changed_at, entry)| Slot {
        head,
        changed,
        changed_at,
        hidden_through,
        purged_through,
        lost_at,
        entry,
    });
    let slot = ("[a-zü]{0,300}", slot)
        .prop_map(|(key, slot)| Row::Slot(Cow::Owned(Key::from_recorded(&key)), Cow::Owned(slot)));
    let other = (name(), time()).prop_map(|(name, at)| Row::Remembered { name, at, record: None });
    prop_oneof![6 => slot, 1 => other]
}

fn encoded(rows: &[Row<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    rows.iter().for_each(|row| encode_row(row, &mut bytes).unwrap());
    bytes
}

fn general(mut rest: &[u8]) -> Result<Vec<Row<'static>>, String> {
    let mut rows = Vec::new();
    while !rest.is_empty() {
        rows.push(next_row(&mut rest)?);
    }
    Ok(rows)
}

fn by_hand(bytes: &[u8]) -> Result<Vec<Row<'static>>, String> {
    let rows = std::cell::RefCell::new(Vec::new());
    let slot = |key, slot| rows.borrow_mut().push(Row::Slot(Cow::Owned(key), Cow::Owned(slot)));
    let number = RowDecoder::default().decode(bytes, &mut |row| rows.borrow_mut().push(row), slot)?;
    let rows = rows.into_inner();
    assert_eq!(number, rows.len() as u64);
    Ok(rows)
}

fn agree(bytes: &[u8]) {
    // What is no number equals nothing, so texts are compared.
    assert_eq!(format!("{:?}", by_hand(bytes)), format!("{:?}", general(bytes)), "{bytes:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn rows_read_by_hand_are_what_bincode_reads(
        rows in prop::collection::vec(row(), 1..4),
        harms in prop::collection::vec((any::<usize>(), prop_oneof![any::<u8>(), 0_u8..4, 248_u8..], 0..4), 0..4),
    ) {
        let mut bytes = encoded(&rows);
        prop_assert_eq!(format!("{:?}", by_hand(&bytes)), format!("{:?}", Ok::<_, String>(rows)));
        for (at, byte, kind) in harms {
            let at = at % bytes.len().max(1);
            match kind {
                0 | 1 => bytes.iter_mut().skip(at).take(1).for_each(|old| *old = byte),
                2 => bytes.insert(at.min(bytes.len()), byte),
                _ => bytes.truncate(at),
            }
        }
        agree(&bytes);
    }

    #[test]
    fn any_bytes_behind_the_head_of_a_slot_are_read_alike(
        tail in prop::collection::vec(prop_oneof![0_u8..4, any::<u8>()], 0..120),
    ) {
        agree(&tail);
        agree(&[&[SLOT, 1, b'k', 1, 1, 2, 0, 0, 0, 1][..], &tail].concat());
    }
}

#[test]
fn a_slot_is_read_by_hand_and_agrees_however_one_byte_of_it_is_changed() {
    let entry = Entry {
        facts: Facts {
            memory_type: MemoryType::Episodic,
            importance: 0.5,
            source: "agent".into(),
            session_id: Some("s-1".into()),
            canonical: Some(true),
            priority: Some(0.25),
            ttl: None,
        },
        created_at: Timestamp::from_micros(1_700_000_000_000_000),
        updated_at: Timestamp::from_micros(-70_000),
        confirmed_at: Some(Timestamp::from_micros(3)),
        version: Version::from_u128(9),
        value_at: Seq::new(300),
        metadata_at: Seq::new(70_000),
        value_bytes: 200,
        metadata_bytes: 2_000,
        flags: Vec::new(),
        incomplete: false,
    };
    let slot = Slot { head: Seq::new(300), changed: Seq::new(300), entry: Some(entry), ..Slot::default() };
    let bytes = encoded(&[Row::Slot(Cow::Owned(Key::from_recorded("db.port")), Cow::Owned(slot.clone()))]);
    let mut rest = &bytes[..];
    assert_eq!(super::slot(&mut rest, &mut Names::default()), Some((Key::from_recorded("db.port"), slot)));
    assert!(rest.is_empty());
    for at in 0..bytes.len() {
        for byte in (0..10).chain(248..=255).chain([bytes[at] ^ 0x40, bytes[at] ^ 0x80]) {
            let mut changed = bytes.clone();
            changed[at] = byte;
            agree(&changed);
        }
        // The same number with more bytes than it needs.
        for (marker, zeros) in [(251, 1), (252, 3), (253, 7), (254, 15)] {
            let mut changed = bytes.clone();
            changed.splice(at + 1..at + 1, std::iter::repeat_n(0, zeros));
            changed.insert(at, marker);
            agree(&changed);
        }
        agree(&bytes[..at]);
    }
}
