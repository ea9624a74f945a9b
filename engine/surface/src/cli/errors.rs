//! What goes wrong on the command line, and how it is said.

use std::io::{self, Write};
use std::process::ExitCode;

use bilinc::log::LogError;
use bilinc::{EngineError, Error, Rejection, Seq};

use super::hints::{OTHER_HISTORY, hint_for, server_hint};
use super::render::{self, Style};
use crate::backend::{ApplyFailed, Failed};
use crate::remote::ServerError;
use crate::wire::errors::{Details, ErrorView, request_id};
use crate::wire::fields::camel_case;
use crate::wire::requests::Unsound;

/// Why a command failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum CliError {
    /// The library said no, or failed.
    Engine(Error),
    /// A server said no, or did not answer.
    Server(Box<ServerError>),
    /// The answer says it already.
    Said,
    /// The log is not whole.
    Unsound {
        /// What is wrong with it.
        error: Error,
        /// Its last position, where that is known.
        head: Option<Seq>,
    },
    /// The log is not whole, so it was not backed up.
    NotCopied(Error),
    /// A dream failed part-way.
    Apply {
        /// What failed, and what was done before.
        failed: Box<ApplyFailed>,
        /// Whether it was only tried out.
        dry_run: bool,
    },
    /// An answer is not what it has to be.
    Unexpected(String),
    /// The command was used wrongly.
    Usage {
        /// Which option.
        field: &'static str,
        /// What is wrong and what would be right.
        message: String,
    },
    /// The server cannot begin or go on.
    Serve(String),
    /// A file of the caller's cannot be read or written.
    File {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The answer cannot be written.
    Output(io::Error),
    /// The log is whole and what answers, or what is kept of it, is not what it says.
    Differs(Unsound),
}

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl From<Failed> for CliError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Library(error) => Self::Engine(*error),
            Failed::Server(error) => Self::Server(error),
        }
    }
}

impl From<ServerError> for CliError {
    fn from(error: ServerError) -> Self {
        Self::Server(Box::new(error))
    }
}

