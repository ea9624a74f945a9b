//! Several processes on one store at once.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};

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
