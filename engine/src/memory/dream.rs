//! The dream pass.

use bilinc_core::{
    Action, Command, DreamApply, DreamId, DreamRecord, DreamStart, Event, History, Json, Outcome, Rejection, Seq,
    limits,
};

use super::Memory;
use super::list::page_limit;
use super::write::unexpected;
use crate::answer::{DreamApplied, DreamCandidate, DreamStarted, DreamSummary, DreamView, UndoAnswer, Written};
use crate::error::{DreamApplyError, Error};
use crate::store::LogHistory;

impl Memory {
    /// Starts a dream pass: gives the entries that changed since the last one, newest change first,
    /// with the versions that actions must name. With no candidate nothing is written.
    ///
    /// # Errors
    /// [`Rejection`] when the command is refused; nothing is written then.
    pub fn dream_start(&self, start: DreamStart) -> Result<Written<DreamStarted>, Error> {
        let written = self.write(Command::DreamStart(start))?;
        let answer = match written.answer {
            Outcome::DreamStarted(None) => {
                DreamStarted { dream: None, forget_cap: 0, candidates: Vec::new(), more_candidates: 0 }
            }
            Outcome::DreamStarted(Some(event)) => DreamStarted {
                dream: Some(event.dream),
                forget_cap: event.forget_cap,
                candidates: self.candidates(&event.candidates)?,
                more_candidates: event.more,
            },
            other => return Err(unexpected(&other)),
        };
        Ok(Written { answer, replayed: written.replayed })
    }

