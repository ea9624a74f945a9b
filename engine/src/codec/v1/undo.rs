//! Events about sets of entries: snapshots, undos, rollbacks, imports.

use std::sync::Arc;

use bilinc_core::{
    DreamShift, ImportId, Imported, Json, Key, RolledBack, Selection, Seq, SkippedKey, SnapshotId, SnapshotTaken,
    Timestamp, UndoConflict, UndoConflictReason, UndoItem, Undone,
};
use bincode::{BorrowDecode, Encode};

use super::dream::{ChangeV1, dream, version};
use super::list::List;
use super::{keys, numbers, seqs};

#[derive(Encode, BorrowDecode)]
pub(super) struct SnapshotTakenV1<'a> {
    snapshot: [u8; 16],
    label: Option<&'a str>,
    metadata: Option<&'a str>,
    by_type: [u64; 5],
}

impl<'a> From<&'a SnapshotTaken> for SnapshotTakenV1<'a> {
    fn from(event: &'a SnapshotTaken) -> Self {
        Self {
            snapshot: event.snapshot.as_u128().to_be_bytes(),
            label: event.label.as_deref(),
            metadata: event.metadata.as_ref().map(Json::as_str),
            by_type: event.by_type,
        }
    }
}

impl From<SnapshotTakenV1<'_>> for SnapshotTaken {
    fn from(event: SnapshotTakenV1<'_>) -> Self {
        Self {
            snapshot: SnapshotId::from_u128(u128::from_be_bytes(event.snapshot)),
            label: event.label.map(Arc::from),
            metadata: event.metadata.map(Json::from_recorded),
            by_type: event.by_type,
        }
    }
}

#[derive(Encode, BorrowDecode)]
enum SelectionV1<'a> {
    Dream([u8; 16]),
    Session(&'a str),
    Source(&'a str),
    Import([u8; 16]),
    Range(u64, u64),
    Time(Option<i64>, Option<i64>),
    Seqs(List<u64>),
}

impl<'a> From<&'a Selection> for SelectionV1<'a> {
    fn from(selection: &'a Selection) -> Self {
        match selection {
            Selection::Dream(dream) => Self::Dream(dream.as_u128().to_be_bytes()),
            Selection::Session(session) => Self::Session(session),
            Selection::Source(source) => Self::Source(source),
            Selection::Import(import) => Self::Import(import.as_u128().to_be_bytes()),
            Selection::Range(first, last) => Self::Range(first.get(), last.get()),
            Selection::Time { after, before } => {
                Self::Time(after.map(Timestamp::micros), before.map(Timestamp::micros))
            }
            Selection::Seqs(list) => Self::Seqs(numbers(list)),
        }
    }
}

impl From<SelectionV1<'_>> for Selection {
    fn from(selection: SelectionV1<'_>) -> Self {
        match selection {
            SelectionV1::Dream(bits) => Self::Dream(dream(bits)),
            SelectionV1::Session(session) => Self::Session(session.into()),
            SelectionV1::Source(source) => Self::Source(source.into()),
            SelectionV1::Import(bits) => Self::Import(ImportId::from_u128(u128::from_be_bytes(bits))),
            SelectionV1::Range(first, last) => Self::Range(Seq::new(first), Seq::new(last)),
            SelectionV1::Time(after, before) => {
                Self::Time { after: after.map(Timestamp::from_micros), before: before.map(Timestamp::from_micros) }
            }
            SelectionV1::Seqs(list) => Self::Seqs(seqs(&list)),
        }
    }
}

#[derive(Encode, BorrowDecode)]
struct ItemV1<'a> {
    key: &'a str,
    undone: u64,
    op: &'a str,
    version: Option<[u8; 16]>,
}

#[derive(Encode, BorrowDecode)]
struct ConflictV1<'a> {
    key: &'a str,
    reason: ConflictReasonV1,
    change: Option<ChangeV1<'a>>,
}

#[derive(Encode, BorrowDecode)]
enum ConflictReasonV1 {
    Changed,
    Purged,
    Lost,
}

#[derive(Encode, BorrowDecode)]
enum ShiftV1 {
    Undone { partly: bool },
    Redone,
}

#[derive(Encode, BorrowDecode)]
pub(super) struct UndoneV1<'a> {
    selection: SelectionV1<'a>,
    dream_undo: bool,
    restored: List<ItemV1<'a>>,
    conflicts: List<ConflictV1<'a>>,
    unchanged: List<&'a str>,
    metadata_restored: bool,
    dreams: List<([u8; 16], ShiftV1)>,
}

