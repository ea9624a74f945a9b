//! The actions of a dream, in as many pages as they take.

use bilinc::{DreamApplyError, DreamId, Error, Memory, Rejection, limits};
use serde_json::value::RawValue;

use super::{Backend, Failed, Origin, Reply, under};
use crate::remote::{Client, Received, ServerError, own_name};
use crate::wire::actions;
use crate::wire::dreams::{AppliedView, ResultView};
use crate::wire::fields;
use crate::wire::requests::{DreamApplyRequest, Request, Surface, actor};

/// A page of a dream was refused. The pages before it stay applied.
#[derive(Debug)]
pub struct ApplyFailed {
    /// Why.
    pub error: Failed,
    /// Which page, from 1.
    pub page: u32,
    /// What became of the actions before it.
    pub results: Vec<ResultView>,
    /// Indexes of the actions that were never carried out.
    pub not_tried: Vec<usize>,
}

impl ApplyFailed {
    fn new(error: impl Into<Failed>, page: u32, results: Vec<ResultView>, actions: usize) -> Self {
        let not_tried = (results.len()..actions).collect();
        Self { error: error.into(), page, results, not_tried }
    }

    /// A failure of the call as a whole.
    pub(crate) fn whole(error: Failed) -> Self {
        Self::new(error, 1, Vec::new(), 0)
    }

    pub(crate) fn of_library(failed: DreamApplyError, dry_run: bool) -> Self {
        let DreamApplyError { page, error, results, not_tried } = failed;
        Self { error: Failed::Library(error), page, results: ResultView::of(&results, dry_run), not_tried }
    }
}

impl Backend {
    /// Carries out any number of actions of a dream, page by page; the last page finishes it.
    ///
    /// # Errors
    /// [`ApplyFailed`] says which page failed and what those before it did.
    pub fn apply(
        &self,
        surface: &Surface,
        request: DreamApplyRequest,
        once: Option<&str>,
    ) -> Result<Reply<AppliedView>, ApplyFailed> {
        let malformed = |rejection: Rejection| ApplyFailed::new(rejection, 1, Vec::new(), 0);
        let dream: DreamId = fields::id("dream_id", &request.id).map_err(malformed)?;
        let list = request.actions.as_deref().map(actions::list).transpose().map_err(malformed)?.unwrap_or_default();
        let (report, dry_run) = (request.report.clone(), request.dry_run.unwrap_or_default());
        match self {
            Self::Embedded(memory) => {
                let actor = actor(request.source.as_deref(), request.session_id.as_deref(), surface);
                let acting = under(memory, once).acting_as(actor);
                let written = acting.dream_apply(dream, list, report, dry_run);
                let written = written.map_err(|failed| ApplyFailed::of_library(failed, dry_run))?;
                let answer = AppliedView::new(&written.answer, dry_run);
                Ok(Reply { answer, replayed: written.replayed, origin: Origin::Store(memory.clone()) })
            }
            Self::Server(client) => {
                // What cannot be read as actions refuses the call before the first page is sent. An empty
                // store finds that out like a full one.
                let empty = Memory::in_memory().map_err(|error| ApplyFailed::new(error, 1, Vec::new(), list.len()))?;
                if let Err(failed) = empty.dream_apply(dream, list, report, true)
                    && matches!(*failed.error, Error::Rejected(Rejection::Invalid { .. }))
                {
                    return Err(ApplyFailed::of_library(failed, dry_run));
                }
                let pages = Pages { client, request: request.signed(surface.source) };
                if dry_run { pages.try_out() } else { pages.carry_out(once) }
            }
        }
    }
}

/// Actions that a server takes page by page.
struct Pages<'a> {
    client: &'a Client,
    request: DreamApplyRequest,
}

