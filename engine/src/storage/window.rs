//! The first bytes of a small file, looked at and written without a system call.

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
    /// Writes `bytes` at `offset`, a multiple of eight, in no order that a process which looks can rely on; the
    /// file's own reads and syncs meet them as they meet what a call wrote. `false`, with nothing written, where
    /// the file was opened for reading, or where a write takes a call to be safe, or ends behind the window.
    fn write(&self, offset: usize, bytes: &[u8]) -> bool;
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
    use std::sync::atomic::{AtomicU32, Ordering, fence};

    use rustix::fs::OFlags;
    use rustix::mm::{MapFlags, ProtFlags};
    use rustix::thread::futex;
    use vm_memory::mmap::MmapRegionBuilder;
    use vm_memory::{Bytes, FileOffset, MmapRegion, VolatileMemory};

    use super::{Arc, Duration, File, Window};
    use crate::storage::network;

    // Of `linux/magic.h` and `linux/fs.h`.
    const EXT: u32 = 0xef53;
    const TMPFS: u32 = 0x0102_1994;
    const EXTENTS: u32 = 0x0008_0000;

    /// A shared mapping: the very pages that reads and writes of the file go through.
    #[derive(Debug)]
    struct Mapped {
        region: MmapRegion,
        writable: bool,
    }

    impl Window for Mapped {
        fn word(&self, offset: usize) -> u64 {
            let word = self.region.as_volatile_slice().load::<u64>(offset, Ordering::Acquire);
            word.map_or(0, u64::from_le)
        }

        fn write(&self, offset: usize, bytes: &[u8]) -> bool {
            let slice = self.region.as_volatile_slice();
            let fits = offset.checked_add(bytes.len()).is_some_and(|end| end <= self.region.size());
            let written = self.writable && fits && slice.write_slice(bytes, offset).is_ok();
            // Whoever is told of the write afterwards, in whatever way, finds it.
            fence(Ordering::SeqCst);
            written
        }

        fn wait(&self, offset: usize, seen: u64, time: Duration) {
            let (Ok(half), Ok(time)) = (self.region.get_atomic_ref::<AtomicU32>(offset), time.try_into()) else {
                return;
            };
            let [first, second, third, fourth, ..] = seen.to_le_bytes();
            let seen = u32::from_ne_bytes([first, second, third, fourth]);
            // The kernel knows the place by its file, so the processes find each other. Whatever ends the sleep,
            // the caller looks again.
            let _ = futex::wait(half, futex::Flags::empty(), seen, Some(&time));
        }

        fn wake(&self, offset: usize) {
            if let Ok(half) = self.region.get_atomic_ref::<AtomicU32>(offset) {
                let _ = futex::wake(half, futex::Flags::empty(), i32::MAX.unsigned_abs());
            }
        }
    }

    /// `None` where the file is shorter, cannot be mapped, or may be changed by another machine, whose writes
    /// would not be seen.
    pub(in crate::storage) fn open(file: &Arc<File>, len: usize) -> Option<Arc<dyn Window>> {
        let long_enough = file.metadata().ok()?.len() >= len as u64;
        let magic = network::magic_of_file(file).ok()?;
        if !long_enough || network::kind_of(magic).is_some() {
            return None;
        }
        let writable = opened_for_writing(file) && stays_in_place(file, magic);
        let protection = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        let region = MmapRegionBuilder::new(len)
            .with_file_offset(FileOffset::from_arc(Arc::clone(file), 0))
            .with_mmap_prot(i32::try_from(protection.bits()).ok()?)
            .with_mmap_flags(i32::try_from(MapFlags::SHARED.bits()).ok()?)
            .build();
        Some(Arc::new(Mapped { region: region.ok()?, writable }))
    }

    /// Whether a write into what is there takes no new room: elsewhere a full disk would kill a process that writes into a
    /// mapping. Btrfs writes to another place, XFS does for a file with a copy that shares its blocks, and so does ext4
    /// for one that lies in its inode.
    fn stays_in_place(file: &File, magic: u32) -> bool {
        let in_extents = || rustix::fs::ioctl_getflags(file).is_ok_and(|flags| flags.bits() & EXTENTS != 0);
        magic == TMPFS || (magic == EXT && in_extents())
    }

    fn opened_for_writing(file: &File) -> bool {
        rustix::fs::fcntl_getfl(file).is_ok_and(|flags| flags & OFlags::ACCMODE == OFlags::RDWR)
    }
}

#[cfg(all(test, target_os = "linux", target_pointer_width = "64"))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn what_is_written_through_a_window_is_in_the_file_and_in_every_other_window_or_is_said_not_to_be() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, [7_u8; 64]).unwrap();
        let writer = Arc::new(File::options().read(true).write(true).open(&path).unwrap());
        let reader = Arc::new(File::open(&path).unwrap());
        let (writing, reading) = (open(&writer, 64).unwrap(), open(&reader, 64).unwrap());
        let bytes = |file: &File| {
            let mut bytes = [0_u8; 64];
            file.read_exact_at(&mut bytes, 0).unwrap();
            bytes
        };
        assert!(!reading.write(0, &[1]), "the file was opened for reading");
        assert!(!writing.write(60, &[1; 5]), "it ends behind the window");
        assert_eq!(bytes(&reader), [7; 64]);

        let written = writing.write(8, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let mut expected = [7_u8; 64];
        if written {
            expected[8..17].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        }
        assert_eq!((bytes(&reader), bytes(&writer)), (expected, expected));
        assert_eq!(reading.word(8), u64::from_le_bytes(expected[8..16].try_into().unwrap()));

        // What a call writes is seen in the same way.
        writer.write_all_at(&[9; 8], 8).unwrap();
        assert_eq!((reading.word(8), writing.word(8)), (0x0909_0909_0909_0909, 0x0909_0909_0909_0909));
    }
}
