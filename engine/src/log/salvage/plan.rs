//! The decision to use new segments, and the moves that carry it out.
//!
//! From the moment the plan has its name the salvage counts. Carrying it out only renames files, each
//! step looks at what is there first, and between the steps the folders are synced: so it can be
//! interrupted anywhere and done again from the start.

use std::fmt::Write;
use std::io;

use super::{BothLocks, SALVAGE_DIR};
use crate::log::error::{Damage, Doing, LogError};
use crate::log::mark::MARK;
use crate::log::options::LogOptions;
use crate::log::segment::LOG_DIR;
use crate::log::segment_header::parse_segment_name;
use crate::log::torn::QUARANTINE_DIR;
use crate::storage::{OpenMode, Storage, read_full};

pub(super) const PLAN: &str = "salvage/plan";
const PLAN_TEMPORARY: &str = "salvage/plan.tmp";
pub(super) const NEW_MARK: &str = "salvage/mark";
const HEADING: &str = "bilinc salvage 1";

/// Which segment files go out of the log, under which names, and which come in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Plan {
    pub out: Vec<(String, String)>,
    pub into: Vec<String>,
}

impl Plan {
    fn encode(&self) -> String {
        let mut text = format!("{HEADING}\n");
        for (name, aside) in &self.out {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "out {name} {aside}");
        }
        for name in &self.into {
            let _ = writeln!(text, "in {name}");
        }
        let crc = crc32fast::hash(text.as_bytes());
        let _ = writeln!(text, "crc {crc:08x}");
        text
    }

    fn decode(text: &str) -> Option<Self> {
        let body = text.get(..text.trim_end().rfind('\n')?.saturating_add(1))?;
        let crc = text.get(body.len()..)?.trim_end().strip_prefix("crc ")?;
        if u32::from_str_radix(crc, 16).ok()? != crc32fast::hash(body.as_bytes()) {
            return None;
        }
        let mut lines = body.lines();
        (lines.next()? == HEADING).then_some(())?;
        let mut plan = Self::default();
        for line in lines {
            let mut words = line.split(' ');
            match (words.next()?, words.next()?, words.next()) {
                ("out", name, Some(aside)) => plan.out.push((segment(name)?, flat(aside)?)),
                ("in", name, None) => plan.into.push(segment(name)?),
                _ => return None,
            }
        }
        Some(plan)
    }

    /// Puts the plan down under its name. `ready` comes between: after it nothing may fail but the
    /// decision itself.
    pub(super) fn decide(
        &self,
        storage: &dyn Storage,
        ready: &mut dyn FnMut() -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        let put = storage.open(PLAN_TEMPORARY, OpenMode::Truncate).and_then(|file| {
            file.write_at(self.encode().as_bytes(), 0)?;
            file.sync_data()?;
            storage.sync_dir(SALVAGE_DIR)?;
            storage.sync_dir("")
        });
        put.doing("write the plan of a salvage", PLAN_TEMPORARY)?;
        ready()?;
        (storage.rename(PLAN_TEMPORARY, PLAN))
            .and_then(|()| storage.sync_dir(SALVAGE_DIR))
            .doing("put the plan of a salvage down", PLAN)
    }

    fn load(storage: &dyn Storage) -> Result<Self, LogError> {
        let file = storage.open(PLAN, OpenMode::Read).doing("open the plan of a salvage", PLAN)?;
        let len = usize::try_from(file.len().doing("measure the plan of a salvage", PLAN)?).unwrap_or(usize::MAX);
        let mut bytes = vec![0; len];
        read_full(file.as_ref(), &mut bytes, 0).doing("read the plan of a salvage", PLAN)?;
        let plan = std::str::from_utf8(&bytes).ok().and_then(Self::decode);
        // It was synced before it got its name, and nothing may be guessed of it: its files lie about.
        plan.ok_or_else(|| {
            LogError::Damage(Damage {
                segment: PLAN.to_owned(),
                offset: 0,
                position: 1,
                reason: "the plan of an interrupted salvage is damaged itself".to_owned(),
            })
        })
    }

    /// Moves out what is replaced, moves in what replaces it, the mark last, and takes the plan away.
    /// Under both locks.
    pub(super) fn carry_out(&self, storage: &dyn Storage) -> Result<(), LogError> {
        self.move_all(storage).doing("carry out the plan of a salvage", PLAN)
    }

    fn move_all(&self, storage: &dyn Storage) -> io::Result<()> {
        for (name, aside) in &self.out {
            let (old, aside) = (format!("{LOG_DIR}/{name}"), format!("{QUARANTINE_DIR}/{aside}"));
            // What stands under the name of a segment that has come in already is that one.
            let came_in = self.into.contains(name) && !storage.exists(&staged(name))?;
            if !came_in && storage.exists(&old)? && !storage.exists(&aside)? {
                storage.rename(&old, &aside)?;
            }
        }
        storage.sync_dir(QUARANTINE_DIR)?;
        storage.sync_dir(LOG_DIR)?;
        for name in &self.into {
            if storage.exists(&staged(name))? {
                storage.rename(&staged(name), &format!("{LOG_DIR}/{name}"))?;
            }
        }
        storage.sync_dir(LOG_DIR)?;
        if storage.exists(NEW_MARK)? {
            storage.rename(NEW_MARK, MARK)?;
        }
        storage.sync_dir("")?;
        storage.remove(PLAN)?;
        storage.sync_dir(SALVAGE_DIR)
    }
}

