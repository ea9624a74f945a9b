//! Answers as bytes, and how large they may become.

use bilinc::{Head, Written};

use super::SURFACE;
use super::errors::Failure;
use crate::wire;
use crate::wire::requests::{Answer, CUT_CHARS, Oversize, response_too_large};

/// An answer with what every answer carries, held to the limit.
pub(super) fn bytes<A: Answer>(written: Written<A>, head: Head) -> Result<Vec<u8>, Failure> {
    let Written { mut answer, replayed } = written;
    let bytes = encode(&answer, head, replayed)?;
    let Some(most) = SURFACE.answer_bytes.filter(|most| bytes.len() > *most) else { return Ok(bytes) };
    match answer.oversize() {
        Oversize::Whole => Ok(bytes),
        Oversize::Refused => Err(response_too_large(most).into()),
        Oversize::Cut => {
            answer.cut(CUT_CHARS);
            encode(&answer, head, replayed)
        }
    }
}

fn encode<A: Answer>(answer: &A, head: Head, replayed: bool) -> Result<Vec<u8>, Failure> {
    let answer = wire::Answer::new(answer, head).replayed(replayed);
    serde_json::to_vec(&answer).map_err(|error| Failure::new("internal_error", error.to_string()))
}
