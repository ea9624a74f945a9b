//! Reading by hand gives what reading in the general way gives, of whatever bytes.

use std::sync::Arc;

use bilinc_core::*;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};

use super::sample::sample;
use super::{at, key, kinds, operation};
use crate::codec::v1::{Actors, BodyV1, OperationV1, Place, RecordV1, quick};
use crate::codec::{Decoder, config, encode, next, whole};

/// A change to what was written.
#[derive(Debug, Clone)]
enum Harm {
    Set(usize, u8),
    Cut(usize),
    Insert(usize, u8),
    /// A number written with more bytes than it needs.
    Widen(usize, u8),
}

impl Harm {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let len = bytes.len().max(1);
        match *self {
            Self::Set(at, byte) => bytes.iter_mut().skip(at % len).take(1).for_each(|old| *old = byte),
            Self::Cut(at) => bytes.truncate(at % len),
            Self::Insert(at, byte) => bytes.insert(at % len, byte),
            Self::Widen(at, width) => widen(bytes, at % len, width),
        }
    }
}

fn widen(bytes: &mut Vec<u8>, at: usize, width: u8) {
    if bytes.is_empty() {
        return;
    }
    let (marker, zeros) = [(251, 1), (252, 3), (253, 7), (254, 15)][usize::from(width % 4)];
    bytes.splice(at + 1..at + 1, std::iter::repeat_n(0, zeros));
    bytes.insert(at, marker);
}

fn harms() -> impl Strategy<Value = Vec<Harm>> {
    let edges = prop_oneof![any::<u8>(), 0_u8..4, 248_u8..];
    let harm = prop_oneof![
        4 => (any::<usize>(), edges.clone()).prop_map(|(at, byte)| Harm::Set(at, byte)),
        1 => any::<usize>().prop_map(Harm::Cut),
        1 => (any::<usize>(), edges).prop_map(|(at, byte)| Harm::Insert(at, byte)),
        2 => (any::<usize>(), any::<u8>()).prop_map(|(at, width)| Harm::Widen(at, width)),
    ];
    prop::collection::vec(harm, 0..4)
}

