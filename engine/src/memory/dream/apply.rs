//! The pages of a dream.

use bilinc_core::{
    Action, ActionRecord, Command, DreamApply, DreamId, DreamPhase, DreamRecord, Event, History, Json, Outcome,
    Rejection, Seq, limits,
};

use crate::answer::{DreamApplied, Written};
use crate::error::{DreamApplyError, Error};
use crate::memory::Memory;
use crate::memory::write::{outcome_of, unexpected};
use crate::store::{Done, LogHistory};

impl Memory {
    /// Judges and applies one page of at most 25 actions. A page is one operation: all of its events
    /// are recorded or none.
    ///
    /// # Errors
    /// [`Rejection`] when the page is refused; nothing is written then. An action that conflicts or
    /// cannot be carried out is no error of the page: its result says so.
    pub fn dream_apply_page(&self, mut apply: DreamApply) -> Result<Written<DreamApplied>, Error> {
        if self.store.settings.refuse_secrets {
            refuse_secret_actions(&mut apply.actions);
        }
        if apply.dry_run { self.dry_page(apply) } else { self.page(apply, 1) }
    }

    /// Carries a page out; `number` is its place in its call, from 1.
    fn page(&self, apply: DreamApply, number: u32) -> Result<Written<DreamApplied>, Error> {
        let done = self.carry(Command::DreamApply(apply), self.idempotency_of_page(number))?;
        let recorded = match &done {
            Done::Written(events) => events.last().map(|event| (event.seq, event.operation.at)),
            Done::Replayed(record) => Some((record.first.plus(u64::from(record.count)).before(), record.at)),
            Done::Nothing(_) => None,
        };
        let written = self.answer(done)?;
        let Outcome::Page { dream, actions } = written.answer else { return Err(unexpected(&written.answer)) };
        let record = self.dream_record(dream)?;
        // The answer tells how the dream stood behind this page, also when it is given again later.
        let (through, at) = recorded.unwrap_or((Seq::MAX, record.started_at));
        let answer = DreamApplied {
            dream,
            phase: if record.finished.is_some_and(|finished| finished <= through) {
                DreamPhase::Finished
            } else {
                DreamPhase::Open
            },
            forget_cap: record.start.forget_cap,
            forgets: self.forgets_through(&record, through)?,
            undo_until: at.plus(limits::DREAM_MICROS),
            results: actions,
            pages: 1,
        };
        Ok(Written { answer, replayed: written.replayed })
    }

    fn dry_page(&self, apply: DreamApply) -> Result<Written<DreamApplied>, Error> {
        let written = self.dry_run(Command::DreamApply(apply))?;
        let Outcome::Page { dream, actions } = written.answer else { return Err(unexpected(&written.answer)) };
        Ok(Written { answer: self.would_be(dream, actions, 1)?, replayed: false })
    }

    /// The answer of a dry run: the dream as it is, and what the actions would come to.
    fn would_be(&self, dream: DreamId, results: Vec<ActionRecord>, pages: u32) -> Result<DreamApplied, Error> {
        let record = self.dream_record(dream)?;
        let forgotten = results.iter().filter(|action| action.is_applied_forget()).count();
        Ok(DreamApplied {
            dream,
            phase: record.phase(),
            forget_cap: record.start.forget_cap,
            forgets: record.forgets.saturating_add(u32::try_from(forgotten).unwrap_or(u32::MAX)),
            undo_until: record.undo_until(),
            results,
            pages,
        })
    }

    fn dream_record(&self, dream: DreamId) -> Result<DreamRecord, Error> {
        Ok(self.store.published().state.dream(dream).ok_or(Rejection::DreamNotFound(dream))?.clone())
    }

    /// The forgets that a dream had carried out when its page at that position was recorded.
    fn forgets_through(&self, record: &DreamRecord, through: Seq) -> Result<u32, Error> {
        if record.pages.last().is_none_or(|last| *last <= through) {
            return Ok(record.forgets);
        }
        let history = LogHistory::new(&self.store, through);
        let mut forgets = 0_usize;
        for page in record.pages.iter().take_while(|page| **page <= through) {
            if let Event::DreamPageApplied(event) = &history.event(*page)?.event {
                forgets += event.actions.iter().filter(|action| action.is_applied_forget()).count();
            }
        }
        Ok(u32::try_from(forgets).unwrap_or(u32::MAX))
    }

