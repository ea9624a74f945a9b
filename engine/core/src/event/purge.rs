//! Events about erasing.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::id::Seq;
use crate::key::Key;

/// A key was purged: its entry ended, if it was there, and the content of all its events up to here
/// is to be erased. Cannot be undone.
///
/// Recorded before anything is erased, so that whoever finds a body half erased finds this, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purged {
    /// The key.
    pub key: Key,
    /// Why.
    pub reason: Arc<str>,
    /// Positions of the bodies to erase, in order: those with values of the key, and those with the
    /// fingerprints of the operations that wrote them.
    pub bodies: Vec<Seq>,
    /// Events of the key that lose a value by it.
    pub events: u64,
    /// Bytes of values and metadata objects that are erased.
    pub bytes: u64,
    /// Keys whose revise named this one among the duplicates folded in, in order.
    pub also_in: Vec<Key>,
}

/// Everything that earlier purges named is erased, and durably so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeCompleted {
    /// Positions of those purges.
    pub purges: Vec<Seq>,
}
