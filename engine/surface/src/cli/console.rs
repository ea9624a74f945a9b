//! Where a command's answer goes.

use std::io::{self, Write};

use bilinc::{ChainHash, Head, Seq};
use serde::Serialize;

use super::args::Globals;
use super::errors::CliError;
use super::render::Style;
use crate::backend::Reply;
use crate::wire::{Answer, StateVersion};

/// The end of the log of a store that is not there: always the same, unlike that of an empty one.
pub(super) const NO_STORE: Head = Head { seq: Seq::ZERO, chain: ChainHash([0; 32]) };

/// Where a command's answer goes, and how it was asked for.
pub(super) struct Console<'a> {
    /// Standard output.
    pub(super) out: &'a mut dyn Write,
    /// How it looks.
    pub(super) style: Style<'a>,
    /// The options of every command.
    pub(super) globals: Globals,
}

impl<'a> Console<'a> {
    pub(super) fn new(out: &'a mut dyn Write, style: Style<'a>, globals: Globals) -> Self {
        Self { out, style, globals }
    }

    /// Gives an answer, which may be one that was given before: as JSON, or drawn.
    pub(super) fn answer<T: Serialize>(
        &mut self,
        reply: &Reply<T>,
        draw: impl FnOnce(&mut dyn Write, Style, &T) -> io::Result<()>,
    ) -> Result<(), CliError> {
        if let Some(text) = reply.text().filter(|_| self.globals.json) {
            return Ok(writeln!(self.out, "{}", text.trim_end())?);
        }
        if self.globals.json {
            let state = if self.globals.seen.absent.get() { NO_STORE.into() } else { reply.state()? };
            return self.json_line(&Answer::new(&reply.answer, state).replayed(reply.replayed));
        }
        draw(&mut *self.out, self.style, &reply.answer)?;
        if reply.replayed {
            let note = "This request came before: the answer is the first one, and nothing was written now.";
            writeln!(self.out, "{}", self.style.dim(note))?;
        }
        Ok(())
    }

    /// Gives an answer that is true of a log that stands there.
    pub(super) fn answer_at<T: Serialize>(
        &mut self,
        state: impl Into<StateVersion>,
        view: &T,
        draw: impl FnOnce(&mut dyn Write, Style, &T) -> io::Result<()>,
    ) -> Result<(), CliError> {
        if self.globals.json {
            return self.json_line(&Answer::new(view, state));
        }
        Ok(draw(&mut *self.out, self.style, view)?)
    }

    /// Prints one JSON object on a line of its own.
    pub(super) fn json_line(&mut self, value: &impl Serialize) -> Result<(), CliError> {
        serde_json::to_writer(&mut *self.out, value).map_err(io::Error::from)?;
        Ok(writeln!(self.out)?)
    }
}