    /// The candidates as they stand, those left out that went or changed since: their versions are
    /// not the ones that were given.
    fn candidates(&self, candidates: &[bilinc_core::Candidate]) -> Result<Vec<DreamCandidate>, Error> {
        let now = self.now();
        let mut shown = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let entry = self.store.published().state.entry(candidate.key.as_str(), now).cloned();
            if let Some(entry) = entry.filter(|entry| entry.version == candidate.version) {
                shown.push(DreamCandidate { memory: self.shown(candidate.key.clone(), entry, false)? });
            }
        }
        Ok(shown)
    }

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
        self.page(apply, self.idempotency.clone())
    }

    fn page(&self, apply: DreamApply, idempotency: Option<String>) -> Result<Written<DreamApplied>, Error> {
        let dry_run = apply.dry_run;
        let command = Command::DreamApply(apply);
        let written = if dry_run { self.dry_run(command)? } else { self.write_as(command, idempotency)? };
        let Outcome::Page { dream, actions } = written.answer else { return Err(unexpected(&written.answer)) };
        let published = self.store.published();
        let record = published.state.dream(dream).ok_or(Rejection::DreamNotFound(dream))?;
        let forgotten = actions.iter().filter(|action| dry_run && action.is_applied_forget()).count();
        let answer = DreamApplied {
            dream,
            phase: record.phase(),
            forget_cap: record.start.forget_cap,
            forgets: record.forgets.saturating_add(u32::try_from(forgotten).unwrap_or(u32::MAX)),
            undo_until: record.undo_until(),
            results: actions,
            pages: 1,
        };
        drop(published);
        Ok(Written { answer, replayed: written.replayed })
    }

    /// Applies up to 1,000 actions in pages of 25 and finishes the dream with the last page. With an
    /// idempotency key, page *n* goes under `<key>#<n>`, so a repeated call goes on where the first
    /// one stopped.
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
            DreamApplyError { page, error, results, not_tried }
        };
        if number > limits::APPLY_ACTIONS {
            let message = format!("at most {}, these are {number}", limits::APPLY_ACTIONS);
            return Err(fail(1, Rejection::invalid("actions", "too_many", message).into(), Vec::new()));
        }
        if self.store.settings.refuse_secrets {
            refuse_secret_actions(&mut actions);
        }
        if dry_run || number == 0 {
            let apply = DreamApply { dream, actions, report, finish: true, dry_run };
            return self.page(apply, self.idempotency.clone()).map_err(|error| fail(1, error, Vec::new()));
        }
        let pages: Vec<Vec<Action>> = actions.chunks(limits::PAGE_ACTIONS).map(<[Action]>::to_vec).collect();
        let last = pages.len();
        let mut results = Vec::with_capacity(number);
        let mut replayed = true;
        let mut answer = None;
        for (page, actions) in (1_u32..).zip(pages) {
            let finish = page as usize == last;
            let report = report.clone().filter(|_| finish);
            let idempotency = self.idempotency.as_ref().map(|key| format!("{key}#{page}"));
            match self.page(DreamApply { dream, actions, report, finish, dry_run }, idempotency) {
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

    /// A dream as it stands.
    ///
    /// # Errors
    /// When there is no such dream or the log cannot be read.
    pub fn dream(&self, dream: DreamId) -> Result<DreamView, Error> {
        self.store.refresh()?;
        let (record, report_at, head) = {
            let published = self.store.published();
            let record = published.state.dream(dream).ok_or(Rejection::DreamNotFound(dream))?.clone();
            let key = format!("{}{dream}", bilinc_core::DREAM_PREFIX);
            let report_at = published.state.entry(&key, self.now()).map(|entry| entry.value_at);
            (record, report_at, published.head())
        };
        let history = LogHistory::new(&self.store, head);
        let mut actions = Vec::new();
        for page in &record.pages {
            if let Event::DreamPageApplied(event) = &history.event(*page)?.event {
                actions.extend_from_slice(&event.actions);
            }
        }
        let report = report_at.map(|at| self.report(at)).transpose()?.flatten();
        let undo = self.standing_undo(&history, &record)?;
        Ok(DreamView {
            dream,
            phase: record.phase(),
            started_at: record.started_at,
            finished_at: record.finished_at,
            undo_until: record.undo_until(),
            options: record.start.options.clone(),
            forget_cap: record.start.forget_cap,
            forgets: record.forgets,
            more_candidates: record.start.more,
            candidates: record.start.candidates.clone(),
            actions,
            report,
            undo,
        })
    }

    /// The agent's own report out of the report entry.
    fn report(&self, at: Seq) -> Result<Option<Json>, Error> {
        #[derive(serde::Deserialize)]
        struct Entry<'a> {
            #[serde(borrow, default)]
            report: Option<&'a serde_json::value::RawValue>,
        }
        let value = self.store.body(at)?.and_then(|body| body.value);
        let report = value.as_ref().and_then(|value| serde_json::from_str::<Entry<'_>>(value.as_str()).ok());
        Ok(report.and_then(|entry| entry.report).map(|raw| Json::from_recorded(raw.get())))
    }

    fn standing_undo(&self, history: &LogHistory<'_>, record: &DreamRecord) -> Result<Option<UndoAnswer>, Error> {
        let Some(undo) = record.undo else { return Ok(None) };
        match &history.event(undo.summary)?.event {
            Event::Undone(undone) => Ok(Some(self.undo_answer(undone.clone(), Some(undo.summary), false))),
            _ => Ok(None),
        }
    }

    /// Dreams, newest first.
    ///
    /// # Errors
    /// When the limit is wrong or the log cannot be read.
    pub fn dreams(&self, limit: usize) -> Result<Vec<DreamSummary>, Error> {
        let limit = page_limit(Some(limit))?;
        self.store.refresh()?;
        let published = self.store.published();
        let summary = |(dream, record): (DreamId, &DreamRecord)| DreamSummary {
            dream,
            phase: record.phase(),
            started_at: record.started_at,
            finished_at: record.finished_at,
            undo_until: record.undo_until(),
            candidates: record.start.candidates.len() as u64,
            changes: record.own.len() as u64,
            forget_cap: record.start.forget_cap,
            forgets: record.forgets,
        };
        Ok(published.state.dreams().take(limit).map(summary).collect())
    }
}

/// A credential in an action makes it an error of its own and of no other.
fn refuse_secret_actions(actions: &mut [Action]) {
    for action in actions.iter_mut().filter(|action| action.refused.is_none()) {
        let value = action.new_value.as_ref().and_then(|value| crate::secrets::find_secret(value.as_str()));
        let found = value.or_else(|| crate::secrets::find_secret_in_text(&action.reason));
        if let Some(secret) = found {
            let rejection = Rejection::SecretDetected { kind: secret.kind, path: secret.path };
            action.refused = Some(bilinc_core::ActionRefusal {
                code: rejection.code().to_owned(),
                message: rejection.to_string(),
            });
            // What is refused is not recorded either.
            action.new_value = None;
            action.reason = "left out: it came with a credential".to_owned();
        }
    }
}
