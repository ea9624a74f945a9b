//! What is written once must be read for ever: every event goes through the codec unchanged, and the
//! numbers of the variants and the bytes of a sample are frozen.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod quick;
mod sample;

use std::sync::Arc;

use bilinc_core::*;

use self::sample::sample;
use super::{Bodies, decode, encode};
use crate::log::{Log, LogOptions};
use crate::storage::MemoryStorage;

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

fn operation(kind: OperationKind, events: Vec<Event>) -> Vec<RecordedEvent> {
    let operation = Arc::new(Operation {
        id: OperationId::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0001),
        at: at(1_700_000_000_000_000),
        clock_back: true,
        actor: Actor { source: "agent".into(), session_id: Some("s-1".into()) },
        kind,
        idempotency: Some("once".into()),
        first: Seq::new(1),
        count: u32::try_from(events.len()).unwrap(),
    });
    let body = Body {
        value: Some(Json::parse("[1.10]", 100).unwrap()),
        metadata: Some(Json::parse(r#"{"m":null}"#, 100).unwrap()),
        fingerprint: Some(Fingerprint([7; 32])),
    };
    (0_u64..)
        .zip(events)
        .map(|(index, event)| RecordedEvent {
            seq: Seq::new(1 + index),
            prev: Seq::new(index),
            operation: Arc::clone(&operation),
            body: (index < 2).then(|| body.clone()),
            event,
        })
        .collect()
}

fn whole() -> Vec<RecordedEvent> {
    operation(
        OperationKind::Import(ImportId::from_u128(11)),
        sample(OperationId::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0001)),
    )
}

/// Through a real log, since a frame is only made by one.
fn round_trip(events: &[RecordedEvent]) -> Vec<RecordedEvent> {
    let (log, _) = Log::open(Arc::new(MemoryStorage::new()), LogOptions::default(), 1).unwrap();
    log.begin_append().unwrap().append(&[encode(events).unwrap()]).unwrap();
    log.sync_through(events.len() as u64).unwrap();
    decode(&log.frame_at(1).unwrap(), Bodies::All).unwrap()
}

#[test]
fn every_event_comes_back_as_it_was_recorded() {
    let events = whole();
    assert_eq!(round_trip(&events), events);
}

#[test]
fn every_kind_of_operation_and_selection_comes_back() {
    let selections = selections();
    for (index, kind) in kinds().into_iter().enumerate() {
        let mut events = sample(OperationId::from_u128(1));
        let Event::Undone(undone) = events.swap_remove(14) else { panic!("the sample changed") };
        let selection = selections[index % selections.len()].clone();
        let events = operation(kind, vec![Event::Undone(Undone { selection, ..undone })]);
        assert_eq!(round_trip(&events), events);
    }
}

fn kinds() -> [OperationKind; 15] {
    let dream = DreamId::from_u128(9);
    [
        OperationKind::Commit,
        OperationKind::Revise,
        OperationKind::Forget,
        OperationKind::Confirm,
        OperationKind::Flag,
        OperationKind::Unflag,
        OperationKind::Snapshot,
        OperationKind::Rollback(SnapshotId::from_u128(8)),
        OperationKind::Import(ImportId::from_u128(11)),
        OperationKind::DreamStart(dream),
        OperationKind::DreamApply(dream),
        OperationKind::DreamUndo(dream),
        OperationKind::Undo,
        OperationKind::PurgeCompletion,
        OperationKind::Salvage,
    ]
}

fn selections() -> [Selection; 7] {
    [
        Selection::Dream(DreamId::from_u128(9)),
        Selection::Session("s".into()),
        Selection::Source("".into()),
        Selection::Import(ImportId::from_u128(11)),
        Selection::Range(Seq::new(1), Seq::new(u64::MAX)),
        Selection::Time { after: None, before: Some(Timestamp::MIN) },
        Selection::Seqs(vec![Seq::new(1), Seq::new(300)]),
    ]
}

/// The bytes of the first event.
fn record(events: &[RecordedEvent]) -> Vec<u8> {
    let list = super::v1::RecordV1::list(&events[0].operation, events);
    bincode::encode_to_vec(&list[0], super::config()).unwrap()
}

/// The events in a permanent part, at the place of [`operation`].
fn facts(permanent: &[u8], count: u32) -> Result<Vec<RecordedEvent>, String> {
    let place = super::v1::Place { first: Seq::new(1), count, at: at(1_700_000_000_000_000), clock_back: true };
    let mut events = Vec::new();
    super::Decoder::default().facts(permanent, &place, &mut events).map(|()| events)
}

#[test]
fn the_numbers_of_the_variants_are_frozen() {
    for (index, event) in sample(OperationId::from_u128(1)).into_iter().enumerate() {
        assert_eq!(Event::NAMES[index], event.name(), "the sample holds every event in order");
        let events = operation(OperationKind::Commit, vec![event]);
        let record = record(&events);
        // A record begins with the link to the previous event, here 0, then the variant's number.
        assert_eq!(record[..2], [0, u8::try_from(index).unwrap()], "{}", Event::NAMES[index]);
    }
    assert_eq!(sample(OperationId::from_u128(1)).len(), Event::NAMES.len());
}

