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
}
