//! Scenarios and properties of the façade, named by what would go wrong.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod crash;
mod cursors;
mod damage;
mod docs;
mod dream_pages;
mod dream_undo;
mod faults;
mod golden;
mod hidden;
mod idempotency;
mod imports;
mod large;
mod lists;
mod logs;
mod model;
mod points;
mod power;
mod processes;
mod properties;
mod purge;
mod purge_any;
mod purge_crash;
mod recall;
mod rollback;
mod salvage;
mod status;
mod support;
mod threads;
mod undo;
