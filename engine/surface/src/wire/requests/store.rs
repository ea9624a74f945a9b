//! Requests about the store as a whole.

use bilinc::{Error, LogItem, LogQuery, Memory, Rejection, Seq, limits};

use super::{Answer, Oversize, Prepared, Request, Surface, fresh, key, limit, request, whole};
use crate::catalogue::{self, Operation};
use crate::wire::fields;
use crate::wire::log::{LogEvent, LogView};
use crate::wire::status::StatusView;
use crate::wire::transfer::ImportView;
use crate::wire::verify::VerifiedView;

request! {
    /// Shows the events themselves.
    LogRequest {
        /// Events on a page, 1 to 1,000.
        #[schema(minimum = 1, maximum = 1000)]
        limit: Option<u64>,
        /// Only events about this key.
        #[schema(min_length = 1, max_length = 512)]
        key: Option<String>,
        /// Only events by this writer.
        #[schema(max_length = 256)]
        source: Option<String>,
        /// Only events of this session.
        #[schema(max_length = 256)]
        session_id: Option<String>,
        /// Only the own events of this dream.
        #[schema(pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
        dream_id: Option<String>,
        /// Only events of this import.
        #[schema(pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
        import_id: Option<String>,
        /// Only events of this operation.
        #[schema(pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
        operation_id: Option<String>,
        /// Only events from this position on.
        from_seq: Option<u64>,
        /// Only events up to this position.
        to_seq: Option<u64>,
        /// Only events recorded after this time.
        after: Option<String>,
        /// Only events recorded before this time.
        before: Option<String>,
        /// `newest` or `oldest` first.
        #[schema(pattern = "^(newest|oldest)$")]
        order: Option<String>,
        /// Give values, too.
        include_values: Option<bool>,
        /// Where the page before ended.
        cursor: Option<String>,
        /// Follow the log as server-sent events.
        follow: Option<bool>,
    }
}

impl Answer for LogView {
    fn oversize(&self) -> Oversize {
        Oversize::Cut
    }

    fn cut(&mut self, chars: usize) {
        for event in &mut self.events {
            event.value_truncated |= fields::cut_value(&mut event.value, chars);
        }
    }
}

impl LogRequest {
    /// What the library is asked for.
    ///
    /// # Errors
    /// When something in it is malformed.
    pub fn query(&self) -> Result<LogQuery, Rejection> {
        let orders = [false, true];
        let order = |oldest_first| if oldest_first { "oldest" } else { "newest" };
        let oldest_first =
            self.order.as_deref().map_or(Ok(false), |name| super::named("order", name, orders, order))?;
        let before = |text: &String| fields::time_from_start("before", text);
        let after = |text: &String| fields::time_to_end("after", text);
        let who = |field: &str, text: &String| fields::text(field, text, 0, limits::SOURCE_CHARS);
        Ok(LogQuery {
            limit: Some(limit(self.limit, 50)),
            key: self.key.as_deref().map(key).transpose()?,
            source: self.source.as_ref().map(|text| who("source", text)).transpose()?,
            session_id: self.session_id.as_ref().map(|text| who("session_id", text)).transpose()?,
            dream: self.dream_id.as_deref().map(|id| fields::id("dream_id", id)).transpose()?,
            import: self.import_id.as_deref().map(|id| fields::id("import_id", id)).transpose()?,
            operation: self.operation_id.as_deref().map(|id| fields::id("operation_id", id)).transpose()?,
            from_seq: self.from_seq.map(Seq::new),
            to_seq: self.to_seq.map(Seq::new),
            after: self.after.as_ref().map(after).transpose()?,
            before: self.before.as_ref().map(before).transpose()?,
            oldest_first,
            include_values: self.include_values.unwrap_or_default(),
            cursor: self.cursor.clone(),
        })
    }
}

impl Request for LogRequest {
    const OPERATION: Operation = catalogue::LOG;
    type Answer = LogView;

    fn prepare(self, surface: &Surface) -> Result<Prepared<LogView>, Rejection> {
        if self.follow == Some(true) {
            return Err(Rejection::invalid("follow", "unexpected", "an answer of its own follows the log"));
        }
        let query = self.query()?;
        let most = surface.answer_bytes.filter(|_| query.include_values);
        Ok(Box::new(move |memory| {
            Ok(fresh(match most {
                Some(most) => bounded(memory, query, most)?,
                None => LogView::from(&memory.log(&query)?),
            }))
        }))
    }
}

