//! What several benchmarks do to a store.

use bilinc::{Action, ActionOp, ActionStatus, DreamId, DreamStart, DreamUndo, Memory};

use crate::Outcome;
use crate::data::{self, Random};

/// A dream that revises so many entries, whether they were reviewed before or not, and how many it did: others may
/// have changed some meanwhile.
pub(crate) fn dream_of(memory: &Memory, changes: usize) -> Outcome<(DreamId, usize)> {
    let start = DreamStart { include_reviewed: true, ..DreamStart::default() };
    let started = memory.dream_start(start)?.answer;
    let dream = started.dream.ok_or("no entry is a candidate")?;
    let mut random = Random::new(memory.head()?.seq.get());
    let mut actions = Vec::new();
    for candidate in started.candidates.into_iter().take(changes) {
        actions.push(Action {
            op: ActionOp::Revise,
            key: candidate.memory.key,
            expected_version: Some(candidate.memory.entry.version),
            new_value: Some(data::value(random.below(1 << 40), 0)?),
            merged_from: Vec::new(),
            reason: "said again in other words".to_owned(),
            evidence_keys: Vec::new(),
            refused: None,
        });
    }
    let applied = memory.dream_apply(dream, actions, None, false)?.answer;
    let done = applied.results.iter().filter(|result| matches!(result.status, ActionStatus::Applied { .. }));
    Ok((dream, done.count()))
}

/// Takes a dream back, all of it.
pub(crate) fn undo(memory: &Memory, dream: DreamId) -> Outcome<()> {
    let answer = memory.dream_undo(DreamUndo { dream, dry_run: false, restore_metadata: false })?.answer;
    if answer.already_undone { Err("the dream was undone before".into()) } else { Ok(()) }
}
