//! The server's log: lines on standard error that hold up nobody, not even when nothing takes them.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use tracing_subscriber::fmt::MakeWriter;

/// So many lines wait to be written; later ones are counted instead.
const WAITING: usize = 4_096;
/// So many bytes are written at once.
const PIECE: usize = 64 * 1024;
/// For so long an end waits for the last lines.
const LAST: Duration = Duration::from_secs(1);

/// Where the log goes.
#[derive(Debug, Clone)]
pub(super) struct ServerLog {
    to: SyncSender<Message>,
    lost: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Message {
    Line(Vec<u8>),
    /// Told when all before it is written.
    End(SyncSender<()>),
}

impl ServerLog {
    /// Begins to write what comes, on a thread of its own.
    pub(super) fn begin(out: impl Write + Send + 'static) -> io::Result<Self> {
        let (to, lines) = sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let log = Self { to, lost: Arc::clone(&lost) };
        thread::Builder::new().name("log".to_owned()).spawn(move || write(out, &lines, &lost))?;
        Ok(log)
    }

    /// Waits for the last lines, if somebody takes them.
    pub(super) fn end(&self) {
        let until = Instant::now() + LAST;
        let (told, done) = sync_channel(1);
        let mut end = Message::End(told);
        while let Err(TrySendError::Full(back)) = self.to.try_send(end) {
            if Instant::now() >= until {
                return;
            }
            end = back;
            thread::sleep(LAST / 100);
        }
        // Whoever takes nothing is not waited for.
        let _ = done.recv_timeout(LAST);
    }
}

/// Writes lines, as many at once as there are. What cannot be written is gone: there is nobody to tell.
fn write(mut out: impl Write, lines: &Receiver<Message>, lost: &AtomicU64) {
    let mut piece = Vec::new();
    while let Ok(first) = lines.recv() {
        let mut ended = Vec::new();
        let mut next = Some(first);
        while let Some(message) = next {
            match message {
                Message::Line(line) => piece.extend_from_slice(&line),
                Message::End(told) => ended.push(told),
            }
            next = if piece.len() < PIECE { lines.try_recv().ok() } else { None };
        }
        let lost = lost.swap(0, Ordering::AcqRel);
        if lost > 0 {
            piece
                .extend_from_slice(format!("{lost} lines of the log found no place and are missing here\n").as_bytes());
        }
        let _ = out.write_all(&piece);
        let _ = out.flush();
        piece.clear();
        for told in ended {
            let _ = told.send(());
        }
    }
}

impl<'a> MakeWriter<'a> for ServerLog {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

impl Write for &ServerLog {
    /// Takes a line, which comes as a whole.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.to.try_send(Message::Line(line.to_vec())).is_err() {
            self.lost.fetch_add(1, Ordering::AcqRel);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Mutex;
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    /// Takes nothing before it is allowed to.
    struct Held {
        allowed: Receiver<()>,
        taken: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Held {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // The end of the test allows everything.
            let _ = self.allowed.recv();
            self.taken.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn held() -> (ServerLog, Sender<()>, Arc<Mutex<Vec<u8>>>) {
        let (allow, allowed) = channel();
        let taken = Arc::default();
        let log = ServerLog::begin(Held { allowed, taken: Arc::clone(&taken) }).unwrap();
        (log, allow, taken)
    }

    #[test]
    fn lines_that_nobody_takes_hold_up_nobody_and_are_counted() {
        let (log, allow, taken) = held();
        let lines = 2 * WAITING + PIECE;
        for _ in 0..lines {
            (&log).write_all(b"line\n").unwrap();
        }
        drop(allow);
        log.end();
        // A last line tells of what was lost before it.
        (&log).write_all(b"last\n").unwrap();
        log.end();
        let text = String::from_utf8(taken.lock().unwrap().clone()).unwrap();
        let written = text.matches("line\n").count();
        let lost: usize = text
            .lines()
            .filter_map(|line| line.split_once(" lines of").and_then(|(lost, _)| lost.parse::<usize>().ok()))
            .sum();
        assert!(lost > 0 && text.contains("last\n"), "{lost}");
        assert_eq!(written + lost, lines);
    }

    #[test]
    fn the_last_lines_are_written_before_the_end() {
        let (log, allow, taken) = held();
        drop(allow);
        for _ in 0..100 {
            (&log).write_all(b"line\n").unwrap();
        }
        log.end();
        assert_eq!(taken.lock().unwrap().len(), 500);
    }
}
