//! Single fields of requests: text in, domain types out, and a refusal that names the field.

use std::str::FromStr;

use bilinc::{At, InvalidJson, Json, Key, Profile, Rejection, Seq, Timestamp, Values, limits};
use serde_json::value::RawValue;

/// Names of the recall profiles.
pub const PROFILE_NAMES: [&str; 4] = ["fast", "balanced", "verified", "deep"];

/// The name of a recall profile.
#[must_use]
pub const fn profile_name(profile: Profile) -> &'static str {
    match profile {
        Profile::Fast => "fast",
        Profile::Balanced => "balanced",
        Profile::Verified => "verified",
        Profile::Deep => "deep",
    }
}

/// The name of how much of a value is given.
#[must_use]
pub const fn values_name(values: Values) -> &'static str {
    match values {
        Values::Full => "full",
        Values::Preview => "preview",
        Values::None => "none",
    }
}

/// As much of a value as was asked for. A preview is a JSON string.
#[must_use]
pub fn shown_value(value: Option<&Json>, values: Values) -> Option<Json> {
    match values {
        Values::Full => value.cloned(),
        Values::Preview => value.map(preview),
        Values::None => None,
    }
}

/// A string itself, else the compact JSON, cut at [`bilinc::PREVIEW_CHARS`] characters with `…`.
fn preview(value: &Json) -> Json {
    let text = text_of(value);
    cut_text(&text, bilinc::PREVIEW_CHARS).unwrap_or_else(|| Json::string(&text))
}

fn text_of(value: &Json) -> String {
    value.as_plain_string().unwrap_or_else(|| value.as_str().to_owned())
}

/// The begin of a text that is longer than so many characters.
fn cut_text(text: &str, chars: usize) -> Option<Json> {
    let (end, _) = text.char_indices().nth(chars)?;
    Some(Json::string(&format!("{}…", text.get(..end).unwrap_or_default())))
}

/// Cuts a value that is longer than so many characters, as a preview is cut, and says whether it was.
pub fn cut_value(value: &mut Option<Json>, chars: usize) -> bool {
    let cut = value.as_ref().and_then(|value| cut_text(&text_of(value), chars));
    let is_cut = cut.is_some();
    *value = cut.or(value.take());
    is_cut
}

/// A text of so many characters.
///
/// # Errors
/// When it has fewer or more.
pub fn text(field: &str, text: &str, least: usize, most: usize) -> Result<String, Rejection> {
    if (least..=most).contains(&text.chars().count()) {
        return Ok(text.to_owned());
    }
    Err(Rejection::invalid(field, "out_of_range", format!("must have {least} to {most} characters")))
}

/// A key.
///
/// # Errors
/// When it is none.
pub fn key(field: &str, text: &str) -> Result<Key, Rejection> {
    Key::new(text).map_err(|error| Rejection::invalid(field, "invalid_key", error.to_string()))
}

/// An id or a version.
///
/// # Errors
/// When it is none.
pub fn id<T: FromStr<Err: ToString>>(field: &str, text: &str) -> Result<T, Rejection> {
    text.parse().map_err(|error: T::Err| Rejection::invalid(field, "invalid_id", error.to_string()))
}

/// A time in RFC 3339 from which on, or before which, something is meant: its very begin. One
/// without an offset is in UTC, and a day is its begin.
///
/// # Errors
/// When it is none.
pub fn time_from_start(field: &str, text: &str) -> Result<Timestamp, Rejection> {
    let text = text.trim();
    Timestamp::parse(text)
        .or_else(|error| Timestamp::parse(&format!("{text}Z")).map_err(|_| error))
        .or_else(|error| day(text).ok_or(error))
        .map_err(|error| Rejection::invalid(field, "invalid_time", error.to_string()))
}

/// The begin of a day in UTC.
pub(crate) fn day(text: &str) -> Option<Timestamp> {
    Timestamp::parse(&format!("{text}T00:00:00Z")).ok()
}

