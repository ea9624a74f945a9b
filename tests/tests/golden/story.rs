//! What happens in the golden store: every kind of event, every optional field present and absent.

use std::sync::Mutex;

use bilinc::log::SaltSource;
use bilinc::{
    Action, ActionOp, Actor, Commit, DreamStart, DreamUndo, Flag, Forget, ImportOptions, ManualClock, Memory,
    MemoryType, Revise, Snapshot, Strategy, Timestamp, Unflag,
};

use crate::support::*;

/// When the story ends.
pub(super) const END: Timestamp = START.plus(21 * MINUTE);

/// Salts 1, 2, 3 …
#[derive(Debug, Default)]
pub(super) struct Salts(Mutex<u8>);

impl SaltSource for Salts {
    fn fill(&self, bytes: &mut [u8]) -> std::io::Result<()> {
        let mut next = self.0.lock().unwrap();
        for byte in bytes {
            *next = next.wrapping_add(1);
            *byte = *next;
        }
        Ok(())
    }
}

/// Tells it; each part takes a minute.
pub(super) fn tell(memory: &Memory, clock: &ManualClock) {
    let agent = memory.acting_as(Actor { source: "agent".into(), session_id: Some("morning".into()) });
    let person = memory.acting_as(actor("person"));
    let minute = || clock.advance(MINUTE);

    agent.commit(full()).unwrap();
    minute();
    agent.with_idempotency_key("once").commit(commit("ölçü", "metrik")).unwrap();
    person.commit(Commit::new(key("numbers"), json("[1.10,1e400,null]"))).unwrap();
    minute();
    let careful = Revise {
        importance: Some(0.75),
        strategy: Strategy::Recency,
        reason: Some("checked".into()),
        ..revise("numbers", "none")
    };
    person.revise(careful).unwrap();
    person.revise(revise("ölçü", "karış")).unwrap();
    minute();
    let mut certain = confirm("full");
    certain.reason = Some("still so".into());
    person.confirm(certain).unwrap();
    let doubt = Flag { evidence_keys: vec![key("numbers"), key("ölçü")], ..flag("full") };
    person.flag(doubt).unwrap();
    minute();
    person.unflag(Unflag { key: key("full"), reason: Some("settled".into()), expected_version: None }).unwrap();
    minute();
    let label = Snapshot { label: Some("before".into()), metadata: Some(json(r#"{"ticket":7}"#)) };
    let snapshot = person.snapshot(label).unwrap().answer.id;
    person.snapshot(Snapshot::default()).unwrap();
    minute();
    import(&agent);
    minute();
    dream(&agent, &person, &minute);
    minute();
    let forgotten = person.forget(forget("imported.2")).unwrap().answer.seq;
    minute();
    person.undo(undo_seq(forgotten)).unwrap();
    minute();
    person.forget(forget("ölçü")).unwrap();
    minute();
    let token = person.rollback_preview(snapshot, "back to before", 100).unwrap().confirmation_token;
    person.rollback(snapshot, "back to before", &token).unwrap();
    minute();
    person.commit(commit("last", "word")).unwrap();
    person.forget(forget("last")).unwrap();
    person.with_idempotency_key("by mistake").commit(commit("erased", "nobody may read this")).unwrap();
    person.revise(revise("erased", "nor this")).unwrap();
    person.forget(Forget { purge: true, reason: "asked to be erased".into(), ..forget("erased") }).unwrap();
    assert!(END > bilinc::Clock::now(clock));
    clock.set(END);
}

fn full() -> Commit {
    Commit {
        metadata: Some(json(r#"{"team":"data","n":1.0}"#)),
        memory_type: Some(MemoryType::Procedural),
        importance: Some(0.25),
        source: Some("elsewhere".into()),
        session_id: Some("s-1".into()),
        canonical: Some(true),
        priority: Some(0.5),
        ttl: Some(1e9),
        ..commit("full", "every field")
    }
}

fn import(memory: &Memory) {
    let lines = concat!(
        r#"{"key":"imported.1","value":{"a":[1,2]},"source":"file","createdAt":"2025-01-01T00:00:00.000001Z"}"#,
        "\n",
        r#"{"key":"imported.2","value":"two","memoryType":"episodic","confirmedAt":"2025-02-01T00:00:00Z"}"#,
        "\n",
        r#"{"key":"imported.3","value":"three","memoryType":"working"}"#,
        "\n",
        r#"{"key":"bilinc:dream:skipped","value":0}"#,
        "\n",
    );
    memory.import(lines.as_bytes(), ImportOptions::default(), &mut |_, _| {}).unwrap();
}

/// A pass with every op and every status, its undo with a conflict, the redo, and the last word.
fn dream(agent: &Memory, person: &Memory, minute: &dyn Fn()) {
    let all = DreamStart { limit: 50, since: Some(START), include_reviewed: true, prefix: Some(String::new()) };
    let started = agent.dream_start(all).unwrap().answer;
    let dream = started.dream.unwrap();
    minute();
    let version = |name: &str| Some(agent.get(name).unwrap().unwrap().entry.version);
    let with = |op, name: &str| action(op, name, version(name));
    let merged = Action {
        merged_from: vec![key("imported.3")],
        evidence_keys: vec![key("numbers")],
        ..with(ActionOp::Revise, "imported.1")
    };
    let stale = with(ActionOp::Confirm, "numbers");
    person.revise(revise("numbers", "meanwhile")).unwrap();
    let actions = [
        merged,
        with(ActionOp::Forget, "imported.3"),
        with(ActionOp::Confirm, "imported.2"),
        with(ActionOp::Flag, "full"),
        stale,
        action(ActionOp::Forget, "no candidate", version("full")),
    ];
    // One forget of six candidates is allowed; the one that is no candidate gives its place back only
    // once it is judged, so it goes on a page of its own.
    let (first, rest) = actions.split_at(5);
    let page = |actions: &[Action], finish: bool| bilinc::DreamApply {
        dream,
        actions: actions.to_vec(),
        report: finish.then(|| json(r#"{"summary":"tidied"}"#)),
        finish,
        dry_run: false,
    };
    agent.dream_apply_page(page(first, false)).unwrap();
    minute();
    let other: Vec<_> = rest.iter().map(|one| Action { op: ActionOp::Confirm, ..one.clone() }).collect();
    agent.dream_apply_page(page(&other, true)).unwrap();
    minute();
    person.revise(revise("imported.1", "by hand")).unwrap();
    let undone = person.dream_undo(DreamUndo { dream, dry_run: false, restore_metadata: true }).unwrap().answer;
    assert_eq!((undone.undone.restored.len(), undone.undone.conflicts.len()), (3, 1));
    minute();
    person.undo(undo_seq(undone.seq.unwrap())).unwrap();
    minute();
    person.dream_undo(DreamUndo { dream, dry_run: false, restore_metadata: false }).unwrap();
}
