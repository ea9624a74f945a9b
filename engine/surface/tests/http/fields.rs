//! The names of the fields in each answer: those of the command line, and what only a server says.

use std::collections::BTreeMap;

use bilinc_surface::catalogue;
use serde_json::Value;

#[path = "../cli/fields.rs"]
#[allow(dead_code)]
mod shared;

/// What the command line's answers hold.
const OF_CLI: &str = include_str!("../cli/fields.txt");

/// Fails unless the answers hold what was promised, and just what the command line gives.
#[track_caller]
pub(crate) fn check(answers: &BTreeMap<&'static str, Vec<Value>>) {
    // An export over HTTP is lines alone.
    let local = |place: &str| {
        let local = catalogue::ALL.iter().filter(|operation| operation.is_local() || operation.name == "export");
        local.map(|operation| operation.name).any(|name| place.starts_with(name))
    };
    let routed = |line: &&str| !local(line);
    let golden: String = OF_CLI.lines().filter(routed).map(|line| format!("{line}\n")).collect();
    let golden = golden.replace("status workspace: id path\n", "status workspace: id path project\n");
    shared::check_against(answers, &golden, |place| !local(place));
}
