//! Several processes on one folder: at work side by side, killed, stopped, at odds over one dream.

mod at_once;
mod chance;
mod counters;
mod crowd;
mod killed;
mod left;
mod said;
mod stopped;
mod work;
mod worker;

use crate::other::Role;

pub(crate) const ROLES: &[(&str, Role)] = &[
    ("counts", counters::run),
    ("works", worker::run),
    ("dreams", at_once::dream),
    ("undoes", at_once::undo),
    ("commits where it is stopped", stopped::commit_stopped),
    ("reads", stopped::read),
    ("commits where it is killed", killed::commit_killed),
];
