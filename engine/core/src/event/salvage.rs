//! Events about what damage of the log has taken.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::id::Seq;
use crate::key::Key;

/// What was recorded at this position was lost with damage of the log. It stands in its place, so that
/// every other position keeps its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The key it was about, where a later event of that key names this position.
    pub key: Option<Key>,
}

/// A run of positions whose events were lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostRange {
    /// The first of them.
    pub first: Seq,
    /// The last of them.
    pub last: Seq,
    /// Bytes that were found there and could not be read.
    pub bytes: u64,
    /// What was found.
    pub reason: Arc<str>,
}

/// A damaged log was put in order. Says for ever what that cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvaged {
    /// Events that were lost, in order: a [`Lost`] stands at each of these positions.
    pub lost: Vec<LostRange>,
    /// Positions of events whose facts are whole and whose bodies were lost, in order.
    pub bodies: Vec<Seq>,
    /// Positions of operations that were kept although the chain of hashes did not lead to them, in
    /// order: nothing proves any more that they are what was recorded.
    pub unproven: Vec<Seq>,
    /// What was found damaged, in words; the first of it where it is a great deal.
    pub damage: Vec<Arc<str>>,
    /// The last position that the log had.
    pub head: Seq,
    /// The chain hash there, as far as it was known.
    pub chain: [u8; 32],
}
