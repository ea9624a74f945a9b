//! Reading events in order.

use std::ops::ControlFlow;
use std::sync::mpsc;
use std::thread;

use bilinc_core::{RecordedEvent, Seq};

use super::Store;
use crate::codec::{Bodies, Decoder};
use crate::error::EngineError;
use crate::log::{Frame, LogError};

/// So many positions are worth a thread of their own.
pub(crate) const MANY: u64 = 16 * 1_024;
/// So many events, and those of the operation that they end in, are handed over at once.
const BATCH: usize = 512;
/// Fewer when their frames have so many bytes.
const BATCH_BYTES: u64 = 1024 * 1024;
/// So many batches wait at most.
const WAITING: usize = 2;

/// Events in order, which may be taken out.
type Batch = Vec<RecordedEvent>;

/// What is asked for of the log.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    after: Seq,
    through: Seq,
    bodies: Bodies,
}

/// What the thread that reads hands over: frames, for the one that visits to decode when it has to wait
/// otherwise, or their events, with what kept the next operation from being decoded.
enum Piece {
    Frames(Vec<Frame>),
    Events(Batch, Result<(), EngineError>),
}

impl Store {
    /// Visits the events after one position through another, in order, until one breaks off.
    pub(crate) fn visit(
        &self,
        after: Seq,
        through: Seq,
        bodies: Bodies,
        visit: &mut dyn FnMut(&RecordedEvent) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        let wanted = Wanted { after, through, bodies };
        self.visit_batches(wanted, &mut |events| events.iter().try_for_each(&mut *visit))
    }

    /// As [`Store::visit`], and gives them away.
    pub(crate) fn take(
        &self,
        after: Seq,
        through: Seq,
        bodies: Bodies,
        take: &mut dyn FnMut(RecordedEvent) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        let wanted = Wanted { after, through, bodies };
        self.visit_batches(wanted, &mut |events| events.drain(..).try_for_each(&mut *take))
    }

    fn visit_batches(
        &self,
        wanted: Wanted,
        visit: &mut dyn FnMut(&mut Batch) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        let many = wanted.through.get().saturating_sub(wanted.after.get()) >= MANY;
        if many
            && thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
            && let Some(done) = self.visit_apart(wanted, visit)
        {
            return done;
        }
        let mut decoder = Decoder::default();
        let mut events = Batch::new();
        let mut failed = None;
        self.read_frames(wanted, &mut |frame| {
            events.clear();
            match self.decode(&mut decoder, &frame, wanted, &mut events) {
                Ok(()) => visit(&mut events),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// A thread of its own reads, and decodes when this one has enough to do. `None`, and nothing done, when
    /// the system has no thread to give.
    fn visit_apart(
        &self,
        wanted: Wanted,
        visit: &mut dyn FnMut(&mut Batch) -> ControlFlow<()>,
    ) -> Option<Result<(), EngineError>> {
        let (pieces, to_visit) = mpsc::sync_channel(WAITING);
        // What one thread made is let go there.
        let (visited, to_reuse) = mpsc::channel();
        let read = move || self.read_ahead(wanted, &pieces, &to_reuse);
        thread::scope(|scope| {
            let reading = thread::Builder::new().name("bilinc read".to_owned()).spawn_scoped(scope, read).ok()?;
            let mut own = Batch::new();
            for piece in to_visit {
                let (flow, decoded) = match piece {
                    Piece::Frames(frames) => {
                        let decoded = self.decode_all(&frames, wanted, &mut own);
                        (visit(&mut own), decoded)
                    }
                    Piece::Events(mut events, decoded) => {
                        let flow = visit(&mut events);
                        let _ = visited.send(events);
                        (flow, decoded)
                    }
                };
                if flow.is_break() || decoded.is_err() {
                    return Some(if flow.is_break() { Ok(()) } else { decoded });
                }
            }
            Some(reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }

    /// Nobody takes any more when the visit was broken off.
    fn read_ahead(
        &self,
        wanted: Wanted,
        pieces: &mpsc::SyncSender<Piece>,
        to_reuse: &mpsc::Receiver<Batch>,
    ) -> Result<(), EngineError> {
        let (mut frames, mut count, mut bytes) = (Vec::new(), 0_usize, 0_u64);
        let hand_over = |frames: Vec<Frame>| {
            let sent = match pieces.try_send(Piece::Frames(frames)) {
                Err(mpsc::TrySendError::Full(Piece::Frames(frames))) => {
                    let mut events = to_reuse.try_recv().unwrap_or_default();
                    let decoded = self.decode_all(&frames, wanted, &mut events);
                    pieces.send(Piece::Events(events, decoded)).is_ok()
                }
                sent => sent.is_ok(),
            };
            if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let read = self.read_frames(wanted, &mut |frame| {
            count = count.saturating_add(frame.count() as usize);
            bytes = bytes.saturating_add(frame.location().len);
            frames.push(frame);
            if count < BATCH && bytes < BATCH_BYTES {
                return ControlFlow::Continue(());
            }
            (count, bytes) = (0, 0);
            hand_over(std::mem::take(&mut frames))
        });
        let _ = hand_over(frames);
        read
    }

    fn read_frames(&self, wanted: Wanted, take: &mut dyn FnMut(Frame) -> ControlFlow<()>) -> Result<(), EngineError> {
        Ok(self.log.read(wanted.after.plus(1).get(), wanted.through.get(), take)?)
    }

    /// The events of frames, up to the first that cannot be decoded.
    fn decode_all(&self, frames: &[Frame], wanted: Wanted, events: &mut Batch) -> Result<(), EngineError> {
        events.clear();
        // Each time anew: names whose holders two threads count would go to and fro between them.
        let mut decoder = Decoder::default();
        frames.iter().try_for_each(|frame| self.decode(&mut decoder, frame, wanted, events))
    }

    /// Adds those events of a frame that are wanted; bodies that are being erased count as erased. A damaged
    /// body stops who asks for all of them. The fold goes on without it: it needs a fingerprint to answer a
    /// repeated write, and no write is taken any more.
    fn decode(
        &self,
        decoder: &mut Decoder,
        frame: &Frame,
        wanted: Wanted,
        events: &mut Batch,
    ) -> Result<(), EngineError> {
        let before = events.len();
        let decoded = decoder.decode(frame, wanted.bodies, events, &mut |stored| match self.stored_body(&stored) {
            Err(EngineError::Log(LogError::Damage(_))) if wanted.bodies != Bodies::All => Ok(None),
            read => read,
        });
        if decoded.is_err() {
            // An operation is visited whole or not at all.
            events.truncate(before);
        } else if frame.first_seq() <= wanted.after.get() || frame.last_seq() > wanted.through.get() {
            // The first and the last may go beyond what is wanted.
            events.retain(|event| event.seq > wanted.after && event.seq <= wanted.through);
        }
        decoded
    }
}
