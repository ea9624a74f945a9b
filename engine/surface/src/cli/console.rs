//! Where a command's answer goes.

use std::io::{self, Write};

use bilinc::{ChainHash, Head, Memory, Seq};
use serde::Serialize;

use super::args::Globals;
use super::errors::CliError;
use super::render::Style;
use crate::wire::Answer;

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

    /// Gives the answer of a read: as JSON, or drawn.
    pub(super) fn answer<T: Serialize>(
        &mut self,
        memory: &Memory,
        view: &T,
        draw: impl FnOnce(&mut dyn Write, Style, &T) -> io::Result<()>,
    ) -> Result<(), CliError> {
        self.answer_write(memory, view, false, draw)
    }

    /// Gives the answer of a write, which may be one that was given before.
    pub(super) fn answer_write<T: Serialize>(
        &mut self,
        memory: &Memory,
        view: &T,
        replayed: bool,
        draw: impl FnOnce(&mut dyn Write, Style, &T) -> io::Result<()>,
    ) -> Result<(), CliError> {
        if self.globals.json {
            let head = if self.globals.seen.absent.get() { NO_STORE } else { memory.head()? };
            return self.json_line(&Answer::new(view, head).replayed(replayed));
        }
        draw(&mut *self.out, self.style, view)?;
        if replayed {
            let note = "This request came before: the answer is the first one, and nothing was written now.";
            writeln!(self.out, "{}", self.style.dim(note))?;
        }
        Ok(())
    }

    /// Gives an answer that is true of a log that ends at `head`.
    pub(super) fn answer_at<T: Serialize>(
        &mut self,
        head: Head,
        view: &T,
        draw: impl FnOnce(&mut dyn Write, Style, &T) -> io::Result<()>,
    ) -> Result<(), CliError> {
        if self.globals.json {
            return self.json_line(&Answer::new(view, head));
        }
        Ok(draw(&mut *self.out, self.style, view)?)
    }

    /// Prints one JSON object on a line of its own.
    pub(super) fn json_line(&mut self, value: &impl Serialize) -> Result<(), CliError> {
        serde_json::to_writer(&mut *self.out, value).map_err(io::Error::from)?;
        Ok(writeln!(self.out)?)
    }
}
