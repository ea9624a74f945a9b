//! `dream apply`.

use std::fs::File;
use std::path::{Path, PathBuf};

use bilinc::{Json, limits};
use clap::Args;
use serde_json::value::RawValue;

use super::dream_id;
use crate::cli::carry::SURFACE;
use crate::cli::console::Console;
use crate::cli::errors::CliError;
use crate::cli::write::{WriteArgs, bounded, text_or_stdin};
use crate::cli::{carry, render};
use crate::wire::requests::DreamApplyRequest;
use crate::wire::{actions, fields};

/// Options of `dream apply`.
#[derive(Debug, Args)]
#[command(after_help = "\
The file holds a JSON array of actions, or an object with `actions` and `report`:

  {\"actions\": [
     {\"op\": \"revise\",  \"key\": \"a\", \"expected_version\": \"v1_…\", \"new_value\": \"…\",
      \"merged_from\": [\"b\"], \"reason\": \"two notes on one thing\"},
     {\"op\": \"forget\",  \"key\": \"b\", \"expected_version\": \"v1_…\", \"reason\": \"folded into a\"},
     {\"op\": \"confirm\", \"key\": \"c\", \"expected_version\": \"v1_…\", \"reason\": \"still right\"},
     {\"op\": \"flag\",    \"key\": \"d\", \"reason\": \"contradicts e\", \"evidence_keys\": [\"e\"]}],
   \"report\": \"merged two notes\"}

Actions go in pages of 25; a page is carried out together or not at all. A memory that changed since \
the named version is left alone and reported as a conflict, which is no failure.

Examples:
  bilinc dream apply 0192a1b2-… --file actions.json --dry-run
  my-agent < candidates.json | bilinc dream apply 0192a1b2-… --file -
  bilinc dream apply 0192a1b2-… --report 'nothing to do'")]
pub(in crate::cli) struct ApplyArgs {
    /// The dream's id
    dream_id: String,
    /// The actions; `-` reads standard input
    #[arg(long, value_name = "FILE", required_unless_present = "report")]
    file: Option<PathBuf>,
    /// The report that finishes the dream: JSON if it parses, else text; `-` reads standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    report: Option<String>,
    /// Show what would become of each action and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    write: WriteArgs,
}

impl ApplyArgs {
    fn list(&self) -> Result<(Option<Box<RawValue>>, Option<Json>), CliError> {
        let Some(path) = &self.file else { return Ok((None, None)) };
        let (list, report) = actions::split(&read(path)?)?;
        // Judged here, and sent as it came.
        list.as_deref().map(actions::list).transpose()?;
        Ok((list, report))
    }

    fn report(&self, from_file: Option<Json>) -> Result<Option<Json>, CliError> {
        match (&self.report, from_file) {
            (Some(_), Some(_)) => {
                Err(CliError::usage("report", "the file holds a report, too: leave out one of the two"))
            }
            (Some(text), None) if text == "-" && self.file.as_deref() == Some(Path::new("-")) => {
                Err(CliError::usage("report", "standard input holds the actions; they may come with a `report`"))
            }
            (Some(text), None) => {
                let text = text_or_stdin("report", text.clone())?;
                Ok(Some(fields::json_or_text("report", &text, limits::REPORT_BYTES)?))
            }
            (None, from_file) => Ok(from_file),
        }
    }
}

/// Most bytes of a list of actions.
const ACTIONS_INPUT: u64 = 64 * 1024 * 1024;

fn read(path: &Path) -> Result<String, CliError> {
    if path == Path::new("-") {
        return bounded("actions", std::io::stdin().lock(), "standard input", ACTIONS_INPUT);
    }
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => bounded("actions", file, &name, ACTIONS_INPUT),
        Err(source) => Err(CliError::File { doing: "read", path: name, source }),
    }
}

/// Carries out the actions of a dream.
pub(super) fn apply(console: &mut Console<'_>, args: ApplyArgs) -> Result<(), CliError> {
    dream_id(&args.dream_id)?;
    let (actions, report) = args.list()?;
    let request = DreamApplyRequest {
        id: args.dream_id.clone(),
        actions,
        report: args.report(report)?,
        r#final: None,
        dry_run: Some(args.dry_run),
        source: args.write.source(),
        session_id: args.write.session.clone(),
    };
    let backend = carry::changer(&console.globals, &args.write.request)?;
    let applied = backend.apply(&SURFACE, request, args.write.request.idempotency_key.as_deref());
    let reply = applied.map_err(|failed| CliError::Apply { failed: Box::new(failed), dry_run: args.dry_run })?;
    console.answer(&reply, render::applied)
}