fn name() -> impl Strategy<Value = Arc<str>> {
    prop_oneof!["agent", "s-1", "", "[a-zé\u{1f600}]{0,300}"].prop_map(Arc::from)
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

fn committed() -> impl Strategy<Value = Event> {
    let times = (time(), time(), prop::option::of(time()))
        .prop_map(|(created_at, updated_at, confirmed_at)| ImportedTimes { created_at, updated_at, confirmed_at });
    let bytes = || prop_oneof![0_u32..300, any::<u32>()];
    let parts = ("[a-zü]{1,300}", any::<bool>(), facts(), prop::option::of(times), bytes(), bytes());
    parts.prop_map(|(text, created, facts, times, value_bytes, metadata_bytes)| {
        Event::Committed(Committed {
            key: key(&text),
            created,
            facts,
            times,
            version: Version::from_u128(0),
            value_bytes,
            metadata_bytes,
        })
    })
}

/// The permanent part of an operation and how many events it has.
fn permanent() -> impl Strategy<Value = (Vec<u8>, u32)> {
    let other = (0_usize..21).prop_map(|at| sample(OperationId::from_u128(1)).swap_remove(at));
    let events = prop::collection::vec(prop_oneof![4 => committed(), 1 => other], 1..4);
    let kind = prop_oneof![Just(0_usize), Just(8), 0_usize..15];
    (events, kind, name(), prop::option::of(name()), prop::option::of(name())).prop_map(
        |(events, kind, source, session_id, idempotency)| {
            let mut events = operation(kinds()[kind], events);
            let actor = Actor { source, session_id };
            let shared = Arc::new(Operation { actor, idempotency, ..(*events[0].operation).clone() });
            events.iter_mut().for_each(|event| event.operation = Arc::clone(&shared));
            (encode(&events).unwrap().permanent, shared.count)
        },
    )
}

fn place(count: u32) -> Place {
    Place { first: Seq::new(1), count, at: at(1_700_000_000_000_000), clock_back: false }
}

/// All of it in the general way.
fn general(mut rest: &[u8], count: u32) -> Result<Vec<RecordedEvent>, String> {
    let place = place(count);
    let (operation, announced): (OperationV1<'_>, u64) = next(&mut rest)?;
    if announced != u64::from(count) {
        return Err(format!("{announced} events where {count} are announced"));
    }
    let operation = Arc::new(operation.into_operation(&place, &mut Actors::default()));
    let read = |index| next::<RecordV1<'_>>(&mut rest)?.into_event(&operation, index);
    let events = (0..count).map(read).collect::<Result<Vec<_>, _>>()?;
    if rest.is_empty() { Ok(events) } else { Err(format!("{} bytes left over", rest.len())) }
}

fn agree(bytes: &[u8], count: u32, decoder: &mut Decoder) {
    let mut events = Vec::new();
    let read = decoder.facts(bytes, &place(count), &mut events).map(|()| events);
    // What is no number equals nothing, so texts are compared.
    assert_eq!(format!("{read:?}"), format!("{:?}", general(bytes, count)), "{bytes:?}");
}

fn agree_on_a_body(bytes: &[u8]) {
    if let Some(body) = quick::body(bytes) {
        assert_eq!(Ok(body), whole::<BodyV1<'_>>(bytes).map(Body::from), "{bytes:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn operations_read_by_hand_are_what_bincode_reads((mut bytes, count) in permanent(), harms in harms()) {
        // Names of another operation are at hand.
        let mut decoder = Decoder::default();
        agree(&bytes, count, &mut decoder);
        harms.iter().for_each(|harm| harm.apply(&mut bytes));
        agree(&bytes, count, &mut decoder);
    }

    #[test]
    fn bodies_read_by_hand_are_what_bincode_reads(
        value in prop::option::of(name()),
        metadata in prop::option::of(name()),
        fingerprint in any::<Option<[u8; 32]>>(),
        harms in harms(),
    ) {
        let json = |text: Option<Arc<str>>| text.map(|text| Json::from_recorded(&text));
        let fingerprint = fingerprint.map(Fingerprint);
        let body = Body { value: json(value), metadata: json(metadata), fingerprint };
        let mut bytes = bincode::encode_to_vec(BodyV1::from(&body), config()).unwrap();
        prop_assert_eq!(quick::body(&bytes), Some(body));
        harms.iter().for_each(|harm| harm.apply(&mut bytes));
        agree_on_a_body(&bytes);
    }

    #[test]
    fn any_bytes_are_read_alike(mut bytes in prop::collection::vec(prop_oneof![0_u8..4, any::<u8>()], 0..120)) {
        agree(&bytes, 1, &mut Decoder::default());
        agree_on_a_body(&bytes);
        // Behind an operation that is known.
        let head = [&[7; 16][..], &[0, 1, b'a', 0, 0, 1, 0, 0]].concat();
        bytes.splice(0..0, head);
        agree(&bytes, 1, &mut Decoder::default());
    }
}

#[test]
fn a_commit_is_read_by_hand_and_agrees_however_one_byte_of_it_is_changed() {
    let events = operation(OperationKind::Commit, vec![sample(OperationId::from_u128(1)).swap_remove(0)]);
    let bytes = encode(&events).unwrap().permanent;
    let (mut rest, mut read, place) = (&bytes[..], Vec::new(), place(1));
    let (operation, count) = quick::operation(&mut rest, &place, &mut Actors::default()).unwrap();
    assert_eq!(count, 1);
    quick::committed(&mut rest, &Arc::new(operation), 0, &mut read).unwrap();
    assert_eq!((rest.len(), read.len()), (0, 1));
    for at in 0..bytes.len() {
        for byte in (0..10).chain(248..=255).chain([bytes[at] ^ 0x40, bytes[at] ^ 0x80]) {
            let mut changed = bytes.clone();
            changed[at] = byte;
            agree(&changed, 1, &mut Decoder::default());
        }
        for width in 0..4 {
            let mut changed = bytes.clone();
            widen(&mut changed, at, width);
            agree(&changed, 1, &mut Decoder::default());
        }
        agree(&bytes[..at], 1, &mut Decoder::default());
    }
}
