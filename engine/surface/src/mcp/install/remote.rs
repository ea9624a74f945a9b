//! What to write where, so that a client calls a server over HTTP.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Client, TOML_TABLE, quoted};

/// The variable from which clients take the API key.
pub const KEY_VARIABLE: &str = "BILINC_API_KEY";

/// A server over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Its address, without a path of its own.
    pub base_url: String,
    /// Whether the tools are those of the official memory server.
    pub knowledge_graph: bool,
    /// This program, for a client that only starts programs.
    pub program: String,
}

impl Remote {
    /// Where the tools are.
    #[must_use]
    pub fn url(&self) -> String {
        let base = self.base_url.trim_end_matches('/').trim_end_matches("/mcp");
        format!("{base}/mcp{}", if self.knowledge_graph { "/knowledge-graph" } else { "" })
    }

    /// The set-up as JSON, as the client takes it.
    #[must_use]
    pub fn json(&self, client: Client) -> Value {
        let server = match client {
            // It only starts programs, and knows no variables of its own surroundings.
            Client::ClaudeDesktop => json!({
                "command": self.program,
                "args": ["mcp", "--base-url", self.base_url],
                "env": {KEY_VARIABLE: "bil_live_…"},
            }),
            Client::Cursor => json!({
                "url": self.url(),
                "headers": {"Authorization": format!("Bearer ${{env:{KEY_VARIABLE}}}")},
            }),
            Client::ClaudeCode | Client::Codex | Client::Json => json!({
                "type": "http",
                "url": self.url(),
                "headers": {"Authorization": format!("Bearer ${{{KEY_VARIABLE}}}")},
            }),
        };
        json!({"mcpServers": {"bilinc": server}})
    }

    /// The set-up of a client: what to run, or what to write into which file. `word` quotes a word for
    /// a shell.
    #[must_use]
    pub fn instructions(&self, client: Client, word: impl Fn(&str) -> String) -> String {
        let (url, pretty) = (self.url(), format!("{:#}\n", self.json(client)));
        let shell_url = word(&url);
        let mut text = String::new();
        // Writing into a string cannot fail.
        let _ = match client {
            Client::ClaudeCode => write!(
                text,
                "Run this once, in any folder; Claude Code keeps the key:\n\n  \
                 claude mcp add --transport http --scope user bilinc {shell_url} \
                 --header \"Authorization: Bearer ${KEY_VARIABLE}\"\n\n\
                 Or, for everybody who works on a project, write this into .mcp.json in its folder; it holds no key:\n\n\
                 {pretty}"
            ),
            Client::ClaudeDesktop => write!(
                text,
                "Claude Desktop starts programs alone, so this one stands between. Put this into\n\
                 claude_desktop_config.json, with the key, and start Claude Desktop again. The file lies in\n\
                 ~/Library/Application Support/Claude/ on macOS and in ~/.config/Claude/ on Linux; Settings,\n\
                 Developer, Edit Config opens it.\n\n{pretty}"
            ),
            Client::Codex => write!(
                text,
                "Run this once:\n\n  codex mcp add bilinc --url {shell_url} --bearer-token-env-var {KEY_VARIABLE}\n\n\
                 Or put this into ~/.codex/config.toml:\n\n{TOML_TABLE}\nurl = {}\nbearer_token_env_var = {}\n",
                quoted(&url),
                quoted(KEY_VARIABLE)
            ),
            Client::Cursor => {
                write!(text, "Put this into ~/.cursor/mcp.json, or into .cursor/mcp.json of a project:\n\n{pretty}")
            }
            Client::Json => write!(text, "{pretty}"),
        };
        if !matches!(client, Client::ClaudeDesktop | Client::Json) {
            let _ = write!(text, "\nThe client takes the API key from {KEY_VARIABLE} in its surroundings.\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(base_url: &str, knowledge_graph: bool) -> Remote {
        Remote { base_url: base_url.to_owned(), knowledge_graph, program: "/usr/local/bin/bilinc".to_owned() }
    }

    #[test]
    fn the_address_of_the_tools_follows_from_that_of_the_server() {
        for base in ["https://memory.example", "https://memory.example/", "https://memory.example/mcp"] {
            assert_eq!(remote(base, false).url(), "https://memory.example/mcp");
        }
        assert_eq!(remote("http://127.0.0.1:8787", true).url(), "http://127.0.0.1:8787/mcp/knowledge-graph");
    }

    #[test]
    fn each_client_gets_the_address_and_where_the_key_comes_from() {
        for client in [Client::ClaudeCode, Client::ClaudeDesktop, Client::Codex, Client::Cursor, Client::Json] {
            let text = remote("https://memory.example", false).instructions(client, |word| format!("'{word}'"));
            assert!(text.contains("https://memory.example") && text.contains(KEY_VARIABLE), "{client:?}: {text}");
        }
    }
}
