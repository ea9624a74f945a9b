//! Putting a damaged log in order, and keeping all that is whole.
//!
//! [`Survey`] finds what can be read, whatever lies between. Whoever knows what frames mean judges it
//! and says what stands in the gaps; [`rewrite`] writes the segments that change anew beside the log and
//! puts a [`plan`] down, which is the decision; carrying the plan out only moves files, and whoever
//! opens the store next goes on with it after an interruption.

mod identity;
mod layout;
mod plan;
mod rewrite;
mod survey;
mod walk;
mod writer;

use std::sync::Arc;

use super::error::{Doing, LogError};
use super::locks::{APPEND_LOCK, HeldLock, SYNC_LOCK, take};
use super::options::LogOptions;
use crate::storage::{Storage, StorageLock};

pub(crate) use layout::{Gap, Part};
pub(crate) use plan::{finish_if_decided, finish_under, is_decided};
pub(crate) use rewrite::{Repair, rewrite};
pub(crate) use survey::{Run, Survey, refuse_nothing};

/// The folder in which new segments are made, with the plan that puts them into use.
pub(crate) const SALVAGE_DIR: &str = "salvage";

/// Both locks of a log that may not be open, held until this is dropped.
#[derive(Debug)]
pub(crate) struct BothLocks {
    // Dropped in this order.
    _sync: HeldLock,
    _append: HeldLock,
}

impl BothLocks {
    pub(crate) fn take(storage: &dyn Storage, options: &LogOptions) -> Result<Self, LogError> {
        let held = |name: &'static str| {
            let lock: Arc<dyn StorageLock> = storage.lock(name).doing("open a lock", name)?;
            take(&lock, name, options.lock_timeout, &options.holder)
        };
        let append = held(APPEND_LOCK)?;
        Ok(Self { _sync: held(SYNC_LOCK)?, _append: append })
    }
}
