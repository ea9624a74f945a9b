//! The `bilinc` command: what people and agents type, and what they get back.
//!
//! [`catalogue`] names each operation once; [`wire`] is what answers and requests look like as
//! JSON, on every surface; [`cli`] is the command line over an embedded store.
//!
//! What this package deliberately does not know: how anything is stored, decided or undone. It
//! turns text into commands of the library, and the library's answers into text.

pub mod catalogue;
pub mod cli;
pub mod http;
pub mod wire;

pub use cli::demo;
