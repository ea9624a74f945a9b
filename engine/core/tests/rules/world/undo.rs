//! Undos of anything.

use super::*;

impl World {
    /// Positions of everything about ordinary keys that matches and can be undone.
    pub(super) fn steps(&self, matches: impl Fn(Seq, &bilinc_core::RecordedEvent) -> bool) -> BTreeSet<Seq> {
        let known = self.naive.steps.iter().filter(|step| step.op != Op::Purge).map(|step| step.seq);
        known.filter(|seq| matches(*seq, self.store.log.facts(*seq))).collect()
    }

    pub(super) fn back(&self, back: usize) -> Option<Seq> {
        (self.store.log.len() as u64).checked_sub(back as u64).filter(|seq| *seq > 0).map(Seq::new)
    }

    #[track_caller]
    pub(super) fn undo_seq(&mut self, seq: Seq) {
        let event = self.store.log.facts(seq).clone();
        let whole = matches!(event.event, Event::Undone(_) | Event::RolledBack(_) | Event::DreamPageApplied(_));
        let selected = self.steps(|other, _| {
            other == seq || (whole && event.operation.id == self.store.log.facts(other).operation.id)
        });
        let command = undo_of(Selection::Seqs(vec![seq]));
        if !whole && selected.is_empty() {
            let reason = matches!(
                event.event,
                Event::SnapshotTaken(_)
                    | Event::DreamStarted(_)
                    | Event::DreamFinished(_)
                    | Event::ReportWritten(_)
                    | Event::Purged(_)
            );
            assert!(reason && self.store.ask(&command, None).is_err());
            return;
        }
        self.undo(Selection::Seqs(vec![seq]), &selected);
    }

    #[track_caller]
    pub(super) fn undo(&mut self, selection: Selection, selected: &BTreeSet<Seq>) {
        let answer = self.store.ok(undo_of(selection));
        let undone = undone_of(&answer);
        if matches!(answer.outcome, Outcome::Undo { already_undone: true, .. }) {
            assert!(answer.events.is_empty());
            return;
        }
        self.naive.undo(selected, false, &answer, &undone);
    }
}
