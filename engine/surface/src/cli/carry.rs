//! The way of a request of the command line: it is judged before any store is opened or any server
//! asked, and then carried out there.

use super::console::Console;
use super::errors::CliError;
use super::store::{self, Need};
use super::write::{RequestArgs, SOURCE};
use super::{args::Globals, server};
use crate::backend::{Backend, Reply};
use crate::wire::requests::{Request, Surface};

/// What this surface brings to each request.
pub(super) const SURFACE: Surface = Surface { source: SOURCE, answer_bytes: None };

/// Carries a read out.
pub(super) fn read<R: Request>(console: &Console<'_>, request: R) -> Result<Reply<R::Answer>, CliError> {
    judge(&request)?;
    ask(&reader(&console.globals)?, request)
}

/// Carries out what changes what is there.
pub(super) fn change<R: Request>(
    console: &Console<'_>,
    args: &RequestArgs,
    request: R,
) -> Result<Reply<R::Answer>, CliError> {
    judge(&request)?;
    ask_under(&changer(&console.globals, args)?, args, request)
}

/// Carries out what puts something in, and makes the store for it where there is none.
pub(super) fn create<R: Request>(
    console: &Console<'_>,
    args: &RequestArgs,
    request: R,
) -> Result<Reply<R::Answer>, CliError> {
    judge(&request)?;
    ask_under(&backend(&console.globals, Need::Create, Some(args))?, args, request)
}

/// Where reads are carried out.
pub(super) fn reader(globals: &Globals) -> Result<Backend, CliError> {
    backend(globals, Need::Read, None)
}

/// Where reads are carried out that see what a writer would.
pub(super) fn inspector(globals: &Globals) -> Result<Backend, CliError> {
    backend(globals, Need::Inspect, None)
}

/// Where changes of what is there are carried out.
pub(super) fn changer(globals: &Globals, args: &RequestArgs) -> Result<Backend, CliError> {
    backend(globals, Need::Change, Some(args))
}

fn backend(globals: &Globals, need: Need, args: Option<&RequestArgs>) -> Result<Backend, CliError> {
    match server::named(globals)? {
        Some(client) => {
            args.map_or(Ok(()), RequestArgs::refuse_secrets_of_a_server)?;
            Ok(Backend::Server(client))
        }
        None => Ok(Backend::Embedded(store::open(globals, need, args.is_some_and(|args| args.allow_secrets))?.memory)),
    }
}

/// Judges the form of a request.
pub(super) fn judge<R: Request>(request: &R) -> Result<(), CliError> {
    drop(request.clone().prepare(&SURFACE)?);
    Ok(())
}

/// Carries out one more read.
pub(super) fn ask<R: Request>(backend: &Backend, request: R) -> Result<Reply<R::Answer>, CliError> {
    Ok(backend.ask(&SURFACE, request, None)?)
}

/// Carries a write out, under the name that was given to it.
pub(super) fn ask_under<R: Request>(
    backend: &Backend,
    args: &RequestArgs,
    request: R,
) -> Result<Reply<R::Answer>, CliError> {
    Ok(backend.ask(&SURFACE, request, args.idempotency_key.as_deref())?)
}
