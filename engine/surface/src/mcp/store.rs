//! The store that is served: open already, opened when it is first needed, or on a server.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bilinc::{ChainHash, Error, Head, Memory, Rejection, Seq, Written};

use super::tools::SURFACE;
use crate::backend::{ApplyFailed, Backend, Failed, Reply};
use crate::remote::Client;
use crate::wire::StateVersion;
use crate::wire::dreams::AppliedView;
use crate::wire::requests::{DreamApplyRequest, Request, StatusRequest};
use crate::wire::status::StatusView;

/// The end of the log of a store that is not there.
const NO_STORE: Head = Head { seq: Seq::ZERO, chain: ChainHash([0; 32]) };

/// Opens the store; makes it first where that is asked for. None when it is not there.
type Opener = dyn Fn(bool) -> Result<Option<Memory>, Error> + Send + Sync;

/// A store to serve.
pub struct Store {
    open: Box<Opener>,
    opened: Mutex<Option<Memory>>,
    path: Option<String>,
    server: Option<Arc<Client>>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A handle of a store, or of the emptiness where one would be.
#[derive(Debug)]
pub(super) struct Handle {
    backend: Backend,
    /// Whether the store is there.
    exists: bool,
    /// Where the log stood behind the last answer of a server.
    state: Mutex<Option<StateVersion>>,
}

impl Handle {
    fn new(backend: Backend, exists: bool) -> Self {
        Self { backend, exists, state: Mutex::default() }
    }

    /// Where the log stands.
    pub(super) fn state(&self) -> Result<StateVersion, Error> {
        match &self.backend {
            Backend::Embedded(memory) if self.exists => Ok(memory.head()?.into()),
            Backend::Embedded(_) => Ok(NO_STORE.into()),
            Backend::Server(_) => {
                let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
                Ok(state.unwrap_or_else(|| NO_STORE.into()))
            }
        }
    }

    /// The store itself, for what no server can be asked for.
    pub(super) fn memory(&self) -> Result<&Memory, Error> {
        match &self.backend {
            Backend::Embedded(memory) => Ok(memory),
            Backend::Server(_) => Err(Rejection::invalid("tools", "embedded_only", "these tools need a store").into()),
        }
    }

    /// The damage before which it answers.
    pub(super) fn damage(&self) -> Option<String> {
        match &self.backend {
            Backend::Embedded(memory) => memory.damage(),
            Backend::Server(_) => None,
        }
    }

    /// Carries a request out.
    pub(super) fn ask<R: Request>(&self, request: R, once: Option<&str>) -> Result<Written<R::Answer>, Failed> {
        self.answered(self.backend.ask(&SURFACE, request, once)?)
    }

    /// Carries out the actions of a dream.
    pub(super) fn apply(
        &self,
        request: DreamApplyRequest,
        once: Option<&str>,
    ) -> Result<Written<AppliedView>, ApplyFailed> {
        let reply = self.backend.apply(&SURFACE, request, once)?;
        self.answered(reply).map_err(ApplyFailed::whole)
    }

    /// How the store at `path` is.
    pub(super) fn status(&self, path: Option<String>) -> Result<StatusView, Failed> {
        match &self.backend {
            Backend::Embedded(memory) => Ok(StatusView::new(&memory.status()?, path, self.exists)),
            Backend::Server(_) => Ok(self.ask(StatusRequest {}, None)?.answer),
        }
    }

    fn answered<A>(&self, reply: Reply<A>) -> Result<Written<A>, Failed> {
        if let Backend::Server(_) = self.backend {
            *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply.state()?);
        }
        Ok(Written { answer: reply.answer, replayed: reply.replayed })
    }
}

impl Store {
    /// A store that is open.
    #[must_use]
    pub fn of(memory: Memory, path: Option<String>) -> Self {
        Self { open: Box::new(|_| Ok(None)), opened: Mutex::new(Some(memory)), path, server: None }
    }

    /// A store that is opened by the first call that needs it, and made by the first that writes.
    #[must_use]
    pub fn when_needed(
        path: String,
        open: impl Fn(bool) -> Result<Option<Memory>, Error> + Send + Sync + 'static,
    ) -> Self {
        Self { open: Box::new(open), opened: Mutex::new(None), path: Some(path), server: None }
    }

    /// A store on a server.
    #[must_use]
    pub fn on_server(client: Arc<Client>) -> Self {
        Self { open: Box::new(|_| Ok(None)), opened: Mutex::new(None), path: None, server: Some(client) }
    }

    /// A store that is there, opened by the first call that needs it; where it is, is nobody's business.
    #[must_use]
    pub fn opened_by(open: impl Fn() -> Result<Memory, Error> + Send + Sync + 'static) -> Self {
        Self { open: Box::new(move |_| open().map(Some)), opened: Mutex::new(None), path: None, server: None }
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
        if let Some(client) = &self.server {
            return Ok(Handle::new(Backend::Server(Arc::clone(client)), true));
        }
        match self.opened(false)? {
            Some(memory) => Ok(Handle::new(Backend::Embedded(memory), true)),
            None => Ok(Handle::new(Backend::Embedded(Memory::in_memory()?), false)),
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
            Some(memory) => Ok(Handle::new(Backend::Embedded(memory), true)),
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
