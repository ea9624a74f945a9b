//! The dream pass.

mod apply;

use bilinc_core::{Command, DreamId, DreamRecord, DreamStart, Event, History, Json, Key, Outcome, Rejection, Seq};

use super::Memory;
use super::list::page_limit;
use super::write::unexpected;
use crate::answer::{DreamCandidate, DreamStarted, DreamSummary, DreamView, UndoAnswer, Written};
use crate::error::{EngineError, Error};
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
                candidates: self.candidates(&event).map_err(EngineError::behind_a_write)?,
                more_candidates: event.more,
            },
            other => return Err(unexpected(&other)),
        };
        Ok(Written { answer, replayed: written.replayed })
    }

    /// The candidates as they stand, those left out that went or changed since: their versions are
    /// not the ones that were given.
    fn candidates(&self, started: &bilinc_core::DreamStarted) -> Result<Vec<DreamCandidate>, Error> {
        let (now, options) = (self.now(), &started.options);
        let mut found = Vec::with_capacity(started.candidates.len());
        {
            let published = self.store.published();
            let state = &published.state;
            // They were found in this order. As long as nothing else changed since, it leads to each of them
            // without looking for its key.
            let is_prefixed = |key: &Key| options.prefix.as_ref().is_none_or(|prefix| key.as_str().starts_with(prefix));
            let newest = state.changed_since(Seq::ZERO, options.include_reviewed);
            let newest = newest.filter(|(key, slot)| is_prefixed(key) && slot.live(now).is_some());
            let mut newest = newest.peekable();
            for candidate in &started.candidates {
                let slot = match newest.next_if(|(key, _)| **key == candidate.key) {
                    Some((_, slot)) => Some(slot),
                    None => state.slot(candidate.key.as_str()),
                };
                let entry = slot.and_then(|slot| slot.live(now));
                if let Some(entry) = entry.filter(|entry| entry.version == candidate.version) {
                    found.push((candidate.key.clone(), entry.clone()));
                }
            }
        }
        let shown = |(key, entry)| Ok(DreamCandidate { memory: self.shown(key, entry, false)? });
        found.into_iter().map(shown).collect()
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
