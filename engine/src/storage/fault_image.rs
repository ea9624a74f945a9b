//! What is durable and what is not yet, file by file and name by name.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::{MemoryStorage, OpenMode, Storage, join, parent, read_full};

/// What a disk writes whole or not at all.
const SECTOR: u64 = 512;

/// A change of a file that no sync has covered yet.
#[derive(Debug, Clone)]
pub(super) enum Pending {
    Write { offset: u64, data: Vec<u8> },
    SetLen(u64),
    Allocate(u64),
}

#[derive(Debug, Default)]
struct Contents {
    durable: Vec<u8>,
    pending: Vec<Pending>,
}

/// A change of a folder that no sync of that folder has covered yet.
#[derive(Debug, Clone)]
enum NameChange {
    Make(String),
    Unmake(String),
    Link(String, u64),
    Unlink(String),
    Rename { from: String, to: String, id: u64 },
}

impl NameChange {
    /// The folder whose sync makes it durable.
    fn dir(&self) -> &str {
        match self {
            Self::Make(path)
            | Self::Unmake(path)
            | Self::Link(path, _)
            | Self::Unlink(path)
            | Self::Rename { to: path, .. } => parent(path),
        }
    }

    /// A rename is whole: it takes the one name away as it gives the other, also when the first was
    /// never written down.
    fn apply(&self, names: &mut Names) {
        match self {
            Self::Make(path) => drop(names.dirs.insert(path.clone())),
            Self::Unmake(path) => drop(names.dirs.remove(path)),
            Self::Link(path, id) => drop(names.files.insert(path.clone(), *id)),
            Self::Unlink(path) => drop(names.files.remove(path)),
            Self::Rename { from, to, id } => {
                if names.files.get(from) == Some(id) {
                    names.files.remove(from);
                }
                names.files.insert(to.clone(), *id);
            }
        }
    }
}

/// Names point to file numbers, so that contents follow a rename.
#[derive(Debug, Clone, Default)]
struct Names {
    dirs: BTreeSet<String>,
    files: BTreeMap<String, u64>,
}

impl Names {
    /// Whether every folder above is there: without it nothing below can be found.
    fn reach(&self, path: &str) -> bool {
        let mut at = parent(path);
        while !at.is_empty() {
            if !self.dirs.contains(at) {
                return false;
            }
            at = parent(at);
        }
        true
    }
}

#[derive(Debug, Default)]
pub(super) struct Image {
    now: Names,
    durable: Names,
    changes: Vec<NameChange>,
    files: BTreeMap<u64, Contents>,
    next: u64,
}

impl Pending {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write { offset, data } => {
                let start = usize::try_from(*offset).unwrap_or(usize::MAX);
                let end = start.saturating_add(data.len());
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                if let Some(to) = bytes.get_mut(start..end) {
                    to.copy_from_slice(data);
                }
            }
            Self::SetLen(len) => bytes.resize(usize::try_from(*len).unwrap_or(usize::MAX), 0),
            Self::Allocate(len) => {
                let len = usize::try_from(*len).unwrap_or(usize::MAX);
                if bytes.len() < len {
                    bytes.resize(len, 0);
                }
            }
        }
    }
}

impl Pending {
    /// What chance leaves of it: nothing, all, the start of a write, or any of its sectors.
    fn survive(&self, chance: &mut Chance, bytes: &mut Vec<u8>) {
        match (chance.below(4), self) {
            (0, _) => {}
            (1, Self::Write { offset, data }) => {
                let keep = usize::try_from(chance.below(data.len().saturating_add(1) as u64)).unwrap_or(0);
                let data = data.iter().copied().take(keep).collect();
                Self::Write { offset: *offset, data }.apply(bytes);
            }
            (2, Self::Write { offset, data }) => {
                let (mut at, mut rest) = (*offset, data.as_slice());
                while !rest.is_empty() {
                    let room = SECTOR.saturating_sub(at.checked_rem(SECTOR).unwrap_or(0));
                    let room = usize::try_from(room).unwrap_or(usize::MAX).min(rest.len());
                    let (sector, behind) = rest.split_at(room);
                    if chance.below(2) == 1 {
                        Self::Write { offset: at, data: sector.to_vec() }.apply(bytes);
                    }
                    (at, rest) = (at.saturating_add(room as u64), behind);
                }
            }
            _ => self.apply(bytes),
        }
    }
}

