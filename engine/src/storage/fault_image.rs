//! What is durable and what is not yet, file by file and name by name.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::{MemoryStorage, OpenMode, Storage, join, parent, read_full};

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

/// Names point to file numbers, so that contents follow a rename.
#[derive(Debug, Default)]
pub(super) struct Image {
    dirs: BTreeSet<String>,
    names: BTreeMap<String, u64>,
    durable_names: BTreeMap<String, u64>,
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
                    image.dirs.insert(path.clone());
                    left.push(path);
                    continue;
                }
                let file = storage.open(&path, OpenMode::Read)?;
                let mut durable = vec![0; usize::try_from(file.len()?).unwrap_or(0)];
                read_full(file.as_ref(), &mut durable, 0)?;
                let id = image.number();
                image.files.insert(id, Contents { durable, pending: Vec::new() });
                image.names.insert(path.clone(), id);
                image.durable_names.insert(path, id);
            }
        }
        Ok(image)
    }

    fn number(&mut self) -> u64 {
        self.next = self.next.saturating_add(1);
        self.next
    }

    pub(super) fn opened(&mut self, path: &str, truncate: bool) -> u64 {
        let id = match self.names.get(path) {
            Some(id) => *id,
            None => {
                let id = self.number();
                self.names.insert(path.to_owned(), id);
                self.files.insert(id, Contents::default());
                id
            }
        };
        if truncate {
            self.changed(id, Pending::SetLen(0));
        }
        id
    }

    pub(super) fn renamed(&mut self, from: &str, to: &str) {
        if let Some(id) = self.names.remove(from) {
            self.names.insert(to.to_owned(), id);
        }
    }

    pub(super) fn removed(&mut self, path: &str) {
        self.names.remove(path);
    }

    pub(super) fn made_dir(&mut self, path: &str) {
        let mut at = path;
        while !at.is_empty() {
            self.dirs.insert(at.to_owned());
            at = parent(at);
        }
    }

    pub(super) fn synced_dir(&mut self, dir: &str) {
        self.durable_names.retain(|path, _| parent(path) != dir);
        for (path, id) in self.names.iter().filter(|(path, _)| parent(path) == dir) {
            self.durable_names.insert(path.clone(), *id);
        }
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

    pub(super) fn after_power_cut(&self, seed: u64) -> MemoryStorage {
        let mut chance = Chance(seed);
        let mut left: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        for (id, contents) in &self.files {
            let mut bytes = contents.durable.clone();
            for pending in &contents.pending {
                match (chance.below(3), pending) {
                    (0, _) => {}
                    (1, Pending::Write { offset, data }) => {
                        let keep = chance.below(data.len().saturating_add(1) as u64);
                        let data = (data.iter().copied()).take(usize::try_from(keep).unwrap_or(0)).collect();
                        let cut = Pending::Write { offset: *offset, data };
                        cut.apply(&mut bytes);
                    }
                    _ => pending.apply(&mut bytes),
                }
            }
            left.insert(*id, bytes);
        }
        let storage = MemoryStorage::new();
        for dir in &self.dirs {
            let _ = storage.create_dir(dir);
        }
        let paths: BTreeSet<&String> = self.names.keys().chain(self.durable_names.keys()).collect();
        for path in paths {
            let (now, durable) = (self.names.get(path), self.durable_names.get(path));
            let id = if now != durable && chance.below(2) == 0 { durable } else { now };
            if let Some(bytes) = id.and_then(|id| left.get(id)) {
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
