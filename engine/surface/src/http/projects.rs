//! The stores of the data folder, one for each project.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bilinc::{Error, Memory};
use tokio::sync::Notify;

use super::errors::Unopened;
use super::keys::KeyFileError;

/// Longest name of a project.
const NAME_CHARS: usize = 64;
/// How long a request waits for a store that another request is opening.
const OPENING: Duration = Duration::from_secs(5);

/// Whether a text can name a project, which is also the name of its folder.
pub(super) fn is_project_name(name: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    name.len() <= NAME_CHARS
        && name.bytes().all(known)
        && name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
}

/// The folder of a project's store.
fn folder(data: &Path, project: &str) -> PathBuf {
    data.join("projects").join(project)
}

/// Makes the store of a project where there is none.
///
/// # Errors
/// When the name is none, or the store cannot be made.
pub fn create(data: &Path, project: &str) -> Result<(), CreateError> {
    if !is_project_name(project) {
        return Err(KeyFileError::ProjectName.into());
    }
    let projects = data.join("projects");
    super::keys::make_folder(&projects).map_err(|source| KeyFileError::Io {
        doing: "make the folder",
        path: projects.display().to_string(),
        source,
    })?;
    Memory::builder().create(true).open(folder(data, project))?.close();
    Ok(())
}

/// Why the store of a project cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The data folder cannot be used.
    #[error(transparent)]
    Data(#[from] KeyFileError),
    /// The library says no.
    #[error(transparent)]
    Store(#[from] Error),
}

/// The stores of the data folder: opened when needed, closed when idle.
#[derive(Debug)]
pub(super) struct Projects {
    data: PathBuf,
    allow_secrets: bool,
    slots: Mutex<HashMap<String, Arc<Project>>>,
}

/// The place of one project's store.
#[derive(Debug)]
pub(super) struct Project {
    name: String,
    slot: Mutex<Slot>,
    opened: Condvar,
    /// Whether the store was opened anew after its writer stopped, and nothing was written since.
    renewed: AtomicBool,
    /// Told whenever something was written here.
    pub(super) written: Notify,
}

#[derive(Debug)]
struct Slot {
    state: State,
    used: Instant,
}

#[derive(Debug)]
enum State {
    Closed,
    /// One thread opens it; what was wrong before stays to be said.
    Opening,
    /// Reads are answered; the trouble, if there is one, says why writes are not.
    Open(Memory, Option<&'static str>),
    /// It could not be opened when it was needed last.
    Failed,
}

/// How the open stores are, together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    Ok,
    Rebuilding,
    Degraded(&'static str),
}

impl Projects {
    pub(super) fn new(data: &Path, allow_secrets: bool) -> Self {
        Self { data: data.to_owned(), allow_secrets, slots: Mutex::default() }
    }

    /// The place of a project.
    pub(super) fn project(&self, name: &str) -> Arc<Project> {
        let make = || {
            let slot = Mutex::new(Slot { state: State::Closed, used: Instant::now() });
            let (opened, written) = (Condvar::new(), Notify::new());
            Arc::new(Project { name: name.to_owned(), slot, opened, renewed: AtomicBool::new(false), written })
        };
        Arc::clone(lock(&self.slots).entry(name.to_owned()).or_insert_with(make))
    }

    /// The store of a project. Blocks while it is opened.
    pub(super) fn memory(&self, project: &Project) -> Result<Memory, Unopened> {
        let mut slot = project.lock();
        slot.used = Instant::now();
        loop {
            match &slot.state {
                State::Open(memory, _) => return Ok(memory.clone()),
                State::Closed | State::Failed => break,
                State::Opening => {
                    let waited = project.opened.wait_timeout(slot, OPENING).unwrap_or_else(PoisonError::into_inner);
                    slot = waited.0;
                    if waited.1.timed_out() {
                        return Err(Unopened::Opening);
                    }
                }
            }
        }
        slot.state = State::Opening;
        drop(slot);
        self.open(project).map_err(Unopened::Failed)
    }

    /// Opens the store for all who wait. The slot is in `Opening`.
    fn open(&self, project: &Project) -> Result<Memory, Error> {
        // Whatever happens here, nobody waits for an open that has ended.
        let mut outcome = Outcome { project, state: State::Failed };
        let path = folder(&self.data, &project.name);
        let builder = Memory::builder().create(false).refuse_secrets(!self.allow_secrets);
        let opened = builder.open(path).and_then(|memory| Ok((trouble(&memory)?, memory)));
        match opened {
            Ok((trouble, memory)) => {
                if let Some(trouble) = trouble {
                    tracing::warn!(project = project.name, trouble, "the store takes no writes");
                }
                outcome.state = State::Open(memory.clone(), trouble);
                Ok(memory)
            }
            Err(error) => {
                tracing::error!(project = project.name, %error, "the store cannot be opened");
                Err(error)
            }
        }
    }

    /// A write failed because the writer had stopped: the store is opened anew, once, until a write
    /// succeeds again.
    pub(super) fn stopped(&self, project: &Project) {
        let again = project.renewed.swap(true, Ordering::AcqRel);
        let mut slot = project.lock();
        let State::Open(memory, trouble) = &mut slot.state else { return };
        let writes = |memory: &Memory| memory.status().is_ok_and(|status| status.read_only.is_none());
        if writes(memory) {
            // Another request has seen to it.
            return;
        }
        if again {
            *trouble = Some(STOPPED);
            return;
        }
        tracing::warn!(project = project.name, "the writer stopped; the store is opened anew");
        slot.state = State::Opening;
        drop(slot);
        // That it failed is said by the log and by the health.
        let _ = self.open(project);
    }

    /// A write succeeded.
    pub(super) fn wrote(&self, project: &Project) {
        project.renewed.store(false, Ordering::Release);
        project.written.notify_waiters();
    }

    /// Closes what nobody has used since.
    pub(super) fn close_unused_since(&self, moment: Instant) -> usize {
        let idle: Vec<_> = {
            let mut slots = lock(&self.slots);
            let names: Vec<_> = (slots.iter())
                .filter(|(_, project)| Arc::strong_count(project) == 1 && project.lock().used < moment)
                .map(|(name, _)| name.clone())
                .collect();
            names.iter().filter_map(|name| slots.remove(name)).collect()
        };
        // Closing syncs, which others need not wait for.
        idle.len()
    }

    /// How the stores are that have been needed.
    pub(super) fn health(&self) -> Health {
        let projects: Vec<_> = lock(&self.slots).values().cloned().collect();
        let mut health = Health::Ok;
        for project in projects {
            match project.lock().state {
                State::Failed => return Health::Degraded("a store cannot be opened"),
                State::Open(_, Some(trouble)) => return Health::Degraded(trouble),
                State::Opening => health = Health::Rebuilding,
                State::Open(_, None) | State::Closed => {}
            }
        }
        health
    }

    /// Whether the store of a project is where it has to be.
    pub(super) fn is_there(&self, project: &str) -> bool {
        folder(&self.data, project).is_dir()
    }

    /// The last positions of the open stores, summed up.
    pub(super) fn positions(&self) -> u64 {
        let projects: Vec<_> = lock(&self.slots).values().cloned().collect();
        let position = |project: Arc<Project>| match &project.lock().state {
            State::Open(memory, _) => memory.head().map_or(0, |head| head.seq.get()),
            _ => 0,
        };
        projects.into_iter().map(position).sum()
    }

    /// How many stores are open.
    pub(super) fn open_stores(&self) -> usize {
        lock(&self.slots).values().filter(|project| matches!(project.lock().state, State::Open(..))).count()
    }
}

const STOPPED: &str = "a store takes no writes: its writer stopped after a failure";

/// Why a store takes no writes.
fn trouble(memory: &Memory) -> Result<Option<&'static str>, Error> {
    if memory.damage().is_some() {
        return Ok(Some("a store is damaged: it answers from before the damage and takes no writes"));
    }
    Ok(memory.status()?.read_only.map(|_| "a store takes no writes"))
}

impl Project {
    fn lock(&self) -> MutexGuard<'_, Slot> {
        lock(&self.slot)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind the locks here is whole between any two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an open came to, also when it came to a panic.
struct Outcome<'a> {
    project: &'a Project,
    state: State,
}

impl Drop for Outcome<'_> {
    fn drop(&mut self) {
        self.project.lock().state = std::mem::replace(&mut self.state, State::Closed);
        self.project.opened.notify_all();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_name_is_never_a_path() {
        for good in ["a", "team-1", "A.b_c", &"x".repeat(64)] {
            assert!(is_project_name(good), "{good}");
        }
        for bad in ["", ".", "..", ".a", "-a", "_a", "a/b", "a\\b", "a b", "é", "a\0", &"x".repeat(65)] {
            assert!(!is_project_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_store_is_closed_when_idle_and_not_while_somebody_holds_its_place() {
        let data = tempfile::tempdir().unwrap();
        create(data.path(), "p").unwrap();
        let projects = Projects::new(data.path(), false);
        let project = projects.project("p");
        projects.memory(&project).unwrap();
        let later = Instant::now() + Duration::from_secs(3600);
        assert_eq!(projects.close_unused_since(later), 0);
        drop(project);
        assert_eq!((projects.close_unused_since(later), projects.open_stores()), (1, 0));
        projects.memory(&projects.project("p")).unwrap();
        assert_eq!(projects.open_stores(), 1);
    }

    #[test]
    fn a_store_that_is_gone_is_no_empty_store() {
        let data = tempfile::tempdir().unwrap();
        let projects = Projects::new(data.path(), false);
        assert!(projects.memory(&projects.project("p")).is_err());
        assert_eq!(projects.health(), Health::Degraded("a store cannot be opened"));
        assert!(!folder(data.path(), "p").exists());
        // Once it is back, it is served without a restart.
        create(data.path(), "p").unwrap();
        projects.memory(&projects.project("p")).unwrap();
        assert_eq!(projects.health(), Health::Ok);
    }
}