impl Image {
    /// Everything that `storage` holds, as durable.
    pub(super) fn of(storage: &dyn Storage) -> io::Result<Self> {
        let mut image = Self::default();
        let mut left = vec![String::new()];
        while let Some(dir) = left.pop() {
            let entries = match storage.list(&dir) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for entry in entries {
                let path = join(&dir, &entry.name);
                if entry.is_dir {
                    image.durable.dirs.insert(path.clone());
                    left.push(path);
                    continue;
                }
                let file = storage.open(&path, OpenMode::Read)?;
                let mut durable = vec![0; usize::try_from(file.len()?).unwrap_or(0)];
                read_full(file.as_ref(), &mut durable, 0)?;
                let id = image.number();
                image.files.insert(id, Contents { durable, pending: Vec::new() });
                image.durable.files.insert(path, id);
            }
        }
        image.now = image.durable.clone();
        Ok(image)
    }

    fn number(&mut self) -> u64 {
        self.next = self.next.saturating_add(1);
        self.next
    }

    pub(super) fn opened(&mut self, path: &str, truncate: bool) -> u64 {
        let id = match self.now.files.get(path) {
            Some(id) => *id,
            None => {
                let id = self.number();
                self.files.insert(id, Contents::default());
                self.change_names(NameChange::Link(path.to_owned(), id));
                id
            }
        };
        if truncate {
            self.changed(id, Pending::SetLen(0));
        }
        id
    }

    pub(super) fn renamed(&mut self, from: &str, to: &str) {
        if let Some(id) = self.now.files.get(from).copied() {
            self.change_names(NameChange::Rename { from: from.to_owned(), to: to.to_owned(), id });
        }
    }

    pub(super) fn removed(&mut self, path: &str) {
        self.change_names(NameChange::Unlink(path.to_owned()));
    }

    pub(super) fn made_dir(&mut self, path: &str) {
        let mut missing = Vec::new();
        let mut at = path;
        while !at.is_empty() && !self.now.dirs.contains(at) {
            missing.push(at.to_owned());
            at = parent(at);
        }
        for dir in missing.into_iter().rev() {
            self.change_names(NameChange::Make(dir));
        }
    }

    pub(super) fn removed_dir(&mut self, path: &str) {
        self.change_names(NameChange::Unmake(path.to_owned()));
    }

    pub(super) fn synced_dir(&mut self, dir: &str) {
        let (synced, left) = std::mem::take(&mut self.changes).into_iter().partition(|change| change.dir() == dir);
        self.changes = left;
        let synced: Vec<NameChange> = synced;
        for change in synced {
            change.apply(&mut self.durable);
        }
    }

    fn change_names(&mut self, change: NameChange) {
        change.apply(&mut self.now);
        self.changes.push(change);
    }

    pub(super) fn changed(&mut self, id: u64, pending: Pending) {
        if let Some(contents) = self.files.get_mut(&id) {
            contents.pending.push(pending);
        }
    }

    pub(super) fn synced(&mut self, id: u64) {
        if let Some(contents) = self.files.get_mut(&id) {
            for pending in std::mem::take(&mut contents.pending) {
                pending.apply(&mut contents.durable);
            }
        }
    }

    /// Written pages count as clean after a failed sync, wherever they went.
    pub(super) fn sync_failed(&mut self, id: u64) {
        if let Some(contents) = self.files.get_mut(&id) {
            contents.pending.retain(|pending| !matches!(pending, Pending::Write { .. }));
        }
    }

    pub(super) fn after_power_cut(&self, seed: u64) -> MemoryStorage {
        let mut chance = Chance(seed);
        let mut left: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        for (id, contents) in &self.files {
            let mut bytes = contents.durable.clone();
            for pending in &contents.pending {
                pending.survive(&mut chance, &mut bytes);
            }
            left.insert(*id, bytes);
        }
        let mut names = self.durable.clone();
        for change in self.changes.iter().filter(|_| chance.below(2) == 1) {
            change.apply(&mut names);
        }
        let storage = MemoryStorage::new();
        for dir in names.dirs.iter().filter(|dir| names.reach(dir)) {
            let _ = storage.create_dir(dir);
        }
        for (path, id) in names.files.iter().filter(|(path, _)| names.reach(path)) {
            if let Some(bytes) = left.get(id) {
                storage.put(path, bytes.clone());
            }
        }
        storage
    }
}

/// A small deterministic generator (splitmix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).checked_rem(bound).unwrap_or(0)
    }
}