#[test]
fn the_numbers_of_kinds_selections_conflicts_and_shifts_are_frozen() {
    let bytes = |kind, event| {
        let events = operation(kind, vec![event]);
        encode(&events).unwrap().permanent
    };
    let undone = |selection: &Selection| Undone {
        selection: selection.clone(),
        dream_undo: false,
        restored: Vec::new(),
        conflicts: Vec::new(),
        unchanged: Vec::new(),
        metadata_restored: false,
        dreams: Vec::new(),
    };
    let none = Selection::Seqs(Vec::new());
    for (number, kind) in (0_u8..).zip(kinds()) {
        // Behind the id of the operation.
        assert_eq!(bytes(kind, Event::Undone(undone(&none)))[16], number, "{kind:?}");
    }
    let record_of = |event: Undone| {
        let events = operation(OperationKind::Undo, vec![Event::Undone(event)]);
        record(&events)
    };
    for (number, selection) in (0_u8..).zip(selections()) {
        assert_eq!(record_of(undone(&selection))[..3], [0, 14, number], "{selection:?}");
    }
    for (number, reason) in
        (0_u8..).zip([UndoConflictReason::Changed, UndoConflictReason::Purged, UndoConflictReason::Lost])
    {
        let conflicts = vec![UndoConflict { key: key("k"), reason, change: None }];
        let event = Undone { conflicts, ..undone(&none) };
        assert_eq!(record_of(event), [0, 14, 6, 0, 0, 0, 1, 1, b'k', number, 0, 0, 0, 0]);
    }
    let shifts = [(DreamShift::Undone { partly: true }, &[0, 1][..]), (DreamShift::Redone, &[1][..])];
    for (shift, number) in shifts {
        let event = Undone { dreams: vec![(DreamId::from_u128(0), shift)], ..undone(&none) };
        assert_eq!(record_of(event), [&[0, 14, 6, 0, 0, 0, 0, 0, 0, 1][..], &[0; 16], number].concat());
    }
}

/// BLAKE3 of the bytes of [`whole`] in version 1 of the format: of the events that it began with, and
/// with those that came to it later.
const FROZEN: [(usize, &str); 3] = [
    (17, "fd8c96927376473285a5466176573d7e52d04b6a6c9c38f76fa551024c22088c"),
    (19, "2b862b9c090b3ffedda0b5397f56b5a1c705a6c6224fa333de8bd794f2806d50"),
    (21, "f87e05efbd204e5d6f03ace360e267c11042bae362b31f5c590a90b386ab51ca"),
];

#[test]
fn the_bytes_of_the_first_format_are_frozen() {
    for (count, frozen) in FROZEN {
        assert_eq!(hash_of_first(count), frozen, "the codec writes other bytes than version 1 of the format");
    }
}

fn hash_of_first(count: usize) -> String {
    let mut events = sample(OperationId::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0001));
    events.truncate(count);
    let draft = encode(&operation(OperationKind::Import(ImportId::from_u128(11)), events)).unwrap();
    let mut hasher = blake3::Hasher::new();
    hasher.update(&draft.permanent);
    for body in &draft.bodies {
        hasher.update(&body.bytes);
    }
    hasher.finalize().to_hex().to_string()
}

#[test]
fn damaged_operations_are_refused_and_never_panic() {
    let draft = encode(&whole()).unwrap();
    for cut in 0..draft.permanent.len() {
        let part = draft.permanent.get(..cut).unwrap();
        assert!(facts(part, draft.count).is_err(), "a part of {cut} bytes was read");
    }
    for at in 0..draft.permanent.len() {
        for bit in 0..8 {
            let mut bytes = draft.permanent.clone();
            bytes[at] ^= 1 << bit;
            // A flipped bit may give another valid operation; the frame's checksum tells them apart.
            let _ = facts(&bytes, draft.count);
        }
    }
}

#[test]
fn an_operation_that_is_larger_in_memory_than_a_frame_is_read_as_it_was_written() {
    // An undo of many keys: some bytes each on the disk, some hundred in memory.
    let count = 400_000_u64;
    let removed = |index: u64| {
        Event::Removed(Removed { key: key(&format!("k{index}")), undoes: vec![Seq::new(1); 9], hidden_through: None })
    };
    let mut events = operation(OperationKind::Undo, (0..count).map(removed).collect());
    events.iter_mut().for_each(|event| event.body = None);
    let draft = encode(&events).unwrap();
    assert!(draft.frame_len().unwrap() < 10 << 20);
    assert_eq!(facts(&draft.permanent, draft.count).unwrap(), events);
}

#[test]
fn a_forged_length_of_a_list_is_refused_by_what_follows_it() {
    let events = operation(OperationKind::Commit, vec![sample(OperationId::from_u128(1)).swap_remove(0)]);
    let draft = encode(&events).unwrap();
    let record = record(&events);
    let before = draft.permanent.len() - record.len() - 1;
    assert_eq!(draft.permanent[before], 1, "the number of events");
    for length in [2, 1 << 16, 1 << 26, 1 << 32, 1 << 60, u64::MAX] {
        let number = bincode::encode_to_vec(length, super::config()).unwrap();
        let forged = [&draft.permanent[..before], &number, &record].concat();
        for count in [1, u32::try_from(length).unwrap_or(u32::MAX)] {
            assert!(facts(&forged, count).is_err(), "{length}");
        }
    }
}

#[test]
fn a_writer_that_another_follows_keeps_its_own_name() {
    let mut decoder = super::Decoder::default();
    for (source, session) in [("a", Some("s")), ("a", Some("s")), ("b", Some("s")), ("b", None), ("a", Some("t"))] {
        let mut events = operation(
            OperationKind::Commit,
            vec![sample(OperationId::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0001)).swap_remove(0)],
        );
        let actor = Actor { source: source.into(), session_id: session.map(Arc::from) };
        for event in &mut events {
            (event.operation, event.body) =
                (Arc::new(Operation { actor: actor.clone(), ..(*event.operation).clone() }), None);
        }
        let place = super::v1::Place { first: Seq::new(1), count: 1, at: at(1_700_000_000_000_000), clock_back: true };
        let mut read = Vec::new();
        decoder.facts(&encode(&events).unwrap().permanent, &place, &mut read).unwrap();
        assert_eq!(read, events);
    }
}
