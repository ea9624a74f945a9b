//! Events about one entry.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::command::Strategy;
use crate::entry::{Facts, OpenFlag};
use crate::id::{Seq, Version};
use crate::key::Key;
use crate::time::Timestamp;

/// An entry was created or replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed {
    /// The entry's key.
    pub key: Key,
    /// Whether there was no entry before; else its creation time and flags stay.
    pub created: bool,
    /// What its writer said of it.
    pub facts: Facts,
    /// Times that an import brought along; else the operation's time counts.
    pub times: Option<ImportedTimes>,
    /// The entry's new version.
    pub version: Version,
    /// Bytes of the value in the body.
    pub value_bytes: u32,
    /// Bytes of the metadata object in the body; 0 where that is `{}`.
    pub metadata_bytes: u32,
}

/// Times of an imported entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportedTimes {
    /// When the entry was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was last confirmed.
    pub confirmed_at: Option<Timestamp>,
}

/// An entry got a new value.
#[derive(Debug, Clone, PartialEq)]
pub struct Revised {
    /// The entry's key.
    pub key: Key,
    /// Its new importance, if it got one.
    pub importance: Option<f64>,
    /// The strategy it was judged by.
    pub strategy: Strategy,
    /// Why.
    pub reason: Option<Arc<str>>,
    /// Duplicates folded into it.
    pub merged_from: Vec<Key>,
    /// The entry's new version.
    pub version: Version,
    /// Bytes of the value in the body.
    pub value_bytes: u32,
}

/// An entry was said to be still right.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirmed {
    /// The entry's key.
    pub key: Key,
    /// Why.
    pub reason: Option<Arc<str>>,
    /// The entry's new version.
    pub version: Version,
}

/// An entry was taken out of use.
#[derive(Debug, Clone, PartialEq)]
pub struct Forgotten {
    /// The entry's key.
    pub key: Key,
    /// Why.
    pub reason: Arc<str>,
}

/// An entry was marked for a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Flagged {
    /// The entry's key.
    pub key: Key,
    /// What is to be looked at.
    pub reason: Arc<str>,
    /// Entries that speak for it.
    pub evidence_keys: Vec<Key>,
}

/// Flags of an entry were cleared.
#[derive(Debug, Clone, PartialEq)]
pub struct Unflagged {
    /// The entry's key.
    pub key: Key,
    /// Which flags, by the positions at which they were set.
    pub cleared: Vec<Seq>,
    /// Why.
    pub reason: Option<Arc<str>>,
    /// When an undo cleared them: what it took back.
    pub undoes: Vec<Seq>,
}

/// What becomes of the flags of a restored entry.
#[derive(Debug, Clone, PartialEq)]
pub enum FlagsEffect {
    /// They stay as they are; an entry made anew has none.
    Keep,
    /// These are open, and no others.
    Set(Vec<OpenFlag>),
}

/// Compensating: an entry stands again as it stood earlier. Names the positions of the bodies that
/// it brings back and copies nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Restored {
    /// The entry's key.
    pub key: Key,
    /// Whether there was no entry just before.
    pub created: bool,
    /// What is said of the entry.
    pub facts: Facts,
    /// When the entry was created.
    pub created_at: Timestamp,
    /// When it last changed; the operation's time when absent.
    pub updated_at: Option<Timestamp>,
    /// When it was last confirmed.
    pub confirmed_at: Option<Timestamp>,
    /// The entry's new version.
    pub version: Version,
    /// The event whose body holds the value.
    pub value_at: Seq,
    /// The event whose body holds the metadata object, [`Seq::ZERO`] for `{}`.
    pub metadata_at: Seq,
    /// Bytes of the value there.
    pub value_bytes: u32,
    /// Bytes of the metadata object there.
    pub metadata_bytes: u32,
    /// What becomes of its flags.
    pub flags: FlagsEffect,
    /// What it takes back; empty for a rollback.
    pub undoes: Vec<Seq>,
    /// Position of the newest forget of this key that stands, if the undo changed it.
    pub hidden_through: Option<Seq>,
}

/// Compensating: an entry is gone again, as it was earlier.
#[derive(Debug, Clone, PartialEq)]
pub struct Removed {
    /// The entry's key.
    pub key: Key,
    /// What it takes back; empty for a rollback.
    pub undoes: Vec<Seq>,
    /// Position of the newest forget of this key that stands, if the undo changed it.
    pub hidden_through: Option<Seq>,
}

/// Compensating: flags are open again.
#[derive(Debug, Clone, PartialEq)]
pub struct Reflagged {
    /// The entry's key.
    pub key: Key,
    /// The flags.
    pub flags: Vec<OpenFlag>,
    /// What it takes back.
    pub undoes: Vec<Seq>,
}
