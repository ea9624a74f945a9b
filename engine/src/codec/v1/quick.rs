//! The commonest operations and their bodies, read by hand.
//!
//! What a log mostly holds is commits. Reading one through the general structures of [`super`] moves each event
//! several times and checks names that are the same time and again. Here the same bytes are read in one go to where
//! the event stays. A value is known in full or not at all: whatever is not as it mostly is gives `None`, with
//! nothing moved past, and is then read in the general way, which also says what is wrong with it. So this must never
//! accept what the general way refuses, nor read it otherwise; a property test holds that.

use std::sync::Arc;

use bilinc_core::{
    Actor, Body, Committed, Event, Facts, Fingerprint, ImportId, ImportedTimes, Json, Key, MemoryType, Operation,
    OperationId, OperationKind, RecordedEvent, Seq, Timestamp, Version,
};

use super::{Actors, Place};

/// An operation of a commit or an import, and how many events it announces.
pub(in crate::codec) fn operation(bytes: &mut &[u8], place: &Place, actors: &mut Actors) -> Option<(Operation, u64)> {
    let mut rest = Reader(bytes);
    let id = OperationId::from_u128(u128::from_be_bytes(rest.array()?));
    let kind = match rest.byte()? {
        0 => OperationKind::Commit,
        8 => OperationKind::Import(ImportId::from_u128(u128::from_be_bytes(rest.array()?))),
        _ => return None,
    };
    let source = rest.slice()?;
    let session_id = if rest.flag()? { Some(rest.slice()?) } else { None };
    let idempotency = if rest.flag()? { Some(Arc::from(rest.text()?)) } else { None };
    let count = rest.u64()?;
    let operation = Operation {
        id,
        at: place.at,
        clock_back: place.clock_back,
        actor: actors.actor_of(source, session_id)?,
        kind,
        idempotency,
        first: place.first,
        count: place.count,
    };
    *bytes = rest.0;
    Some((operation, count))
}

/// The record of an entry that was committed, put behind the other events.
pub(in crate::codec) fn committed(
    bytes: &mut &[u8],
    operation: &Arc<Operation>,
    index: u32,
    events: &mut Vec<RecordedEvent>,
) -> Option<()> {
    let mut rest = Reader(bytes);
    let seq = operation.first.plus(u64::from(index));
    let prev = rest.u64()?;
    if prev >= seq.get() || rest.byte()? != 0 {
        return None;
    }
    let key = rest.text()?;
    let created = rest.flag()?;
    let memory_type = *MemoryType::ALL.get(usize::from(rest.byte()?))?;
    let importance = rest.number()?.unwrap_or(1.0);
    let Actor { source: own_source, session_id: own_session } = &operation.actor;
    let source = match rest.byte()? {
        0 => Arc::clone(own_source),
        2 => Arc::from(rest.text()?),
        _ => return None,
    };
    let session_id = match rest.byte()? {
        0 => own_session.clone(),
        1 => None,
        2 => Some(Arc::from(rest.text()?)),
        _ => return None,
    };
    let canonical = if rest.flag()? { Some(rest.flag()?) } else { None };
    let (priority, ttl) = (rest.number()?, rest.number()?);
    let times = if rest.flag()? { Some(rest.times()?) } else { None };
    let (value_bytes, metadata_bytes) = (rest.u32()?, rest.u32()?);
    *bytes = rest.0;
    events.push(RecordedEvent {
        seq,
        prev: Seq::new(prev),
        operation: Arc::clone(operation),
        event: Event::Committed(Committed {
            key: Key::from_recorded(key),
            created,
            facts: Facts { memory_type, importance, source, session_id, canonical, priority, ttl },
            times,
            version: Version::of(operation.id, index),
            value_bytes,
            metadata_bytes,
        }),
        body: None,
    });
    Some(())
}

/// A body that takes up all the bytes.
pub(in crate::codec) fn body(bytes: &[u8]) -> Option<Body> {
    let mut rest = Reader(bytes);
    let value = if rest.flag()? { Some(rest.text()?) } else { None };
    let metadata = if rest.flag()? { Some(rest.text()?) } else { None };
    let fingerprint = if rest.flag()? { Some(Fingerprint(rest.array()?)) } else { None };
    rest.0.is_empty().then(|| Body {
        value: value.map(Json::from_recorded),
        metadata: metadata.map(Json::from_recorded),
        fingerprint,
    })
}

/// Reads what bincode writes with variable-length, little-endian integers.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    /// A `bool`, or whether an option is there.
    #[inline]
    fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// A number may be written longer than it needs to be; bincode reads that, too.
    #[inline]
    fn u32(&mut self) -> Option<u32> {
        match self.byte()? {
            byte @ ..=250 => Some(u32::from(byte)),
            251 => self.array().map(|bytes| u32::from(u16::from_le_bytes(bytes))),
            252 => self.array().map(u32::from_le_bytes),
            253.. => None,
        }
    }

    #[inline]
    fn u64(&mut self) -> Option<u64> {
        match self.byte()? {
            byte @ ..=250 => Some(u64::from(byte)),
            251 => self.array().map(|bytes| u64::from(u16::from_le_bytes(bytes))),
            252 => self.array().map(|bytes| u64::from(u32::from_le_bytes(bytes))),
            253 => self.array().map(u64::from_le_bytes),
            254.. => None,
        }
    }

    /// Bytes behind their length.
    #[inline]
    fn slice(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.u64()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    #[inline]
    fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.slice()?).ok()
    }

    #[inline]
    fn number(&mut self) -> Option<Option<f64>> {
        Some(if self.flag()? { Some(f64::from_le_bytes(self.array()?)) } else { None })
    }

    fn time(&mut self) -> Option<Timestamp> {
        // The lowest bit is the sign.
        let folded = self.u64()?;
        let half = (folded >> 1).cast_signed();
        Some(Timestamp::from_micros(if folded & 1 == 0 { half } else { !half }))
    }

    fn times(&mut self) -> Option<ImportedTimes> {
        Some(ImportedTimes {
            created_at: self.time()?,
            updated_at: self.time()?,
            confirmed_at: if self.flag()? { Some(self.time()?) } else { None },
        })
    }
}
