//! Writing the log anew where it has to change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::plan::{NEW_MARK, Plan, staged};
use super::survey::Survey;
use super::writer::Writer;
use super::{BothLocks, SALVAGE_DIR};
use crate::log::draft::FrameDraft;
use crate::log::error::{Doing, LogError};
use crate::log::mark::{self, End};
use crate::log::mark_file::MarkFile;
use crate::log::options::LogOptions;
use crate::log::segment::LOG_DIR;
use crate::log::segment_header::parse_segment_name;
use crate::log::torn::QUARANTINE_DIR;
use crate::storage::{OpenMode, Storage};

/// What stands in the place of what is lost.
#[derive(Debug, Default)]
pub(crate) struct Repair {
    /// Names the files that are set aside.
    pub id: String,
    /// By the first position of each gap, and of each frame that is given up: the frames in its place.
    pub fillers: BTreeMap<u64, Vec<FrameDraft>>,
    /// Bodies that are written as zeros.
    pub zeroed: BTreeSet<u64>,
    /// Operations that nothing proves any more.
    pub unproven: BTreeSet<u64>,
    /// Where the log ends, when not with the last whole frame.
    pub end: Option<u64>,
    /// What is appended.
    pub summary: Vec<FrameDraft>,
    /// Regions of purged bodies that are still there: source, offset, length.
    pub purged: Vec<(usize, u64, u64)>,
}

/// Writes the segments that change, decides, and puts them into use. What they replace goes to the
/// quarantine; its paths are the answer. Until the decision nothing of the log is touched, but for bodies
/// that a purge should have erased.
pub(crate) fn rewrite(
    survey: &Survey,
    repair: &Repair,
    options: &LogOptions,
    _locks: &BothLocks,
) -> Result<Vec<String>, LogError> {
    let storage = survey.storage.as_ref();
    clear(storage)?;
    erase_purged(survey, repair)?;
    let mut writer = Writer::new(survey, repair, options);
    writer.write_all()?;
    let Writer { made, kept, end, .. } = writer;
    let file = storage.open(NEW_MARK, OpenMode::Truncate).doing("make a mark", NEW_MARK)?;
    (file.write_at(&mark::fresh(&end, survey.store_id), 0))
        .and_then(|()| file.sync_data())
        .doing("write a mark", NEW_MARK)?;
    let plan = Plan { out: moved_out(storage, &kept, &repair.id)?, into: made };
    let marks = MarkFile::new(Arc::clone(&survey.storage), survey.store_id, true);
    // What the mark says when it says nothing any more.
    let before = End { seq: survey.end(), ..end };
    plan.decide(storage, &mut || marks.retire(before.clone()))?;
    plan.carry_out(storage)?;
    Ok(plan.out.into_iter().map(|(_, aside)| format!("{QUARANTINE_DIR}/{aside}")).collect())
}

/// Makes the folders, and removes what an attempt without a decision has left.
fn clear(storage: &dyn Storage) -> Result<(), LogError> {
    for dir in [SALVAGE_DIR, QUARANTINE_DIR, LOG_DIR] {
        storage.create_dir(dir).doing("make a folder", dir)?;
    }
    for entry in storage.list(SALVAGE_DIR).doing("list a folder", SALVAGE_DIR)? {
        if !entry.is_dir {
            let path = staged(&entry.name);
            storage.remove(&path).doing("remove what an interrupted salvage left", &path)?;
        }
    }
    (storage.sync_dir(SALVAGE_DIR)).and_then(|()| storage.sync_dir("")).doing("sync a folder", SALVAGE_DIR)
}

/// A copy of a purged body must not live on among the files that are set aside.
fn erase_purged(survey: &Survey, repair: &Repair) -> Result<(), LogError> {
    for (source, offset, len) in &repair.purged {
        let Some(source) = survey.sources.get(*source) else { continue };
        let path = &source.segment.path;
        let zeros = vec![0; usize::try_from(*len).unwrap_or(0)];
        let file = survey.storage.open(path, OpenMode::ReadWrite).doing("open a segment for writing", path)?;
        (file.write_at(&zeros, *offset))
            .and_then(|()| file.sync_data())
            .doing("erase what a purge should have erased", path)?;
    }
    Ok(())
}

/// Every segment file that is not kept as it is.
fn moved_out(storage: &dyn Storage, kept: &BTreeSet<String>, id: &str) -> Result<Vec<(String, String)>, LogError> {
    let names = storage.list(LOG_DIR).doing("list the segments", LOG_DIR)?;
    let segments =
        names.into_iter().filter(|entry| parse_segment_name(&entry.name).is_some() && !kept.contains(&entry.name));
    Ok(segments.map(|entry| (entry.name.clone(), format!("damaged-{id}-{}", entry.name))).collect())
}
