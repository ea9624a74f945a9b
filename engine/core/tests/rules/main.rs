//! The rules of the core, one decision and one rejection at a time, and as properties against a
//! naive model.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod harness;
mod naive;

mod commit;
mod dream_apply;
mod dream_start;
mod dream_start_limits;
mod dream_undo;
mod dream_undo_window;
mod expiry;
mod footprint;
mod forget_confirm_flag;
mod idempotency;
mod import;
mod properties;
mod purge;
mod redo;
mod report;
mod revise;
mod salvage;
mod snapshot_rollback;
mod undo;
mod world;
