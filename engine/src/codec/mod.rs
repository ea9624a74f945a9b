//! Operations to bytes and back.
//!
//! The only place that knows bincode. A frame names the codec that wrote it, so another one can be
//! added beside this without touching what is written.

pub(crate) mod kept;
#[cfg(test)]
mod tests;
mod v1;

use std::sync::Arc;

use bilinc_core::{Body, Json, RecordedEvent, Seq, Timestamp};
use bincode::enc::Encode;
use bincode::enc::write::Writer;
use bincode::error::EncodeError;

use self::v1::{Actors, BodyV1, OperationV1, Place, RecordV1, quick};
use crate::error::EngineError;
use crate::log::{self, BodyState, Frame, FrameDraft, StoredBody};

/// The codec of this version, as frames name it.
pub(crate) const CODEC_V1: u8 = 1;

/// What bincode counts: every number at its full width, which is at most eight times what it takes on
/// the disk, and a frame has at most 64 MiB there. Nothing is allocated by a length alone, see `v1::list`.
const LIMIT: usize = 8 * 64 * 1024 * 1024;

/// Variable-length integers, little-endian.
fn config() -> impl bincode::config::Config {
    bincode::config::standard().with_limit::<LIMIT>()
}

/// Which bodies to decode with the facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bodies {
    /// None: facts alone.
    None,
    /// Those of operations with an idempotency key: what folding into the state needs.
    ForState,
    /// All that are not erased and can be read: for who reads again, and singly, what is missing.
    Readable,
    /// All that are not erased.
    All,
}

/// The frame of an operation.
pub(crate) fn encode(events: &[RecordedEvent]) -> Result<FrameDraft, EngineError> {
    let Some(first) = events.first() else {
        return Err(unreadable(Seq::ZERO, "an operation without events"));
    };
    let failed = |error: EncodeError| unreadable(first.seq, error);
    let wire = (OperationV1::of(&first.operation), RecordV1::list(&first.operation, events));
    let permanent = encoded(&wire, PERMANENT_BYTES.saturating_mul(events.len())).map_err(failed)?;
    let mut bodies = Vec::new();
    for (event_index, event) in (0_u32..).zip(events) {
        if let Some(body) = &event.body {
            let bytes = encoded(&BodyV1::from(body), body_bytes(body)).map_err(failed)?;
            bodies.push(log::Body { event_index, bytes });
        }
    }
    Ok(FrameDraft {
        count: first.operation.count,
        time: first.operation.at.micros(),
        clock_back: first.operation.clock_back,
        codec: CODEC_V1,
        permanent,
        bodies,
    })
}

/// About what the facts of an event take.
const PERMANENT_BYTES: usize = 128;

/// About what a body takes.
fn body_bytes(body: &Body) -> usize {
    const BESIDE: usize = 48;
    let bytes = |text: &Option<Json>| text.as_ref().map_or(0, |text| text.as_str().len());
    bytes(&body.value).saturating_add(bytes(&body.metadata)).saturating_add(BESIDE)
}

/// The bytes of a value that takes about so many.
fn encoded(value: &impl Encode, about: usize) -> Result<Vec<u8>, EncodeError> {
    let mut out = Out(Vec::with_capacity(about));
    bincode::encode_into_writer(value, &mut out, config())?;
    Ok(out.0)
}

/// Takes bytes as they come: bincode's own way to a vector goes through each value twice, for its size first.
struct Out(Vec<u8>);

impl Writer for Out {
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// The events of a frame.
pub(crate) fn decode(frame: &Frame, bodies: Bodies) -> Result<Vec<RecordedEvent>, EngineError> {
    let mut events = Vec::new();
    Decoder::default().decode(frame, bodies, &mut events, &mut |stored| body_in(&stored))?;
    Ok(events)
}

/// Decodes frame after frame, and what operations have in common once.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    actors: Actors,
}

