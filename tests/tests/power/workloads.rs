//! Small runs of work, each around one way in which writes reach the disk.

use bilinc::{
    ActionOp, Commit, DreamApply, DreamId, DreamStart, DreamUndo, Durability, Error, ImportOptions, Snapshot,
    SnapshotId, Unflag,
};

use super::world::World;
use crate::support::*;

pub(super) struct Workload {
    pub(super) name: &'static str,
    pub(super) segment_bytes: u64,
    pub(super) durability: Durability,
    /// Heavy ones are tried in fewer cases.
    pub(super) heavy: bool,
    pub(super) work: fn(&mut World<'_>) -> Result<(), Error>,
}

/// Room for all of a workload, with the first step of preallocation whole.
const LARGE: u64 = 64 * 1024 * 1024;
/// Room for all of most, with less to look through behind it.
const SMALL: u64 = 12 * 1024;
const TINY: u64 = 700;

const fn durable(name: &'static str, segment_bytes: u64, work: fn(&mut World<'_>) -> Result<(), Error>) -> Workload {
    Workload { name, segment_bytes, durability: Durability::Durable, heavy: false, work }
}

const fn relaxed(name: &'static str, segment_bytes: u64, work: fn(&mut World<'_>) -> Result<(), Error>) -> Workload {
    Workload { name, segment_bytes, durability: Durability::Relaxed, heavy: false, work }
}

pub(super) static WORKLOADS: [Workload; 24] = [
    durable("first_store", SMALL, first_store),
    durable("commits", LARGE, |world| commits(world, 6)),
    durable("verbs", SMALL, verbs),
    durable("verbs_over_segments", TINY, verbs),
    durable("import", SMALL, import),
    durable("import_over_segments", 2_000, import),
    Workload { heavy: true, ..durable("import_of_two", LARGE, import_of_two) },
    durable("dream", SMALL, dream),
    durable("dream_over_segments", 1_500, dream),
    durable("dream_undo", SMALL, dream_undo),
    durable("undo_and_redo", SMALL, undo_and_redo),
    durable("rollback", SMALL, rollback),
    durable("rollback_over_segments", 1_500, rollback),
    durable("rolls", TINY, |world| commits(world, 8)),
    durable("reopened", SMALL, reopened),
    durable("reopened_over_segments", TINY, reopened),
    durable("two_handles", SMALL, two_handles),
    durable("two_handles_over_segments", TINY, two_handles),
    relaxed("relaxed", LARGE, reopened),
    relaxed("relaxed_over_segments", TINY, two_handles),
    relaxed("relaxed_beside_durable", TINY, relaxed_beside_durable),
    durable("retries", SMALL, retries),
    durable("expiry", SMALL, expiry),
    durable("larger_than_a_segment", 8 * 1024, larger_than_a_segment),
];

fn first_store(world: &mut World<'_>) -> Result<(), Error> {
    let first = world.open()?;
    world.close(first);
    let second = world.open()?;
    world.op(second, |memory| memory.commit(commit("a", "first")))?;
    Ok(())
}

fn commits(world: &mut World<'_>, count: usize) -> Result<(), Error> {
    let one = world.open()?;
    for index in 0..count {
        world.op(one, |memory| memory.commit(commit(&format!("k{index}"), &"v".repeat(40 * index))))?;
    }
    Ok(())
}

fn verbs(world: &mut World<'_>) -> Result<(), Error> {
    let one = world.open()?;
    world.op(one, |memory| memory.commit(commit("a", "first")))?;
    world.op(one, |memory| memory.commit(commit("b", "other")))?;
    world.op(one, |memory| memory.commit(commit("a", "replaced")))?;
    world.op(one, |memory| memory.revise(revise("a", "revised")))?;
    world.op(one, |memory| memory.confirm(confirm("a")))?;
    world.op(one, |memory| memory.flag(flag("b")))?;
    let unflag = Unflag { key: key("b"), reason: None, expected_version: None };
    world.op(one, |memory| memory.unflag(unflag.clone()))?;
    world.op(one, |memory| memory.forget(forget("a")))?;
    world.op(one, |memory| memory.commit(commit("a", "again")))?;
    Ok(())
}

fn lines(prefix: &str, count: usize) -> String {
    (0..count).map(|index| format!("{{\"key\":\"{prefix}{index}\",\"value\":{index}}}\n")).collect()
}

fn import_lines(world: &mut World<'_>, handle: usize, lines: &str) -> Result<(), Error> {
    world.op(handle, |memory| memory.import(lines.as_bytes(), ImportOptions::default(), &mut |_, _| {}))?;
    Ok(())
}

fn import(world: &mut World<'_>) -> Result<(), Error> {
    let one = world.open()?;
    import_lines(world, one, &lines("i", 12))?;
    world.op(one, |memory| memory.revise(revise("i3", "between")))?;
    import_lines(world, one, &lines("i", 14))
}

/// More entries than one operation takes.
fn import_of_two(world: &mut World<'_>) -> Result<(), Error> {
    let one = world.open()?;
    import_lines(world, one, &lines("i", 1_003))
}

fn start_dream(world: &mut World<'_>, handle: usize) -> Result<DreamId, Error> {
    import_lines(world, handle, &lines("n", 12))?;
    let started = world.op(handle, |memory| memory.dream_start(DreamStart::default()))?;
    let dream = started.answer.dream.unwrap();
    for page in 0..3 {
        let act = |index: usize| {
            let one = &started.answer.candidates[page * 4 + index].memory;
            let op = [ActionOp::Revise, ActionOp::Forget, ActionOp::Confirm, ActionOp::Flag][index];
            action(op, one.key.as_str(), Some(one.entry.version))
        };
        let actions: Vec<_> = (0..4).map(act).collect();
        let apply = DreamApply { dream, actions, report: None, finish: page == 2, dry_run: false };
        world.op(handle, |memory| memory.dream_apply_page(apply.clone()))?;
    }
    Ok(dream)
}

