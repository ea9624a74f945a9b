//! Messages as lines of standard input and output.
//!
//! Whatever comes in, the session goes on: a line that is no JSON is passed over, one that is no
//! message is refused, one that is too long is refused and skipped. Replies are all written before
//! the end of the input ends the session. The protocol's library would lose a call whose arguments
//! hold a number that it cannot read, an answer that takes long after the end of the input, and a
//! session in which a notification comes before the handshake; that is why the lines are ours.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetExtensions, GetMeta, JsonRpcMessage,
    ProtocolVersion, RequestId,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::{Transport, stdio_pipes};
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, Notify};

use super::handler::Server;
use super::lines::{Input, Line};
use super::messages::take_arguments;
use crate::wire::requests::members;

/// Once so many requests wait for their answers, no more are read.
const WAITING: usize = 1_024;
/// Threads for calls and, where they are no pipes, for standard input and output.
const THREADS: usize = 18;

/// Serves one client on standard input and output, until the input ends or nobody takes the output.
///
/// # Errors
/// When the system gives no means to wait for input.
pub fn serve(server: Server) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(THREADS).build()?;
    runtime.block_on(async {
        let (read, write) = stdio_pipes();
        let transport = LineTransport::new(read, write);
        // A client that goes before or after the handshake ends the session, and that is no failure.
        if let Ok(running) = rmcp::serve_server(server.clone(), transport).await {
            let _ = running.waiting().await;
        }
        server.idle().await;
    });
    // A read of standard input that is still waiting must not hold the process.
    runtime.shutdown_background();
    Ok(())
}

/// A transport of lines.
pub struct LineTransport<R, W> {
    input: Input<R>,
    out: Arc<Out<W>>,
    /// Parts of a batch that are still to be given.
    queued: VecDeque<String>,
    /// Whether a request came that begins the session.
    begun: bool,
}

impl<R, W> std::fmt::Debug for LineTransport<R, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LineTransport").field("begun", &self.begun).finish_non_exhaustive()
    }
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> LineTransport<R, W> {
    /// A transport over these.
    pub fn new(read: R, write: W) -> Self {
        let out = Out {
            writer: Mutex::new(write),
            state: StdMutex::new(State { waiting: HashSet::new(), writes: 0, closed: false }),
            changed: Notify::new(),
        };
        Self { input: Input::new(read), out: Arc::new(out), queued: VecDeque::new(), begun: false }
    }

    /// Refuses what is no message. The reply goes its own way, because whoever receives may stop
    /// waiting at any moment.
    fn refuse(&self, id: Option<RequestId>, what: &'static str) {
        let error = ErrorData::invalid_request(what, None);
        let send = Arc::clone(&self.out).send(JsonRpcMessage::error(error, id));
        tokio::spawn(send);
    }

    /// The message in a text, if there is one for the session.
    fn message(&mut self, text: &str) -> Option<RxJsonRpcMessage<RoleServer>> {
        let text = text.trim();
        let Ok(raw) = serde_json::from_str::<&RawValue>(text) else { return None };
        if text.starts_with('[') {
            let parts: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
            if parts.is_empty() {
                self.refuse(None, "Invalid Request: an empty batch");
            }
            self.queued.extend(parts.into_iter().map(|part| part.get().to_owned()));
            return None;
        }
        let Ok(members) = members("message", raw) else {
            self.refuse(None, "Invalid Request: a message is an object");
            return None;
        };
        let member = |name: &str| members.iter().find(|(known, _)| known == name).map(|(_, value)| value.get());
        let is_call = member("method").is_some();
        let id = member("id");
        let (rest, arguments) = match take_arguments(text) {
            Some((rest, arguments)) => (Some(rest), Some(arguments)),
            None => (None, None),
        };
        let read = serde_json::from_str::<ClientJsonRpcMessage>(rest.as_deref().unwrap_or(text));
        match read {
            Ok(JsonRpcMessage::Request(mut request)) => {
                self.begun |= begins(&request.request);
                self.out.state().waiting.insert(request.id.clone());
                if let Some(arguments) = arguments {
                    request.request.extensions_mut().insert(arguments);
                }
                Some(JsonRpcMessage::Request(request))
            }
            // What has an id wants an answer, and an id that is none cannot be answered to.
            Ok(JsonRpcMessage::Notification(_)) if id.is_some() => {
                self.refuse(None, "Invalid Request: an id is a string or a whole number");
                None
            }
            Ok(JsonRpcMessage::Notification(notification)) if self.begun => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.out.answered(id);
                }
                Some(JsonRpcMessage::Notification(notification))
            }
            // Nothing is asked of the client here, so nothing it answers is waited for.
            Ok(_) => None,
            Err(_) if id.is_some() => {
                self.refuse(
                    id.and_then(|id| serde_json::from_str(id).ok()),
                    "Invalid Request: not to be read as a message",
                );
                None
            }
            // A notification that cannot be read is none that anybody waits for.
            Err(_) if is_call => None,
            Err(_) => {
                self.refuse(None, "Invalid Request: neither a request nor a notification");
                None
            }
        }
    }
}

/// Whether a request begins the session: the handshake, or one that names its version itself.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta.protocol_version().is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Transport<RoleServer>
    for LineTransport<R, W>
{
    type Error = io::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        Arc::clone(&self.out).send(item)
    }

    /// May be dropped at any point and called again: what was read of a line is kept.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(text) = self.queued.pop_front() {
                match self.message(&text) {
                    Some(message) => return Some(message),
                    None => continue,
                }
            }
            let out = Arc::clone(&self.out);
            out.until(|state| state.closed || state.waiting.len() < WAITING).await;
            let line = tokio::select! {
                biased;
                () = out.until(|state| state.closed) => return None,
                line = self.input.line() => line,
            };
            match line {
                Line::Whole(bytes) => {
                    let text = String::from_utf8(bytes).ok();
                    if let Some(message) = text.and_then(|text| self.message(text.trim_start_matches('\u{feff}'))) {
                        return Some(message);
                    }
                }
                Line::TooLong => self.refuse(None, "Invalid Request: a line of more than 32 MiB"),
                Line::End => {
                    out.until(|state| state.closed || (state.waiting.is_empty() && state.writes == 0)).await;
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where replies go.
struct Out<W> {
    writer: Mutex<W>,
    state: StdMutex<State>,
    changed: Notify,
}

struct State {
    /// Requests that have no answer yet.
    waiting: HashSet<RequestId>,
    /// Writes that have begun.
    writes: usize,
    /// Whether nobody takes the output any more.
    closed: bool,
}

impl<W: AsyncWrite + Unpin> Out<W> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered(&self, id: &RequestId) {
        self.state().waiting.remove(id);
        self.changed.notify_waiters();
    }

    /// Waits until something is so.
    async fn until(&self, is_so: impl Fn(&State) -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            if is_so(&self.state()) {
                return;
            }
            changed.await;
        }
    }

    fn send(self: Arc<Self>, item: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + use<W> {
        let id = match &item {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        self.state().writes += 1;
        async move {
            let written = self.write(&item).await;
            {
                let mut state = self.state();
                state.writes -= 1;
                state.closed |= written.is_err();
                if let Some(id) = &id {
                    state.waiting.remove(id);
                }
            }
            self.changed.notify_waiters();
            written
        }
    }

    async fn write(&self, item: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
        let mut line = serde_json::to_vec(item)?;
        line.push(b'\n');
        let mut writer = self.writer.lock().await;
        writer.write_all(&line).await?;
        writer.flush().await
    }
}
