//! Several processes on one store at once.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};
use std::time::Duration;

use bilinc::storage::{FileStorage, LockOutcome, Storage};
use bilinc::{Commit, Json, Key, ListQuery, Memory, RecallQuery};
use serde_json::Value;

use crate::shell::{Ran, Shell, keys};

fn spawn(shell: &Shell, words: &[&str]) -> Child {
    shell.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn answers(children: Vec<Child>) -> Vec<Ran> {
    children.into_iter().map(|child| child.wait_with_output().unwrap().into()).collect()
}

#[test]
fn four_writers_at_once_lose_nothing() {
    let shell = Shell::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let shell = &shell;
            scope.spawn(move || {
                for number in 0..10 {
                    let (key, source) = (format!("w{writer}.{number}"), format!("writer-{writer}"));
                    shell.json(&["commit", "--key", &key, "--value", &key, "--source", &source]);
                    shell.json(&["list", "--prefix", &key]);
                }
            });
        }
    });
    let list = shell.json(&["list", "--limit", "100", "--values", "full"]);
    assert_eq!(list["total"], 40);
    assert!(list["entries"].as_array().unwrap().iter().all(|entry| entry["key"] == entry["value"]));
    let verified = shell.json(&["verify"]);
    assert_eq!((&verified["events"], &verified["stateEqual"]), (&40.into(), &true.into()));
}

#[test]
fn of_many_that_name_one_version_one_wins_and_the_others_hear_of_it() {
    let shell = Shell::new();
    let version = shell.commit("k", "v");
    let values: Vec<_> = (0..6).map(|number| format!("w{number}")).collect();
    let writers = values.iter().map(|value| {
        spawn(&shell, &["revise", "--key", "k", "--value", value, "--expected-version", &version, "--json"])
    });
    let (won, lost): (Vec<_>, Vec<_>) = answers(writers.collect()).into_iter().partition(|ran| ran.code == Some(0));
    assert_eq!((won.len(), lost.len()), (1, 5));
    let version = won.into_iter().next().unwrap().json()["entryVersion"].clone();
    for ran in lost {
        let error = ran.error(1);
        assert_eq!((&error["error"], &error["details"]["currentVersion"]), (&"version_conflict".into(), &version));
    }
}

#[test]
fn a_request_that_several_repeat_is_carried_out_once() {
    let shell = Shell::new();
    let words = ["commit", "--key", "k", "--value", "v", "--idempotency-key", "once", "--json"];
    let answers: Vec<Value> =
        answers((0..5).map(|_| spawn(&shell, &words)).collect()).into_iter().map(Ran::json).collect();
    assert_eq!(answers.iter().filter(|answer| answer.get("replayed").is_none()).count(), 1);
    let versions: BTreeSet<_> = answers.iter().map(|answer| answer["entryVersion"].as_str().unwrap()).collect();
    assert_eq!(versions.len(), 1);
    assert_eq!(crate::operations::last_position(&shell), 1);
}

#[test]
fn a_store_that_several_make_at_once_is_one_store() {
    let shell = Shell::new();
    let names: Vec<_> = (0..6).map(|number| format!("k{number}")).collect();
    let writers = names.iter().map(|key| spawn(&shell, &["commit", "--key", key, "--value", "v", "--json"]));
    for ran in answers(writers.collect()) {
        ran.json();
    }
    assert_eq!(keys(&shell.json(&["list"])["entries"]), names);
}

#[test]
fn the_program_and_a_process_that_has_the_store_open_see_each_others_writes_at_once() {
    let shell = Shell::new();
    let memory = Memory::open(shell.store()).unwrap();
    for round in 0..6 {
        let (by_program, by_library) = (format!("program.{round}"), format!("library.{round}"));
        let version = shell.commit(&by_program, "walrus");
        let entry = memory.get(&by_program).unwrap().unwrap();
        assert_eq!((entry.value, entry.entry.version.to_string()), (Some(Json::string("walrus")), version.clone()));
        assert_eq!(memory.recall(&RecallQuery::new("walrus")).unwrap().len(), round + 1);
        let commit = Commit::new(Key::new(&by_library).unwrap(), Json::string("giraffe"));
        let written = memory.commit(commit).unwrap().answer.version.unwrap();
        let got = shell.json(&["get", &by_library]);
        assert_eq!((&got["value"], &got["entryVersion"]), (&"giraffe".into(), &written.to_string().into()));
        // Each names the version that the other gave.
        shell.json(&["revise", "--key", &by_library, "--value", "v", "--expected-version", &written.to_string()]);
        let mut stale = Commit::new(Key::new(&by_library).unwrap(), Json::string("late"));
        stale.expected_version = Some(written);
        assert_eq!(memory.commit(stale).unwrap_err().code(), "version_conflict");
        let mut next = Commit::new(Key::new(&by_program).unwrap(), Json::string("walrus again"));
        next.expected_version = Some(version.parse().unwrap());
        memory.commit(next).unwrap();
        let total = memory.list(&ListQuery::default()).unwrap().total;
        assert_eq!(shell.json(&["list"])["total"], total);
    }
    let verified = shell.json(&["verify"]);
    assert_eq!((&verified["events"], &verified["stateEqual"]), (&24.into(), &true.into()));
    assert!(memory.verify(&mut |_, _| {}).unwrap().state_equal);
}

#[test]
fn the_program_reads_while_another_process_holds_both_locks() {
    let shell = Shell::new();
    shell.commit("k", "walrus");
    let storage = FileStorage::new(shell.store());
    let locks = ["append.lock", "sync.lock"].map(|name| storage.lock(name).unwrap());
    for lock in &locks {
        assert_eq!(lock.acquire(Duration::ZERO, "somebody").unwrap(), LockOutcome::Acquired);
    }
    assert_eq!(shell.value("k"), "walrus");
    assert_eq!(shell.json(&["list"])["total"], 1);
    assert_eq!(keys(&shell.json(&["recall", "--query", "walrus"])["results"]), ["k"]);
    assert_eq!(shell.json(&["verify"])["stateEqual"], true);
    shell.json(&["status"]);
    for lock in &locks {
        lock.release();
    }
    shell.commit("k", "giraffe");
}
