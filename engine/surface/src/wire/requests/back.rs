//! Requests that go back: snapshots, diffs, rollbacks, undo of anything.

use bilinc::{At, DiffQuery, Json, Rejection, Selection, Seq, Snapshot, Undo};

use super::reads::check_diff;
use super::{Answer, Oversize, Prepared, Request, Surface, actor, answered, fresh, limit, request, signed, whole};
use crate::catalogue::{self, Operation};
use crate::wire::diffs::{DiffView, in_terms_of_the_request};
use crate::wire::fields;
use crate::wire::snapshots::{PreviewView, RolledBackView, SnapshotTaken, SnapshotView, SnapshotsView};
use crate::wire::undos::UndoView;

request! {
    /// Names the present position.
    SnapshotRequest {
        /// What people call it.
        #[schema(max_length = 256)]
        label: Option<String>,
        /// A JSON object kept with it.
        #[schema(value_type = Option<utoipa::openapi::Object>)]
        metadata: Option<Json>,
        /// Who takes it.
        #[schema(max_length = 256)]
        source: Option<String>,
        /// The session it is taken in.
        #[schema(max_length = 256)]
        session_id: Option<String>,
    }
}

whole!(SnapshotTaken, SnapshotsView, PreviewView, RolledBackView);

impl Request for SnapshotRequest {
    const OPERATION: Operation = catalogue::SNAPSHOT_CREATE;
    type Answer = SnapshotTaken;

    signed!();

    fn prepare(self, surface: &Surface) -> Result<Prepared<SnapshotTaken>, Rejection> {
        let actor = actor(self.source.as_deref(), self.session_id.as_deref(), surface);
        let snapshot = Snapshot { label: self.label, metadata: self.metadata };
        Ok(Box::new(move |memory| {
            let written = memory.acting_as(actor).snapshot(snapshot)?;
            Ok(answered(written, |info| SnapshotTaken { snapshot: SnapshotView::from(&info) }))
        }))
    }
}

request! {
    /// Lists snapshots, newest first.
    SnapshotsRequest {
        /// Most snapshots, 1 to 1,000.
        #[schema(minimum = 1, maximum = 1000)]
        limit: Option<u64>,
    }
}

impl Request for SnapshotsRequest {
    const OPERATION: Operation = catalogue::SNAPSHOT_LIST;
    type Answer = SnapshotsView;

    fn prepare(self, _: &Surface) -> Result<Prepared<SnapshotsView>, Rejection> {
        let limit = limit(self.limit, 20);
        Ok(Box::new(move |memory| {
            let snapshots = memory.snapshots(limit)?;
            Ok(fresh(SnapshotsView { snapshots: snapshots.iter().map(SnapshotView::from).collect() }))
        }))
    }
}

request! {
    /// Compares two points.
    DiffRequest {
        /// The point to compare from: a snapshot, `@` and a position, or a time.
        from_snapshot_id: String,
        /// The point to compare with; now when absent.
        to_snapshot_id: Option<String>,
        /// Give the values before and after.
        include_values: Option<bool>,
        /// Most keys in each list, 1 to 1,000.
        #[schema(minimum = 1, maximum = 1000)]
        limit: Option<u64>,
    }
}

impl Answer for DiffView {
    fn oversize(&self) -> Oversize {
        let items = self.added.len() + self.modified.len() + self.removed.len();
        if items > 1 { Oversize::Refused } else { Oversize::Whole }
    }
}

impl Request for DiffRequest {
    const OPERATION: Operation = catalogue::DIFF;
    type Answer = DiffView;

    fn prepare(self, surface: &Surface) -> Result<Prepared<DiffView>, Rejection> {
        let to = self.to_snapshot_id.as_deref();
        let query = DiffQuery {
            from: fields::point("from_snapshot_id", &self.from_snapshot_id)?,
            to: to.map_or(Ok(At::Now), |text| fields::point("to_snapshot_id", text))?,
            include_values: self.include_values.unwrap_or_default(),
            limit: limit(self.limit, 100),
        };
        let target = self.to_snapshot_id.unwrap_or_else(|| "current".to_owned());
        let most = surface.answer_bytes.filter(|_| query.include_values);
        Ok(Box::new(move |memory| {
            if let Some(most) = most {
                check_diff(memory, &query, most).map_err(in_terms_of_the_request)?;
            }
            let diff = memory.diff(&query).map_err(in_terms_of_the_request)?;
            Ok(fresh(DiffView::new(&diff, target, query.include_values)))
        }))
    }
}

request! {
    /// Shows what going back to a snapshot would change.
    PreviewRequest {
        /// The snapshot.
        #[schema(pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
        snapshot_id: String,
        /// Why, 1 to 512 characters.
        #[schema(min_length = 1, max_length = 512)]
        reason: String,
        /// Most keys in each list, 1 to 1,000.
        #[schema(minimum = 1, maximum = 1000)]
        limit: Option<u64>,
    }
}

impl Request for PreviewRequest {
    const OPERATION: Operation = catalogue::ROLLBACK_PREVIEW;
    type Answer = PreviewView;

