//! Values of entries.

use bilinc_core::{Entry, Json};

use super::Store;
use crate::error::EngineError;

/// Value and metadata of an entry; none where they were erased.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    pub(crate) value: Option<Json>,
    pub(crate) metadata: Option<Json>,
}

impl Store {
    /// The value of an entry, read from the body that it names.
    pub(crate) fn value(&self, entry: &Entry) -> Result<Option<Json>, EngineError> {
        Ok(self.body(entry.value_at)?.and_then(|body| body.value))
    }

    /// Value and metadata of an entry.
    pub(crate) fn text(&self, entry: &Entry) -> Result<Text, EngineError> {
        let body = self.body(entry.value_at)?.unwrap_or_default();
        let metadata = if !entry.metadata_at.is_some() {
            Some(Json::from_recorded("{}"))
        } else if entry.metadata_at == entry.value_at {
            body.metadata
        } else {
            self.body(entry.metadata_at)?.and_then(|body| body.metadata)
        };
        Ok(Text { value: body.value, metadata })
    }
}