/// Values of so many events are held at once.
const EVENTS_AT_ONCE: usize = 50;

/// A page of events whose values are cut as soon as they pass a limit, so that never more than a
/// few of them are held whole.
fn bounded(memory: &Memory, query: LogQuery, most: usize) -> Result<LogView, Error> {
    let limit = query.limit.unwrap_or(bilinc::DEFAULT_PAGE);
    if limit == 0 || limit > bilinc::MAX_PAGE {
        return Ok(LogView::from(&memory.log(&query)?));
    }
    let (mut view, mut bytes) = (LogView { events: Vec::new(), next_cursor: query.cursor.clone() }, 0);
    loop {
        let part = limit.saturating_sub(view.events.len()).min(EVENTS_AT_ONCE);
        let page = memory.log(&LogQuery { limit: Some(part), cursor: view.next_cursor, ..query.clone() })?;
        let value_bytes = |item: &LogItem| item.value.as_ref().map_or(0, |value| value.as_str().len());
        bytes += page.events.iter().map(value_bytes).sum::<usize>();
        view.events.extend(page.events.iter().map(LogEvent::from));
        view.next_cursor = page.next_cursor;
        if bytes > most {
            view.cut(super::CUT_CHARS);
        }
        if view.next_cursor.is_none() || view.events.len() >= limit {
            return Ok(view);
        }
    }
}

request! {
    /// Shows what the store holds and how it is.
    StatusRequest {}
}

whole!(StatusView, VerifiedView, ImportView);

impl Request for StatusRequest {
    const OPERATION: Operation = catalogue::STATUS;
    type Answer = StatusView;

    fn prepare(self, _: &Surface) -> Result<Prepared<StatusView>, Rejection> {
        Ok(Box::new(|memory| Ok(fresh(StatusView::new(&memory.status()?, None, true)))))
    }
}

request! {
    /// Proves the whole log.
    VerifyRequest {
        /// A head that was printed earlier: the history up to it must be unchanged.
        since_head: Option<String>,
    }
}

impl Request for VerifyRequest {
    const OPERATION: Operation = catalogue::VERIFY;
    type Answer = VerifiedView;

    fn prepare(self, _: &Surface) -> Result<Prepared<VerifiedView>, Rejection> {
        let head = |text: &String| text.parse::<bilinc::KnownHead>();
        let invalid = |error: bilinc::InvalidHead| Rejection::invalid("since_head", "invalid_head", error.to_string());
        let since = self.since_head.as_ref().map(head).transpose().map_err(invalid)?;
        Ok(Box::new(move |memory| {
            Ok(fresh(match since {
                Some(head) => VerifiedView::from(&memory.verify_since(head, &mut |_, _| {})?),
                None => VerifiedView::from(&memory.verify(&mut |_, _| {})?),
            }))
        }))
    }
}

/// Why a whole log is not all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsound {
    /// The state that answers is not what the log says.
    State,
    /// A checkpoint was not what the log says.
    Checkpoint,
}

impl Unsound {
    /// What is wrong and what was done.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::State => "the log is whole, but the state folded anew from it differs from the state that answers",
            Self::Checkpoint => {
                "the log is whole, but a checkpoint differed from what the log gives; it was set \
                 aside, and the next open reads the log"
            }
        }
    }
}

/// What is wrong although the log is whole: the state that answers, and what is kept of it, must be
/// what it says.
#[must_use]
pub fn sound(view: &VerifiedView) -> Option<Unsound> {
    let kept = [view.checkpoint, view.recall_checkpoint];
    if !view.state_equal {
        Some(Unsound::State)
    } else if kept.iter().flatten().any(|kept| !kept.equal) {
        Some(Unsound::Checkpoint)
    } else {
        None
    }
}

request! {
    /// Reads memories from the JSON Lines in its body, all or none.
    ImportRequest {
        /// Leave memories that exist alone.
        if_absent: Option<bool>,
        /// Who imports lines that name nobody.
        #[schema(max_length = 256)]
        source: Option<String>,
        /// The session of lines that name none.
        #[schema(max_length = 256)]
        session_id: Option<String>,
    }
}

impl ImportRequest {
    /// Who writes, and how what exists is treated.
    #[must_use]
    pub fn options(&self, surface: &Surface) -> (bilinc::Actor, bilinc::ImportOptions) {
        let actor = super::actor(self.source.as_deref(), self.session_id.as_deref(), surface);
        (actor, bilinc::ImportOptions { if_absent: self.if_absent.unwrap_or_default() })
    }
}