    fn prepare(self, _: &Surface) -> Result<Prepared<PreviewView>, Rejection> {
        let snapshot = fields::id("snapshot_id", &self.snapshot_id)?;
        let limit = limit(self.limit, 100);
        Ok(Box::new(move |memory| {
            let preview = memory.rollback_preview(snapshot, &self.reason, limit)?;
            Ok(fresh(PreviewView::new(snapshot, preview)))
        }))
    }
}

request! {
    /// Brings back the state of a snapshot.
    RollbackRequest {
        /// The snapshot.
        #[schema(pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
        snapshot_id: String,
        /// Why: the reason of the preview.
        #[schema(min_length = 1, max_length = 512)]
        reason: String,
        /// The token of the preview.
        confirmation_token: String,
        /// Who rolls back.
        #[schema(max_length = 256)]
        source: Option<String>,
        /// The session it is rolled back in.
        #[schema(max_length = 256)]
        session_id: Option<String>,
    }
}

impl Request for RollbackRequest {
    const OPERATION: Operation = catalogue::ROLLBACK_EXECUTE;
    type Answer = RolledBackView;

    signed!();

    fn prepare(self, surface: &Surface) -> Result<Prepared<RolledBackView>, Rejection> {
        let actor = actor(self.source.as_deref(), self.session_id.as_deref(), surface);
        let snapshot = fields::id("snapshot_id", &self.snapshot_id)?;
        Ok(Box::new(move |memory| {
            let written = memory.acting_as(actor).rollback(snapshot, &self.reason, &self.confirmation_token)?;
            Ok(answered(written, |answer| RolledBackView::from(&answer)))
        }))
    }
}

request! {
    /// Takes back any one set of changes.
    UndoRequest {
        /// What a dream changed.
        #[schema(pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
        dream_id: Option<String>,
        /// What was written in a session.
        #[schema(max_length = 256)]
        session_id: Option<String>,
        /// What a writer wrote.
        #[schema(max_length = 256)]
        source: Option<String>,
        /// What an import wrote.
        #[schema(pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
        import_id: Option<String>,
        /// Positions from this one.
        from_seq: Option<u64>,
        /// Up to this one.
        to_seq: Option<u64>,
        /// What was recorded after this time.
        after: Option<String>,
        /// What was recorded before this time.
        before: Option<String>,
        /// Single positions.
        #[schema(max_items = 10000)]
        seqs: Option<Vec<u64>>,
        /// Show what it would do and write nothing.
        dry_run: Option<bool>,
    }
}

/// The one set of events that an undo names.
///
/// # Errors
/// When it names none, more than one, or half of a range.
pub fn undo_selection(request: &UndoRequest) -> Result<Selection, Rejection> {
    let mut named = Vec::new();
    if let Some(dream) = &request.dream_id {
        named.push(Selection::Dream(fields::id("dream_id", dream)?));
    }
    if let Some(session) = &request.session_id {
        named.push(Selection::Session(session.as_str().into()));
    }
    if let Some(source) = &request.source {
        named.push(Selection::Source(source.as_str().into()));
    }
    if let Some(import) = &request.import_id {
        named.push(Selection::Import(fields::id("import_id", import)?));
    }
    match (request.from_seq, request.to_seq) {
        (Some(from), Some(to)) => named.push(Selection::Range(Seq::new(from), Seq::new(to))),
        (None, None) => {}
        (Some(_), None) => return Err(Rejection::invalid("to_seq", "required", "a range has two ends")),
        (None, Some(_)) => return Err(Rejection::invalid("from_seq", "required", "a range has two ends")),
    }
    if let Some(seqs) = request.seqs.as_ref().filter(|seqs| !seqs.is_empty()) {
        named.push(Selection::Seqs(seqs.iter().map(|seq| Seq::new(*seq)).collect()));
    }
    if request.after.is_some() || request.before.is_some() {
        let after = request.after.as_ref().map(|text| fields::time_to_end("after", text));
        let before = request.before.as_ref().map(|text| fields::time_from_start("before", text));
        named.push(Selection::Time { after: after.transpose()?, before: before.transpose()? });
    }
    match (named.pop(), named.is_empty()) {
        (Some(selection), true) => Ok(selection),
        (None, _) => {
            let message = "say what to take back: dreamId, sessionId, source, importId, seqs, fromSeq with toSeq, \
                           after or before";
            Err(Rejection::invalid("selection", "required", message))
        }
        (Some(_), false) => {
            Err(Rejection::invalid("selection", "ambiguous", "name one set of changes; these are several"))
        }
    }
}

impl Request for UndoRequest {
    const OPERATION: Operation = catalogue::UNDO;
    type Answer = UndoView;

    fn prepare(self, surface: &Surface) -> Result<Prepared<UndoView>, Rejection> {
        let dry_run = self.dry_run.unwrap_or_default();
        let undo = Undo { selection: undo_selection(&self)?, dry_run };
        let actor = actor(None, None, surface);
        Ok(Box::new(move |memory| {
            let written = memory.acting_as(actor).undo(undo)?;
            Ok(answered(written, |answer| UndoView::new(&answer, dry_run)))
        }))
    }
}
