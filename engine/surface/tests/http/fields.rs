//! The names of the fields in each answer: those of the command line, and what only a server says.

use std::collections::BTreeMap;

use serde_json::Value;

#[path = "../cli/fields.rs"]
#[allow(dead_code)]
mod shared;

/// What the command line's answers hold.
const OF_CLI: &str = include_str!("../cli/fields.txt");

/// Fails unless the answers hold what was promised, and just what the command line gives.
#[track_caller]
pub(crate) fn check(answers: &BTreeMap<&'static str, Vec<Value>>) {
    let local = ["backup", "salvage", "export"];
    let routed = |line: &&str| !local.iter().any(|name| line.starts_with(name));
    let golden: String = OF_CLI.lines().filter(routed).map(|line| format!("{line}\n")).collect();
    let golden = golden.replace("status workspace: id path\n", "status workspace: id path project\n");
    shared::check_against(answers, &golden, |place| !place.starts_with("backup"));
}
