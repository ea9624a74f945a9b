//! Undo of a dream and of anything.

use bilinc_core::{Command, DreamId, DreamPhase, DreamShift, DreamUndo, Outcome, Selection, Undo, Undone};

use super::Memory;
use super::write::unexpected;
use crate::answer::{UndoAnswer, Written};
use crate::error::Error;

impl Memory {
    /// Takes back what a dream changed, by compensating events in one operation. What another writer
    /// changed after the dream is left as it is and reported. Possible for seven days.
    ///
    /// # Errors
    /// [`bilinc_core::Rejection`] when there is no such dream or its days are over.
    pub fn dream_undo(&self, undo: DreamUndo) -> Result<Written<UndoAnswer>, Error> {
        let dry_run = undo.dry_run;
        self.take_back(Command::DreamUndo(undo), dry_run)
    }

    /// Takes back any set of events in the same way, with all metadata and without a time limit. An
    /// undo can itself be undone, by the position that its answer names.
    ///
    /// # Errors
    /// [`bilinc_core::Rejection`] when the selection names what is not there.
    pub fn undo(&self, undo: Undo) -> Result<Written<UndoAnswer>, Error> {
        let dry_run = undo.dry_run;
        self.take_back(Command::Undo(undo), dry_run)
    }

    fn take_back(&self, command: Command, dry_run: bool) -> Result<Written<UndoAnswer>, Error> {
        let written = if dry_run { self.dry_run(command)? } else { self.write(command)? };
        match written.answer {
            Outcome::Undo { undone, seq, already_undone } => {
                Ok(Written { answer: self.undo_answer(undone, seq, already_undone), replayed: written.replayed })
            }
            other => Err(unexpected(&other)),
        }
    }

    pub(super) fn undo_answer(
        &self,
        undone: Undone,
        seq: Option<bilinc_core::Seq>,
        already_undone: bool,
    ) -> UndoAnswer {
        let named: Option<DreamId> = match undone.selection {
            Selection::Dream(dream) => Some(dream),
            _ => None,
        };
        // What the undo made of the dream, which a redo may have changed since.
        let recorded = undone.dreams.iter().find(|(dream, _)| Some(*dream) == named && seq.is_some());
        let dream = match recorded {
            Some((dream, DreamShift::Undone { partly: false })) => Some((*dream, DreamPhase::Undone)),
            Some((dream, DreamShift::Undone { partly: true })) => Some((*dream, DreamPhase::PartlyUndone)),
            _ => named.and_then(|id| Some((id, self.store.published().state.dream(id)?.phase()))),
        };
        UndoAnswer { dream, undone, seq, already_undone }
    }
}
