//! One of every event.

use bilinc_core::*;

use super::{at, key};

fn facts() -> Facts {
    Facts {
        memory_type: MemoryType::Procedural,
        importance: 0.25,
        source: "other".into(),
        session_id: Some("s-2".into()),
        canonical: Some(true),
        priority: Some(0.5),
        ttl: Some(3600.5),
    }
}

fn flag() -> OpenFlag {
    OpenFlag {
        seq: Seq::new(3),
        dream: Some(DreamId::from_u128(9)),
        reason: "unclear".into(),
        evidence_keys: vec![key("e")],
        at: at(5),
    }
}

fn change() -> ChangeInfo {
    ChangeInfo { op: ChangeOp::Update, source: "editor".into(), at: at(7), seq: Seq::new(4) }
}

fn action(status: ActionStatus) -> ActionRecord {
    ActionRecord {
        op: ActionOp::Revise,
        key: key("k"),
        expected_version: Some(Version::from_u128(5)),
        merged_from: vec![key("m")],
        reason: "merged".into(),
        evidence_keys: vec![key("e")],
        status,
    }
}

/// One of every event, with every optional part there, in the order of their declaration.
pub(super) fn sample(operation: OperationId) -> Vec<Event> {
    let version = |index| Version::of(operation, index);
    vec![
        Event::Committed(Committed {
            key: key("k"),
            created: true,
            facts: facts(),
            times: Some(ImportedTimes { created_at: at(1), updated_at: at(2), confirmed_at: Some(at(3)) }),
            version: version(0),
            value_bytes: 5,
            metadata_bytes: 7,
        }),
        Event::Revised(Revised {
            key: key("k"),
            importance: Some(0.5),
            strategy: Strategy::Verification,
            reason: Some("r".into()),
            merged_from: vec![key("m")],
            version: version(1),
            value_bytes: 5,
        }),
        Event::Confirmed(Confirmed { key: key("k"), reason: Some("r".into()), version: version(2) }),
        Event::Forgotten(Forgotten { key: key("k"), reason: "r".into() }),
        Event::Flagged(Flagged { key: key("k"), reason: "r".into(), evidence_keys: vec![key("e")] }),
        Event::Unflagged(Unflagged {
            key: key("k"),
            cleared: vec![Seq::new(3)],
            reason: Some("r".into()),
            undoes: vec![Seq::new(3)],
        }),
        Event::Restored(Box::new(Restored {
            key: key("k"),
            created: true,
            facts: facts(),
            created_at: at(1),
            updated_at: Some(at(2)),
            confirmed_at: Some(at(3)),
            version: version(6),
            value_at: Seq::new(1),
            metadata_at: Seq::new(1),
            value_bytes: 5,
            metadata_bytes: 7,
            flags: FlagsEffect::Set(vec![flag()]),
            undoes: vec![Seq::new(4)],
            hidden_through: Some(Seq::new(2)),
        })),
        Event::Removed(Removed { key: key("k"), undoes: vec![Seq::new(4)], hidden_through: Some(Seq::ZERO) }),
        Event::Reflagged(Reflagged { key: key("k"), flags: vec![flag()], undoes: vec![Seq::new(5)] }),
        Event::SnapshotTaken(SnapshotTaken {
            snapshot: SnapshotId::from_u128(8),
            label: Some("before".into()),
            metadata: Some(Json::parse(r#"{"a":1.0}"#, 100).unwrap()),
            by_type: [1, 2, 3, 4, 5],
        }),
        Event::DreamStarted(DreamStarted {
            dream: DreamId::from_u128(9),
            options: DreamOptions { limit: 50, prefix: Some("p".into()), since: Some(at(1)), include_reviewed: true },
            candidates: vec![Candidate { key: key("k"), version: Version::from_u128(5) }],
            more: 3,
            forget_cap: 2,
            complete: true,
        }),
        Event::DreamPageApplied(DreamPageApplied {
            dream: DreamId::from_u128(9),
            actions: vec![
                action(ActionStatus::Applied { version: Some(Version::from_u128(6)) }),
                action(ActionStatus::Conflict { current: Some(Version::from_u128(6)), change: Some(change()) }),
                action(ActionStatus::Error { code: "invalid_request".into(), message: "no".into() }),
            ],
        }),
        Event::DreamFinished(DreamFinished { dream: DreamId::from_u128(9) }),
        Event::ReportWritten(ReportWritten {
            key: key("bilinc:dream:9"),
            dream: DreamId::from_u128(9),
            created: true,
            version: version(13),
            value_bytes: 5,
        }),
        Event::Undone(Undone {
            selection: Selection::Time { after: Some(at(1)), before: None },
            dream_undo: true,
            restored: vec![UndoItem {
                key: key("k"),
                undone: Seq::new(4),
                op: "revise".into(),
                version: Some(Version::from_u128(6)),
            }],
            conflicts: vec![UndoConflict { key: key("c"), reason: UndoConflictReason::Purged, change: Some(change()) }],
            unchanged: vec![key("u")],
            metadata_restored: true,
            dreams: vec![
                (DreamId::from_u128(9), DreamShift::Undone { partly: true }),
                (DreamId::from_u128(10), DreamShift::Redone),
            ],
        }),
        Event::RolledBack(RolledBack {
            snapshot: SnapshotId::from_u128(8),
            reason: "r".into(),
            created: 1,
            updated: 2,
            deleted: 3,
            skipped: vec![SkippedKey { key: key("s") }],
        }),
        Event::Imported(Imported {
            import: ImportId::from_u128(11),
            created: 1,
            replaced: 2,
            skipped_existing: 3,
            skipped_reserved: 4,
        }),
        Event::Purged(Purged {
            key: key("k"),
            reason: "r".into(),
            bodies: vec![Seq::new(1), Seq::new(300)],
            events: 1,
            bytes: 12,
            also_in: vec![key("m")],
        }),
        Event::PurgeCompleted(PurgeCompleted { purges: vec![Seq::new(18)] }),
        Event::Lost(Lost { key: Some(key("k")) }),
        Event::Salvaged(Salvaged {
            lost: vec![LostRange { first: Seq::new(2), last: Seq::new(300), bytes: 4_096, reason: "r".into() }],
            bodies: vec![Seq::new(1)],
            unproven: vec![Seq::new(301)],
            damage: vec!["d".into()],
            head: Seq::new(310),
            chain: [8; 32],
        }),
    ]
}
