//! Points in time.

use alloc::string::String;
use core::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;

use crate::limits::CLOCK_AHEAD_MICROS;

/// A moment in UTC, in microseconds since the Unix epoch.
///
/// Shown as RFC 3339 with milliseconds and `Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
pub struct Timestamp(i64);

/// A text that is not an RFC 3339 time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an RFC 3339 time such as 2026-01-31T09:30:00Z")]
pub struct InvalidTime(String);

impl Timestamp {
    /// One hour, in microseconds.
    pub const HOUR: i64 = 3_600_000_000;
    /// The earliest moment that can be written with a four-digit year (0000-01-01).
    pub const MIN: Self = Self(-62_167_219_200_000_000);
    /// The latest moment that can be written with a four-digit year (9999-12-31).
    pub const MAX: Self = Self(253_402_300_799_999_999);

    /// The moment that many microseconds after the Unix epoch, held within [`Self::MIN`] and
    /// [`Self::MAX`] so that every moment can be shown.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        if micros < Self::MIN.0 {
            Self::MIN
        } else if micros > Self::MAX.0 {
            Self::MAX
        } else {
            Self(micros)
        }
    }

    /// Microseconds since the Unix epoch.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// This moment moved by so many microseconds, held within the range of a `Timestamp`.
    #[must_use]
    pub const fn plus(self, micros: i64) -> Self {
        Self::from_micros(self.0.saturating_add(micros))
    }

    /// Reads an RFC 3339 time, in any offset. Digits past microseconds are dropped. A leap second
    /// (`23:59:60`) is the moment after it, as it is for the system's clock, which knows none.
    ///
    /// # Errors
    /// [`InvalidTime`] for any other text, and for years outside 0000 to 9999.
    pub fn parse(text: &str) -> Result<Self, InvalidTime> {
        DateTime::parse_from_rfc3339(text.trim())
            .ok()
            .map(|time| time.timestamp_micros())
            .filter(|micros| (Self::MIN.0..=Self::MAX.0).contains(micros))
            .map(Self)
            .ok_or_else(|| InvalidTime(crate::key::beginning(text)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = DateTime::<Utc>::from_timestamp_micros(self.0).unwrap_or_default();
        f.write_str(&time.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

/// The time to record for an operation that is appended at `now` behind one recorded at `previous`,
/// and whether the clock was seen to have stepped back beyond what is smoothed over.
///
/// Recorded times never decrease, but for one case: a previous time more than
/// [`CLOCK_AHEAD_MICROS`] ahead of the clock is taken for wrong and does not drag later ones along.
#[must_use]
pub fn recorded_time(now: Timestamp, previous: Option<Timestamp>) -> (Timestamp, bool) {
    match previous {
        Some(previous) if previous > now.plus(CLOCK_AHEAD_MICROS) => (now, true),
        Some(previous) => (now.max(previous), false),
        None => (now, false),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use alloc::format;
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn shown_times_have_milliseconds_and_read_back() {
        let time = Timestamp::from_micros(1_700_000_000_123_456);
        assert_eq!(time.to_string(), "2023-11-14T22:13:20.123Z");
        assert_eq!(Timestamp::parse("2023-11-14T22:13:20.123456+00:00").unwrap(), time);
        assert!(Timestamp::parse("yesterday").is_err());
    }

    #[test]
    fn every_spelling_of_a_moment_is_that_moment_and_everything_else_is_refused() {
        let read = |text: &str| Timestamp::parse(text).map(|time| time.to_string());
        for (text, wanted) in [
            ("2026-01-31T09:30:00Z", "2026-01-31T09:30:00.000Z"),
            ("2026-01-31t09:30:00z", "2026-01-31T09:30:00.000Z"),
            (" 2026-01-31T09:30:00Z\n", "2026-01-31T09:30:00.000Z"),
            ("2026-01-31T09:30:00-00:00", "2026-01-31T09:30:00.000Z"),
            ("2026-01-31T09:30:00+05:30", "2026-01-31T04:00:00.000Z"),
            ("2026-01-31T23:30:00-01:00", "2026-02-01T00:30:00.000Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
            ("2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00.500Z"),
            ("2017-01-01T05:29:60+05:30", "2017-01-01T00:00:00.000Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
            ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(read(text).unwrap(), wanted, "{text}");
        }
        for digits in 0..=9 {
            let text = format!("2026-01-31T09:30:00{}{}Z", if digits > 0 { "." } else { "" }, &"123456789"[..digits]);
            let micros = Timestamp::parse(&text).unwrap().micros() % 1_000_000;
            let wanted = [0, 100_000, 120_000, 123_000, 123_400, 123_450, 123_456];
            assert_eq!(micros, wanted[digits.min(6)], "{text}");
        }
        for text in [
            "",
            "now",
            "2026",
            "2026-01-31",
            "09:30:00Z",
            "2026-01-31T09:30:00",
            "2026-01-31T09:30Z",
            "2026-02-30T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-31T24:00:00Z",
            "2026-01-31T09:60:00Z",
            "2026-01-31T09:30:61Z",
            "2026-01-31T09:30:00.Z",
            "2026-01-31T09:30:00+5:30",
            "2026-01-31T09:30:00+24:00",
            "2026-01-31T09:30:00 Europe/Vienna",
            "10000-01-01T00:00:00Z",
            "+10000-01-01T00:00:00Z",
            "-0001-01-01T00:00:00Z",
            "9999-12-31T23:59:60Z",
            "0000-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            "1767225600",
            "２026-01-31T09:30:00Z",
            "2026-01-31T09:30:00Zz",
        ] {
            assert!(read(text).is_err(), "{text} is read as {:?}", read(text));
        }
    }

    #[test]
    fn a_clock_that_steps_back_never_disorders_recorded_times() {
        let (early, late) = (Timestamp::from_micros(10), Timestamp::from_micros(20));
        assert_eq!(recorded_time(early, Some(late)), (late, false));
        assert_eq!(recorded_time(late, Some(early)), (late, false));
    }

    #[test]
    fn one_far_future_time_does_not_drag_later_ones_along() {
        let now = Timestamp::from_micros(0);
        let edge = now.plus(CLOCK_AHEAD_MICROS);
        assert_eq!(recorded_time(now, Some(edge)), (edge, false));
        assert_eq!(recorded_time(now, Some(edge.plus(1))), (now, true));
    }
}
