//! Where requests are carried out: on a store that is open here, or by a server.
//!
//! The surfaces that one caller sits at, the command line and MCP over standard input, ask a
//! [`Backend`] and cannot tell which one it is but by the errors that only one of them has.

mod apply;

use std::sync::Arc;

use bilinc::{Error, Memory, Rejection, Written};

pub use self::apply::ApplyFailed;
use crate::remote::{Client, Received, ServerError};
use crate::wire::StateVersion;
use crate::wire::errors::Details;
use crate::wire::requests::{Request, Surface};

/// Where requests are carried out.
#[derive(Debug, Clone)]
pub enum Backend {
    /// On a store that is open here.
    Embedded(Memory),
    /// By a server.
    Server(Arc<Client>),
}

/// Why a request failed.
#[derive(Debug)]
pub enum Failed {
    /// The library said no, or failed.
    Library(Box<Error>),
    /// A server said no, or did not answer.
    Server(Box<ServerError>),
}

/// An answer with where it comes from.
#[derive(Debug)]
pub struct Reply<A> {
    /// The answer.
    pub answer: A,
    /// Whether it was given before, to a request under the same name by its caller.
    pub replayed: bool,
    origin: Origin,
}

#[derive(Debug)]
enum Origin {
    Store(Memory),
    Server {
        state: StateVersion,
        /// The text that the server wrote, while the answer is what it says.
        text: Option<String>,
    },
}

impl<A> Reply<A> {
    /// The answer of a store.
    pub(crate) fn of_store(memory: Memory, answer: A) -> Self {
        Self { answer, replayed: false, origin: Origin::Store(memory) }
    }

    /// The answer of a server. That it was given before matters only to a caller who named it.
    pub(crate) fn of_server(received: Received<A>, named: bool) -> Self {
        let Received { answer, replayed, state, text } = received;
        Self { answer, replayed: replayed && named, origin: Origin::Server { state, text: Some(text) } }
    }

    /// Where the log stands.
    ///
    /// # Errors
    /// When the store cannot be read any more.
    pub fn state(&self) -> Result<StateVersion, Error> {
        match &self.origin {
            Origin::Store(memory) => Ok(memory.head()?.into()),
            Origin::Server { state, .. } => Ok(state.clone()),
        }
    }

    /// The text that a server wrote, if the answer is still that.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.origin {
            Origin::Server { text, .. } => text.as_deref(),
            Origin::Store(_) => None,
        }
    }

    /// The answer, to be made another.
    pub fn change(&mut self) -> &mut A {
        if let Origin::Server { text, .. } = &mut self.origin {
            *text = None;
        }
        &mut self.answer
    }
}

impl Backend {
    /// Carries a request out, under a name when its caller gave one.
    ///
    /// # Errors
    /// [`Failed`] says why not.
    pub fn ask<R: Request>(
        &self,
        surface: &Surface,
        request: R,
        once: Option<&str>,
    ) -> Result<Reply<R::Answer>, Failed> {
        match self {
            Self::Embedded(memory) => {
                let Written { answer, replayed } = request.prepare(surface)?(&under(memory, once))?;
                Ok(Reply { answer, replayed, origin: Origin::Store(memory.clone()) })
            }
            Self::Server(client) => {
                // What is malformed is refused here, in the same words.
                drop(request.clone().prepare(surface)?);
                let received = client.ask(&request.signed(surface.source), once)?;
                Ok(Reply::of_server(received, once.is_some()))
            }
        }
    }
}

/// The handle for one request, which a name makes repeatable.
fn under(memory: &Memory, once: Option<&str>) -> Memory {
    once.map_or_else(|| memory.clone(), |name| memory.with_idempotency_key(name))
}

impl Failed {
    /// The code.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Library(error) => error.code(),
            Self::Server(error) => error.code(),
        }
    }

    /// What is wrong.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Library(error) => error.to_string(),
            Self::Server(error) => error.view.message.clone(),
        }
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Library(error) => error.is_retryable(),
            Self::Server(error) => error.view.retryable,
        }
    }

    /// What the code leaves open.
    #[must_use]
    pub fn details(&self) -> Details {
        match self {
            Self::Library(error) => error.as_ref().into(),
            Self::Server(error) => error.view.details.clone(),
        }
    }

    /// The name of the answer: the server's own, where one answered.
    #[must_use]
    pub fn request_id(&self) -> String {
        match self {
            Self::Server(error) if !error.view.request_id.is_empty() => error.view.request_id.clone(),
            _ => crate::wire::errors::request_id(),
        }
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Library(Box::new(error))
    }
}

impl From<Rejection> for Failed {
    fn from(rejection: Rejection) -> Self {
        Error::Rejected(rejection).into()
    }
}

impl From<ServerError> for Failed {
    fn from(error: ServerError) -> Self {
        Self::Server(Box::new(error))
    }
}