impl From<Rejection> for CliError {
    fn from(rejection: Rejection) -> Self {
        Self::Engine(Error::Rejected(rejection))
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl CliError {
    /// Wrong use of an option.
    pub(super) fn usage(field: &'static str, message: impl Into<String>) -> Self {
        Self::Usage { field, message: message.into() }
    }

    /// Whether the reader of our output has gone, which is no failure of ours.
    fn is_closed_pipe(&self) -> bool {
        match self {
            Self::Output(error) | Self::Engine(Error::Engine(EngineError::Stream { source: error, .. })) => {
                error.kind() == io::ErrorKind::BrokenPipe
            }
            _ => false,
        }
    }

    fn library_error(&self) -> Option<&Error> {
        match self {
            Self::Engine(error) | Self::NotCopied(error) | Self::Unsound { error, .. } => Some(error),
            Self::Apply { failed, .. } => match &failed.error {
                Failed::Library(error) => Some(error),
                Failed::Server(_) => None,
            },
            _ => None,
        }
    }

    fn server_error(&self) -> Option<&ServerError> {
        match self {
            Self::Server(error) => Some(error),
            Self::Apply { failed, .. } => match &failed.error {
                Failed::Server(error) => Some(error),
                Failed::Library(_) => None,
            },
            _ => None,
        }
    }

    fn is_retryable(&self) -> bool {
        self.library_error().is_some_and(Error::is_retryable)
            || self.server_error().is_some_and(|error| error.view.retryable)
    }

    fn code(&self) -> &str {
        match self {
            Self::File { source, .. } if source.kind() == io::ErrorKind::StorageFull => "cloud_runtime_unavailable",
            Self::Usage { .. } | Self::File { .. } => "invalid_request",
            Self::Differs(_) => "store_corrupt",
            _ => match (self.library_error(), self.server_error()) {
                (Some(error), _) => error.code(),
                (None, Some(error)) => error.code(),
                (None, None) => "internal_error",
            },
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Engine(error) | Self::NotCopied(error) | Self::Unsound { error, .. } => error.to_string(),
            Self::Server(error) => error.view.message.clone(),
            Self::Apply { failed, .. } => failed.error.message(),
            Self::Said => String::new(),
            Self::Unexpected(what) => format!("an answer is not what it has to be: {what}"),
            Self::Serve(message) | Self::Usage { message, .. } => message.clone(),
            Self::File { doing, path, source } => format!("cannot {doing} {path}: {source}"),
            Self::Output(source) => format!("cannot write the answer: {source}"),
            Self::Differs(unsound) => unsound.message().to_owned(),
        }
    }

    fn details(&self) -> Details {
        match self {
            Self::Engine(error) | Self::NotCopied(error) => error.into(),
            Self::Unsound { error, head } => Details::from(error).with_cost(*head),
            Self::Server(error) => error.view.details.clone(),
            Self::Apply { failed, .. } => failed.error.details().with_pages(failed),
            Self::Usage { field, .. } => {
                Details { field: Some(camel_case(field)), reason: Some("usage".to_owned()), ..Details::default() }
            }
            Self::File { path, source, .. } => {
                let reason = if source.kind() == io::ErrorKind::InvalidData { "invalid_utf8" } else { "file" };
                Details { path: Some(path.clone()), reason: Some(reason.to_owned()), ..Details::default() }
            }
            Self::Output(_) | Self::Differs(_) | Self::Unexpected(_) | Self::Serve(_) | Self::Said => {
                Details::default()
            }
        }
    }

    /// What to do next, where the message leaves it open.
    fn hint(&self) -> Option<String> {
        if let Self::Unsound { error: Error::Engine(EngineError::Log(LogError::Damage(damage))), .. } = self {
            let details = self.details();
            let cost = match (details.affected, details.head) {
                (Some(1), Some(head)) => format!(", and position {head} from there on is not proved"),
                (Some(affected), Some(head)) => {
                    format!(", and the {affected} positions from there to the end, {head}, are not proved")
                }
                _ => String::new(),
            };
            return Some(format!(
                "this is the first damage: everything before position {} is whole{cost}. Nothing was changed; keep a \
                 copy of the folder before anything else. `bilinc salvage --preview` says what can be kept",
                damage.position
            ));
        }
        if let Self::NotCopied(_) = self {
            return Some(
                "a backup copies whole stores only, and left nothing in its folder: `bilinc verify` says what the \
                 damage costs, `bilinc salvage --preview` what can be kept"
                    .to_owned(),
            );
        }
        if let Some(error) = self.server_error() {
            return server_hint(error);
        }
        let hint = match self.library_error()? {
            Error::Rejected(rejection) => return hint_for(rejection.code(), &rejection.into()),
            Error::Engine(EngineError::OtherHistory(_)) => OTHER_HISTORY,
            Error::Engine(EngineError::Unanswered { .. }) => {
                "the write is recorded: repeat it with the same --idempotency-key to get its answer, or look"
            }
            Error::Engine(EngineError::Log(error)) => match error {
                LogError::NotFound { .. } => "check --store and BILINC_STORE; `bilinc commit` creates a store",
                LogError::Busy { .. } => "another process is writing; try again",
                LogError::Damage(_) => {
                    "nothing was changed; keep a copy of the folder before anything else. `bilinc salvage --preview` says \
                     what can be kept"
                }
                LogError::SalvageUnfinished { .. } => "`bilinc salvage` finishes it; nothing is lost by that",
                LogError::ReadOnly { .. } => "reads go on; `bilinc status` says why",
                LogError::Poisoned { .. } | LogError::Unsettled { .. } => {
                    "the outcome of this write is unknown: repeat it with the same --idempotency-key to settle it"
                }
                LogError::Io { .. } => "nothing was written; put that right and try again",
                _ => return None,
            },
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// Says on standard error that the answer is true of a time before a damage.
pub(super) fn warn_of(damage: &str) {
    let style = Style::of_stderr();
    let message = format!("the store is damaged and answers as of before the damage: {damage}");
    // A warning that cannot be written changes nothing about the answer.
    let _ = writeln!(io::stderr().lock(), "{} {}", style.bold("bilinc: warning:"), render::escape(&message));
}

/// Says on standard error that an export cannot hold all of these memories.
pub(super) fn warn_of_losses(keys: &[bilinc::Key]) {
    let style = Style::of_stderr();
    let names: Vec<_> = keys.iter().take(10).map(bilinc::Key::as_str).collect();
    let more = keys.len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!(
        "parts of some memories were lost with damage of the log, and values that were lost are not exported: {}{more}",
        names.join(", ")
    );
    // As above.
    let _ = writeln!(io::stderr().lock(), "{} {}", style.bold("bilinc: warning:"), render::escape(&message));
}

/// Says what went wrong on standard error, and gives the exit code. As JSON, the damage before which
/// the store answered comes with it.
pub(super) fn report(error: &CliError, json: bool, damage: Option<&str>) -> ExitCode {
    if error.is_closed_pipe() {
        return ExitCode::SUCCESS;
    }
    if let CliError::Said = error {
        return ExitCode::FAILURE;
    }
    let mut stderr = io::stderr().lock();
    // When not even standard error takes it, the exit code is all that is left to say.
    let _ = if json {
        report_json(&mut stderr, error, damage)
    } else {
        report_text(&mut stderr, error, Style::of_stderr())
    };
    if matches!(error, CliError::Usage { .. }) { ExitCode::from(2) } else { ExitCode::FAILURE }
}

fn report_json(out: &mut dyn Write, error: &CliError, damage: Option<&str>) -> io::Result<()> {
    if let CliError::Server(error) = error
        && let Some(text) = error.text.as_ref().filter(|text| !text.contains('\n'))
    {
        return writeln!(out, "{text}");
    }
    let answered = error.server_error().map(|error| error.view.request_id.clone()).filter(|id| !id.is_empty());
    let mut details = error.details();
    if let Some(damage) = damage {
        details.degraded = Some(damage.to_owned());
    }
    let view = ErrorView {
        error: error.code().to_owned(),
        message: error.message(),
        request_id: answered.unwrap_or_else(request_id),
        retryable: error.is_retryable(),
        details,
    };
    serde_json::to_writer(&mut *out, &view)?;
    writeln!(out)
}

fn report_text(out: &mut dyn Write, error: &CliError, style: Style) -> io::Result<()> {
    writeln!(out, "{} {}", style.bold("bilinc: error:"), render::escape(&error.message()))?;
    let details = error.details();
    if let Some(change) = &details.change {
        writeln!(out, "  the change between: {}", render::change_words(change))?;
    }
    if let CliError::Apply { failed, dry_run } = error {
        apply_lines(out, failed, *dry_run, style)?;
    }
    match error.hint() {
        Some(hint) => writeln!(out, "  {} {hint}", style.dim("hint:")),
        None => Ok(()),
    }
}

fn apply_lines(out: &mut dyn Write, failed: &ApplyFailed, dry_run: bool, style: Style) -> io::Result<()> {
    if !failed.results.is_empty() {
        if dry_run {
            writeln!(out, "  Dry run, nothing was written: page {} would fail. Those before it give:", failed.page)?;
        } else {
            writeln!(out, "  Page {} failed. The pages before it stay applied:", failed.page)?;
        }
        render::results(out, style, &failed.results)?;
    }
    if let (Some(first), Some(last)) = (failed.not_tried.first(), failed.not_tried.last()) {
        let not = if dry_run { "Not tried" } else { "Not carried out" };
        writeln!(out, "  {not}: actions {first} to {last}.")?;
    }
    Ok(())
}

/// Says that the command line could not be read, and gives the exit code.
pub(super) fn report_usage(error: &clap::Error, json: bool) -> ExitCode {
    if !error.use_stderr() {
        // Help and version that were asked for.
        return match error.print() {
            Err(source) => report(&CliError::Output(source), json, None),
            Ok(()) => ExitCode::SUCCESS,
        };
    }
    if json {
        return report(&CliError::usage("arguments", usage_message(&error.render().to_string())), true, None);
    }
    let rendered = error.render();
    let plain = Style::of_stderr() == Style::plain();
    // The parser repeats what was typed, and its own colours cannot be told from those in there.
    let text = if plain || std::env::args_os().any(|argument| argument.to_string_lossy().contains(char::is_control)) {
        rendered.to_string().split_inclusive('\n').map(escape_line).collect()
    } else {
        rendered.ansi().to_string()
    };
    let mut stderr = io::stderr().lock();
    // A group of commands without a command shows its help, which is no message.
    let is_help = error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    let _ = write!(stderr, "{}{text}", if is_help { "" } else { "bilinc: " });
    ExitCode::from(2)
}

/// What is wrong, without the advice that belongs on a terminal.
fn usage_message(text: &str) -> &str {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let ends = ["\n\nUsage:", "\n\nFor more information"].into_iter().filter_map(|advice| text.find(advice));
    ends.min().and_then(|end| text.get(..end)).unwrap_or(text).trim()
}

/// A line of the parser with what was typed made harmless.
fn escape_line(line: &str) -> String {
    match line.strip_suffix('\n') {
        Some(line) => format!("{}\n", render::escape(line)),
        None => render::escape(line).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn text(error: &CliError) -> String {
        let mut out = Vec::new();
        report_text(&mut out, error, Style::plain()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_error_says_what_to_do_next_and_cannot_drive_the_terminal() {
        let key = bilinc::Key::from_recorded("a\u{1b}[2Jb");
        let said = text(&Rejection::MemoryNotFound { key }.into());
        assert!(said.starts_with("bilinc: error: "), "{said}");
        assert!(said.contains("hint:") && !said.contains('\u{1b}'), "{said}");
    }

    #[test]
    fn errors_as_json_have_the_one_shape() {
        let mut out = Vec::new();
        report_json(&mut out, &CliError::usage("value", "wrong"), None).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(value.get("error").unwrap(), "invalid_request");
        assert_eq!(value.pointer("/details/field").unwrap(), "value");
        assert_eq!(value.get("retryable").unwrap(), false);
    }

    #[test]
    fn an_answer_that_is_wrong_is_an_internal_error_and_no_closed_pipe() {
        let error = CliError::Unexpected("entries: 2, not 3".to_owned());
        assert_eq!((error.code(), error.is_closed_pipe()), ("internal_error", false));
        assert!(text(&error).contains("entries: 2, not 3"));
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        assert!(CliError::Output(io::ErrorKind::BrokenPipe.into()).is_closed_pipe());
        assert!(!CliError::Output(io::ErrorKind::StorageFull.into()).is_closed_pipe());
    }
}
