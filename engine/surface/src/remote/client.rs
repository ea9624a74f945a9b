//! One request and its answer.

use std::fmt;
use std::io;
use std::time::Duration;

use bilinc::{Ids, Rejection, TimeOrderedIds};
use serde::Deserialize;
use ureq::http::{Response, header};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, SendBody};

use super::address::Address;
use super::ask::Ask;
use super::errors::{ServerError, before_sending, is_timeout};
use crate::catalogue;
use crate::wire::StateVersion;
use crate::wire::requests::{Request, StatusRequest};
use crate::wire::status::StatusView;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an answer may pause: a server lets a request wait for a minute and work for another.
pub(super) const PAUSE: Duration = Duration::from_secs(150);
/// How long the proof of a log and an import may take: they read all there is.
pub(super) const LONG_PAUSE: Duration = Duration::from_secs(3_600);
/// How long somebody waits who can do without the answer.
const GLANCE: Duration = Duration::from_secs(5);
/// Before an answer that was lost is asked for again.
const RETRIES: [Duration; 2] = [Duration::from_millis(250), Duration::from_millis(500)];
/// Largest answer that is read whole, in bytes.
const ANSWER: u64 = 256 * 1024 * 1024;

/// A client of one project on a server.
pub struct Client {
    agent: Agent,
    address: Address,
    key: Option<String>,
}

/// What a client is made of.
#[derive(Debug, Default)]
pub struct SetUp {
    /// The API key.
    pub key: Option<String>,
    /// Authorities in PEM to trust instead of the system's.
    pub authorities: Option<Vec<u8>>,
}

/// An answer with what every answer carries.
#[derive(Debug)]
pub struct Received<A> {
    /// The answer.
    pub answer: A,
    /// Whether it was given before.
    pub replayed: bool,
    /// Where the log stands.
    pub state: StateVersion,
    /// The text that the server wrote.
    pub text: String,
}

/// What every answer carries.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Carried {
    state_version: StateVersion,
    #[serde(default)]
    replayed: bool,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("address", &self.address).finish_non_exhaustive()
    }
}

/// A name under which one write is sent, and sent again.
pub(crate) fn own_name() -> String {
    format!("once_{}", uuid::Uuid::from_u128(TimeOrderedIds.next_id()).simple())
}

impl Client {
    /// A client of the server at an address. It follows no redirect and speaks through no proxy, so a
    /// key reaches no other address than the one that was named.
    ///
    /// # Errors
    /// When the authorities cannot be read.
    pub fn new(address: Address, set_up: SetUp) -> Result<Self, ServerError> {
        let roots = match set_up.authorities {
            None => RootCerts::PlatformVerifier,
            Some(pem) => authorities(&pem)?,
        };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            // A connection that was kept may be closed just when it is used.
            .max_idle_connections(0)
            .timeout_connect(Some(CONNECT))
            .timeout_per_write(Some(PAUSE))
            .user_agent(concat!("bilinc/", env!("CARGO_PKG_VERSION")))
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .build();
        Ok(Self { agent: config.into(), address, key: set_up.key })
    }

    /// Where the server is.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Asks for an operation. A write goes under `once`, else under a name of its own.
    ///
    /// # Errors
    /// What the server answered, or why no answer came.
    pub fn ask<R: Request>(&self, request: &R, once: Option<&str>) -> Result<Received<R::Answer>, ServerError> {
        let own = once.is_none().then(own_name);
        let ask = Ask::of(request, once.or(own.as_deref())).map_err(|rejection| refused(&rejection))?;
        let pause = if R::OPERATION == catalogue::VERIFY { LONG_PAUSE } else { PAUSE };
        let text = self.answer(&ask, pause)?;
        self.read(text, &ask)
    }