/// A time in RFC 3339 up to which, or after which, something is meant. Times are recorded in
/// microseconds and shown in milliseconds, so one with at most three digits behind the point means
/// its whole millisecond, and what is shown with that time lies before its end.
///
/// # Errors
/// When it is none.
pub fn time_to_end(field: &str, text: &str) -> Result<Timestamp, Rejection> {
    let time = time_from_start(field, text)?;
    // A day is one moment: only a time has a millisecond to mean the whole of.
    Ok(if day(text.trim()).is_some() { time } else { end_of_typed(text, time) })
}

fn end_of_typed(text: &str, time: Timestamp) -> Timestamp {
    const LAST_OF_MILLISECOND: i64 = 999;
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    if digits <= 3 { time.plus(LAST_OF_MILLISECOND) } else { time }
}

/// A point of the log: a position, with or without an `@`, a time (to its end) or the id of a snapshot.
///
/// # Errors
/// When it is none of these.
pub fn point(field: &str, text: &str) -> Result<At, Rejection> {
    let text = text.trim();
    if let Ok(number) = text.parse::<u64>() {
        return Ok(At::Position(Seq::new(number)));
    }
    if let Some(number) = text.strip_prefix('@').map(str::parse::<u64>) {
        return number.map(|number| At::Position(Seq::new(number))).map_err(|_| no_point(field, text));
    }
    if let Ok(time) = time_to_end(field, text) {
        return Ok(At::Time(time));
    }
    text.parse().map(At::Snapshot).map_err(|_| no_point(field, text))
}

fn no_point(field: &str, text: &str) -> Rejection {
    let message = format!("`{text}` is no snapshot id, no position such as @120 and no RFC 3339 time");
    Rejection::invalid(field, "invalid_point", message)
}

/// A JSON text for a place with a limit.
///
/// # Errors
/// When it is no JSON that can be kept.
pub fn json(field: &str, text: &str, limit: usize) -> Result<Json, Rejection> {
    Json::parse(text, limit).map_err(|error| invalid_json(field, &error))
}

/// A JSON object for metadata.
///
/// # Errors
/// When it is none.
pub fn metadata(field: &str, text: &str) -> Result<Json, Rejection> {
    Json::parse_object(text, limits::METADATA_BYTES).map_err(|error| invalid_json(field, &error))
}

/// JSON if the text is JSON, else the text as a JSON string. What is JSON and cannot be kept (a
/// member named twice, half a surrogate pair) is refused instead of stored as text.
///
/// # Errors
/// When it is JSON that cannot be kept, or too large.
pub fn json_or_text(field: &str, text: &str, limit: usize) -> Result<Json, Rejection> {
    match Json::parse(text, limit) {
        Ok(json) => Ok(json),
        Err(InvalidJson::Syntax(_)) if serde_json::from_str::<&RawValue>(text).is_err() => {
            let json = Json::string(text);
            let bytes = json.as_str().len();
            if bytes > limit {
                return Err(invalid_json(field, &InvalidJson::TooLarge { bytes, limit }));
            }
            Ok(json)
        }
        Err(error) => Err(invalid_json(field, &error)),
    }
}

/// The name of a field as JSON has it: `session_id` as `sessionId`.
#[must_use]
pub fn camel_case(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let inside = camel.ends_with(|before: char| before.is_ascii_alphanumeric());
        match chars.next_if(|next| c == '_' && inside && next.is_ascii_alphanumeric()) {
            Some(next) => camel.push(next.to_ascii_uppercase()),
            None => camel.push(c),
        }
    }
    camel
}