fn dream(world: &mut World<'_>) -> Result<(), Error> {
    let one = world.open()?;
    start_dream(world, one)?;
    world.op(one, |memory| memory.commit(commit("after", "the dream")))?;
    Ok(())
}

fn dream_undo(world: &mut World<'_>) -> Result<(), Error> {
    let one = world.open()?;
    let dream = start_dream(world, one)?;
    let undo = DreamUndo { dream, dry_run: false, restore_metadata: false };
    world.op(one, |memory| memory.dream_undo(undo.clone()))?;
    Ok(())
}

fn undo_and_redo(world: &mut World<'_>) -> Result<(), Error> {
    let one = world.open()?;
    world.op(one, |memory| memory.commit(commit("a", "first")))?;
    world.op(one, |memory| memory.commit(commit("b", "other")))?;
    let forgotten = world.op(one, |memory| memory.forget(forget("a")))?.answer.seq;
    let undone = world.op(one, |memory| memory.undo(undo_seq(forgotten)))?.answer.seq.unwrap();
    world.op(one, |memory| memory.revise(revise("b", "meanwhile")))?;
    world.op(one, |memory| memory.undo(undo_seq(undone)))?;
    Ok(())
}

fn rollback(world: &mut World<'_>) -> Result<(), Error> {
    let one = world.open()?;
    world.op(one, |memory| memory.commit(commit("a", "first")))?;
    world.op(one, |memory| memory.commit(commit("b", "other")))?;
    let taken: SnapshotId = world.op(one, |memory| memory.snapshot(Snapshot::default()))?.answer.id;
    world.op(one, |memory| memory.revise(revise("a", "changed")))?;
    world.op(one, |memory| memory.forget(forget("b")))?;
    let token = world.memory(one).rollback_preview(taken, "back", 100)?.confirmation_token;
    world.op(one, |memory| memory.rollback(taken, "back", &token))?;
    world.op(one, |memory| memory.commit(commit("c", "later")))?;
    Ok(())
}

fn reopened(world: &mut World<'_>) -> Result<(), Error> {
    for round in 0..3 {
        let one = world.open()?;
        for index in 0..2 {
            world.op(one, |memory| memory.commit(commit(&format!("k{round}{index}"), "value")))?;
        }
        world.close(one);
    }
    Ok(())
}

fn two_handles(world: &mut World<'_>) -> Result<(), Error> {
    let (one, two) = (world.open()?, world.open()?);
    world.op(one, |memory| memory.commit(commit("a", "of the first")))?;
    world.op(two, |memory| memory.commit(commit("b", "of the second")))?;
    world.op(two, |memory| memory.revise(revise("a", "of the second")))?;
    world.op(one, |memory| memory.revise(revise("b", "of the first")))?;
    world.close(two);
    world.op(one, |memory| memory.forget(forget("a")))?;
    let three = world.open()?;
    world.op(three, |memory| memory.commit(commit("a", "of the third")))?;
    world.op(one, |memory| memory.commit(commit("c", "of the first")))?;
    Ok(())
}

fn relaxed_beside_durable(world: &mut World<'_>) -> Result<(), Error> {
    let (one, two) = (world.open()?, world.open_as(Durability::Durable)?);
    for index in 0..4 {
        world.op(one, |memory| memory.commit(commit(&format!("k{index}"), "relaxed")))?;
        world.op(two, |memory| memory.commit(commit(&format!("k{index}"), "durable")))?;
        // A durable writer syncs what others have left.
        world.synced = world.answered();
    }
    world.op(one, |memory| memory.commit(commit("last", "relaxed")))?;
    Ok(())
}

fn retries(world: &mut World<'_>) -> Result<(), Error> {
    let (one, two) = (world.open()?, world.open()?);
    let also = world.memory(two);
    for index in 0..3 {
        let name = format!("k{index}");
        world.op(one, |memory| {
            let first = memory.commit(commit(&name, "once"))?.answer;
            let again = memory.commit(commit(&name, "once"))?;
            assert!(again.replayed && again.answer == first, "a repeated request was carried out twice");
            Ok(())
        })?;
        assert!(also.get(&name)?.is_some());
        world.op(two, |memory| memory.revise(revise(&name, "twice")))?;
    }
    Ok(())
}

fn expiry(world: &mut World<'_>) -> Result<(), Error> {
    let one = world.open()?;
    let brief = Commit { ttl: Some(60.0), ..commit("a", "brief") };
    world.op(one, |memory| memory.commit(brief.clone()))?;
    world.op(one, |memory| memory.commit(commit("b", "lasting")))?;
    world.clock.advance(2 * MINUTE);
    // What has expired is recorded as such with the next operation on its key.
    world.op(one, |memory| memory.commit(commit("a", "after it")))?;
    world.clock.advance(-MINUTE);
    world.op(one, |memory| memory.commit(commit("c", "by a clock that stepped back")))?;
    Ok(())
}

fn larger_than_a_segment(world: &mut World<'_>) -> Result<(), Error> {
    let one = world.open()?;
    for (name, len) in [("a", 100), ("b", 70_000), ("c", 100), ("d", 9_000), ("e", 9_000)] {
        world.op(one, |memory| memory.commit(commit(name, &name.repeat(len))))?;
    }
    Ok(())
}