    /// Applies up to 1,000 actions in pages of 25 and finishes the dream with the last page. With an
    /// idempotency key, page *n* after the first goes under `<key>#<n>`, so a repeated call goes on
    /// where the first one stopped. A dry run judges each page on what the pages before it would leave.
    ///
    /// # Errors
    /// [`DreamApplyError`] when a page is refused: it carries the results of the pages before, which
    /// stay applied, and says which actions were never tried.
    pub fn dream_apply(
        &self,
        dream: DreamId,
        mut actions: Vec<Action>,
        report: Option<Json>,
        dry_run: bool,
    ) -> Result<Written<DreamApplied>, DreamApplyError> {
        let number = actions.len();
        let fail = |page: u32, error: Error, results: Vec<_>| {
            let not_tried = (results.len()..number).collect();
            DreamApplyError { page, error: Box::new(at_index(error, results.len())), results, not_tried }
        };
        if number > limits::APPLY_ACTIONS {
            let message = format!("at most {}, these are {number}", limits::APPLY_ACTIONS);
            return Err(fail(1, Rejection::invalid("actions", "too_many", message).into(), Vec::new()));
        }
        if self.store.settings.refuse_secrets {
            refuse_secret_actions(&mut actions);
        }
        // The report goes with the last page; one that cannot is refused before the first.
        let finish = DreamApply { dream, actions: Vec::new(), report: report.clone(), finish: true, dry_run };
        self.check_form(&Command::DreamApply(finish.clone())).map_err(|error| fail(1, error.into(), Vec::new()))?;
        let pages: Vec<Vec<Action>> = actions.chunks(limits::PAGE_ACTIONS).map(<[Action]>::to_vec).collect();
        let last = pages.len();
        // What cannot be read as an action refuses the call before anything is applied.
        for (page, actions) in (1_u32..).zip(&pages) {
            let form = DreamApply { actions: actions.clone(), report: None, ..finish.clone() };
            if let Err(error) = self.check_form(&Command::DreamApply(form)) {
                let at = (page as usize).saturating_sub(1).saturating_mul(limits::PAGE_ACTIONS);
                let not_tried = (0..number).collect();
                return Err(DreamApplyError {
                    page,
                    error: Box::new(at_index(error.into(), at)),
                    results: Vec::new(),
                    not_tried,
                });
            }
        }
        if dry_run && last > 1 {
            return self.dry_pages(&finish, pages).map_err(|(page, error, results)| fail(page, *error, results));
        }
        if dry_run || last == 0 {
            let apply = DreamApply { actions, ..finish };
            let written = if dry_run { self.dry_page(apply) } else { self.page(apply, 1) };
            return written.map_err(|error| fail(1, error, Vec::new()));
        }
        let mut results = Vec::with_capacity(number);
        let mut replayed = true;
        let mut answer = None;
        for (page, actions) in (1_u32..).zip(pages) {
            let finish = page as usize == last;
            let report = report.clone().filter(|_| finish);
            match self.page(DreamApply { dream, actions, report, finish, dry_run }, page) {
                Ok(written) => {
                    replayed &= written.replayed;
                    results.extend(written.answer.results.iter().cloned());
                    answer = Some(DreamApplied { pages: page, ..written.answer });
                }
                Err(error) => return Err(fail(page, error, results)),
            }
        }
        match answer {
            Some(answer) => Ok(Written { answer: DreamApplied { results, ..answer }, replayed }),
            None => Err(fail(1, Rejection::invalid("actions", "required", "there are none").into(), Vec::new())),
        }
    }

    /// Judges several pages, each on what the ones before it would leave.
    fn dry_pages(
        &self,
        finish: &DreamApply,
        pages: Vec<Vec<Action>>,
    ) -> Result<Written<DreamApplied>, (u32, Box<Error>, Vec<ActionRecord>)> {
        let (last, mut results) = (pages.len(), Vec::new());
        let mut ahead = self.store.look_ahead().map_err(|error| (1, Box::new(error.into()), Vec::new()))?;
        for (page, actions) in (1_u32..).zip(pages) {
            let apply = if page as usize == last {
                DreamApply { actions, dry_run: false, ..finish.clone() }
            } else {
                DreamApply { actions, dry_run: false, report: None, finish: false, ..*finish }
            };
            let judged = self.request(Command::DreamApply(apply), None).and_then(|request| ahead.judge(&request));
            match judged.and_then(|events| outcome_of(&events)) {
                Ok(Outcome::Page { actions, .. }) => results.extend(actions),
                Ok(other) => return Err((page, Box::new(unexpected(&other)), results)),
                Err(error) => return Err((page, Box::new(error), results)),
            }
        }
        match self.would_be(finish.dream, results, u32::try_from(last).unwrap_or(u32::MAX)) {
            Ok(answer) => Ok(Written { answer, replayed: false }),
            Err(error) => Err((1, Box::new(error), Vec::new())),
        }
    }
}

/// Names an action by its index in the call instead of that in its page.
fn at_index(error: Error, before: usize) -> Error {
    let Error::Rejected(Rejection::Invalid { field, reason, message }) = error else { return error };
    let index = field.strip_prefix("actions[").and_then(|rest| rest.split_once(']')).and_then(|(index, rest)| {
        let index: usize = index.parse().ok()?;
        Some(format!("actions[{}]{rest}", index.saturating_add(before)))
    });
    Rejection::invalid(index.unwrap_or(field), reason, message).into()
}

/// A credential in an action makes it an error of its own and of no other; neither is recorded. That
/// holds for an action that was refused before for something else, too.
fn refuse_secret_actions(actions: &mut [Action]) {
    for action in actions.iter_mut() {
        let value = action.new_value.as_ref().and_then(|value| crate::secrets::find_secret(value.as_str()));
        let found = value
            .map(|secret| ("new_value", secret))
            .or_else(|| crate::secrets::find_secret_in_text(&action.reason).map(|secret| ("reason", secret)));
        let Some((field, secret)) = found else { continue };
        if action.refused.is_none() {
            let path = format!("{field}{}", secret.path.trim_start_matches('$'));
            let rejection = Rejection::SecretDetected { kind: secret.kind, path };
            action.refused =
                Some(bilinc_core::ActionRefusal { code: rejection.code().to_owned(), message: rejection.to_string() });
        }
        action.new_value = None;
        action.reason = "left out: it came with a credential".to_owned();
    }
}
