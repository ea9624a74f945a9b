//! Options of every write, and values from the command line.

use std::io::Read;

use bilinc::{Actor, Json, Key, Memory, Rejection, Version, limits};
use clap::Args;

use super::errors::CliError;
use crate::wire::fields;

/// Who saves through the command line when nobody else is named.
pub(super) const SOURCE: &str = "bilinc_cli";

/// Options of every write.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct WriteArgs {
    /// Who writes
    #[arg(long, value_name = "NAME", default_value = SOURCE, help_heading = "Options of every write")]
    pub(super) source: String,
    /// The session it is written in; `bilinc undo --session` takes it back as a whole
    #[arg(long, value_name = "ID", help_heading = "Options of every write")]
    pub(super) session: Option<String>,
    #[command(flatten)]
    pub(super) request: RequestArgs,
}

/// Options of a write that has a source of another meaning.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct RequestArgs {
    /// Makes a repeated request give the first answer again, for 24 hours
    #[arg(long, value_name = "NAME", help_heading = "Options of every write")]
    pub(super) idempotency_key: Option<String>,
    /// Store text although it looks like a credential
    #[arg(long, help_heading = "Options of every write")]
    pub(super) allow_secrets: bool,
}

impl WriteArgs {
    pub(super) fn actor(&self) -> Actor {
        Actor { source: self.source.as_str().into(), session_id: self.session.as_deref().map(Into::into) }
    }
}

impl RequestArgs {
    pub(super) fn handle(&self, memory: &Memory) -> Memory {
        self.idempotency_key.as_deref().map_or_else(|| memory.clone(), |name| memory.with_idempotency_key(name))
    }
}

/// A text, or all of standard input for `-`, without the line break at its end.
pub(super) fn text_or_stdin(text: String) -> Result<String, CliError> {
    if text != "-" {
        return Ok(text);
    }
    let mut input = String::new();
    std::io::stdin().lock().read_to_string(&mut input).map_err(|source| CliError::File {
        doing: "read",
        path: "standard input".to_owned(),
        source,
    })?;
    let end = input.strip_suffix('\n').map_or(input.len(), |line| line.strip_suffix('\r').unwrap_or(line).len());
    input.truncate(end);
    Ok(input)
}

/// A value: JSON if it parses, else a string; `-` reads standard input.
pub(super) fn value(text: String) -> Result<Json, CliError> {
    Ok(fields::json_or_text("value", &text_or_stdin(text)?, limits::VALUE_BYTES)?)
}

/// A key.
pub(super) fn key(text: &str) -> Result<Key, Rejection> {
    fields::key("key", text)
}

/// The version that an entry must have.
pub(super) fn expected(text: Option<&str>) -> Result<Option<Version>, Rejection> {
    text.map(|text| fields::id("expected_version", text)).transpose()
}

/// Reads a position, `120` or `@120`.
pub(super) fn position(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix('@').unwrap_or(text);
    let number = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
    number.ok_or_else(|| "a position such as 120 or @120".to_owned())
}

/// Reads a number from 0.0 to 1.0.
pub(super) fn fraction(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        // Without the sign that a zero may have.
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number + 0.0),
        _ => Err("a number from 0.0 to 1.0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_taken_as_they_are_shown() {
        assert_eq!(position("120"), Ok(120));
        assert_eq!(position("@120"), Ok(120));
        for wrong in ["", "@", "-1", "+1", "@@1", "1.0"] {
            assert!(position(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn fractions_lie_between_nothing_and_all() {
        assert_eq!(fraction("0.5"), Ok(0.5));
        for wrong in ["1.1", "-0.1", "NaN", "half"] {
            assert!(fraction(wrong).is_err(), "{wrong}");
        }
    }
}
