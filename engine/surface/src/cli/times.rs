//! Times and points as people type them.

use bilinc::{At, Clock, Rejection, SystemClock, Timestamp};

use super::errors::CliError;
use super::write::RequestArgs;
use crate::wire::fields;

/// Which end of a typed time is meant; a day and an age have one moment only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// Its begin: what is to lie before it, or from it on.
    Start,
    /// The end of its millisecond: what is to lie after it, or at it.
    End,
}

/// A time: RFC 3339, a day (`2026-01-31`, at its begin in UTC), or how long ago (`90m`, `24h`, `7d`).
fn time(field: &str, text: &str, edge: Edge) -> Result<Timestamp, Rejection> {
    time_at(field, text, edge, SystemClock.now())
}

/// An age is another time at each call, so a request that is to be the same when it is repeated
/// cannot hold one.
pub(super) fn no_age(field: &'static str, text: Option<&str>, request: &RequestArgs) -> Result<(), CliError> {
    if request.idempotency_key.is_some() && text.is_some_and(|text| ago(text.trim()).is_some()) {
        let message = "an age makes each call another request; with --idempotency-key give a time or a day";
        return Err(CliError::usage(field, message));
    }
    Ok(())
}

/// An optional time, as requests hold it.
pub(super) fn optional(field: &str, text: Option<&str>, edge: Edge) -> Result<Option<String>, Rejection> {
    text.map(|text| time(field, text, edge).map(exact)).transpose()
}

/// A moment with all of its digits, which says the same at either edge.
fn exact(time: Timestamp) -> String {
    let text = time.to_string();
    format!("{}{:03}Z", text.trim_end_matches('Z'), time.micros().rem_euclid(1000))
}

fn time_at(field: &str, text: &str, edge: Edge, now: Timestamp) -> Result<Timestamp, Rejection> {
    let text = text.trim();
    if let Some(micros) = ago(text) {
        return Ok(now.plus(-micros));
    }
    let read = match edge {
        Edge::Start => fields::time_from_start,
        Edge::End => fields::time_to_end,
    };
    read(field, text).map_err(|rejection| match rejection {
        Rejection::Invalid { field, reason, message } => {
            Rejection::invalid(field, reason, format!("{message}, a day such as 2026-01-31 or an age such as 7d"))
        }
        other => other,
    })
}

/// Microseconds of `90m`, `24h`, `7d` or `2w`.
fn ago(text: &str) -> Option<i64> {
    const SECOND: i64 = 1_000_000;
    let unit = match text.chars().next_back()? {
        's' => SECOND,
        'm' => 60 * SECOND,
        'h' => Timestamp::HOUR,
        'd' => 24 * Timestamp::HOUR,
        'w' => 7 * 24 * Timestamp::HOUR,
        _ => return None,
    };
    let number = text.get(..text.len() - 1)?;
    let number: i64 = number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())??;
    number.checked_mul(unit)
}

/// A point of the log, as requests hold it: a position (`120` or `@120`), a time or the id of a
/// snapshot.
pub(super) fn point(field: &str, text: &str) -> Result<String, Rejection> {
    let text = text.trim();
    match fields::point(field, text) {
        // What is typed as a position or an id is sent so.
        Ok(At::Position(_) | At::Snapshot(_)) => Ok(text.to_owned()),
        Err(rejection) if text.starts_with('@') => Err(rejection),
        Ok(_) => time(field, text, Edge::End).map(exact),
        Err(rejection) => time(field, text, Edge::End).map(exact).map_err(|_| rejection),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn times_are_days_ages_or_rfc_3339() {
        let now = Timestamp::parse("2026-02-08T12:00:00Z").unwrap();
        let at = |text| time_at("since", text, Edge::Start, now).unwrap().to_string();
        assert_eq!(at("7d"), "2026-02-01T12:00:00.000Z");
        assert_eq!(at("90m"), "2026-02-08T10:30:00.000Z");
        assert_eq!(at("2026-01-31"), "2026-01-31T00:00:00.000Z");
        assert_eq!(at("2026-01-31T09:30:00+02:00"), "2026-01-31T07:30:00.000Z");
        for wrong in ["", "d", "-1d", "+1d", "yesterday", "2026-02-30", "99999999999999999d"] {
            assert!(time_at("since", wrong, Edge::End, now).is_err(), "{wrong}");
        }
        // Only a time has a millisecond to mean the whole of.
        let end = |text| time_at("after", text, Edge::End, now).unwrap().micros() % 1000;
        assert_eq!((end("7d"), end("2026-01-31"), end("2026-01-31T09:30:00.123Z")), (0, 0, 999));
    }

    #[test]
    fn points_are_positions_times_or_snapshots() {
        assert_eq!(point("as_of", "123").unwrap(), "123");
        assert_eq!(point("as_of", "@123").unwrap(), "@123");
        assert_eq!(point("as_of", "2026-01-31").unwrap(), "2026-01-31T00:00:00.000000Z");
        assert_eq!(point("as_of", "2026-01-31T09:30:00.123Z").unwrap(), "2026-01-31T09:30:00.123999Z");
        assert!(point("as_of", "7d").is_ok());
        assert!(point("as_of", "01920000-0000-7000-8000-000000000001").is_ok());
        assert!(point("as_of", "@x").is_err());
        assert!(point("as_of", "snap").is_err());
    }

    #[test]
    fn a_moment_in_a_request_is_the_one_that_was_typed() {
        for (micros, edge) in [(0, Edge::Start), (1, Edge::End), (-1, Edge::Start), (1_999_999, Edge::End)] {
            let time = Timestamp::from_micros(micros);
            let text = exact(time);
            assert_eq!(fields::time_to_end("t", &text).unwrap(), time, "{text} {edge:?}");
            assert_eq!(fields::time_from_start("t", &text).unwrap(), time, "{text} {edge:?}");
        }
    }
}
