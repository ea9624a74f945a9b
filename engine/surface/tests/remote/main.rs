//! The real program as a client of the real server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod adapter;
mod both;
mod lost;
mod place;
mod same;
mod streams;
mod trouble;