impl Decoder {
    /// Adds the events of a frame to others; the body of an event is what `body` makes of the one that is stored.
    /// After an error some of them may be there.
    pub(crate) fn decode(
        &mut self,
        frame: &Frame,
        bodies: Bodies,
        events: &mut Vec<RecordedEvent>,
        body: &mut dyn FnMut(StoredBody<'_>) -> Result<Option<Body>, EngineError>,
    ) -> Result<(), EngineError> {
        let first = Seq::new(frame.first_seq());
        if frame.codec() != CODEC_V1 {
            let reason = format!("it was written with codec {}, this version knows {CODEC_V1}", frame.codec());
            return Err(unreadable(first, reason));
        }
        let before = events.len();
        let place = Place {
            first,
            count: frame.count(),
            at: Timestamp::from_micros(frame.time()),
            clock_back: frame.clock_back(),
        };
        self.facts(frame.permanent(), &place, events).map_err(|reason| unreadable(first, reason))?;
        let events = events.get_mut(before..).unwrap_or_default();
        let with_bodies = match bodies {
            Bodies::None => false,
            Bodies::ForState => events.first().is_some_and(|event| event.operation.idempotency.is_some()),
            Bodies::Readable | Bodies::All => true,
        };
        if with_bodies {
            // Both are in the order of the events.
            let mut stored = frame.bodies().peekable();
            for (event_index, event) in (0_u32..).zip(events) {
                if let Some(stored) = stored.next_if(|stored| stored.event_index() == event_index) {
                    event.body = body(stored)?;
                }
            }
        }
        Ok(())
    }

    /// The events without their bodies.
    fn facts(&mut self, mut rest: &[u8], place: &Place, events: &mut Vec<RecordedEvent>) -> Result<(), String> {
        let (operation, count) = match quick::operation(&mut rest, place, &mut self.actors) {
            Some(read) => read,
            None => {
                let (operation, count): (OperationV1<'_>, u64) = next(&mut rest)?;
                (operation.into_operation(place, &mut self.actors), count)
            }
        };
        if count != u64::from(place.count) {
            return Err(format!("{count} events where {} are announced", place.count));
        }
        let operation = Arc::new(operation);
        for event_index in 0..place.count {
            if quick::committed(&mut rest, &operation, event_index, events).is_none() {
                let record: RecordV1<'_> = next(&mut rest)?;
                events.push(record.into_event(&operation, event_index)?);
            }
        }
        if rest.is_empty() { Ok(()) } else { Err(format!("{} bytes left over", rest.len())) }
    }
}

/// A body that is stored; `None` when it was erased.
pub(crate) fn body_in(stored: &StoredBody<'_>) -> Result<Option<Body>, EngineError> {
    match stored.read().map_err(log::LogError::Damage)? {
        BodyState::Present(bytes) => {
            if let Some(body) = quick::body(bytes) {
                return Ok(Some(body));
            }
            let body: BodyV1<'_> = whole(bytes).map_err(|reason| unreadable(Seq::new(stored.seq()), reason))?;
            Ok(Some(Body::from(body)))
        }
        BodyState::Zeroed => Ok(None),
    }
}

/// Decodes the next value and moves past it.
fn next<'de, T: bincode::BorrowDecode<'de, ()>>(rest: &mut &'de [u8]) -> Result<T, String> {
    let (value, used) = bincode::borrow_decode_from_slice(rest, config()).map_err(|error| error.to_string())?;
    *rest = rest.get(used..).unwrap_or_default();
    Ok(value)
}

/// Decodes a value that takes up all the bytes.
fn whole<'de, T: bincode::BorrowDecode<'de, ()>>(bytes: &'de [u8]) -> Result<T, String> {
    match bincode::borrow_decode_from_slice(bytes, config()) {
        Ok((value, used)) if used == bytes.len() => Ok(value),
        Ok((_, used)) => Err(format!("{} bytes left over", bytes.len().saturating_sub(used))),
        Err(error) => Err(error.to_string()),
    }
}

fn unreadable(position: Seq, reason: impl ToString) -> EngineError {
    EngineError::Unreadable { position, reason: reason.to_string() }
}
