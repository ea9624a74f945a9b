//! The real server, asked as clients ask it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod bodies;
mod client;
mod connections;
mod crowd;
mod cut;
mod fields;
mod follow;
mod idempotency;
mod keys;
mod kills;
mod large;
mod lifetime;
mod mcp;
mod openapi;
mod operations;
mod pages;
mod projects;
mod protection;
mod refusals;
mod routes;
mod server;
mod slow;
mod trouble;
mod values;
