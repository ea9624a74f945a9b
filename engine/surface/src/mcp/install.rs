//! What to write where, so that a client starts the server.

mod remote;

use std::fmt::Write;

use serde_json::{Map, Value, json};

pub use self::remote::{KEY_VARIABLE, Remote};

/// The table of a server in the settings of Codex.
const TOML_TABLE: &str = "[mcp_servers.bilinc]";

/// As a basic string of TOML, which takes the escapes of JSON.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// A client whose set-up is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Any client that takes `mcpServers` as JSON.
    Json,
}

/// How the server is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Launch {
    fn json(&self) -> Value {
        let mut server = Map::new();
        server.insert("command".to_owned(), self.program.clone().into());
        server.insert("args".to_owned(), self.arguments.clone().into());
        json!({"mcpServers": {"bilinc": server}})
    }

    fn pretty(&self) -> String {
        format!("{:#}\n", self.json())
    }

    /// As a table of TOML.
    fn toml(&self) -> String {
        let arguments: Vec<_> = self.arguments.iter().map(|argument| quoted(argument)).collect();
        format!("{TOML_TABLE}\ncommand = {}\nargs = [{}]\n", quoted(&self.program), arguments.join(", "))
    }
}

/// The set-up of a client: what to run, or what to write into which file. `word` quotes a word for
/// a shell.
#[must_use]
pub fn instructions(client: Client, launch: &Launch, word: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    let command = || {
        let words = std::iter::once(&launch.program).chain(&launch.arguments).map(|text| word(text));
        words.collect::<Vec<_>>().join(" ")
    };
    // Writing into a string cannot fail.
    let _ = match client {
        Client::ClaudeCode => write!(
            text,
            "Run this once, in any folder:\n\n  claude mcp add --scope user bilinc -- {}\n\n\
             Or, for everybody who works on a project, write this into .mcp.json in its folder:\n\n{}",
            command(),
            launch.pretty()
        ),
        Client::ClaudeDesktop => write!(
            text,
            "Put this into claude_desktop_config.json and start Claude Desktop again. The file lies in\n\
             ~/Library/Application Support/Claude/ on macOS and in ~/.config/Claude/ on Linux; Settings,\n\
             Developer, Edit Config opens it.\n\n{}",
            launch.pretty()
        ),
        Client::Codex => write!(
            text,
            "Run this once:\n\n  codex mcp add bilinc -- {}\n\nOr put this into ~/.codex/config.toml:\n\n{}",
            command(),
            launch.toml()
        ),
        Client::Cursor => write!(
            text,
            "Put this into ~/.cursor/mcp.json, or into .cursor/mcp.json of a project:\n\n{}",
            launch.pretty()
        ),
        Client::Json => write!(text, "{}", launch.pretty()),
    };
    text
}

/// The set-up as JSON, as `--json` prints it.
#[must_use]
pub fn as_json(launch: &Launch) -> Value {
    launch.json()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch() -> Launch {
        Launch {
            program: "/usr/local/bin/bilinc".to_owned(),
            arguments: ["mcp", "--store", "/home/me/my \"own\" memory"].map(str::to_owned).into(),
        }
    }

    #[test]
    fn each_client_gets_what_starts_the_server() {
        for client in [Client::ClaudeCode, Client::ClaudeDesktop, Client::Codex, Client::Cursor, Client::Json] {
            let text = instructions(client, &launch(), |word| format!("'{word}'"));
            assert!(text.contains("/usr/local/bin/bilinc") && text.contains("memory"), "{client:?}: {text}");
        }
        let json = instructions(Client::Json, &launch(), str::to_owned);
        assert_eq!(json.parse::<Value>().ok(), Some(as_json(&launch())));
    }

    #[test]
    fn toml_strings_are_escaped() {
        let toml = launch().toml();
        assert!(toml.contains(r#"args = ["mcp", "--store", "/home/me/my \"own\" memory"]"#), "{toml}");
    }
}
