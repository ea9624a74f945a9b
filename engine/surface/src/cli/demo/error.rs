//! Why the guided run stopped.

use bilinc::{DreamApplyError, Error, InvalidKey};

use crate::backend::ApplyFailed;
use crate::cli::CliError;

/// The guided run stopped.
#[derive(Debug)]
pub(super) enum DemoError {
    /// The engine failed or said no.
    Engine(Box<Error>),
    /// A page of the dream failed.
    Apply(Box<DreamApplyError>),
    /// The temporary folder could not be made.
    Folder(std::io::Error),
    /// The output went away or failed.
    Output(std::io::Error),
    /// The engine answered, and not as the guided run says it does.
    Unexpected(String),
}

/// What a step answers.
pub(super) type Step<T = ()> = Result<T, DemoError>;

/// Fails with what went differently, unless all is as the text says.
pub(super) fn check(holds: bool, otherwise: impl FnOnce() -> String) -> Step {
    if holds { Ok(()) } else { Err(DemoError::Unexpected(otherwise())) }
}

/// Fails unless `found` is `wanted`.
pub(super) fn check_count(what: &str, found: impl TryInto<u64>, wanted: impl TryInto<u64>) -> Step {
    // A count that is no `u64` is not the same as any.
    let (found, wanted) = (found.try_into().unwrap_or(u64::MAX), wanted.try_into().unwrap_or_default());
    check(found == wanted, || format!("{what}: {found}, not {wanted}"))
}

/// The value, or a failure that names what is missing.
pub(super) fn present<T>(value: Option<T>, what: &str) -> Step<T> {
    value.ok_or_else(|| DemoError::Unexpected(format!("{what} is missing")))
}

impl From<DemoError> for CliError {
    fn from(error: DemoError) -> Self {
        match error {
            DemoError::Engine(error) => Self::Engine(*error),
            DemoError::Apply(failed) => {
                Self::Apply { failed: Box::new(ApplyFailed::of_library(*failed, false)), dry_run: false }
            }
            DemoError::Folder(source) => {
                let path = std::env::temp_dir().display().to_string();
                Self::File { doing: "keep a temporary store in", path, source }
            }
            DemoError::Output(source) => Self::Output(source),
            DemoError::Unexpected(what) => Self::Unexpected(what),
        }
    }
}

impl From<Error> for DemoError {
    fn from(error: Error) -> Self {
        Self::Engine(Box::new(error))
    }
}

impl From<DreamApplyError> for DemoError {
    fn from(error: DreamApplyError) -> Self {
        Self::Apply(Box::new(error))
    }
}

impl From<InvalidKey> for DemoError {
    fn from(error: InvalidKey) -> Self {
        Self::Unexpected(error.to_string())
    }
}