impl Pages<'_> {
    /// The actions as they came.
    fn actions(&self) -> Vec<&RawValue> {
        let actions = self.request.actions.as_deref().map(|raw| serde_json::from_str(raw.get()).unwrap_or_default());
        actions.unwrap_or_default()
    }

    /// The request for some of the actions; the last ones finish the dream.
    fn part(&self, actions: &[&RawValue], last: bool) -> DreamApplyRequest {
        let actions: Vec<_> = actions.iter().map(|action| action.get()).collect();
        DreamApplyRequest {
            // A list of JSON is JSON.
            actions: RawValue::from_string(format!("[{}]", actions.join(","))).ok(),
            report: self.request.report.clone().filter(|_| last),
            r#final: Some(last),
            ..self.request.clone()
        }
    }

    fn carry_out(&self, once: Option<&str>) -> Result<Reply<AppliedView>, ApplyFailed> {
        let actions = self.actions();
        let own = own_name();
        let name = once.unwrap_or(&own);
        let mut pages: Vec<_> = actions.chunks(limits::PAGE_ACTIONS).collect();
        if pages.is_empty() {
            pages.push(&[]);
        }
        let (count, mut before, mut replayed) = (pages.len(), Vec::new(), true);
        for (page, part) in (1_u32..).zip(pages) {
            let last = page as usize == count;
            let asked = self.client.ask(&self.part(part, last), Some(&name_of_page(name, page)));
            let mut received = match asked {
                Ok(received) => received,
                Err(error) => return Err(ApplyFailed::new(under_name(error, name), page, before, actions.len())),
            };
            replayed &= received.replayed;
            if count == 1 {
                return Ok(Reply::of_server(received, once.is_some()));
            }
            for result in &mut received.answer.results {
                result.index = result.index.saturating_add(before.len());
            }
            before.append(&mut received.answer.results);
            if last {
                let answer = AppliedView { results: before, pages: page, ..received.answer };
                let received = Received { answer, replayed, ..received };
                let mut reply = Reply::of_server(received, once.is_some());
                reply.change();
                return Ok(reply);
            }
        }
        let nothing = Rejection::invalid("actions", "required", "there are none");
        Err(ApplyFailed::new(nothing, 1, Vec::new(), actions.len()))
    }

    /// A server judges all pages of a dry run, each on what the ones before it would leave. When it
    /// refuses, the first page with which it does is the one that fails.
    fn try_out(&self) -> Result<Reply<AppliedView>, ApplyFailed> {
        let actions = self.actions();
        let asked = |until: usize| {
            self.client.ask(&self.part(actions.get(..until).unwrap_or(&actions), until >= actions.len()), None)
        };
        let error = match asked(actions.len()) {
            Ok(received) => return Ok(Reply::of_server(received, false)),
            Err(error) => error,
        };
        let (mut page, mut results) = (1, Vec::new());
        // Anything else fails on every page alike.
        if error.code() == "forget_cap_exceeded" {
            for until in (limits::PAGE_ACTIONS..actions.len()).step_by(limits::PAGE_ACTIONS) {
                match asked(until) {
                    Ok(received) => results = received.answer.results,
                    Err(error) => return Err(ApplyFailed::new(error, page, results, actions.len())),
                }
                page = page.saturating_add(1);
            }
        }
        Err(ApplyFailed::new(error, page, results, actions.len()))
    }
}

/// The name of a page, the same as on a store that is open here: a call that is repeated on either
/// goes on where the first one stopped.
fn name_of_page(name: &str, page: u32) -> String {
    let numbered = format!("{name}#{page}");
    match page {
        1 => name.to_owned(),
        _ if numbered.chars().count() <= limits::IDEMPOTENCY_KEY_CHARS => numbered,
        _ => format!("{}#{page}", blake3::hash(name.as_bytes()).to_hex()),
    }
}

/// A call is repeated under its own name, not under that of a page.
fn under_name(mut error: ServerError, name: &str) -> ServerError {
    if let Some(key) = &mut error.view.details.idempotency_key {
        name.clone_into(key);
    }
    error
}
