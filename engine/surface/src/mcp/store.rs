//! The store that is served: open already, or opened when it is first needed.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use bilinc::{ChainHash, Error, Head, Memory, Seq};

/// The end of the log of a store that is not there.
const NO_STORE: Head = Head { seq: Seq::ZERO, chain: ChainHash([0; 32]) };

/// Opens the store; makes it first where that is asked for. None when it is not there.
type Opener = dyn Fn(bool) -> Result<Option<Memory>, Error> + Send + Sync;

/// A store to serve.
pub struct Store {
    open: Box<Opener>,
    opened: Mutex<Option<Memory>>,
    path: Option<String>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A handle of a store, or of the emptiness where one would be.
#[derive(Debug)]
pub(super) struct Handle {
    /// The handle.
    pub(super) memory: Memory,
    /// Whether the store is there.
    pub(super) exists: bool,
}

impl Handle {
    /// Where the log stands.
    pub(super) fn head(&self) -> Result<Head, Error> {
        if self.exists { self.memory.head() } else { Ok(NO_STORE) }
    }
}

impl Store {
    /// A store that is open.
    #[must_use]
    pub fn of(memory: Memory, path: Option<String>) -> Self {
        Self { open: Box::new(|_| Ok(None)), opened: Mutex::new(Some(memory)), path }
    }

    /// A store that is opened by the first call that needs it, and made by the first that writes.
    #[must_use]
    pub fn when_needed(
        path: String,
        open: impl Fn(bool) -> Result<Option<Memory>, Error> + Send + Sync + 'static,
    ) -> Self {
        Self { open: Box::new(open), opened: Mutex::new(None), path: Some(path) }
    }

    /// A store that is there, opened by the first call that needs it; where it is, is nobody's business.
    #[must_use]
    pub fn opened_by(open: impl Fn() -> Result<Memory, Error> + Send + Sync + 'static) -> Self {
        Self { open: Box::new(move |_| open().map(Some)), opened: Mutex::new(None), path: None }
    }

    /// Where it is.
    pub(super) fn path(&self) -> Option<String> {
        self.path.clone()
    }

    /// The damage before which it answers, if it is open.
    pub(super) fn damage(&self) -> Option<String> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(Memory::damage)
    }

    /// A handle to read with. A store that is not there yet is empty, and stays so.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn read(&self) -> Result<Handle, Error> {
        match self.opened(false)? {
            Some(memory) => Ok(Handle { memory, exists: true }),
            None => Ok(Handle { memory: Memory::in_memory()?, exists: false }),
        }
    }

    /// A handle to change what is there. Nothing is there in a store that is not, so none is made.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn change(&self) -> Result<Handle, Error> {
        self.read()
    }

    /// A handle to put something in; makes the store when it is not there.
    ///
    /// # Errors
    /// When it cannot be opened or made.
    pub(super) fn create(&self) -> Result<Handle, Error> {
        match self.opened(true)? {
            Some(memory) => Ok(Handle { memory, exists: true }),
            None => self.read(),
        }
    }

    fn opened(&self, create: bool) -> Result<Option<Memory>, Error> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.is_none() {
            *opened = (self.open)(create)?;
        }
        Ok(opened.clone())
    }
}
