//! Imports, one operation at a time.

use super::batch::Batch;
use super::entry::push_commit;
use crate::command::{ImportEntry, ImportPage};
use crate::event::{Event, Imported, ImportedTimes};
use crate::history::History;
use crate::outcome::Outcome;
use crate::time::Timestamp;

/// Writes the entries of a page. An operation that would hold none of them is not written.
pub(super) fn import<H: History>(batch: &mut Batch<'_, H>, page: &ImportPage) -> Option<Outcome> {
    let mut tally = Imported { import: page.import, created: 0, replaced: 0, skipped_existing: 0, skipped_reserved: 0 };
    for entry in &page.entries {
        let stored = batch.entry(&entry.commit.key).map(|entry| entry.created_at);
        let exists = stored.is_some();
        let count = match () {
            () if entry.commit.key.is_reserved() => &mut tally.skipped_reserved,
            () if exists && page.if_absent => &mut tally.skipped_existing,
            () => {
                // A line without a session is an entry without one, whatever session the importer is in.
                let session_id = entry.commit.session_id.clone();
                push_commit(batch, &entry.commit, !exists, session_id, times(entry, stored, batch.at()));
                if exists { &mut tally.replaced } else { &mut tally.created }
            }
        };
        *count += 1;
    }
    if batch.is_empty() {
        return Some(Outcome::Imported(tally));
    }
    batch.push(Event::Imported(tally));
    None
}

/// The times that the line brought along, where they are not in the future; none when it brought
/// none. An entry that is replaced keeps the creation time that it has, unless the line names one.
fn times(entry: &ImportEntry, stored: Option<Timestamp>, at: Timestamp) -> Option<ImportedTimes> {
    let kept = |time: Option<Timestamp>| time.filter(|time| *time <= at);
    let (created_at, updated_at) = (kept(entry.created_at), kept(entry.updated_at));
    let confirmed_at = kept(entry.confirmed_at);
    if created_at.is_none() && updated_at.is_none() && confirmed_at.is_none() {
        return None;
    }
    Some(ImportedTimes {
        created_at: created_at.or(stored).or(updated_at).unwrap_or(at),
        updated_at: updated_at.unwrap_or(at),
        confirmed_at,
    })
}