    /// How the store is, if its server says so within a few seconds.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn glance(&self) -> Result<StatusView, ServerError> {
        let ask = Ask::of(&StatusRequest {}, None).map_err(|rejection| refused(&rejection))?;
        let text = self.answer(&ask, GLANCE)?;
        Ok(self.read(text, &ask)?.answer)
    }

    /// How the server is, which it tells everybody.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn health<A: for<'de> Deserialize<'de>>(&self) -> Result<(A, String), ServerError> {
        let path = "/api/cloud/health".to_owned();
        let ask = Ask { method: "GET", path, query: Vec::new(), body: None, writes: false, once: None };
        let text = self.answer(&ask, PAUSE)?;
        let answer =
            serde_json::from_str(&text).map_err(|error| ServerError::unreadable(&self.address, &error, &ask))?;
        Ok((answer, text))
    }

    /// Reads an answer.
    pub(super) fn read<A: for<'de> Deserialize<'de>>(
        &self,
        text: String,
        ask: &Ask,
    ) -> Result<Received<A>, ServerError> {
        let unreadable = |error: serde_json::Error| ServerError::unreadable(&self.address, &error, ask);
        let Carried { state_version, replayed } = serde_json::from_str(&text).map_err(unreadable)?;
        let answer = serde_json::from_str(&text).map_err(unreadable)?;
        Ok(Received { answer, replayed, state: state_version, text })
    }

    /// Sends a request and reads its answer whole. What was lost on the way is asked for again: a read
    /// does no harm, and a write goes under the same name.
    fn answer(&self, ask: &Ask, pause: Duration) -> Result<String, ServerError> {
        let mut retries = RETRIES.iter();
        loop {
            let body = ask.body.as_deref().unwrap_or_default().as_bytes();
            let done = self.send(ask, pause, &mut &*body).and_then(|mut response| {
                let text = response.body_mut().with_config().limit(ANSWER).read_to_string();
                text.map(|text| (response, text))
            });
            let error = match done {
                Ok((response, text)) => return self.judge(&response, text, ask),
                Err(error) => error,
            };
            if before_sending(&error) {
                return Err(ServerError::unreachable(&self.address, &error));
            }
            match retries.next().filter(|_| !is_timeout(&error)) {
                Some(wait) => std::thread::sleep(*wait),
                None => return Err(ServerError::no_answer(&self.address, &error, ask)),
            }
        }
    }

    /// The text of an answer that says that it went well.
    pub(super) fn judge(&self, response: &Response<Body>, text: String, ask: &Ask) -> Result<String, ServerError> {
        let json = text.trim_start().starts_with('{');
        if response.status().is_success() && json {
            return Ok(text);
        }
        let redirect = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok());
        Err(ServerError::of_answer(&self.address, response.status(), redirect, &text, ask))
    }

    /// Sends a request with this body; gives the answer as soon as its head is there.
    pub(super) fn send(
        &self,
        ask: &Ask,
        pause: Duration,
        body: &mut dyn io::Read,
    ) -> Result<Response<Body>, ureq::Error> {
        let mut request =
            ureq::http::Request::builder().method(ask.method).uri(self.address.route(&ask.path, &ask.query));
        if let Some(key) = &self.key {
            request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
        }
        if let Some(once) = &ask.once {
            request = request.header("idempotency-key", once);
        }
        if ask.method == "GET" {
            let request = request.body(())?;
            let request = self.agent.configure_request(request).timeout_per_read(Some(pause)).build();
            return self.agent.run(request);
        }
        let request = match &ask.body {
            Some(text) => {
                request.header(header::CONTENT_TYPE, "application/json").header(header::CONTENT_LENGTH, text.len())
            }
            // Whether it may send at all, its sender learns before it does.
            None => request.header(header::CONTENT_TYPE, "application/x-ndjson").header(header::EXPECT, "100-continue"),
        };
        let request = request.body(SendBody::from_reader(body))?;
        let request = self.agent.configure_request(request).timeout_per_read(Some(pause)).build();
        self.agent.run(request)
    }
}

fn authorities(pem: &[u8]) -> Result<RootCerts, ServerError> {
    let unread = |why: String| {
        ServerError::new(
            "invalid_request",
            "authorities",
            format!("the authorities of BILINC_CA_BUNDLE cannot be read: {why}"),
        )
    };
    let mut found = Vec::new();
    for item in parse_pem(pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| unread(error.to_string()))? {
            found.push(certificate);
        }
    }
    if found.is_empty() { Err(unread("there are none in the file".to_owned())) } else { Ok(RootCerts::from(found)) }
}

/// A request that cannot be written down.
fn refused(rejection: &Rejection) -> ServerError {
    ServerError::new(rejection.code(), "request", rejection.to_string())
}
