//! Values read lately.

use std::sync::atomic::{AtomicU64, Ordering};

use bilinc_core::{Body, Fingerprint, Json, Seq};
use foldhash::fast::RandomState;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};

/// How many bytes of bodies are kept, with what it takes to keep them.
const MOST_BYTES: u64 = 32 * 1024 * 1024;
/// What a body takes beside its texts: 40 bytes here, as much in the cache's own tables, the heads of the texts and
/// what the allocator rounds them up by. A full cache of bodies of 200 bytes was measured at 35 MB, glibc's allocator.
const BODY_BYTES: usize = 120;
/// What is given to the cache as a guess: bodies of 200 bytes of text.
const BODIES: usize = 100_000;

/// The bodies that were read last, by position. Bounded; holds what lies in the log anyway, and nothing that
/// was erased.
#[derive(Debug)]
pub(super) struct BodyCache {
    bodies: Cache<Seq, Kept, Size, RandomState>,
    /// Rises with each [`Self::clear`]. A body that was read before one may have been erased since.
    cleared: AtomicU64,
}

/// A body, in less room: few have a fingerprint.
#[derive(Debug, Clone)]
struct Kept {
    value: Option<Json>,
    metadata: Option<Json>,
    fingerprint: Option<Box<Fingerprint>>,
}

impl From<&Body> for Kept {
    fn from(body: &Body) -> Self {
        let Body { value, metadata, fingerprint } = body.clone();
        Self { value, metadata, fingerprint: fingerprint.map(Box::new) }
    }
}

impl From<Kept> for Body {
    fn from(Kept { value, metadata, fingerprint }: Kept) -> Self {
        Self { value, metadata, fingerprint: fingerprint.map(|fingerprint| *fingerprint) }
    }
}

#[derive(Debug, Clone)]
struct Size;

impl Weighter<Seq, Kept> for Size {
    fn weight(&self, _: &Seq, kept: &Kept) -> u64 {
        let bytes = |text: &Option<Json>| text.as_ref().map_or(0, |text| text.as_str().len());
        (BODY_BYTES + bytes(&kept.value) + bytes(&kept.metadata)) as u64
    }
}

impl Default for BodyCache {
    fn default() -> Self {
        Self { bodies: made(), cleared: AtomicU64::new(0) }
    }
}

fn made() -> Cache<Seq, Kept, Size, RandomState> {
    // One part: a large value takes a place beside others, and not the whole of a small part.
    let options = OptionsBuilder::new().estimated_items_capacity(BODIES).weight_capacity(MOST_BYTES).shards(1).build();
    match options {
        Ok(options) => Cache::with_options(options, Size, RandomState::default(), DefaultLifecycle::default()),
        Err(_) => Cache::with(BODIES, MOST_BYTES, Size, RandomState::default(), DefaultLifecycle::default()),
    }
}

impl BodyCache {
    pub(super) fn get(&self, seq: Seq) -> Option<Body> {
        self.bodies.get(&seq).map(Body::from)
    }

    /// Which clearing came last: asked before a body is read that [`Self::put`] may keep.
    pub(super) fn cleared(&self) -> u64 {
        self.cleared.load(Ordering::SeqCst)
    }

    /// Keeps a body, unless there was a clearing since it was read.
    pub(super) fn put(&self, seq: Seq, body: &Body, cleared: u64) {
        self.bodies.insert(seq, body.into());
        if self.cleared() != cleared {
            self.bodies.remove(&seq);
        }
    }

    /// Lets go of all of them.
    pub(super) fn clear(&self) {
        // In this order: whoever puts one later sees that it was cleared, or is cleared.
        self.cleared.fetch_add(1, Ordering::SeqCst);
        self.bodies.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> Body {
        Body { value: Some(Json::string(text)), ..Body::default() }
    }

    #[test]
    fn a_body_that_was_read_before_a_clearing_is_not_kept_behind_it() {
        let cache = BodyCache::default();
        let before = cache.cleared();
        cache.clear();
        cache.put(Seq::new(1), &body("erased meanwhile"), before);
        assert_eq!(cache.get(Seq::new(1)), None);
        cache.put(Seq::new(1), &body("read since"), cache.cleared());
        assert_eq!(cache.get(Seq::new(1)), Some(body("read since")));
        cache.clear();
        assert_eq!(cache.get(Seq::new(1)), None);
    }

    #[test]
    fn what_is_kept_is_all_of_a_body() {
        let cache = BodyCache::default();
        let whole = Body { metadata: Some(Json::string("m")), fingerprint: Some(Fingerprint([7; 32])), ..body("v") };
        for (seq, body) in (1..).zip([whole, body("v"), Body::default()]) {
            cache.put(Seq::new(seq), &body, cache.cleared());
            assert_eq!(cache.get(Seq::new(seq)), Some(body));
        }
    }

    #[test]
    fn large_bodies_do_not_take_more_than_there_is() {
        let cache = BodyCache::default();
        let large = body(&"x".repeat(1 << 20));
        for seq in 1..200 {
            cache.put(Seq::new(seq), &large, cache.cleared());
        }
        assert!(cache.bodies.weight() <= MOST_BYTES, "{}", cache.bodies.weight());
        assert!((1..200).any(|seq| cache.get(Seq::new(seq)).is_some()), "some are kept");
    }
}
