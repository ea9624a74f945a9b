//! What `bilinc` alone says.

use crate::catalogue::{self, Group};

const HEAD: &str = "\
Memory for AI agents that remembers what happened to it. Every change is an event;
nothing is lost in place, and everything can be taken back.

Usage: bilinc [--store DIR | --base-url URL] [--json] COMMAND [OPTIONS]
";

const TAIL: &str = "
Other
  mcp                Serve the store to agents over the Model Context Protocol
  serve              Serve stores over HTTP, one for each project
  keys               Make, list or revoke the API keys of a server
  health             Say whether a server or a store is well
  completions        Print a completion script for a shell
  demo               See a dream pass and its undo on a store that is thrown away

Options
  --store DIR        The store's folder; else BILINC_STORE, else the user's data folder
  --base-url URL     A server, with the key in BILINC_API_KEY; else BILINC_BASE_URL
  --json             Print one JSON object instead of text for people
  -h, --help         This text; `bilinc COMMAND --help` explains a command
  -V, --version      The version

First steps
  bilinc commit --key project.editor --value 'Helix, since March'
  bilinc recall --query editor
  bilinc history project.editor
  bilinc dream start --limit 50
";

/// All commands, grouped by what they are for.
pub(super) fn text() -> String {
    let mut text = HEAD.to_owned();
    for group in Group::ALL {
        text.push('\n');
        text.push_str(group.heading());
        text.push('\n');
        for operation in catalogue::ALL.iter().filter(|operation| operation.group == group) {
            text.push_str(&format!("  {:<18} {}\n", operation.name, operation.summary));
        }
    }
    text.push_str(TAIL);
    text
}
