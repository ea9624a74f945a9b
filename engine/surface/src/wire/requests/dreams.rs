//! Requests of the dream pass.

use bilinc::{DreamApply, DreamStart, DreamUndo, Json, Rejection, limits};
use serde_json::value::RawValue;

use super::{Answer, Oversize, Prepared, Request, Surface, actor, answered, fresh, limit, request, signed, whole};
use crate::catalogue::{self, Operation};
use crate::wire::actions;
use crate::wire::dreams::{AppliedView, DreamView, DreamsView, StartedView, SummaryView};
use crate::wire::fields;
use crate::wire::undos::UndoView;

request! {
    /// Begins a dream pass.
    DreamStartRequest {
        /// Most candidates, 1 to 200.
        #[schema(minimum = 1, maximum = 200)]
        limit: Option<u64>,
        /// Only keys that begin so.
        prefix: Option<String>,
        /// Begin of the window.
        since: Option<String>,
        /// Also memories that an earlier dream has looked at.
        include_reviewed: Option<bool>,
        /// Who dreams.
        #[schema(max_length = 256)]
        source: Option<String>,
        /// The session it is dreamt in.
        #[schema(max_length = 256)]
        session_id: Option<String>,
    }
}

impl Answer for StartedView {
    fn oversize(&self) -> Oversize {
        Oversize::Cut
    }

    fn cut(&mut self, chars: usize) {
        for candidate in &mut self.candidates {
            candidate.value_truncated = fields::cut_value(&mut candidate.value, chars);
        }
    }
}

impl DreamStartRequest {
    /// What the library is asked for.
    ///
    /// # Errors
    /// When `since` is no time.
    pub fn start(&self) -> Result<DreamStart, Rejection> {
        let since = |text: &String| fields::time_from_start("since", text);
        let limit = self.limit.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
        Ok(DreamStart {
            limit: limit.unwrap_or(limits::DREAM_CANDIDATES),
            prefix: self.prefix.clone(),
            since: self.since.as_ref().map(since).transpose()?,
            include_reviewed: self.include_reviewed.unwrap_or_default(),
        })
    }
}

impl Request for DreamStartRequest {
    const OPERATION: Operation = catalogue::DREAM_START;
    type Answer = StartedView;

    signed!();

    fn prepare(self, surface: &Surface) -> Result<Prepared<StartedView>, Rejection> {
        let actor = actor(self.source.as_deref(), self.session_id.as_deref(), surface);
        let start = self.start()?;
        Ok(Box::new(move |memory| {
            let written = memory.acting_as(actor).dream_start(start)?;
            Ok(answered(written, |started| StartedView::from(&started)))
        }))
    }
}

request! {
    /// Carries out one page of actions on the candidates of a dream.
    DreamApplyRequest {
        /// The dream.
        #[schema(pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
        id: String,
        /// At most 25 actions, 1,000 in a dry run, their names in snake case or camelCase.
        #[schema(value_type = Option<Vec<crate::wire::actions::ActionSchema>>)]
        actions: Option<Box<RawValue>>,
        /// The report that finishes the dream: text or JSON.
        #[schema(value_type = Option<serde_json::Value>)]
        report: Option<Json>,
        /// Whether this is the last page; it is when a report comes along or no action does.
        r#final: Option<bool>,
        /// Show what would become of each action and write nothing.
        dry_run: Option<bool>,
        /// Who dreams.
        #[schema(max_length = 256)]
        source: Option<String>,
        /// The session it is dreamt in.
        #[schema(max_length = 256)]
        session_id: Option<String>,
    }
}

whole!(AppliedView, DreamView, DreamsView, UndoView);

impl Request for DreamApplyRequest {
    const OPERATION: Operation = catalogue::DREAM_APPLY;
    type Answer = AppliedView;

    signed!();

    fn prepare(self, surface: &Surface) -> Result<Prepared<AppliedView>, Rejection> {
        let actor = actor(self.source.as_deref(), self.session_id.as_deref(), surface);
        let dream = fields::id("dream_id", &self.id)?;
        let actions = self.actions.as_deref().map(actions::list).transpose()?.unwrap_or_default();
        let dry_run = self.dry_run.unwrap_or_default();
        let finish = self.r#final.unwrap_or(self.report.is_some() || actions.is_empty());
        let apply = DreamApply { dream, actions, report: self.report, finish, dry_run };
        Ok(Box::new(move |memory| {
            // What writes nothing may go over several pages, each judged on what the ones before would leave.
            if dry_run && apply.actions.len() > limits::PAGE_ACTIONS {
                let tried = memory.dream_apply(dream, apply.actions, apply.report, true);
                let tried = tried.map_err(|failed| *failed.error)?;
                return Ok(answered(tried, |applied| AppliedView::new(&applied, true)));
            }
            let written = memory.acting_as(actor).dream_apply_page(apply)?;
            Ok(answered(written, |applied| AppliedView::new(&applied, dry_run)))
        }))
    }
}

request! {
    /// Shows a dream.
    DreamShowRequest {
        /// The dream.
        #[schema(pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
        id: String,
    }
}

impl Request for DreamShowRequest {
    const OPERATION: Operation = catalogue::DREAM_SHOW;
    type Answer = DreamView;

    fn prepare(self, _: &Surface) -> Result<Prepared<DreamView>, Rejection> {
        let dream = fields::id("dream_id", &self.id)?;
        Ok(Box::new(move |memory| Ok(fresh(DreamView::from(&memory.dream(dream)?)))))
    }
}

request! {
    /// Lists dreams, newest first.
    DreamListRequest {
        /// Most dreams, 1 to 1,000.
        #[schema(minimum = 1, maximum = 1000)]
        limit: Option<u64>,
    }
}

impl Request for DreamListRequest {
    const OPERATION: Operation = catalogue::DREAM_LIST;
    type Answer = DreamsView;

    fn prepare(self, _: &Surface) -> Result<Prepared<DreamsView>, Rejection> {
        let limit = limit(self.limit, 20);
        Ok(Box::new(move |memory| {
            let dreams = memory.dreams(limit)?;
            Ok(fresh(DreamsView { dreams: dreams.iter().map(SummaryView::from).collect() }))
        }))
    }
}

request! {
    /// Takes back a whole dream pass.
    DreamUndoRequest {
        /// The dream.
        #[schema(pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
        id: String,
        /// Show what it would do and write nothing.
        dry_run: Option<bool>,
        /// Bring back all metadata of removed memories, too.
        restore_metadata: Option<bool>,
        /// Who undoes it.
        #[schema(max_length = 256)]
        source: Option<String>,
        /// The session it is undone in.
        #[schema(max_length = 256)]
        session_id: Option<String>,
    }
}

impl Request for DreamUndoRequest {
    const OPERATION: Operation = catalogue::DREAM_UNDO;
    type Answer = UndoView;

    signed!();

    fn prepare(self, surface: &Surface) -> Result<Prepared<UndoView>, Rejection> {
        let actor = actor(self.source.as_deref(), self.session_id.as_deref(), surface);
        let dry_run = self.dry_run.unwrap_or_default();
        let restore_metadata = self.restore_metadata.unwrap_or_default();
        let undo = DreamUndo { dream: fields::id("dream_id", &self.id)?, dry_run, restore_metadata };
        Ok(Box::new(move |memory| {
            let written = memory.acting_as(actor).dream_undo(undo)?;
            Ok(answered(written, |answer| UndoView::new(&answer, dry_run)))
        }))
    }
}
