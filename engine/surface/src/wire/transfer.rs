//! What an import or an export did.

use bilinc::{ImportId, ImportSummary};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What an import wrote.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportView {
    /// Its id, by which it can be undone; none when it wrote nothing.
    #[schema(value_type = Option<String>)]
    pub import_id: Option<ImportId>,
    /// Lines read.
    pub lines: u64,
    /// Entries made.
    pub created: u64,
    /// Entries replaced.
    pub replaced: u64,
    /// Entries left alone because they exist.
    pub skipped_existing: u64,
    /// Lines left out because their keys are reserved.
    pub skipped_reserved: u64,
}

impl From<&ImportSummary> for ImportView {
    fn from(summary: &ImportSummary) -> Self {
        Self {
            import_id: (summary.created + summary.replaced > 0).then_some(summary.import),
            lines: summary.lines,
            created: summary.created,
            replaced: summary.replaced,
            skipped_existing: summary.skipped_existing,
            skipped_reserved: summary.skipped_reserved,
        }
    }
}

/// What an export to a file wrote.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ExportView {
    /// Entries written.
    pub exported: u64,
    /// The file.
    pub file: String,
}
