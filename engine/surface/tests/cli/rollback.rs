//! Snapshots, differences between them, and the way back.

use serde_json::{Value, json};

use crate::shell::{Shell, keys};

/// A store with a snapshot and one change of each kind behind it; the snapshot's id.
fn changed(shell: &Shell) -> String {
    for key in ["kept", "changed", "removed"] {
        shell.commit(key, "old");
    }
    let taken = shell.json(&["snapshot", "create", "--label", "before", "--metadata", r#"{"run":1.10}"#]);
    let snapshot = &taken["snapshot"];
    assert_eq!((&snapshot["totalEntries"], &snapshot["byType"]["semantic"]), (&json!(3), &json!(3)));
    assert_eq!(snapshot["rootHash"], taken["stateVersion"]);
    shell.commit("added", "new");
    shell.json(&["revise", "--key", "changed", "--value", "new"]);
    shell.json(&["forget", "--key", "removed", "--reason", "r"]);
    snapshot["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_diff_names_what_was_added_changed_and_removed() {
    let shell = Shell::new();
    let id = changed(&shell);
    let diff = shell.json(&["diff", "--from-snapshot", &id]);
    assert_eq!(diff["counts"], json!({"added": 1, "modified": 1, "removed": 1}));
    assert_eq!(
        (keys(&diff["added"]), keys(&diff["modified"]), keys(&diff["removed"])),
        (vec!["added"], vec!["changed"], vec!["removed"])
    );
    assert_eq!((&diff["target"], &diff["valuesIncluded"]), (&json!("current"), &json!(false)));
    assert!(!diff.to_string().contains("\"old\""), "{diff}");
    let diff = shell.json(&["diff", "--from-snapshot", &id, "--include-values"]);
    assert_eq!((&diff["modified"][0]["before"], &diff["modified"][0]["after"]), (&json!("old"), &json!("new")));
    assert_eq!((&diff["removed"][0]["valuesRedacted"], diff["removed"][0].get("before")), (&json!(true), None));
    let cut = shell.json(&["diff", "--from-snapshot", "@0", "--limit", "1"]);
    assert_eq!((&cut["truncated"], keys(&cut["added"]).len(), &cut["counts"]["added"]), (&json!(true), 1, &json!(3)));
    let other = shell.json(&["diff", "--from-snapshot", "@1", "--to-snapshot", &id]);
    assert_eq!((&other["target"], keys(&other["added"]).len()), (&json!(id), 2));
    assert_eq!(shell.json(&["diff", "--from-snapshot", "1h"])["counts"]["added"], 3);
}

#[test]
fn a_rollback_brings_back_the_snapshot_and_can_itself_be_taken_back() {
    let shell = Shell::new();
    let id = changed(&shell);
    let words = |action: &'static str| vec!["rollback", action, "--snapshot", &id, "--reason", "bad run"];
    let preview = shell.json(&words("preview"));
    assert_eq!(preview["counts"], json!({"create": 1, "update": 1, "remove": 1}));
    assert_eq!(
        (&preview["createKeys"], &preview["updateKeys"], &preview["removeKeys"]),
        (&json!(["removed"]), &json!(["changed"]), &json!(["added"]))
    );
    assert_eq!(preview["destructive"], true);
    let token = preview["confirmationToken"].as_str().unwrap();
    let done = shell.json(&[&words("execute")[..], &["--confirmation-token", token]].concat());
    assert_eq!(
        (&done["counts"], &done["skippedKeys"]),
        (&json!({"created": 1, "updated": 1, "deleted": 1}), &json!([]))
    );
    assert_eq!((shell.value("changed"), shell.value("removed")), (json!("old"), json!("old")));
    shell.refused("memory_not_found", &["get", "added"]);
    let history = shell.json(&["history", "changed"]);
    assert_eq!(
        (&history["entries"][0]["op"], &history["entries"][0]["rollbackSnapshotId"]),
        (&json!("update"), &json!(id))
    );
    assert_eq!(shell.json(&["history", "added"])["entries"][0]["op"], "delete");

    let undone = shell.json(&["undo", "--seq", &done["seq"].to_string()]);
    assert_eq!(undone["restored"].as_array().unwrap().len(), 3);
    assert_eq!((shell.value("changed"), shell.value("added")), (json!("new"), json!("new")));
    assert_eq!(shell.json(&["verify"])["stateEqual"], true);
}

#[test]
fn nothing_is_rolled_back_that_was_not_looked_at() {
    let shell = Shell::new();
    let id = changed(&shell);
    let target = ["--snapshot", &id, "--reason", "bad run"];
    let preview = shell.json(&[&["rollback", "preview"], &target[..]].concat());
    let token = preview["confirmationToken"].as_str().unwrap();
    let execute = |reason, token| ["rollback", "execute", "--snapshot", &id, "--reason", reason, "--token", token];
    shell.invalid("confirmationToken", "confirmation_mismatch", &execute("another reason", token));
    shell.invalid("confirmationToken", "confirmation_mismatch", &execute("bad run", "nonsense"));
    let bare = shell.run(&[&["rollback", "execute"], &target[..]].concat());
    assert_eq!(bare.code, Some(2), "{bare:?}");
    assert!(bare.out.contains("+ removed") && bare.err.contains("nothing was changed"), "{bare:?}");
    let bare = shell.run(&[&["rollback", "execute"], &target[..], &["--json"]].concat());
    assert_eq!(bare.error(2)["details"]["field"], "confirmationToken");
    shell.commit("meanwhile", "v");
    assert_eq!(shell.refused("state_changed_since_preview", &execute("bad run", token)), json!({}));
    assert_eq!(shell.value("changed"), "new");
}

#[test]
fn a_snapshot_that_is_not_there_is_not_found() {
    let shell = Shell::new();
    shell.commit("k", "v");
    let id = "01920000-0000-7000-8000-000000000001";
    for words in [
        &["diff", "--from-snapshot", id][..],
        &["diff", "--from-snapshot", "@0", "--to-snapshot", id],
        &["rollback", "preview", "--snapshot", id, "--reason", "r"],
        &["rollback", "execute", "--snapshot", id, "--reason", "r", "--yes"],
        &["get", "k", "--as-of", id],
    ] {
        assert_eq!(shell.refused("snapshot_not_found", words), json!({"snapshotId": id}), "{words:?}");
    }
}

#[test]
fn snapshots_are_listed_newest_first_up_to_the_limit() {
    let shell = Shell::new();
    for label in ["one", "two", "three"] {
        shell.json(&["snapshot", "create", "--label", label]);
    }
    let list = shell.json(&["snapshot", "list", "--limit", "2"]);
    let labels: Vec<&Value> = list["snapshots"].as_array().unwrap().iter().map(|taken| &taken["label"]).collect();
    assert_eq!(labels, ["three", "two"]);
}
