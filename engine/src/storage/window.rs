//! The first bytes of a small file, looked at without a system call.

use std::fmt::Debug;
use std::fs::File;
use std::sync::Arc;

/// The first bytes of a file as they are now, whichever process writes them. A look costs some nanoseconds,
/// where a read costs a system call.
pub trait Window: Send + Sync + Debug {
    /// The eight bytes at `offset`, a multiple of eight inside the window, in little-endian order: as one,
    /// never half of a write.
    fn word(&self, offset: usize) -> u64;
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
    use std::sync::atomic::Ordering;

    use vm_memory::mmap::MmapRegionBuilder;
    use vm_memory::{Bytes, FileOffset, MmapRegion, VolatileMemory};

    use super::{Arc, File, Window};
    use crate::storage::network;

    /// A shared mapping: the very pages that reads and writes of the file go through.
    #[derive(Debug)]
    struct Mapped(MmapRegion);

    impl Window for Mapped {
        fn word(&self, offset: usize) -> u64 {
            let word = self.0.as_volatile_slice().load::<u64>(offset, Ordering::Acquire);
            word.map_or(0, u64::from_le)
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
