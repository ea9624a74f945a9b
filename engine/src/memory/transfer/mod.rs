//! Export and import: JSON Lines, one entry a line.

mod line;

use std::io::{BufRead, Write};

use bilinc_core::{Command, Entry, ImportEntry, ImportId, ImportPage, Imported, Key, Outcome, Rejection, limits};

use self::line::Line;
use super::Memory;
use super::write::unexpected;
use crate::answer::{ImportSummary, Written};
use crate::error::{EngineError, Error};

/// How an import treats what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportOptions {
    /// Leave entries that exist alone instead of replacing them.
    pub if_absent: bool,
}

/// Longest line of an import, in bytes: a value and a metadata object at their limits, with room
/// for white space and escapes.
const LINE_BYTES: usize = 16 * 1024 * 1024;

/// An operation of an import holds entries of at most so many bytes, so that it fits a frame.
const OPERATION_BYTES: usize = 32 * 1024 * 1024;

impl Memory {
    /// Writes the present entries as JSON Lines, in the order of their keys and as of one position;
    /// dream reports are left out. An import of an export gives equal entries: every field but version and flags.
    /// Entries whose value was lost are left out, too; [`Self::keys_with_losses`] names them.
    ///
    /// # Errors
    /// When the log cannot be read or the output not be written.
    pub fn export(&self, output: &mut dyn Write, progress: &mut dyn FnMut(u64, u64)) -> Result<u64, Error> {
        self.store.refresh()?;
        let now = self.now();
        // Taken all at once, so that what is written stands for one position: of a merge and its
        // forget that happen meanwhile, both or none are in it. Bodies stay where they lie, but for
        // those that a purge erases.
        let mut entries: Vec<(Key, Entry)> = {
            let published = self.store.published();
            let entries = published.state.entries(now).filter(|(key, _)| !key.is_reserved());
            entries.map(|(key, entry)| (key.clone(), entry.clone())).collect()
        };
        entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let total = entries.len() as u64;
        let mut written = 0;
        for (done, (key, entry)) in (1_u64..).zip(entries) {
            let memory = self.shown(key, entry, false)?;
            // Purged meanwhile: a position of the past does not bring it back. Nor is there anything to
            // write of a value that was lost.
            if !memory.values_redacted && memory.value.is_some() {
                let mut line = Line::of(&memory)?;
                line.push('\n');
                output.write_all(line.as_bytes()).map_err(|source| stream("write the export", source))?;
                written += 1;
            }
            progress(done, total);
        }
        output.flush().map_err(|source| stream("write the export", source))?;
        Ok(written)
    }

    /// Writes entries from JSON Lines. All lines are read and judged before anything is written; a
    /// bad one refuses the whole import with its number. Existing keys are replaced, or left alone
    /// with `if_absent`. Operations of at most 1,000 entries share the import's id, by which it can
    /// be undone. With an idempotency key, operation *n* after the first goes under `<key>#<n>`, so a
    /// repeated import goes on where the first one stopped.
    ///
    /// # Errors
    /// [`Rejection`] for a bad line; nothing is written then.
    pub fn import(
        &self,
        input: impl BufRead,
        options: ImportOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Written<ImportSummary>, Error> {
        let entries = self.read_lines(input)?;
        let total = entries.len() as u64;
        let mut import = ImportId::from_u128(self.store.settings.ids.next_id());
        let mut summary =
            ImportSummary { import, lines: total, created: 0, replaced: 0, skipped_existing: 0, skipped_reserved: 0 };
        let mut replayed = total > 0;
        let mut done = 0;
        progress(0, total);
        for (page, entries) in (1_u32..).zip(pages(entries)) {
            done += entries.len() as u64;
            let command = Command::Import(ImportPage { import, if_absent: options.if_absent, entries });
            let written = self.write_as(command, self.idempotency_of_page(page))?;
            let Outcome::Imported(tally) = written.answer else { return Err(unexpected(&written.answer)) };
            replayed &= written.replayed;
            // A repeated import goes on under the id of its first try, so that one undo takes all of it.
            import = tally.import;
            add(&mut summary, &tally);
            progress(done, total);
        }
        Ok(Written { answer: summary, replayed })
    }

    fn read_lines(&self, mut input: impl BufRead) -> Result<Vec<ImportEntry>, Error> {
        let mut entries = Vec::new();
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            let read = read_line(&mut input, &mut line).map_err(|source| stream("read the import", source))?;
            if line.len() > LINE_BYTES {
                return Err(bad_line(number, "too_large", "the line is longer than any entry").into());
            }
            if read == 0 {
                break;
            }
            let text = std::str::from_utf8(&line)
                .map_err(|error| bad_line(number, "invalid_utf8", &format!("not UTF-8: {error}")))?
                .trim_start_matches('\u{feff}');
            if text.trim().is_empty() {
                continue;
            }
            let entry = Line::parse(text).map_err(|error| at_line(number, error))?;
            let command =
                Command::Import(ImportPage { import: ImportId::from_u128(0), if_absent: false, entries: vec![entry] });
            self.check_form(&command).map_err(|error| at_line(number, error))?;
            if let Command::Import(page) = command {
                entries.extend(page.entries);
            }
        }
        Ok(entries)
    }
}

/// Reads one line, but never more of it than is needed to say that it is too long.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<usize> {
    use std::io::Read;
    input.take(LINE_BYTES as u64 + 1).read_until(b'\n', line)
}

/// Operations of at most [`limits::IMPORT_ENTRIES`] entries and [`OPERATION_BYTES`] bytes.
fn pages(entries: Vec<ImportEntry>) -> Vec<Vec<ImportEntry>> {
    let mut pages: Vec<Vec<ImportEntry>> = Vec::new();
    let mut room = 0;
    for entry in entries {
        let commit = &entry.commit;
        let metadata = commit.metadata.as_ref().map_or(0, |metadata| metadata.as_str().len());
        let bytes = commit.key.as_str().len() + commit.value.as_str().len() + metadata + 256;
        match pages.last_mut().filter(|page| page.len() < limits::IMPORT_ENTRIES && bytes <= room) {
            Some(page) => page.push(entry),
            None => {
                room = OPERATION_BYTES;
                pages.push(vec![entry]);
            }
        }
        room = room.saturating_sub(bytes);
    }
    pages
}

fn add(summary: &mut ImportSummary, tally: &Imported) {
    summary.import = tally.import;
    summary.created += tally.created;
    summary.replaced += tally.replaced;
    summary.skipped_existing += tally.skipped_existing;
    summary.skipped_reserved += tally.skipped_reserved;
}

fn bad_line(number: u64, reason: &'static str, message: &str) -> Rejection {
    Rejection::invalid(format!("line {number}"), reason, message)
}

/// Names the line that a rejection is about.
fn at_line(number: u64, rejection: Rejection) -> Rejection {
    match rejection {
        Rejection::Invalid { field, reason, message } => {
            Rejection::invalid(format!("line {number}: {}", field.trim_start_matches("entries[0].")), reason, message)
        }
        Rejection::SecretDetected { kind, path } => Rejection::SecretDetected {
            kind,
            path: format!("line {number}: {}", path.trim_start_matches("entries[0].")),
        },
        other => other,
    }
}

fn stream(doing: &'static str, source: std::io::Error) -> Error {
    Error::Engine(EngineError::Stream { doing, source })
}
