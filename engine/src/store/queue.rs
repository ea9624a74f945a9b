//! Writers that wait, and who of them leads.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Done, Request};
use crate::error::{EngineError, Error};
use crate::log::LogError;

/// One waiting request.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) request: Request,
    result: Mutex<Option<Result<Done, Error>>>,
}

impl Ticket {
    pub(super) fn new(request: Request) -> Arc<Self> {
        Arc::new(Self { request, result: Mutex::new(None) })
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
    /// Where those who wait sleep, once one of them does; a leader takes it along with their tickets.
    waiters: Option<Arc<Waiters>>,
    led: bool,
    /// How many were carried by the last leader or waited when it was done.
    lately: usize,
    /// How long a leader may gather.
    patience: Duration,
}

/// A leader gathers for this part of the time that the last batch took, and no longer than [`PATIENCE`].
const PART: u32 = 4;
const PATIENCE: Duration = Duration::from_millis(1);

/// Where threads sleep whose tickets are carried together, so that one call wakes them all: one for each would let
/// whoever wakes run at once, in the place of the leader that has others to wake.
#[derive(Debug, Default)]
struct Waiters {
    said: Mutex<Said>,
    changed: Condvar,
}

/// What those who sleep are told.
#[derive(Debug, Default)]
struct Said {
    /// All are answered.
    answered: bool,
    /// Nobody leads: one of them should.
    lead: bool,
}

impl Waiters {
    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until all are answered (`true`) or this thread is called to lead.
    fn sleep(&self) -> bool {
        let awake = |said: &mut Said| !said.answered && !said.lead;
        let mut said = self.changed.wait_while(self.said(), awake).unwrap_or_else(PoisonError::into_inner);
        if !said.answered {
            said.lead = false;
        }
        said.answered
    }

    fn wake_all(&self) {
        self.said().answered = true;
        self.changed.notify_all();
    }

    fn call_to_lead(&self) {
        self.said().lead = true;
        self.changed.notify_one();
    }
}

/// Gives the lead back, also when the leader panics: then nobody knows what became of its batch.
struct Lead<'a> {
    queue: &'a Queue,
    batch: Vec<Arc<Ticket>>,
    waiters: Option<Arc<Waiters>>,
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
        // Who came after this looks for a leader before it sleeps.
        let next = state.waiters.as_ref().map(Arc::clone);
        drop(state);
        if let Some(waiters) = &self.waiters {
            waiters.wake_all();
        }
        if let Some(waiters) = next {
            waiters.call_to_lead();
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lead of all that wait, once those that are about to come back have done so.
    fn gather<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Lead<'a> {
        let begun = Instant::now();
        while state.waiting.len() < state.lately && begun.elapsed() < state.patience {
            drop(state);
            thread::yield_now();
            state = self.lock();
        }
        let (batch, waiters) = (std::mem::take(&mut state.waiting), state.waiters.take());
        Lead { queue: self, batch, waiters, begun: Instant::now() }
    }

    /// Waits until the request is answered. `carry` is called by the leader and must finish every
    /// ticket that it is given.
    pub(super) fn submit(&self, request: Request, carry: impl Fn(&[Arc<Ticket>])) -> Result<Done, Error> {
        let ticket = Ticket::new(request);
        let mut state = self.lock();
        state.waiting.push(Arc::clone(&ticket));
        // Whoever leads takes it along with the ticket.
        let waiters = state.led.then(|| Arc::clone(state.waiters.get_or_insert_default()));
        loop {
            // Looked at while nobody can take the lead or give it back: whoever leads here still waits.
            if let Some(result) = ticket.take() {
                return result;
            }
            match &waiters {
                Some(waiters) if state.led => {
                    drop(state);
                    if waiters.sleep()
                        && let Some(result) = ticket.take()
                    {
                        return result;
                    }
                }
                _ => {
                    state.led = true;
                    let lead = self.gather(state);
                    carry(&lead.batch);
                    drop(lead);
                }
            }
            state = self.lock();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

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

    #[test]
    fn nobody_who_waits_is_forgotten_and_one_leads_at_a_time() {
        const THREADS: usize = 6;
        const EACH: usize = 2_000;
        let queue = Queue::default();
        let (leading, carried) = (Mutex::new(()), AtomicUsize::new(0));
        let lead = |batch: &[Arc<Ticket>]| {
            let alone = leading.try_lock().unwrap();
            assert!(batch.iter().all(|ticket| !ticket.is_finished()), "carried twice");
            thread::yield_now();
            for ticket in batch {
                ticket.finish(Ok(Done::Written(Vec::new())));
            }
            carried.fetch_add(batch.len(), Ordering::Relaxed);
            drop(alone);
        };
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (queue, lead) = (&queue, &lead);
                scope.spawn(move || {
                    for number in 0..EACH {
                        assert!(matches!(queue.submit(request(), lead), Ok(Done::Written(_))));
                        if (thread + number).is_multiple_of(7) {
                            thread::yield_now();
                        }
                    }
                });
            }
        });
        assert_eq!(carried.into_inner(), THREADS * EACH);
    }
}
