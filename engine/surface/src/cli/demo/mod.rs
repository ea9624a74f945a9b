//! `bilinc demo`: a guided run for a newcomer, in a temporary store.
//!
//! Every line about the memory is an answer of the engine, and every step checks that the answer is
//! what the text around it says. So the run is a smoke test, too: when it ends well, import, dream,
//! conflict, recall, history, undo and verify have worked together.
//!
//! What this module deliberately does not know: the options of commands, terminals, and where its
//! output goes.

mod decisions;
mod dream;
mod error;
mod look;
mod page;
mod prove;
mod remember;
mod undo;

#[cfg(test)]
mod tests;

use std::io::Write;
use std::sync::Arc;

use bilinc::{Actor, Memory};

use super::{CliError, Style};

use error::{DemoError, Step};
use page::Page;

/// Runs the guided tour and writes it to `out`.
///
/// # Errors
/// [`CliError`] says what failed, also when the engine answered otherwise than the text says.
pub fn run(out: &mut dyn Write, style: Style) -> Result<(), CliError> {
    in_a_temporary_store(&mut Page::new(out, style)).map_err(CliError::from)
}

fn in_a_temporary_store(page: &mut Page<'_>) -> Step {
    // On failure the folder goes with this value.
    let folder = tempfile::Builder::new().prefix("bilinc-demo-").tempdir().map_err(DemoError::Folder)?;
    let memory = Memory::builder().refuse_secrets(true).actor(actor("planner")).open(folder.path().join("store"))?;
    tour(page, &memory)?;
    drop(memory);
    folder.close().map_err(DemoError::Folder)
}

fn tour(page: &mut Page<'_>, memory: &Memory) -> Step {
    page.heading("Bilinc in one minute: an agent tidies its own memory, and takes it all back")?;
    page.say("It happens now, in a temporary store. The line after a $ does the same in a store of your own.")?;
    page.gap()?;
    let before = remember::remember(page, memory)?;
    let started = dream::start(page, memory)?;
    let dream = dream::apply(page, memory, &started)?;
    look::look(page, memory, &before)?;
    undo::undo(page, memory, dream, &before)?;
    prove::prove(page, memory)?;
    closing(page)
}

fn closing(page: &mut Page<'_>) -> Step {
    page.heading("What to try next")?;
    for (command, what) in [
        ("commit --key test.command --value 'just test'", "remember something yourself"),
        ("recall --query tests", "find it again"),
        ("dream start", "tidy up after a day of work"),
        ("log", "every change, who made it and why"),
        ("--help", "everything else"),
    ] {
        page.suggest(command, what)?;
    }
    Ok(())
}

/// A writer of that name.
fn actor(source: &str) -> Actor {
    Actor { source: Arc::from(source), session_id: None }
}
