//! Stores that are not there, cannot be written or are damaged.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use serde_json::json;

use crate::shell::{Ran, Shell};

const READS: [&[&str]; 10] = [
    &["list"],
    &["get", "k"],
    &["flags"],
    &["recall", "--query", "k"],
    &["history", "k"],
    &["log"],
    &["status"],
    &["verify"],
    &["dream", "list"],
    &["export"],
];

#[test]
fn a_named_store_that_is_missing_fails_for_everything_that_needs_one() {
    let shell = Shell::new();
    let changes: [&[&str]; 4] = [
        &["forget", "--key", "k", "--reason", "r"],
        &["dream", "start"],
        &["undo", "--session", "s"],
        &["confirm", "k"],
    ];
    for words in READS.into_iter().chain(changes) {
        let details = shell.refused("not_found", words);
        assert_eq!(details["path"], shell.store().display().to_string(), "{words:?}");
    }
    assert!(!shell.store().exists());
    // An empty folder is no store either.
    fs::create_dir(shell.store()).unwrap();
    shell.refused("not_found", &["list"]);
    assert_eq!(fs::read_dir(shell.store()).unwrap().count(), 0);
}

#[test]
fn a_store_path_that_is_a_file_is_refused_and_the_file_stays() {
    let shell = Shell::new();
    fs::write(shell.store(), "precious").unwrap();
    for words in [&["commit", "--key", "k", "--value", "v"][..], &["list"], &["verify"]] {
        shell.invalid("store", "not_a_folder", words);
    }
    let below = shell.store().join("below").display().to_string();
    shell.refused("invalid_request", &["commit", "--key", "k", "--value", "v", "--store", &below]);
    assert_eq!(fs::read_to_string(shell.store()).unwrap(), "precious");
}

#[test]
fn a_folder_with_something_else_in_it_is_left_alone() {
    let shell = Shell::new();
    fs::create_dir(shell.store()).unwrap();
    fs::write(shell.store().join("thesis.txt"), "precious").unwrap();
    let error = shell.refusal(&["commit", "--key", "k", "--value", "v"]);
    assert!(error["message"].as_str().unwrap().contains("thesis.txt"), "{error}");
    assert_eq!(fs::read_dir(shell.store()).unwrap().count(), 1);
}

