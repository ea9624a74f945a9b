//! No single allocation may be larger than a forged length can vouch for.

use std::alloc::{GlobalAlloc, Layout, System};

/// Twice the longest frame: a list in memory doubles as it grows.
const MOST_BYTES: usize = 128 * 1024 * 1024;

/// The system's allocator, which gives nobody more than that.
#[derive(Debug)]
struct Bounded;

#[global_allocator]
static BOUNDED: Bounded = Bounded;

fn look(bytes: usize) {
    if bytes > MOST_BYTES {
        // A panic would allocate, and be caught where panics of others are.
        eprintln!("{bytes} bytes were asked for at once");
        std::process::abort();
    }
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        look(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        look(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        look(bytes);
        unsafe { System.realloc(old, layout, bytes) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        unsafe { System.dealloc(old, layout) }
    }
}
