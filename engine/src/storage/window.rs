//! The first bytes of a small file, looked at without a system call.

use std::fmt::Debug;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

/// The first bytes of a file as they are now, whichever process writes them. A look costs some nanoseconds,
/// where a read costs a system call.
pub trait Window: Send + Sync + Debug {
    /// The eight bytes at `offset`, a multiple of eight inside the window, in little-endian order: as one,
    /// never half of a write.
    fn word(&self, offset: usize) -> u64;
    /// Sleeps until somebody, in any process, says by [`Window::wake`] that the word at `offset` has changed,
    /// unless it is not `seen` any more. May wake early; wakes when `time` is over.
    fn wait(&self, offset: usize, seen: u64, time: Duration);
    /// Wakes all who wait for the word at `offset` to change.
    fn wake(&self, offset: usize);
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(super) use linux::open;

/// Where nobody has shown that writes are seen at once.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub(super) fn open(_file: &Arc<File>, _len: usize) -> Option<Arc<dyn Window>> {
    None
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod linux {
    use std::sync::atomic::{AtomicU32, Ordering};

    use rustix::thread::futex;
    use vm_memory::mmap::MmapRegionBuilder;
    use vm_memory::{Bytes, FileOffset, MmapRegion, VolatileMemory};

    use super::{Arc, Duration, File, Window};
    use crate::storage::network;

    /// A shared mapping: the very pages that reads and writes of the file go through.
    #[derive(Debug)]
    struct Mapped(MmapRegion);

    impl Window for Mapped {
        fn word(&self, offset: usize) -> u64 {
            let word = self.0.as_volatile_slice().load::<u64>(offset, Ordering::Acquire);
            word.map_or(0, u64::from_le)
        }

        fn wait(&self, offset: usize, seen: u64, time: Duration) {
            let (Ok(half), Ok(time)) = (self.0.get_atomic_ref::<AtomicU32>(offset), time.try_into()) else { return };
            let [first, second, third, fourth, ..] = seen.to_le_bytes();
            let seen = u32::from_ne_bytes([first, second, third, fourth]);
            // The kernel knows the place by its file, so the processes find each other. Whatever ends the sleep,
            // the caller looks again.
            let _ = futex::wait(half, futex::Flags::empty(), seen, Some(&time));
        }

        fn wake(&self, offset: usize) {
            if let Ok(half) = self.0.get_atomic_ref::<AtomicU32>(offset) {
                let _ = futex::wake(half, futex::Flags::empty(), i32::MAX.unsigned_abs());
            }
        }
    }

    /// `None` where the file is shorter, cannot be mapped, or may be changed by another machine, whose writes
    /// would not be seen.
    pub(in crate::storage) fn open(file: &Arc<File>, len: usize) -> Option<Arc<dyn Window>> {
        let long_enough = file.metadata().ok()?.len() >= len as u64;
        if !long_enough || network::kind_of_file(file).ok()?.is_some() {
            return None;
        }
        let region = MmapRegionBuilder::new(len)
            .with_file_offset(FileOffset::from_arc(Arc::clone(file), 0))
            .with_mmap_prot(i32::try_from(rustix::mm::ProtFlags::READ.bits()).ok()?)
            .with_mmap_flags(i32::try_from(rustix::mm::MapFlags::SHARED.bits()).ok()?)
            .build();
        Some(Arc::new(Mapped(region.ok()?)))
    }
}
