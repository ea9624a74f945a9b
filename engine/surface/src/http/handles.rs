//! Open files: each connection is one, and stores must always get theirs.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::refuse;

/// So many are left for stores, keys and the program itself.
const OWN: u64 = 512;

/// Raises the limit of this process as far as so many connections need it and the system allows; how many
/// connections there may be with what it came to.
pub(super) fn raise(connections: usize) -> usize {
    let wanted = u64::try_from(connections).unwrap_or(u64::MAX);
    let needed = wanted.saturating_add(reserved());
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        let current = limit.maximum.map_or(needed, |most| most.min(needed));
        // Where that is not allowed, the limit stays as it was.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum: limit.maximum });
    }
    usize::try_from(fitting(getrlimit(Resource::Nofile).current, wanted)).unwrap_or(connections)
}

/// What others than connections need.
fn reserved() -> u64 {
    OWN.saturating_add(refuse::LISTENING as u64)
}

/// How many of the wanted connections a limit leaves room for. A very low one is shared out.
fn fitting(limit: Option<u64>, wanted: u64) -> u64 {
    limit.map_or(wanted, |limit| wanted.min(limit.saturating_sub(reserved()).max(limit / 4)).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_never_take_what_stores_need() {
        assert_eq!(fitting(None, 1_024), 1_024);
        assert_eq!(fitting(Some(20_000), 1_024), 1_024);
        assert_eq!(fitting(Some(1_024), 1_024), 448);
        assert_eq!(fitting(Some(256), 1_024), 64);
        assert_eq!(fitting(Some(0), 1_024), 1);
    }
}