#[test]
fn a_store_without_permission_to_write_is_read_and_refuses_writes() {
    let shell = Shell::new();
    shell.commit("k", "v");
    let Some(other) = Stranger::new(&shell) else { return };
    for file in [shell.store(), shell.store().join("log")] {
        fs::set_permissions(file, fs::Permissions::from_mode(0o555)).unwrap();
    }
    for file in files(&shell) {
        fs::set_permissions(file, fs::Permissions::from_mode(0o444)).unwrap();
    }
    assert_eq!(other.run(&shell, &["get", "k", "--json"]).json()["value"], "v");
    let status = other.run(&shell, &["status", "--json"]).json();
    assert_eq!(status["capabilities"]["write"], false);
    assert!(status["store"]["readOnly"].is_string(), "{status}");
    let error = other.run(&shell, &["commit", "--key", "k", "--value", "w", "--json"]).error(1);
    assert_eq!((&error["error"], &error["retryable"]), (&json!("read_only"), &json!(false)));

    fs::set_permissions(shell.store().join("log"), fs::Permissions::from_mode(0o000)).unwrap();
    let error = other.run(&shell, &["get", "k", "--json"]).error(1);
    assert_eq!(error["error"], "cloud_runtime_unavailable");
    let path = error["details"]["path"].as_str().unwrap();
    assert!(path.starts_with(&shell.store().display().to_string()), "{error}");
    fs::set_permissions(shell.store().join("log"), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Somebody whom permissions hold back: permissions do not hold the superuser.
struct Stranger(Option<u32>);

impl Stranger {
    /// None where nobody else can run the program.
    fn new(shell: &Shell) -> Option<Self> {
        let probe = shell.path().join("probe");
        fs::create_dir(&probe).unwrap();
        fs::set_permissions(&probe, fs::Permissions::from_mode(0o555)).unwrap();
        if fs::write(probe.join("x"), "").is_err() {
            return Some(Self(None));
        }
        fs::set_permissions(shell.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let runs = shell.command(&["--version"]).uid(65_534).gid(65_534).output().is_ok_and(|ran| ran.status.success());
        runs.then_some(Self(Some(65_534)))
    }

    fn run(&self, shell: &Shell, words: &[&str]) -> Ran {
        let mut command = shell.command(words);
        if let Some(user) = self.0 {
            command.uid(user).gid(user);
        }
        command.output().unwrap().into()
    }
}

fn files(shell: &Shell) -> Vec<PathBuf> {
    let folders = [shell.store(), shell.store().join("log")];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect()
}

/// Turns one bit of the first place where the log holds these bytes.
pub(crate) fn damage(shell: &Shell, needle: &[u8]) {
    let log = shell.store().join("log");
    let segment = fs::read_dir(log).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&segment).unwrap();
    let place = bytes.windows(needle.len()).position(|part| part == needle).unwrap();
    bytes[place] ^= 1;
    fs::write(segment, bytes).unwrap();
}

#[test]
fn a_damaged_log_answers_as_of_before_and_takes_no_writes() {
    let shell = Shell::new();
    for key in ["before", "damaged", "behind"] {
        shell.commit(key, "v");
    }
    damage(&shell, b"damaged");
    let list = shell.run(&["list"]);
    assert_eq!(list.code, Some(0));
    assert!(list.out.contains("before") && !list.out.contains("behind"), "{list:?}");
    assert!(list.err.starts_with("bilinc: warning: the store is damaged"), "{list:?}");
    // As JSON, the answer is alone on standard output, and an error alone on standard error.
    let list = shell.run(&["list", "--json"]);
    assert!(list.err.starts_with("bilinc: warning: "), "{list:?}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&list.out).unwrap()["total"], 1);
    let missing = shell.run(&["get", "behind", "--json"]).error(1);
    assert_eq!(missing["error"], "memory_not_found");
    assert!(missing["details"]["degraded"].as_str().unwrap().contains("position 2"), "{missing}");

    for words in
        [&["commit", "--key", "k", "--value", "v", "--json"][..], &["verify", "--json"], &["dream", "start", "--json"]]
    {
        let error = shell.run(words).error(1);
        assert_eq!((&error["error"], &error["retryable"]), (&json!("store_corrupt"), &json!(false)), "{words:?}");
        assert_eq!(error["details"]["position"], 2, "{words:?}");
        assert!(error["details"]["segment"].is_string() && error["details"]["offset"].is_u64(), "{error}");
    }
    let verify = shell.run(&["verify"]);
    assert_eq!((verify.code, verify.out.as_str()), (Some(1), ""));
    assert!(verify.err.contains("everything before position 2 is whole"), "{verify:?}");
    // What it costs: all from there to the end.
    assert!(verify.err.contains("the 2 positions from there to the end, 3, are not proved"), "{verify:?}");
    let details = shell.run(&["verify", "--json"]).error(1)["details"].clone();
    assert_eq!((&details["position"], &details["head"], &details["affected"]), (&json!(2), &json!(3), &json!(2)));
}

#[test]
fn a_damaged_value_harms_no_other_memory() {
    let shell = Shell::new();
    shell.commit("good", "healthy");
    shell.commit("bad", "spoiled");
    damage(&shell, b"spoiled");
    assert_eq!(shell.value("good"), "healthy");
    assert_eq!(shell.refused("store_corrupt", &["get", "bad"])["position"], 2);
    let details = shell.refused("store_corrupt", &["verify"]);
    assert_eq!((&details["position"], &details["head"], &details["affected"]), (&json!(2), &json!(2), &json!(1)));
    assert!(shell.run(&["verify"]).err.contains("position 2 from there on is not proved"));
    assert_eq!(shell.json(&["list", "--values", "none"])["total"], 2);
}
