//! Network file systems, by the magic number the kernel reports: file locks and syncs do not keep
//! their promises there.

use std::io;
use std::path::Path;

/// The kind of each magic number of a file system whose files another machine may hold or write.
///
/// From `linux/magic.h`, or, where the kernel names it elsewhere or does not have it, from the file
/// named beside it. `stat.c` is that of GNU coreutils, which calls all of these but 9P remote.
#[cfg(target_os = "linux")]
const KINDS: [(u32, &str); 25] = [
    (0x6969, "NFS"),           // NFS_SUPER_MAGIC
    (0x517b, "SMB"),           // SMB_SUPER_MAGIC
    (0xff53_4d42, "CIFS"),     // CIFS_SUPER_MAGIC
    (0xfe53_4d42, "SMB2"),     // SMB2_SUPER_MAGIC
    (0x6573_5546, "FUSE"),     // FUSE_SUPER_MAGIC: sshfs, GlusterFS and others; which, it does not say
    (0x0102_1997, "9P"),       // V9FS_MAGIC
    (0x6b41_4653, "AFS"),      // AFS_FS_MAGIC, the kernel's own
    (0x5346_414f, "AFS"),      // AFS_SUPER_MAGIC, OpenAFS
    (0x7375_7245, "Coda"),     // CODA_SUPER_MAGIC
    (0x564c, "NCP"),           // NCP_SUPER_MAGIC
    (0x00c3_6400, "Ceph"),     // CEPH_SUPER_MAGIC
    (0x7461_636f, "OCFS2"),    // OCFS2_SUPER_MAGIC
    (0x0116_1970, "GFS2"),     // GFS2_MAGIC, linux/gfs2_ondisk.h
    (0x786f_4256, "VBOXSF"),   // VBOXSF_SUPER_MAGIC, fs/vboxsf/super.c
    (0x2003_0528, "OrangeFS"), // ORANGEFS_SUPER_MAGIC, fs/orangefs/protocol.h
    (0x0bd0_0bd0, "Lustre"),   // LL_SUPER_MAGIC, lustre_user.h
    (0x6163_6673, "ACFS"),     // from here on stat.c
    (0x1983_0326, "BeeGFS"),
    (0x4750_4653, "GPFS"),
    (0x0131_11a8, "IBRIX"),
    (0xaad7_aaea, "PanFS"),
    (0x7c7c_6673, "Parallels shared folder"),
    (0xbeef_dead, "StorNext"),
    (0xbacb_acbc, "VMware shared folder"),
    (0xa501_fcf5, "VxFS"),
];

#[cfg(target_os = "linux")]
pub(super) fn kind(path: &Path) -> io::Result<Option<&'static str>> {
    Ok(kind_of(magic_in(&rustix::fs::statfs(path)?)))
}

/// The magic number of the file system of an open file.
#[cfg(target_os = "linux")]
pub(super) fn magic_of_file(file: &std::fs::File) -> io::Result<u32> {
    Ok(magic_in(&rustix::fs::fstatfs(file)?))
}

#[cfg(target_os = "linux")]
fn magic_in(found: &rustix::fs::StatFs) -> u32 {
    // The field's width and sign differ between platforms; the magic numbers are 32 bits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::unnecessary_cast)]
    {
        found.f_type as u32
    }
}

#[cfg(target_os = "linux")]
pub(super) fn kind_of(magic: u32) -> Option<&'static str> {
    KINDS.iter().find(|(known, _)| *known == magic).map(|(_, kind)| *kind)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn kind(path: &Path) -> io::Result<Option<&'static str>> {
    #[cfg(target_os = "macos")]
    {
        let found = rustix::fs::statfs(path)?;
        let name: Vec<u8> =
            found.f_fstypename.iter().take_while(|byte| **byte != 0).map(|byte| byte.to_ne_bytes()[0]).collect();
        return Ok(match name.as_slice() {
            b"nfs" => Some("NFS"),
            b"smbfs" => Some("SMB"),
            b"afpfs" => Some("AFP"),
            b"webdav" => Some("WebDAV"),
            b"macfuse" | b"osxfuse" => Some("FUSE"),
            _ => None,
        });
    }
    #[cfg(not(target_os = "macos"))]
    {
        let _ = path;
        Ok(None)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{KINDS, kind_of};

    #[test]
    fn a_file_system_of_this_machine_is_taken_for_none_of_a_network() {
        // ext2 to ext4, XFS, Btrfs, F2FS, bcachefs, ZFS, tmpfs, overlayfs, ramfs, eCryptfs, exFAT,
        // FAT and NTFS, from `linux/magic.h` and coreutils' stat.c.
        let local = [
            0xef53,
            0x5846_5342,
            0x9123_683e,
            0xf2f5_2010,
            0xca45_1a4e,
            0x2fc1_2fc1,
            0x0102_1994,
            0x794c_7630,
            0x8584_58f6,
            0xf15f,
            0x2011_bab0,
            0x4d44,
            0x5346_544e,
        ];
        assert!(local.iter().all(|magic| kind_of(*magic).is_none()));
    }

    #[test]
    fn each_magic_number_stands_for_one_kind() {
        for (index, (magic, kind)) in KINDS.iter().enumerate() {
            assert_eq!(kind_of(*magic), Some(*kind), "number {index}, {magic:#x}");
        }
        assert_eq!(kind_of(0x6969), Some("NFS"));
        assert_eq!((kind_of(0x6b41_4653), kind_of(0x5346_414f)), (Some("AFS"), Some("AFS")));
        assert_eq!(kind_of(0x6573_5546), Some("FUSE"));
    }
}
