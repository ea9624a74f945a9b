//! The real program as clients of the Model Context Protocol start it: lines in, lines out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod client;
mod dreams;
mod graph;
mod handshake;
mod install;
mod limits;
mod lines;
#[allow(clippy::print_stdout)]
mod many;
mod numbers;
mod order;
mod reads;
mod refusals;
mod schema;
mod tools;
