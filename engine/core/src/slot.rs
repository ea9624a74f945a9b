//! The fold over the events of one key.

use alloc::vec::Vec;

use crate::entry::{Entry, Facts, MemoryType, OpenFlag};
use crate::event::{Event, FlagsEffect, RecordedEvent};
use crate::id::{Seq, Version};
use crate::time::Timestamp;

/// The writer's name on dream reports.
pub(crate) const REPORT_SOURCE: &str = "bilinc_dream";

/// Everything the events of one key add up to. The same fold makes the live state, an as-of read
/// and the state that an undo goes back to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Slot {
    /// The newest event of the key.
    pub head: Seq,
    /// The newest change of the key; flags are no changes.
    pub changed: Seq,
    /// When that was recorded.
    pub changed_at: Timestamp,
    /// The newest forget of the key that was not undone; values before it are hidden.
    pub hidden_through: Seq,
    /// The newest purge of the key; what was recorded of its content before is erased.
    pub purged_through: Seq,
    /// The newest event of the key that was lost, unless all that it can have said has been said anew
    /// since.
    pub lost_at: Seq,
    /// The entry, if there is one. It may have expired.
    pub entry: Option<Entry>,
}

impl Slot {
    /// The entry, if there is one that has not expired.
    #[must_use]
    pub fn live(&self, now: Timestamp) -> Option<&Entry> {
        self.entry.as_ref().filter(|entry| !entry.is_expired(now))
    }

    /// Whether the content that was recorded for this key at that position is erased.
    #[must_use]
    pub fn is_purged(&self, at: Seq) -> bool {
        at.is_some() && at < self.purged_through
    }

    /// Whether the value or the metadata of the entry, as it stood at some time, is erased.
    #[must_use]
    pub fn has_purged(&self, then: &Entry) -> bool {
        self.is_purged(then.value_at) || self.is_purged(then.metadata_at)
    }

    /// Whether a value that was recorded for this key at that position is hidden now: it is erased, or a
    /// forget that stands lies behind it, and it is not the value of the present entry, which a rollback
    /// may have brought back past that forget.
    #[must_use]
    pub fn hides_value(&self, value_at: Seq) -> bool {
        let present = self.entry.as_ref().is_some_and(|entry| entry.value_at == value_at);
        self.is_purged(value_at) || (value_at < self.hidden_through && !present)
    }

    /// As [`Self::hides_value`], for a metadata object.
    #[must_use]
    pub fn hides_metadata(&self, metadata_at: Seq) -> bool {
        let present = self.entry.as_ref().is_some_and(|entry| entry.metadata_at == metadata_at);
        self.is_purged(metadata_at) || (metadata_at.is_some() && metadata_at < self.hidden_through && !present)
    }

    /// Whether the value or the metadata of the entry, as it stood at some time, is hidden now.
    #[must_use]
    pub fn hides_entry(&self, then: &Entry) -> bool {
        self.hides_value(then.value_at) || self.hides_metadata(then.metadata_at)
    }

