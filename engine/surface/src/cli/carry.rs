//! The way of a request of the command line: it is judged before any store is opened, and then
//! carried out on one.

use bilinc::{Memory, Written};

use super::console::Console;
use super::errors::CliError;
use super::store::{self, Store};
use super::write::{RequestArgs, SOURCE};
use crate::wire::requests::{Request, Surface};

/// What this surface brings to each request.
pub(super) const SURFACE: Surface = Surface { source: SOURCE, answer_bytes: None };

/// Carries a read out.
pub(super) fn read<R: Request>(console: &Console<'_>, request: R) -> Result<(Store, R::Answer), CliError> {
    let prepared = request.prepare(&SURFACE)?;
    let store = store::read(&console.globals)?;
    let answer = prepared(&store.memory)?.answer;
    Ok((store, answer))
}

/// Carries one more read out on a store that is open.
pub(super) fn read_on<R: Request>(memory: &Memory, request: R) -> Result<R::Answer, CliError> {
    Ok(request.prepare(&SURFACE)?(memory)?.answer)
}

/// Carries out what changes what is there.
pub(super) fn change<R: Request>(
    console: &Console<'_>,
    args: &RequestArgs,
    request: R,
) -> Result<(Memory, Written<R::Answer>), CliError> {
    let prepared = request.prepare(&SURFACE)?;
    let memory = store::change(&console.globals, args)?;
    let written = prepared(&memory)?;
    Ok((memory, written))
}

/// Carries out what puts something in, and makes the store for it where there is none.
pub(super) fn create<R: Request>(
    console: &Console<'_>,
    args: &RequestArgs,
    request: R,
) -> Result<(Memory, Written<R::Answer>), CliError> {
    let prepared = request.prepare(&SURFACE)?;
    let memory = store::create(&console.globals, args)?;
    let written = prepared(&memory)?;
    Ok((memory, written))
}
