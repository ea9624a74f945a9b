//! Writers that wait, and who of them leads.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{Done, Request};
use crate::error::Error;

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
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<Arc<Ticket>>,
    led: bool,
}

/// Gives the lead back, also when the leader panics.
struct Lead<'a>(&'a Queue);

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        self.0.lock().led = false;
        self.0.changed.notify_all();
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the request is answered. `carry` is called by the leader and must finish every
    /// ticket that it is given.
    pub(super) fn submit(&self, request: Request, carry: impl Fn(&[Arc<Ticket>])) -> Result<Done, Error> {
        let ticket = Ticket::new(request);
        let mut state = self.lock();
        state.waiting.push(Arc::clone(&ticket));
        loop {
            if let Some(result) = ticket.take() {
                return result;
            }
            if state.led {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.led = true;
            let batch = std::mem::take(&mut state.waiting);
            drop(state);
            let lead = Lead(self);
            carry(&batch);
            drop(lead);
            state = self.lock();
        }
    }
}
