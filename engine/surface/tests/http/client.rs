//! A small client: one request, one connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use serde_json::Value;

/// Somebody with a key, or with none.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    /// The name by which the server is called.
    pub(crate) host: String,
    pub(crate) key: Option<String>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// The path of an operation on memories.
pub(crate) fn memory(path: &str) -> String {
    format!("/api/cloud/memory/{path}")
}

impl Client {
    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self.clone() }
    }

    pub(crate) fn nobody(&self) -> Self {
        Self { key: None, ..self.clone() }
    }

    /// The head of a request, without the empty line that ends it.
    pub(crate) fn head(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", self.host);
        if let Some(key) = &self.key {
            head.push_str(&format!("authorization: Bearer {key}\r\n"));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// Sends a request and reads the answer to its end.
    #[track_caller]
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut stream = self.connect();
        let mut head = self.head(method, path, headers);
        if method == "POST" {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        // A server that has made up its mind need not take all of a body.
        let _ = stream.write_all(body);
        Reply::read(&mut stream)
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], b"")
    }

    /// Sends JSON text.
    #[track_caller]
    pub(crate) fn post_text(&self, path: &str, body: &str) -> Reply {
        self.send("POST", path, &[("content-type", "application/json")], body.as_bytes())
    }

    #[track_caller]
    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.post_text(path, &body.to_string())
    }

    /// Sends JSON under an idempotency key.
    #[track_caller]
    pub(crate) fn post_as(&self, name: &str, path: &str, body: &Value) -> Reply {
        let headers = [("content-type", "application/json"), ("idempotency-key", name)];
        self.send("POST", path, &headers, body.to_string().as_bytes())
    }

    /// A write that must succeed.
    #[track_caller]
    pub(crate) fn write(&self, operation: &str, body: &Value) -> Value {
        self.post(&memory(operation), body).ok()
    }

    #[track_caller]
    pub(crate) fn commit(&self, key: &str, value: Value) -> String {
        let done = self.write("commit", &serde_json::json!({"key": key, "value": value}));
        done["entryVersion"].as_str().unwrap().to_owned()
    }

    /// What `get` says of a memory.
    pub(crate) fn entry(&self, key: &str) -> Reply {
        self.get(&memory(&format!("entry?key={key}")))
    }

    /// The last position of the log.
    #[track_caller]
    pub(crate) fn position(&self) -> u64 {
        self.get("/api/cloud/status").ok()["store"]["seq"].as_u64().unwrap()
    }
}

/// A connection that is kept for the next request.
#[derive(Debug)]
pub(crate) struct Kept {
    client: Client,
    stream: BufReader<TcpStream>,
}

impl Kept {
    pub(crate) fn new(client: &Client) -> io::Result<Self> {
        let stream = TcpStream::connect(client.address)?;
        stream.set_nodelay(true)?;
        Ok(Self { client: client.clone(), stream: BufReader::new(stream) })
    }

    /// Sends a request and reads its answer; an error when the connection ends before that.
    pub(crate) fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> io::Result<Reply> {
        let head = self.client.head(method, path, headers).replace("connection: close\r\n", "");
        let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        self.stream.get_mut().write_all(request.as_bytes())?;
        self.answer()
    }

    fn answer(&mut self) -> io::Result<Reply> {
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"\r\n\r\n") {
            if self.stream.read_until(b'\n', &mut bytes)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let mut reply = Reply::parse(&bytes);
        let length = reply.header("content-length").expect("an answer of known length").parse().unwrap();
        reply.body = vec![0; length];
        self.stream.read_exact(&mut reply.body)?;
        Ok(reply)
    }

    /// Commits under an idempotency key.
    pub(crate) fn commit(&mut self, name: &str, key: &str, value: &Value) -> io::Result<Reply> {
        let body = serde_json::json!({"key": key, "value": value}).to_string();
        self.send("POST", &memory("commit"), &[("idempotency-key", name)], &body)
    }
}

impl Reply {
    #[track_caller]
    pub(crate) fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        // An answer to a body that was not read to its end may be followed by a reset.
        let _ = stream.read_to_end(&mut bytes);
        let _ = stream.shutdown(Shutdown::Both);
        Self::parse(&bytes)
    }

    #[track_caller]
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no answer: {:?}", String::from_utf8_lossy(bytes)));
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let split = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        let headers: Vec<_> = lines.map(|line| split(line).unwrap()).collect();
        let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let body = &bytes[end + 4..];
        let body = if chunked { unchunk(body) } else { body.to_vec() };
        Self { status, headers, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// The answer of what must succeed, with what every answer carries.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/json"));
        assert!(self.header("x-request-id").unwrap().len() > 20);
        let value: Value = serde_json::from_slice(&self.body).unwrap();
        assert_eq!(value["success"], true, "{value}");
        assert_eq!(value["stateVersion"].as_str().unwrap().len(), 64, "{value}");
        value
    }

    /// The details of what must be refused, in the one shape.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> Value {
        let value: Value = serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"));
        assert_eq!((self.status, value["error"].as_str()), (status, Some(code)), "{value}");
        let fields: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, ["details", "error", "message", "requestId", "retryable"], "{value}");
        assert!(value["details"].is_object() && value["retryable"].is_boolean(), "{value}");
        assert!(!value["message"].as_str().unwrap().is_empty(), "{value}");
        assert_eq!(value["requestId"].as_str(), self.header("x-request-id"), "{value}");
        value["details"].clone()
    }

    /// What must be refused as malformed, for this field and reason.
    #[track_caller]
    pub(crate) fn invalid(&self, field: &str, reason: &str) {
        let details = self.refused(400, "invalid_request");
        assert_eq!((&details["field"], &details["reason"]), (&field.into(), &reason.into()), "{}", self.text());
    }
}

/// A body that came in pieces; one that broke off has no last one.
#[track_caller]
fn unchunk(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let line = body.windows(2).position(|two| two == b"\r\n").expect("the body broke off");
        let length = usize::from_str_radix(std::str::from_utf8(&body[..line]).unwrap(), 16).unwrap();
        if length == 0 {
            return whole;
        }
        whole.extend_from_slice(&body[line + 2..line + 2 + length]);
        body = &body[line + 4 + length..];
    }
}
