//! One copy of a name that operation after operation has.

use std::sync::Arc;

use bilinc_core::Actor;

/// The writer of the operation that was decoded last: mostly the next one is its, too.
#[derive(Debug, Default)]
pub(in crate::codec) struct Actors(Actor);

impl Actors {
    pub(super) fn actor(&mut self, source: &str, session_id: Option<&str>) -> Actor {
        if *self.0.source != *source {
            self.0.source = source.into();
        }
        if self.0.session_id.as_deref() != session_id {
            self.0.session_id = session_id.map(Arc::from);
        }
        self.0.clone()
    }

    /// The same of names as they are stored; `None` when one is no text. Bytes that equal a text are that text.
    pub(super) fn actor_of(&mut self, source: &[u8], session_id: Option<&[u8]>) -> Option<Actor> {
        let Actor { source: own, session_id: own_session } = &self.0;
        if own.as_bytes() == source && own_session.as_deref().map(str::as_bytes) == session_id {
            return Some(self.0.clone());
        }
        let session_id = session_id.map(std::str::from_utf8).transpose().ok()?;
        Some(self.actor(std::str::from_utf8(source).ok()?, session_id))
    }
}
