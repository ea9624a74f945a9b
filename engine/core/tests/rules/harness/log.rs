//! A log in memory. What it hands out as facts never has a body, so that no rule can lean on one.

use std::convert::Infallible;
use std::sync::Arc;

use bilinc_core::{Body, History, Json, RecordedEvent, Seq, Timestamp};

#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    whole: Vec<Arc<RecordedEvent>>,
    facts: Vec<Arc<RecordedEvent>>,
}

impl Log {
    pub(crate) fn push(&mut self, event: &Arc<RecordedEvent>) {
        self.whole.push(Arc::clone(event));
        self.facts.push(Arc::new(RecordedEvent { body: None, ..(**event).clone() }));
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &RecordedEvent> {
        self.whole.iter().map(Arc::as_ref)
    }

    pub(crate) fn len(&self) -> usize {
        self.whole.len()
    }

    #[track_caller]
    pub(crate) fn facts(&self, seq: Seq) -> &Arc<RecordedEvent> {
        &self.facts[seq.get() as usize - 1]
    }

    pub(crate) fn operation(&self, first: Seq, count: u32) -> Vec<Arc<RecordedEvent>> {
        (0..u64::from(count)).map(|index| Arc::clone(self.facts(first.plus(index)))).collect()
    }

    pub(crate) fn value(&self, seq: Seq) -> Option<Json> {
        self.whole[seq.get() as usize - 1].body.as_ref()?.value.clone()
    }

    /// The text of the metadata object in a body, `{}` for none.
    pub(crate) fn metadata(&self, seq: Seq) -> String {
        let body = seq.is_some().then(|| self.whole[seq.get() as usize - 1].body.clone().unwrap());
        body.map_or_else(|| "{}".into(), |body| body.metadata.unwrap().to_string())
    }
}

impl History for Log {
    type Error = Infallible;

    fn event(&self, seq: Seq) -> Result<Arc<RecordedEvent>, Infallible> {
        Ok(Arc::clone(self.facts(seq)))
    }

    fn body(&self, seq: Seq) -> Result<Option<Body>, Infallible> {
        Ok(self.whole[seq.get() as usize - 1].body.clone())
    }

    fn position_at(&self, time: Timestamp) -> Result<Seq, Infallible> {
        Ok(self.facts.iter().rev().find(|event| event.operation.at <= time).map_or(Seq::ZERO, |event| event.seq))
    }

    fn between(&self, after: Seq, through: Seq, visit: &mut dyn FnMut(&RecordedEvent)) -> Result<(), Infallible> {
        for event in self.facts.iter().filter(|event| event.seq > after && event.seq <= through) {
            visit(event);
        }
        Ok(())
    }
}
