//! Answers and bodies of any length.

use std::io::{self, BufRead, BufReader, Read};
use std::time::Duration;

use ureq::Body;
use ureq::http::Response;

use super::ask::{Ask, parameters};
use super::client::{Client, LONG_PAUSE, PAUSE, Received, own_name};
use super::errors::{ServerError, before_sending};
use crate::catalogue::{self, Operation};
use crate::wire::log::LogEvent;
use crate::wire::requests::{ImportRequest, LogRequest};
use crate::wire::transfer::ImportView;

/// How long a stream of events may be silent: a server says every 15 seconds that it is there.
const SILENCE: Duration = Duration::from_secs(60);
/// Largest error that is read, in bytes.
const ERROR: u64 = 1024 * 1024;

/// A request of an operation without members yet.
fn ask_for(operation: &Operation) -> Ask {
    let Operation { method, path, writes, .. } = *operation;
    Ask { method, path: path.to_owned(), query: Vec::new(), body: None, writes, once: None }
}

/// The members of a request as parameters of a query.
fn query_of(request: &impl serde::Serialize) -> Vec<(String, String)> {
    let members = serde_json::to_value(request).unwrap_or_default();
    let members = members.as_object().into_iter().flatten();
    members.flat_map(|(name, value)| parameters(name, &value.to_string())).collect()
}

impl Client {
    /// All memories as lines, as they come. One that is cut off ends in an error, never like a whole one.
    ///
    /// # Errors
    /// What the server answered, or why no answer came.
    pub fn export(&self) -> Result<impl Read + use<>, ServerError> {
        let response = self.open(&ask_for(&catalogue::EXPORT), PAUSE)?;
        Ok(response.into_body().into_with_config().limit(u64::MAX).reader())
    }

    /// Sends lines to be read as memories, as they are read. Nothing of them is sent before the server
    /// has looked at the key.
    ///
    /// # Errors
    /// As [`Client::export`]. A body that could not be read says so in `lines`.
    pub fn import(
        &self,
        request: &ImportRequest,
        once: Option<&str>,
        lines: &mut dyn Read,
    ) -> Result<Received<ImportView>, ServerError> {
        let once = Some(once.map_or_else(own_name, str::to_owned));
        let ask = Ask { query: query_of(request), once, ..ask_for(&catalogue::IMPORT) };
        let sent = self.send(&ask, LONG_PAUSE, lines).and_then(|mut response| {
            let text = response.body_mut().with_config().limit(ERROR).read_to_string()?;
            Ok((response, text))
        });
        match sent {
            Ok((response, text)) => {
                let text = self.judge(&response, text, &ask)?;
                self.read(text, &ask)
            }
            Err(error) if before_sending(&error) => Err(ServerError::unreachable(self.address(), &error)),
            Err(error) => Err(ServerError::no_answer(self.address(), &error, &ask)),
        }
    }

    /// The events of the log from a position on, as they become durable.
    ///
    /// # Errors
    /// As [`Client::export`].
    pub fn follow(&self, request: &LogRequest, from: u64) -> Result<Events<impl BufRead + use<>>, ServerError> {
        let request = LogRequest {
            from_seq: Some(from),
            to_seq: None,
            limit: None,
            order: None,
            cursor: None,
            follow: Some(true),
            ..request.clone()
        };
        let ask = Ask { query: query_of(&request), ..ask_for(&catalogue::LOG) };
        let response = self.open(&ask, SILENCE)?;
        Ok(Events(BufReader::new(response.into_body().into_with_config().limit(u64::MAX).reader())))
    }

    /// A stream that ended before its end.
    #[must_use]
    pub fn broke_off(&self, error: &io::Error) -> ServerError {
        let message = format!("the answer of the server at {} broke off: {error}", self.address());
        ServerError::new("cloud_runtime_unavailable", "broke_off", message).retryable()
    }

    /// An answer whose body is still to come.
    fn open(&self, ask: &Ask, pause: Duration) -> Result<Response<Body>, ServerError> {
        let failed = |error: &ureq::Error| match before_sending(error) {
            true => ServerError::unreachable(self.address(), error),
            false => ServerError::no_answer(self.address(), error, ask),
        };
        let mut response = self.send(ask, pause, &mut io::empty()).map_err(|error| failed(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let text = response.body_mut().with_config().limit(ERROR).read_to_string().map_err(|error| failed(&error))?;
        self.judge(&response, text, ask).map(|_| response)
    }
}

/// Events of a stream.
#[derive(Debug)]
pub struct Events<R>(R);

impl<R: BufRead> Iterator for Events<R> {
    type Item = io::Result<LogEvent>;

    /// The next event; none when the stream ends.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut line = String::new();
            match self.0.read_line(&mut line) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
            // Other lines are ids, comments and ends of events.
            if let Some(data) = line.strip_prefix("data:") {
                return Some(serde_json::from_str(data.trim()).map_err(io::Error::from));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn comments_and_ids_are_no_events_and_a_broken_line_is_an_error() {
        let event = r#"{"seq":3,"at":"2026-01-31T09:30:00.000Z","op":"create","key":"k","source":"s","operationId":"01920000-0000-7000-8000-000000000001","value":null}"#;
        let text = format!(": following\n\nid: 3\ndata: {event}\n\n: alive\n\ndata: {{\n\n");
        let mut events = Events(text.as_bytes());
        let first = events.next().unwrap().unwrap();
        assert_eq!((first.seq.get(), first.value.unwrap().as_str()), (3, "null"));
        assert!(events.next().unwrap().is_err());
        assert!(events.next().is_none());
    }
}
