//! What one caller, and all of them together, may ask of the server.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::errors::Failure;

/// Largest body of a request, in bytes.
pub(super) const BODY: u64 = 32 * 1024 * 1024;
/// A body of more bytes than this waits for a place of its own, so that a few large ones at a time
/// are held and never as many as there are connections.
pub(super) const LARGE_BODY: usize = 1024 * 1024;
/// Largest body of an import, in bytes.
pub(super) const IMPORT: u64 = 1024 * 1024 * 1024;
/// Of a body that is too large so much more is read, so that its sender comes to read the answer.
pub(super) const DRAINED: u64 = 64 * 1024 * 1024;
/// A body of any length must come at least so fast, in bytes a second, once [`Patience::body`] is over.
const SLOWEST: u64 = 16 * 1024;
/// How long requests that have begun may take when the server stops.
pub(super) const GRACE: Duration = Duration::from_secs(30);

/// How long the other end of a connection may dawdle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience(pub(super) Duration);

impl Patience {
    /// For the head of a request, also the first or next one of a connection; and for a piece of a body.
    pub(super) fn pause(self) -> Duration {
        self.0
    }

    /// For a body as a whole.
    pub(super) fn body(self) -> Duration {
        self.0.saturating_mul(4)
    }

    /// For a body that is taken as it comes, of which so many bytes came.
    pub(super) fn stream(self, bytes: u64) -> Duration {
        self.body().saturating_add(Duration::from_secs(bytes / SLOWEST))
    }

    /// For taking a piece of an answer.
    pub(super) fn write(self) -> Duration {
        self.0.saturating_mul(2)
    }
}

/// So many requests work at the same time, and so many wait for them.
#[derive(Debug)]
pub(super) struct Gate {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    queue: usize,
}

impl Gate {
    pub(super) fn new(places: usize, queue: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(places)), waiting: AtomicUsize::new(0), queue }
    }

    /// A place to work in, after a wait of at most that long.
    pub(super) async fn enter(&self, patience: Duration) -> Result<OwnedSemaphorePermit, Failure> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        let full = || Failure::busy("queue_full", "the server has as much to do as it can; try again");
        if self.waiting.fetch_add(1, Ordering::AcqRel) >= self.queue {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            return Err(full());
        }
        // A caller that goes away while it waits leaves the queue, too.
        let _leave = Leave(&self.waiting);
        match tokio::time::timeout(patience, Arc::clone(&self.places).acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(full()),
        }
    }

    /// Free places.
    pub(super) fn free(&self) -> usize {
        self.places.available_permits()
    }
}

struct Leave<'a>(&'a AtomicUsize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// How often each key may ask: a bucket that fills by `rate` a second and holds one second's worth.
#[derive(Debug)]
pub(super) struct Rates {
    rate: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Debug)]
struct Bucket {
    tokens: f64,
    at: Duration,
}

/// Buckets of keys that nobody has used for a while are dropped when there are so many.
const MANY: usize = 10_000;

impl Rates {
    pub(super) fn new(rate: u32) -> Self {
        Self { rate: f64::from(rate), buckets: Mutex::default() }
    }

    /// Takes one request off a key's share at a moment of the server's own time.
    pub(super) fn take(&self, key: &str, now: Duration) -> Result<(), Failure> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MANY {
            // A bucket that has filled up again is like one that is not there.
            buckets.retain(|_, bucket| now.saturating_sub(bucket.at) < Duration::from_secs(1));
        }
        let bucket = buckets.entry(key.to_owned()).or_insert(Bucket { tokens: self.rate, at: now });
        let filled = now.saturating_sub(bucket.at).as_secs_f64() * self.rate;
        bucket.tokens = (bucket.tokens + filled).min(self.rate);
        bucket.at = now.max(bucket.at);
        if bucket.tokens < 1.0 {
            let wait = Duration::from_secs_f64((1.0 - bucket.tokens) / self.rate);
            return Err(Failure::rate_limited(wait.as_secs().saturating_add(1)));
        }
        bucket.tokens -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_its_share_and_gets_it_back_with_time() {
        let rates = Rates::new(2);
        let at = Duration::from_millis;
        assert!(rates.take("a", at(0)).is_ok() && rates.take("a", at(0)).is_ok());
        assert!(rates.take("a", at(100)).is_err());
        assert!(rates.take("b", at(100)).is_ok());
        assert!(rates.take("a", at(600)).is_ok());
        assert!(rates.take("a", at(600)).is_err());
        // However long it waits, it saves up no more than a second's worth.
        assert!(rates.take("a", at(60_000)).is_ok() && rates.take("a", at(60_000)).is_ok());
        assert!(rates.take("a", at(60_000)).is_err());
    }

    #[tokio::test]
    async fn past_the_queue_requests_are_refused_at_once() {
        let gate = Gate::new(1, 0);
        let place = gate.enter(Duration::MAX).await;
        assert!(place.is_ok() && gate.enter(Duration::MAX).await.is_err());
        drop(place);
        assert!(gate.enter(Duration::MAX).await.is_ok());
    }
}
