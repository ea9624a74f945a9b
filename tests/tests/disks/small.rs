//! Small file systems, and filling them up.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::other::{Other, words_of_program};

/// What a script gives when it could not mount; the role that follows gives another.
const NOT_MOUNTED: i32 = 77;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ext4,
    Tmpfs,
    /// As any user who may have name spaces of its own.
    TmpfsOfUser,
}

/// Runs a role on a file system of each kind that this machine lets the test make, and says of the
/// others why not.
pub(super) fn on_small_disks(role: &str, words: &[&str]) {
    let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
    for kind in [Kind::Ext4, Kind::Tmpfs, Kind::TmpfsOfUser] {
        if kind == Kind::TmpfsOfUser && rustix::process::geteuid().is_root() {
            continue;
        }
        // In memory where there is such a place: what a sync costs is not what is asked here.
        let place = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        match run_on(kind, place.path(), role, &words) {
            Ok(()) => println!("{role} {words:?}: done on {kind:?}"),
            Err(why) => println!("{role} {words:?}: NOT RUN on {kind:?}: {why}"),
        }
    }
}

/// Why it could not be run, when it could not.
fn run_on(kind: Kind, place: &Path, role: &str, words: &[String]) -> Result<(), String> {
    let (image, disk) = (place.join("image"), place.join("disk"));
    std::fs::create_dir(&disk).unwrap();
    let script = match kind {
        Kind::Ext4 => {
            File::create(&image).unwrap().set_len(4 << 20).unwrap();
            let made = Command::new("mkfs.ext4").args(["-q", "-F", "-m", "0"]).arg(&image).output();
            let made = made.map_err(|error| format!("no mkfs.ext4: {error}"))?;
            if !made.status.success() {
                return Err(format!("mkfs.ext4: {}", String::from_utf8_lossy(&made.stderr)));
            }
            "mount -o loop \"$1\" \"$2\""
        }
        Kind::Tmpfs | Kind::TmpfsOfUser => "mount -t tmpfs -o size=2m none \"$2\"",
    };
    let script = format!("{script} 2>\"$1.why\" || exit {NOT_MOUNTED}; shift 2; exec \"$@\"");
    let mut command = Command::new("unshare");
    command.arg("--mount").args((kind == Kind::TmpfsOfUser).then_some("--map-root-user"));
    command.args(["sh", "-c", &script, "sh"]).arg(&image).arg(&disk).args(words_of_program());
    if !Command::new("unshare").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Err("no unshare".to_owned());
    }
    let mut other = Other::start_as(command, role, &disk, words);
    let mut said = Vec::new();
    while let Some(line) = other.hear() {
        said.push(line);
    }
    // 1 is what `unshare` gives when it may not; a role that got so far as to begin says so.
    match (other.code(), !said.is_empty()) {
        (Some(0), true) => {
            said.drain(1..).for_each(|line| println!("{kind:?}: {line}"));
            Ok(())
        }
        (_, false) => {
            Err(std::fs::read_to_string(image.with_extension("why")).unwrap_or_else(|_| "not allowed".into()))
        }
        (code, true) => panic!("{role} {words:?} on {kind:?}: {code:?}"),
    }
}

/// A file that takes all room there is.
#[derive(Debug)]
pub(super) struct Ballast(PathBuf);

impl Ballast {
    /// Takes what room is left, to the last byte.
    pub(super) fn fill(folder: &Path) -> Self {
        let path = folder.join(".ballast");
        let mut file = File::options().append(true).create(true).open(&path).unwrap();
        // What was set aside for what was not yet written comes free with a sync.
        while take_room(&mut file) {
            file.sync_all().unwrap();
        }
        Self(path)
    }

    pub(super) fn remove(self) {
        std::fs::remove_file(&self.0).unwrap();
        // The room is there for others only when this is on the disk.
        File::open(self.0.parent().unwrap()).unwrap().sync_all().unwrap();
    }
}

/// Whether there was any.
fn take_room(file: &mut File) -> bool {
    let mut took = false;
    let mut piece = vec![7_u8; 256 * 1024];
    while !piece.is_empty() {
        match file.write(&piece) {
            Ok(written) => took |= written > 0,
            Err(error) if error.kind() == ErrorKind::StorageFull => piece.truncate(piece.len() / 4),
            Err(error) => panic!("{error}"),
        }
    }
    took
}
