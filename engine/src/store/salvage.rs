//! Judging a damaged log: which frames mean something, what they say of what is lost, and which events
//! stand in its place.

mod examine;
mod record;

use std::sync::Arc;

use bilinc_core::Timestamp;

use crate::clock::{Clock, Ids};

pub(crate) use examine::Examined;

use examine::Missing;

/// Where times and ids of what a salvage records come from.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
}

impl Recorder {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}