impl<'a> From<&'a Undone> for UndoneV1<'a> {
    fn from(event: &'a Undone) -> Self {
        Self {
            selection: (&event.selection).into(),
            dream_undo: event.dream_undo,
            restored: event
                .restored
                .iter()
                .map(|item| ItemV1 {
                    key: item.key.as_str(),
                    undone: item.undone.get(),
                    op: &item.op,
                    version: item.version.map(|version| version.as_u128().to_be_bytes()),
                })
                .collect(),
            conflicts: event
                .conflicts
                .iter()
                .map(|conflict| ConflictV1 {
                    key: conflict.key.as_str(),
                    reason: match conflict.reason {
                        UndoConflictReason::Changed => ConflictReasonV1::Changed,
                        UndoConflictReason::Purged => ConflictReasonV1::Purged,
                        UndoConflictReason::Lost => ConflictReasonV1::Lost,
                    },
                    change: conflict.change.as_ref().map(ChangeV1::from),
                })
                .collect(),
            unchanged: event.unchanged.iter().map(Key::as_str).collect(),
            metadata_restored: event.metadata_restored,
            dreams: event
                .dreams
                .iter()
                .map(|(dream, shift)| {
                    let shift = match shift {
                        DreamShift::Undone { partly } => ShiftV1::Undone { partly: *partly },
                        DreamShift::Redone => ShiftV1::Redone,
                    };
                    (dream.as_u128().to_be_bytes(), shift)
                })
                .collect(),
        }
    }
}

impl UndoneV1<'_> {
    pub(super) fn into_event(self) -> Result<Undone, String> {
        let conflicts = self.conflicts.into_iter().map(|conflict| {
            Ok(UndoConflict {
                key: Key::from_recorded(conflict.key),
                reason: match conflict.reason {
                    ConflictReasonV1::Changed => UndoConflictReason::Changed,
                    ConflictReasonV1::Purged => UndoConflictReason::Purged,
                    ConflictReasonV1::Lost => UndoConflictReason::Lost,
                },
                change: conflict.change.map(ChangeV1::into_info).transpose()?,
            })
        });
        Ok(Undone {
            selection: self.selection.into(),
            dream_undo: self.dream_undo,
            restored: self
                .restored
                .into_iter()
                .map(|item| UndoItem {
                    key: Key::from_recorded(item.key),
                    undone: Seq::new(item.undone),
                    op: item.op.into(),
                    version: item.version.map(version),
                })
                .collect(),
            conflicts: conflicts.collect::<Result<_, String>>()?,
            unchanged: keys(&self.unchanged),
            metadata_restored: self.metadata_restored,
            dreams: self
                .dreams
                .into_iter()
                .map(|(bits, shift)| {
                    let shift = match shift {
                        ShiftV1::Undone { partly } => DreamShift::Undone { partly },
                        ShiftV1::Redone => DreamShift::Redone,
                    };
                    (dream(bits), shift)
                })
                .collect(),
        })
    }
}

#[derive(Encode, BorrowDecode)]
pub(super) struct RolledBackV1<'a> {
    snapshot: [u8; 16],
    reason: &'a str,
    created: u64,
    updated: u64,
    deleted: u64,
    skipped: List<&'a str>,
}

impl<'a> From<&'a RolledBack> for RolledBackV1<'a> {
    fn from(event: &'a RolledBack) -> Self {
        Self {
            snapshot: event.snapshot.as_u128().to_be_bytes(),
            reason: &event.reason,
            created: event.created,
            updated: event.updated,
            deleted: event.deleted,
            skipped: event.skipped.iter().map(|skipped| skipped.key.as_str()).collect(),
        }
    }
}

impl From<RolledBackV1<'_>> for RolledBack {
    fn from(event: RolledBackV1<'_>) -> Self {
        Self {
            snapshot: SnapshotId::from_u128(u128::from_be_bytes(event.snapshot)),
            reason: event.reason.into(),
            created: event.created,
            updated: event.updated,
            deleted: event.deleted,
            skipped: keys(&event.skipped).into_iter().map(|key| SkippedKey { key }).collect(),
        }
    }
}

#[derive(Encode, BorrowDecode)]
pub(super) struct ImportedV1 {
    import: [u8; 16],
    created: u64,
    replaced: u64,
    skipped_existing: u64,
    skipped_reserved: u64,
}

impl From<&Imported> for ImportedV1 {
    fn from(event: &Imported) -> Self {
        Self {
            import: event.import.as_u128().to_be_bytes(),
            created: event.created,
            replaced: event.replaced,
            skipped_existing: event.skipped_existing,
            skipped_reserved: event.skipped_reserved,
        }
    }
}

impl From<ImportedV1> for Imported {
    fn from(event: ImportedV1) -> Self {
        Self {
            import: ImportId::from_u128(u128::from_be_bytes(event.import)),
            created: event.created,
            replaced: event.replaced,
            skipped_existing: event.skipped_existing,
            skipped_reserved: event.skipped_reserved,
        }
    }
}
