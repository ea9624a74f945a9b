//! One keep-alive connection: a request goes out whole, its answer is read to the end.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Where requests go, and the key they bring.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    pub(super) key: String,
}

impl Target {
    /// A request as bytes, into a buffer that is used again.
    pub(super) fn write(&self, out: &mut Vec<u8>, method: &str, path: &str, body: &str) {
        use std::io::Write;
        out.clear();
        // Writing to memory cannot fail.
        let _ = write!(
            out,
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: \
             application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.key,
            body.len()
        );
    }
}

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Connection {
    pub(super) async fn open(target: &Target) -> io::Result<Self> {
        let stream = TcpStream::connect(target.address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::with_capacity(16 * 1024) })
    }

    /// Sends a request and reads its answer, which must be one of success.
    pub(super) async fn ask(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request).await?;
        self.read.clear();
        loop {
            if self.stream.read_buf(&mut self.read).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let Some(end) = self.read.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
            let head = self.read.get(..end).unwrap_or_default();
            if !head.starts_with(b"HTTP/1.1 200") {
                return Err(io::Error::other(String::from_utf8_lossy(&self.read).into_owned()));
            }
            let length = length(head).ok_or_else(|| io::Error::other("an answer without its length"))?;
            let whole = end + 4 + length;
            while self.read.len() < whole {
                if self.stream.read_buf(&mut self.read).await? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            return Ok(());
        }
    }
}

fn length(head: &[u8]) -> Option<usize> {
    let name = b"content-length: ";
    let at = head.windows(name.len()).position(|part| part.eq_ignore_ascii_case(name))? + name.len();
    let digits = head.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0')))
}
