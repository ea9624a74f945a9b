//! Network file systems, by the magic number the kernel reports: file locks and syncs do not keep
//! their promises there.

use std::io;
use std::path::Path;

#[cfg(target_os = "linux")]
pub(super) fn kind(path: &Path) -> io::Result<Option<&'static str>> {
    let found = rustix::fs::statfs(path)?;
    // The field's width and sign differ between platforms; the magic numbers are 32 bits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::unnecessary_cast)]
    let magic = found.f_type as u32;
    Ok(match magic {
        0x6969 => Some("NFS"),
        0x517b => Some("SMB"),
        0xff53_4d42 => Some("CIFS"),
        0xfe53_4d42 => Some("SMB2"),
        0x6573_5546 => Some("FUSE"),
        0x0102_1997 => Some("9P"),
        0x5346_414f => Some("AFS"),
        0x7375_7245 => Some("Coda"),
        0x0bd0_0bd0 => Some("Lustre"),
        0x00c3_6400 => Some("Ceph"),
        0x0116_1970 => Some("GFS2"),
        0x7461_636f => Some("OCFS2"),
        _ => None,
    })
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
