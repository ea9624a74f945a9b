//! The arguments of a call as they were sent.
//!
//! The protocol's library reads arguments into numbers of 64 bits and lets the last of two members
//! with one name win. So they are taken out of a message before it is read, and go along beside it.

use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wire::requests::members;

/// The raw JSON text of a call's arguments. A transport that has the text puts it into the request's
/// extensions; where none did, what the library read is what there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawArguments(pub Arc<str>);

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    method: &'a RawValue,
    #[serde(borrow)]
    params: &'a RawValue,
}

/// Takes the arguments out of a message that calls a tool: gives the message without them, and
/// them. None when it is another message, or has none.
#[must_use]
pub fn take_arguments(message: &str) -> Option<(String, RawArguments)> {
    let envelope: Envelope<'_> = serde_json::from_str(message).ok()?;
    if serde_json::from_str::<String>(envelope.method.get()).ok()? != "tools/call" {
        return None;
    }
    let (taken, others): (Vec<_>, Vec<_>) =
        members("params", envelope.params).ok()?.into_iter().partition(|(name, _)| name == "arguments");
    let (_, arguments) = taken.into_iter().next()?;
    let mut rest = String::with_capacity(256);
    rest.push('{');
    for (place, (name, value)) in others.iter().enumerate() {
        if place > 0 {
            rest.push(',');
        }
        rest.push_str(&serde_json::to_string(name).ok()?);
        rest.push(':');
        rest.push_str(value.get());
    }
    rest.push('}');
    // The raw texts are parts of the message, so the place of `params` is known.
    let start = (envelope.params.get().as_ptr() as usize).checked_sub(message.as_ptr() as usize)?;
    let before = message.get(..start)?;
    let after = message.get(start.checked_add(envelope.params.get().len())?..)?;
    Some((format!("{before}{rest}{after}"), RawArguments(arguments.get().into())))
}

/// A message that came by itself.
#[derive(Debug)]
pub(crate) struct Message {
    /// Its text, without the arguments of a call.
    pub(crate) text: String,
    /// Those arguments.
    pub(crate) arguments: Option<RawArguments>,
    /// What the text is.
    pub(crate) message: ClientJsonRpcMessage,
}

/// Why a text is no message, and which request that is said to.
pub(crate) type NoMessage = (Option<RequestId>, ErrorData);

/// Reads a message. What is wrong with one is said without a word of it.
///
/// # Errors
/// When the text is none.
pub(crate) fn read(text: &str) -> Result<Message, NoMessage> {
    let invalid = |what: &'static str| ErrorData::invalid_request(what, None);
    let raw: &RawValue =
        serde_json::from_str(text).map_err(|_| (None, ErrorData::parse_error("Parse error: not JSON", None)))?;
    let members = members("message", raw).map_err(|_| (None, invalid("Invalid Request: a message is an object")))?;
    let id = members.iter().find(|(name, _)| name == "id").map(|(_, value)| value.get());
    let (text, arguments) = match take_arguments(text) {
        Some((rest, arguments)) => (rest, Some(arguments)),
        None => (text.to_owned(), None),
    };
    match serde_json::from_str(&text) {
        // What has an id wants an answer, and an id that is none cannot be answered to.
        Ok(JsonRpcMessage::Notification(_)) if id.is_some() => {
            Err((None, invalid("Invalid Request: an id is a string or a whole number")))
        }
        Ok(message) => Ok(Message { text, arguments, message }),
        Err(_) => {
            let id = id.and_then(|id| serde_json::from_str(id).ok());
            Err((id, invalid("Invalid Request: not to be read as a message")))
        }
    }
}

/// The texts of a batch. None when it is something else.
pub(crate) fn batch(text: &str) -> Option<Vec<&str>> {
    if !text.trim_start().starts_with('[') {
        return None;
    }
    let parts: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(parts.into_iter().map(RawValue::get).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn arguments_go_along_as_they_were_sent() {
        let message = r#"{"id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1.10,"a":1e400},"_meta":{}},"jsonrpc":"2.0"}"#;
        let (rest, raw) = take_arguments(message).unwrap();
        assert_eq!(&*raw.0, r#"{"a":1.10,"a":1e400}"#);
        assert_eq!(rest, r#"{"id":1,"method":"tools/call","params":{"name":"x","_meta":{}},"jsonrpc":"2.0"}"#);
    }

    #[test]
    fn other_messages_stay_as_they_are() {
        for message in [
            r#"{"id":1,"method":"tools/list","params":{"arguments":{}}}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"x"}}"#,
            r#"{"id":1,"method":"tools/call"}"#,
            r#"{"id":1,"method":7,"params":{}}"#,
            "[]",
            "not JSON",
        ] {
            assert_eq!(take_arguments(message), None, "{message}");
        }
    }
}
