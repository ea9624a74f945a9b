//! Operations to bytes and back.
//!
//! The only place that knows bincode. A frame names the codec that wrote it, so another one can be
//! added beside this without touching what is written.

pub(crate) mod kept;
#[cfg(test)]
mod tests;
mod v1;

use bilinc_core::{Body, RecordedEvent, Seq, Timestamp};

use self::v1::{BodyV1, OperationV1};
use crate::error::EngineError;
use crate::log::{self, BodyState, Frame, FrameDraft};

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
    let failed = |error: bincode::error::EncodeError| unreadable(first.seq, error);
    let wire = OperationV1::from_events(&first.operation, events);
    let permanent = bincode::encode_to_vec(&wire, config()).map_err(failed)?;
    let mut bodies = Vec::new();
    for (event_index, event) in (0_u32..).zip(events) {
        if let Some(body) = &event.body {
            let bytes = bincode::encode_to_vec(BodyV1::from(body), config()).map_err(failed)?;
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

/// The events of a frame.
pub(crate) fn decode(frame: &Frame, bodies: Bodies) -> Result<Vec<RecordedEvent>, EngineError> {
    decode_with(frame, bodies, &mut |event_index| body_of(frame, event_index))
}

/// As [`decode`], the body of the event at an index being what `body` makes of it.
pub(crate) fn decode_with(
    frame: &Frame,
    bodies: Bodies,
    body: &mut dyn FnMut(u32) -> Result<Option<Body>, EngineError>,
) -> Result<Vec<RecordedEvent>, EngineError> {
    let first = Seq::new(frame.first_seq());
    if frame.codec() != CODEC_V1 {
        let reason = format!("it was written with codec {}, this version knows {CODEC_V1}", frame.codec());
        return Err(unreadable(first, reason));
    }
    let wire: OperationV1<'_> = whole(frame.permanent()).map_err(|reason| unreadable(first, reason))?;
    if wire.events.len() as u64 != u64::from(frame.count()) {
        return Err(unreadable(first, format!("{} events where {} are announced", wire.events.len(), frame.count())));
    }
    let place = v1::Place {
        first,
        count: frame.count(),
        at: Timestamp::from_micros(frame.time()),
        clock_back: frame.clock_back(),
    };
    let mut events = wire.into_events(place).map_err(|reason| unreadable(first, reason))?;
    let with_bodies = match bodies {
        Bodies::None => false,
        Bodies::ForState => events.first().is_some_and(|event| event.operation.idempotency.is_some()),
        Bodies::Readable | Bodies::All => true,
    };
    if with_bodies {
        for (event_index, event) in (0_u32..).zip(&mut events) {
            event.body = body(event_index)?;
        }
    }
    Ok(events)
}

/// The body of the event at that index of a frame; `None` when it has none or it was erased.
pub(crate) fn body_of(frame: &Frame, event_index: u32) -> Result<Option<Body>, EngineError> {
    let Some(stored) = frame.body_of(event_index) else { return Ok(None) };
    match stored.read().map_err(log::LogError::Damage)? {
        BodyState::Present(bytes) => {
            let body: BodyV1<'_> = whole(bytes).map_err(|reason| unreadable(Seq::new(stored.seq()), reason))?;
            Ok(Some(Body::from(body)))
        }
        BodyState::Zeroed => Ok(None),
    }
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