    /// Whether it is not known if there is an entry: the newest change was lost.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.entry.is_none() && self.lost_at.is_some() && self.lost_at == self.changed
    }

    /// Folds the next event of this key.
    pub fn apply(&mut self, recorded: &RecordedEvent) {
        let (seq, at) = (recorded.seq, recorded.operation.at);
        self.head = seq;
        if recorded.event.is_change() {
            (self.changed, self.changed_at) = (seq, at);
        }
        match &recorded.event {
            Event::Committed(event) => {
                let old = self.entry.take().filter(|_| !event.created);
                let (created_at, flags) = old.map_or((at, Vec::new()), |old| (old.created_at, old.flags));
                let incomplete = self.lost_at.is_some() && !event.created;
                let times = event.times;
                self.entry = Some(Entry {
                    facts: event.facts.clone(),
                    created_at: times.map_or(created_at, |times| times.created_at),
                    updated_at: times.map_or(at, |times| times.updated_at),
                    confirmed_at: times.and_then(|times| times.confirmed_at),
                    version: event.version,
                    value_at: seq,
                    metadata_at: if event.metadata_bytes > 0 { seq } else { Seq::ZERO },
                    value_bytes: event.value_bytes,
                    metadata_bytes: event.metadata_bytes,
                    flags,
                    incomplete,
                });
                self.known_again(event.created);
            }
            Event::Revised(event) => self.change_entry(recorded, |entry| {
                entry.facts.importance = event.importance.unwrap_or(entry.facts.importance);
                entry.updated_at = at;
                entry.confirmed_at = None;
                entry.version = event.version;
                entry.value_at = seq;
                entry.value_bytes = event.value_bytes;
            }),
            Event::Confirmed(event) => self.change_entry(recorded, |entry| {
                entry.updated_at = at;
                entry.confirmed_at = Some(at);
                entry.version = event.version;
            }),
            Event::Forgotten(_) => {
                self.entry = None;
                self.hidden_through = seq;
                self.known_again(true);
            }
            Event::Purged(_) => {
                self.entry = None;
                self.hidden_through = seq;
                self.purged_through = seq;
                self.known_again(true);
            }
            Event::Flagged(event) => self.change_entry(recorded, |entry| {
                entry.flags.push(OpenFlag {
                    seq,
                    dream: recorded.dream(),
                    reason: event.reason.clone(),
                    evidence_keys: event.evidence_keys.clone(),
                    at,
                });
            }),
            Event::Unflagged(event) => {
                self.change_entry(recorded, |entry| entry.flags.retain(|flag| !event.cleared.contains(&flag.seq)));
            }
            Event::Reflagged(event) => self.change_entry(recorded, |entry| {
                entry.flags.extend(event.flags.iter().cloned());
                entry.flags.sort_by_key(|flag| flag.seq);
            }),
            Event::Restored(event) => {
                let old = self.entry.take().filter(|_| !event.created);
                let incomplete = old.as_ref().map_or(self.lost_at.is_some() && !event.created, |old| old.incomplete);
                let kept = old.map_or_else(Vec::new, |old| old.flags);
                self.entry = Some(Entry {
                    facts: event.facts.clone(),
                    created_at: event.created_at,
                    updated_at: event.updated_at.unwrap_or(at),
                    confirmed_at: event.confirmed_at,
                    version: event.version,
                    value_at: event.value_at,
                    metadata_at: event.metadata_at,
                    value_bytes: event.value_bytes,
                    metadata_bytes: event.metadata_bytes,
                    flags: match &event.flags {
                        FlagsEffect::Keep => kept,
                        FlagsEffect::Set(flags) => flags.clone(),
                    },
                    incomplete,
                });
                self.known_again(event.created);
                self.hidden_through = event.hidden_through.unwrap_or(self.hidden_through);
            }
            Event::Removed(event) => {
                self.entry = None;
                self.hidden_through = event.hidden_through.unwrap_or(self.hidden_through);
                self.known_again(true);
            }
            Event::Lost(_) => {
                // It may have been anything: the value is not guessed, and what a forget may have hidden
                // stays hidden.
                self.lost_at = seq;
                self.hidden_through = seq;
                if let Some(entry) = &mut self.entry {
                    entry.value_at = seq;
                    entry.value_bytes = 0;
                    entry.incomplete = true;
                }
            }
            Event::ReportWritten(event) => {
                let created_at = self.entry.as_ref().filter(|_| !event.created).map_or(at, |old| old.created_at);
                self.entry = Some(Entry {
                    facts: report_facts(),
                    created_at,
                    updated_at: at,
                    confirmed_at: None,
                    version: event.version,
                    value_at: seq,
                    metadata_at: Seq::ZERO,
                    value_bytes: event.value_bytes,
                    metadata_bytes: 0,
                    flags: Vec::new(),
                    incomplete: false,
                });
                self.known_again(true);
            }
            // Not about a key.
            Event::SnapshotTaken(_)
            | Event::DreamStarted(_)
            | Event::DreamPageApplied(_)
            | Event::DreamFinished(_)
            | Event::Undone(_)
            | Event::RolledBack(_)
            | Event::Imported(_)
            | Event::PurgeCompleted(_)
            | Event::Salvaged(_) => {}
        }
    }

    /// What was lost of the key matters no more when everything has been said anew.
    fn known_again(&mut self, whole: bool) {
        if whole {
            self.lost_at = Seq::ZERO;
        }
    }

    /// A log that this core wrote has such events only where there is an entry, so behind a lost event
    /// they show that there is one. On any other they have nothing to change.
    fn change_entry(&mut self, recorded: &RecordedEvent, change: impl FnOnce(&mut Entry)) {
        if self.entry.is_none() && self.lost_at.is_some() {
            self.entry = Some(unknown_entry(self.lost_at, recorded));
        }
        if let Some(entry) = &mut self.entry {
            change(entry);
        }
    }
}

/// An entry of which an event shows no more than that it is there: its value is the lost one.
fn unknown_entry(lost_at: Seq, recorded: &RecordedEvent) -> Entry {
    let at = recorded.operation.at;
    Entry {
        facts: Facts {
            memory_type: MemoryType::default(),
            importance: 1.0,
            source: recorded.operation.actor.source.clone(),
            session_id: None,
            canonical: None,
            priority: None,
            ttl: None,
        },
        created_at: at,
        updated_at: at,
        confirmed_at: None,
        version: Version::from_u128(0),
        value_at: lost_at,
        metadata_at: Seq::ZERO,
        value_bytes: 0,
        metadata_bytes: 0,
        flags: Vec::new(),
        incomplete: true,
    }
}

fn report_facts() -> Facts {
    Facts {
        memory_type: MemoryType::Episodic,
        importance: 1.0,
        source: REPORT_SOURCE.into(),
        session_id: None,
        canonical: None,
        priority: None,
        ttl: None,
    }
}
