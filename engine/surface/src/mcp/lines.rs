//! Lines of an input, of bounded length.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Most bytes of a line: what a body may have on the other surfaces.
const LINE_BYTES: usize = 32 * 1024 * 1024;

/// What an input gives.
pub(super) enum Line {
    /// A line without its break.
    Whole(Vec<u8>),
    /// The rest of it is passed over.
    TooLong,
    /// There is no more.
    End,
}

/// The lines of an input.
pub(super) struct Input<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    too_long: bool,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Input<R> {
    /// The lines of this.
    pub(super) fn new(read: R) -> Self {
        Self { read: BufReader::new(read), line: Vec::new(), too_long: false, ended: false }
    }

    /// The next line; a last one need not end in a line break.
    pub(super) async fn line(&mut self) -> Line {
        loop {
            // Nothing is awaited between what is read and where it is kept.
            let available = match self.read.fill_buf().await {
                Ok(available) if !self.ended => available,
                _ => &[],
            };
            let Some(found) =
                available.iter().position(|byte| *byte == b'\n').or((!available.is_empty()).then_some(available.len()))
            else {
                self.ended = true;
                let last = std::mem::take(&mut self.line);
                return if last.is_empty() || self.too_long { Line::End } else { Line::Whole(last) };
            };
            let is_end = found < available.len();
            let begin = available.get(..found).unwrap_or_default();
            let is_over = self.line.len().saturating_add(begin.len()) > LINE_BYTES;
            if !self.too_long && !is_over {
                self.line.extend_from_slice(begin);
            }
            self.read.consume(if is_end { found + 1 } else { found });
            let was_too_long = self.too_long;
            self.too_long = (was_too_long || is_over) && !is_end;
            if is_over && !was_too_long {
                self.line = Vec::new();
                return Line::TooLong;
            }
            if is_end && !was_too_long {
                return Line::Whole(std::mem::take(&mut self.line));
            }
        }
    }
}