/// The refusal of a JSON text.
#[must_use]
pub fn invalid_json(field: &str, error: &InvalidJson) -> Rejection {
    Rejection::invalid(field, error.reason(), error.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn reason(rejected: Result<Json, Rejection>) -> &'static str {
        match rejected.unwrap_err() {
            Rejection::Invalid { reason, .. } => reason,
            other => other.code(),
        }
    }

    #[test]
    fn a_value_is_json_where_it_parses_and_text_where_not() {
        let value = |text| json_or_text("value", text, 1000);
        assert_eq!(value("1.10").unwrap().as_str(), "1.10");
        assert_eq!(value(" {\"a\": 1e400} ").unwrap().as_str(), r#"{"a":1e400}"#);
        assert_eq!(value("hello world").unwrap().as_str(), r#""hello world""#);
        assert_eq!(value("{broken").unwrap().as_str(), r#""{broken""#);
        assert_eq!(value("\"quoted\"").unwrap().as_str(), r#""quoted""#);
        assert_eq!(value("").unwrap().as_str(), r#""""#);
    }

    #[test]
    fn json_that_cannot_be_kept_is_refused_and_never_stored_as_text() {
        let value = |text| json_or_text("value", text, 1000);
        assert_eq!(reason(value(r#"{"a":1,"a":2}"#)), "duplicate_member");
        assert_eq!(reason(value(r#""\ud800""#)), "invalid_json");
        assert_eq!(reason(json_or_text("value", &("[".repeat(101) + &"]".repeat(101)), 1000)), "too_deep");
        assert_eq!(reason(json_or_text("value", &"x".repeat(1001), 1000)), "too_large");
    }

    #[test]
    fn a_point_is_a_position_a_time_or_a_snapshot() {
        assert_eq!(point("at", "@12").unwrap(), At::Position(Seq::new(12)));
        assert!(matches!(point("at", "2026-01-31T09:30:00Z").unwrap(), At::Time(_)));
        assert!(matches!(point("at", "01920000-0000-7000-8000-000000000001").unwrap(), At::Snapshot(_)));
        for wrong in ["@", "@-1", "yesterday", ""] {
            assert!(point("at", wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_time_as_it_is_shown_means_its_whole_millisecond() {
        let end = |text| time_to_end("after", text).unwrap().micros() % 1_000_000;
        assert_eq!(end("2026-01-31T09:30:00.123Z"), 123_999);
        assert_eq!(end("2026-01-31T11:30:00.12+02:00"), 120_999);
        assert_eq!(end("2026-01-31T09:30:00Z"), 999);
        assert_eq!(end("2026-01-31T09:30:00.1234Z"), 123_400);
        assert_eq!(end("2026-01-31T09:30:00.123456789Z"), 123_456);
        assert_eq!(time_to_end("after", "9999-12-31T23:59:59.999999Z").unwrap(), Timestamp::MAX);
        assert_eq!(time_from_start("before", "2026-01-31T09:30:00.123Z").unwrap().micros() % 1_000_000, 123_000);
        let At::Time(time) = point("as_of", "2026-01-31T09:30:00.123Z").unwrap() else { unreachable!() };
        assert_eq!(time.micros() % 1_000_000, 123_999);
    }

    #[test]
    fn names_of_fields_are_in_camel_case() {
        for (name, wanted) in [
            ("session_id", "sessionId"),
            ("actions[3].new_value", "actions[3].newValue"),
            ("from_snapshot_id", "fromSnapshotId"),
            ("key", "key"),
            ("_a_", "_a_"),
        ] {
            assert_eq!(camel_case(name), wanted);
        }
    }

    #[test]
    fn previews_are_cut_by_characters() {
        let long = Json::string(&"ğ".repeat(300));
        let cut = shown_value(Some(&long), Values::Preview).unwrap().as_plain_string().unwrap();
        assert_eq!(cut.chars().count(), bilinc::PREVIEW_CHARS + 1);
        let short = shown_value(Some(&Json::from_recorded("[1,2]")), Values::Preview).unwrap();
        assert_eq!(short.as_str(), r#""[1,2]""#);
    }
}
