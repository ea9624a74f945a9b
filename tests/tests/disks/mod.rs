//! Disks that are full or may not be written, as this machine has them: small file systems of the test's
//! own, in a name space of mounts that ends with its process.

mod calls;
mod fills;
mod limit;
mod read_only;
mod small;

use crate::other::Role;

pub(crate) const ROLES: &[(&str, Role)] = &[
    ("fills a disk", fills::fill_a_disk),
    ("meets a full disk at every call", calls::meet_a_full_disk),
    ("meets a disk that is mounted for reading", read_only::mounted_for_reading),
    ("meets a folder that it may not write", read_only::not_permitted),
    ("writes up to a limit", limit::write_up_to_a_limit),
];
