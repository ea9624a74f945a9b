//! Scenarios and properties of the façade, named by what would go wrong.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod cursors;
mod dream_pages;
mod dream_undo;
mod hidden;
mod idempotency;
mod imports;
mod lists;
mod logs;
mod points;
mod recall;
mod rollback;
mod support;
