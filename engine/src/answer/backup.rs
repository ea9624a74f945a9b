//! What a backup made.

use bilinc_core::StoreId;

use super::Head;

/// A copy of a store, which is a store of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackedUp {
    /// Where it is.
    pub target: String,
    /// The copy's own id.
    pub store: StoreId,
    /// The position it stands at, and the chain hash there: the same in both stores.
    pub head: Head,
    /// Segments written.
    pub segments: u64,
    /// Operations copied.
    pub operations: u64,
    /// Events copied.
    pub events: u64,
    /// Bytes written of the log.
    pub bytes: u64,
}