pub(super) fn staged(name: &str) -> String {
    format!("{SALVAGE_DIR}/{name}")
}

fn segment(name: &str) -> Option<String> {
    parse_segment_name(name).map(|_| name.to_owned())
}

/// A name, not a path.
fn flat(name: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    (!name.is_empty() && !name.starts_with('.') && name.bytes().all(plain)).then(|| name.to_owned())
}

/// Whether a salvage was decided upon and not carried out to its end.
pub(crate) fn is_decided(storage: &dyn Storage) -> Result<bool, LogError> {
    storage.exists(PLAN).doing("look for the plan of a salvage", PLAN)
}

/// Carries out what an interrupted salvage had decided; whether there was such a thing. One that had
/// decided nothing is left alone.
pub(crate) fn finish_if_decided(storage: &dyn Storage, options: &LogOptions) -> Result<bool, LogError> {
    if !is_decided(storage)? {
        return Ok(false);
    }
    if options.read_only {
        return Err(LogError::SalvageUnfinished { path: storage.describe() });
    }
    let locks = BothLocks::take(storage, options)?;
    finish_under(storage, &locks)
}

/// As [`finish_if_decided`], for who has the locks.
pub(crate) fn finish_under(storage: &dyn Storage, _locks: &BothLocks) -> Result<bool, LogError> {
    if !is_decided(storage)? {
        return Ok(false);
    }
    Plan::load(storage)?.carry_out(storage)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_plan_is_read_whole_or_not_at_all_and_names_nothing_outside_its_folders() {
        let name = "00000000000000000001.seg".to_owned();
        let plan = Plan { out: vec![(name.clone(), format!("damaged-0a-{name}"))], into: vec![name.clone()] };
        let text = plan.encode();
        assert_eq!(Plan::decode(&text), Some(plan));
        for len in 0..text.len() - 1 {
            assert_eq!(Plan::decode(text.get(..len).unwrap()), None, "the first {len} bytes");
        }
        for bad in ["../mark", ".hidden", "a/b", ""] {
            let plan = Plan { out: vec![(name.clone(), bad.to_owned())], into: Vec::new() };
            assert_eq!(Plan::decode(&plan.encode()), None, "{bad}");
            let plan = Plan { out: Vec::new(), into: vec![bad.to_owned()] };
            assert_eq!(Plan::decode(&plan.encode()), None, "{bad}");
        }
    }
}
