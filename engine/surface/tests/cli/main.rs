//! The real program, run as people and agents run it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod backup;
mod damage;
mod demo;
mod dream_refusals;
mod dreams;
mod fields;
mod globals;
mod hidden;
mod operations;
mod paging;
mod points;
mod processes;
mod purge;
mod refusals;
mod rollback;
mod salvage;
mod shell;
mod terminal;
mod transfer;
mod undo;
mod usage;
mod values;
