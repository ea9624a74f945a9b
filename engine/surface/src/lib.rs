//! The `bilinc` command: what people and agents type, and what they get back.
//!
//! [`catalogue`] names each operation once; [`wire`] is what answers and requests look like as
//! JSON, on every surface; [`backend`] carries requests out, on an embedded store or by a server
//! ([`remote`]); [`cli`] is the command line and [`mcp`] what agents call, both over a backend; [`http`]
//! is the server.
//!
//! What this package deliberately does not know: how anything is stored, decided or undone. It
//! turns text into commands of the library, and the library's answers into text.

pub mod backend;
pub mod catalogue;
pub mod cli;
pub mod http;
pub mod mcp;
pub mod remote;
pub mod wire;

pub use cli::demo;
