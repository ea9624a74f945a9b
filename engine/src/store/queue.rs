//! Writers that wait, and who of them leads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::{Done, Request};
use crate::error::{EngineError, Error};
use crate::log::LogError;

/// One waiting request.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) request: Request,
    /// Who waits for the answer.
    thread: Thread,
    result: Mutex<Option<Result<Done, Error>>>,
}

impl Ticket {
    pub(super) fn new(request: Request) -> Arc<Self> {
        Arc::new(Self { request, thread: thread::current(), result: Mutex::new(None) })
    }

    pub(super) fn finish(&self, result: Result<Done, Error>) {
        let mut slot = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        // The first answer counts: a later failure of the batch does not take back a refusal.
        if slot.is_none() {
            *slot = Some(result);
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn take(&self) -> Option<Result<Done, Error>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Threads that wait to write. One leads at a time: it takes all that wait, carries them through
/// together, and hands the lead to one of those that came meanwhile.
///
/// Whoever is answered often comes back at once. A leader that left without them would make them wait for
/// the disk twice, so it gathers: it lets others run until as many wait as were there a moment ago, for a
/// small part of the time that the batch before it took.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<Arc<Ticket>>,
    led: bool,
    /// How many were carried by the last leader or waited when it was done.
    lately: usize,
    /// How long a leader may gather.
    patience: Duration,
}

/// A leader gathers for this part of the time that the last batch took, and no longer than [`PATIENCE`].
const PART: u32 = 4;
const PATIENCE: Duration = Duration::from_millis(1);

/// Gives the lead back, also when the leader panics: then nobody knows what became of its batch.
struct Lead<'a> {
    queue: &'a Queue,
    batch: Vec<Arc<Ticket>>,
    begun: Instant,
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        for ticket in self.batch.iter().filter(|ticket| !ticket.is_finished()) {
            let cause = "the thread that carried this write broke off".to_owned();
            ticket.finish(Err(EngineError::Log(LogError::Poisoned { durable: 0, cause }).into()));
        }
        let mut state = self.queue.lock();
        state.led = false;
        state.lately = self.batch.len() + state.waiting.len();
        state.patience = PATIENCE.min(self.begun.elapsed() / PART);
        let next = state.waiting.first().map(Arc::clone);
        drop(state);
        // Who is answered, and one of the others to lead them. A thread that is awake sleeps once less.
        let me = thread::current().id();
        for ticket in self.batch.iter().chain(&next).filter(|ticket| ticket.thread.id() != me) {
            ticket.thread.unpark();
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes all that wait, once those that are about to come back have done so.
    fn gather<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Vec<Arc<Ticket>> {
        let begun = Instant::now();
        while state.waiting.len() < state.lately && begun.elapsed() < state.patience {
            drop(state);
            thread::yield_now();
            state = self.lock();
        }
        std::mem::take(&mut state.waiting)
    }

    /// Waits until the request is answered. `carry` is called by the leader and must finish every
    /// ticket that it is given.
    pub(super) fn submit(&self, request: Request, carry: impl Fn(&[Arc<Ticket>])) -> Result<Done, Error> {
        let ticket = Ticket::new(request);
        self.lock().waiting.push(Arc::clone(&ticket));
        loop {
            let mut state = self.lock();
            // Looked at while nobody can take the lead or give it back: whoever leads here still waits.
            if let Some(result) = ticket.take() {
                return result;
            }
            if state.led {
                drop(state);
                // Whoever leads wakes this thread, also when that came between the look and the sleep.
                thread::park();
                continue;
            }
            state.led = true;
            let lead = Lead { queue: self, batch: self.gather(state), begun: Instant::now() };
            carry(&lead.batch);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use std::panic::{AssertUnwindSafe, catch_unwind};

    use bilinc_core::{Actor, Command, Snapshot};

    use super::*;

    fn request() -> Request {
        Request { command: Command::Snapshot(Snapshot::default()), actor: Actor::default(), idempotency: None }
    }

    #[test]
    fn whoever_waits_for_a_leader_that_panics_is_answered() {
        let queue = Queue::default();
        let answers: Vec<_> = thread::scope(|scope| {
            let submit = || catch_unwind(AssertUnwindSafe(|| queue.submit(request(), |_| panic!("it breaks off"))));
            let threads = Mutex::new(Vec::new());
            let first = queue.submit(request(), |batch| {
                threads.lock().unwrap().extend([scope.spawn(submit), scope.spawn(submit)]);
                while queue.lock().waiting.len() < 2 {
                    thread::yield_now();
                }
                for ticket in batch {
                    ticket.finish(Ok(Done::Written(Vec::new())));
                }
            });
            assert!(matches!(first, Ok(Done::Written(_))));
            threads.into_inner().unwrap().into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        // One of the two led both and broke off; the other must not wait for ever.
        assert_eq!(answers.iter().filter(|answer| answer.is_err()).count(), 1);
        assert!(answers.iter().any(|answer| matches!(answer, Ok(Err(_)))));
    }
}
