//! Options of every write, and values from the command line.

use std::io::{self, Read};

use bilinc::{Json, Memory, Rejection, limits};
use clap::Args;

use super::errors::CliError;
use crate::wire::fields;

/// Who saves through the command line when nobody else is named.
pub(super) const SOURCE: &str = "bilinc_cli";

/// Options of every write.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct WriteArgs {
    /// Who writes
    #[arg(long, value_name = "NAME", default_value = SOURCE, allow_hyphen_values = true, help_heading = "Options of every write")]
    pub(super) source: String,
    /// The session it is written in; `bilinc undo --session` takes it back as a whole
    #[arg(long, value_name = "ID", allow_hyphen_values = true, help_heading = "Options of every write")]
    pub(super) session: Option<String>,
    #[command(flatten)]
    pub(super) request: RequestArgs,
}

/// Options of a write that has a source of another meaning.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct RequestArgs {
    /// Makes a repeated request give the first answer again, for 24 hours
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, help_heading = "Options of every write")]
    pub(super) idempotency_key: Option<String>,
    /// Store text although it looks like a credential
    #[arg(long, help_heading = "Options of every write")]
    pub(super) allow_secrets: bool,
}

impl WriteArgs {
    /// Who writes, as requests name it.
    pub(super) fn source(&self) -> Option<String> {
        Some(self.source.clone())
    }
}

impl RequestArgs {
    /// Whether a server stores credentials is decided by who runs it.
    pub(super) fn refuse_secrets_of_a_server(&self) -> Result<(), CliError> {
        if self.allow_secrets {
            let message = "a server decides that itself: `bilinc serve --allow-secrets`";
            return Err(CliError::usage("allow_secrets", message));
        }
        Ok(())
    }

    pub(super) fn handle(&self, memory: &Memory) -> Memory {
        self.idempotency_key.as_deref().map_or_else(|| memory.clone(), |name| memory.with_idempotency_key(name))
    }
}

/// Most bytes of raw text for one value: well over its limit as compact JSON.
const VALUE_INPUT: u64 = 16 * 1024 * 1024;

/// A text, or all of standard input for `-`, without the line break at its end.
pub(super) fn text_or_stdin(field: &str, text: String) -> Result<String, CliError> {
    if text != "-" {
        return Ok(text);
    }
    let mut input = bounded(field, std::io::stdin().lock(), "standard input", VALUE_INPUT)?;
    let end = input.strip_suffix('\n').map_or(input.len(), |line| line.strip_suffix('\r').unwrap_or(line).len());
    input.truncate(end);
    Ok(input)
}

/// All of an input, which is refused when it is longer than the limit; no more than that is read.
pub(super) fn bounded(field: &str, input: impl Read, path: &str, limit: u64) -> Result<String, CliError> {
    let failed = |source| CliError::File { doing: "read", path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let read = input.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if read as u64 > limit {
        let message = format!("{path} holds more than {limit} bytes");
        return Err(Rejection::invalid(field, "too_large", message).into());
    }
    String::from_utf8(bytes).map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// A value: JSON if it parses, else a string; `-` reads standard input.
pub(super) fn value(text: String) -> Result<Json, CliError> {
    Ok(fields::json_or_text("value", &text_or_stdin("value", text)?, limits::VALUE_BYTES)?)
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
    fn an_input_is_read_up_to_its_limit_and_never_further() {
        let text = |input: &str| bounded("value", input.as_bytes(), "here", 4);
        assert_eq!(text("four").ok().as_deref(), Some("four"));
        let refused = |error| match error {
            CliError::Engine(bilinc::Error::Rejected(Rejection::Invalid { field, reason, .. })) => (field, reason),
            other => (format!("{other:?}"), ""),
        };
        assert_eq!(text("five!").map_err(refused), Err(("value".to_owned(), "too_large")));
        assert_eq!(bounded("value", io::repeat(b'x'), "here", 4).map_err(refused), text("five!").map_err(refused));
    }

    #[test]
    fn fractions_lie_between_nothing_and_all() {
        assert_eq!(fraction("0.5"), Ok(0.5));
        for wrong in ["1.1", "-0.1", "NaN", "half"] {
            assert!(fraction(wrong).is_err(), "{wrong}");
        }
    }
}
