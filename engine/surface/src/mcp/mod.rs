//! The Model Context Protocol: the same operations as tools that a model calls.
//!
//! The protocol itself is `rmcp`'s. What is ours: the tools, each a table of arguments and a function
//! over the library (`tools`); arguments read from their raw text, so that values keep their numbers
//! (`arguments`, `numbers`); answers that fit into a model's context (`limits`); and a line transport
//! that nothing a client sends can end or silence (`stdio`, `lines`). The handler ([`Server`]) knows no
//! transport: over HTTP (`crate::http`) each request has one of its own.

mod arguments;
mod errors;
mod handler;
pub mod install;
mod instructions;
pub mod knowledge_graph;
mod limits;
mod lines;
pub(crate) mod messages;
mod numbers;
mod outputs;
mod prompts;
mod reply;
mod resources;
mod schema;
mod stdio;
mod store;
mod tools;

pub use self::handler::{Options, Outcome, Server, Toolset};
pub use self::messages::{RawArguments, take_arguments};
pub use self::stdio::{LineTransport, serve};
pub use self::store::Store;
pub use self::tools::tool_names;

/// Who saves over MCP when nobody else is named.
pub const SOURCE: &str = "bilinc_mcp";
