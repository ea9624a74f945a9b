//! Bytes on the heap, counted only while somebody asks.
//!
//! The crates that do this count always, and two threads then share the counters' cache line, which shows in the
//! rows about speed. This one costs a load of a flag that never changes there.
//!
//! Below it is the allocator of the `bilinc` program, for the product and for the rivals that are written in Rust.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

struct Counting;

static BELOW: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[global_allocator]
static HEAP: Counting = Counting;
static ON: AtomicBool = AtomicBool::new(false);
static NOW: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

fn count(change: isize) {
    if ON.load(Relaxed) {
        let now = NOW.fetch_add(change, Relaxed).wrapping_add(change);
        PEAK.fetch_max(now, Relaxed);
    }
}

fn size(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}

// SAFETY: every call goes on to that allocator as it came; nothing is done but counting.
#[allow(unsafe_code, reason = "a global allocator cannot be written otherwise")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(size(layout.size()));
        // SAFETY: as the caller promised.
        unsafe { BELOW.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-size(layout.size()));
        // SAFETY: as the caller promised.
        unsafe { BELOW.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(size(layout.size()));
        // SAFETY: as the caller promised.
        unsafe { BELOW.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count(size(bytes) - size(layout.size()));
        // SAFETY: as the caller promised.
        unsafe { BELOW.realloc(at, layout, bytes) }
    }
}

/// What some work did to the heap, in bytes that were asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// More at its end than at its begin.
    pub(crate) kept: f64,
    /// Most on the way, above the begin.
    pub(crate) peak: f64,
}

/// What some work does to the heap, and what it gives, which still lives then.
pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> (Usage, T) {
    NOW.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    ON.store(true, Relaxed);
    let given = work();
    ON.store(false, Relaxed);
    let usage = Usage { kept: NOW.load(Relaxed) as f64, peak: PEAK.load(Relaxed) as f64 };
    (usage, given)
}
