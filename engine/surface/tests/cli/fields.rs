//! The names of the fields in each answer.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// What the answers hold now. A changed answer is a changed promise: change this file knowingly.
const GOLDEN: &str = include_str!("fields.txt");

/// What the interface promises for each operation beside `success` and `stateVersion`. More may be
/// there, and stands in the golden file; less may not.
const PROMISED: &[(&str, &str)] = &[
    ("commit", "operation affectedKeys removedKeys entryVersion"),
    ("revise", "key strategy affectedKeys entryVersion"),
    ("confirm", "key confirmed updatedAt entryVersion"),
    ("forget", "key removed reasonRecorded purged"),
    ("forget purged", "bodies bytes events alsoIn"),
    ("flag", "key flags"),
    ("unflag", "key flags"),
    ("recall", "results"),
    ("recall results[]", "key value memoryType importance source createdAt updatedAt confirmedAt entryVersion score"),
    ("get", ENTRY),
    ("list", "entries nextCursor total values order sources"),
    ("list entries[]", ENTRY_LISTED),
    ("flags", "entries nextCursor total values order"),
    ("history", "key exists entries truncated values"),
    ("history entries[]", "op at reason source before after valuesRedacted rollbackSnapshotId dreamId"),
    ("dream start", "dreamId forgetCap undoWindowDays moreCandidates candidates"),
    ("dream start candidates[]", "key memoryType importance source updatedAt entryVersion value flags"),
    ("dream apply", "dreamId state forgetCap forgetsReserved undoUntil results pages"),
    ("dream apply results[]", "index op key status entryVersion error current change"),
    ("dream apply results[] error", "code message"),
    ("dream apply results[] current", "entryVersion"),
    ("dream apply results[] change", "op source at seq"),
    (
        "dream show",
        "dreamId state startedAt finishedAt undoUntil options forgetCap forgetsReserved candidates actions report undo",
    ),
    ("dream show candidates[]", "key entryVersion"),
    ("dream list", "dreams"),
    ("dream undo", UNDONE),
    ("dream undo conflicts[]", "key reason change"),
    ("dream undo conflicts[] change", "op source at seq"),
    ("dream undo restored[]", "key op entryVersion"),
    ("undo", "restored conflicts unchanged metadataRestored alreadyUndone"),
    ("snapshot create snapshot", SNAPSHOT),
    ("snapshot list snapshots[]", SNAPSHOT),
    ("diff", "target counts added modified removed valuesIncluded truncated"),
    ("diff counts", "added modified removed"),
    ("rollback preview", "counts createKeys updateKeys removeKeys truncated destructive confirmationToken expiresAt"),
    ("rollback preview counts", "create update remove"),
    ("rollback execute", "counts skippedKeys"),
    ("rollback execute counts", "created updated deleted"),
    ("log", "events nextCursor"),
    ("log events[]", "seq at op key source sessionId reason operationId dreamId undoes entryVersion value"),
    ("backup", "target storeId seq rootHash head operations events bytes"),
    ("verify", "seq rootHash head stateEqual"),
    ("verify since", "seq head eventsSince"),
    ("status", "workspace plan capabilities limits usage store"),
];
const ENTRY: &str = "key value memoryType importance metadata source sessionId canonical priority ttl expiresAt \
                     createdAt updatedAt confirmedAt entryVersion flags";
const ENTRY_LISTED: &str = ENTRY;
const UNDONE: &str = "dreamId state restored conflicts unchanged metadataRestored alreadyUndone";
const SNAPSHOT: &str = "id createdAt totalEntries byType rootHash label metadata";

type Fields = BTreeMap<String, BTreeSet<String>>;

/// Fails unless the answers hold what was promised, and nothing that the golden file lacks.
#[track_caller]
pub(crate) fn check(answers: &BTreeMap<&'static str, Vec<Value>>) {
    check_against(answers, GOLDEN, |_| true);
}

/// The same for a surface with a golden file and operations of its own.
#[track_caller]
pub(crate) fn check_against(answers: &BTreeMap<&'static str, Vec<Value>>, golden: &str, has: impl Fn(&str) -> bool) {
    let mut fields = Fields::new();
    for (operation, answers) in answers {
        for answer in answers {
            collect((*operation).to_owned(), answer, &mut fields);
        }
    }
    for (place, names) in PROMISED.iter().filter(|(place, _)| has(place)) {
        let empty = BTreeSet::new();
        let there = fields.get(*place).unwrap_or(&empty);
        for name in names.split_whitespace() {
            assert!(there.contains(name), "`{place}` lacks `{name}`");
        }
    }
    for names in fields.values().flatten() {
        assert!(names.chars().all(|c| c.is_ascii_alphanumeric()), "`{names}` is not in camelCase");
    }
    let drawn = draw(&fields);
    assert!(drawn == golden, "the answers changed; if that is meant, fields.txt becomes:\n{drawn}");
}

fn draw(fields: &Fields) -> String {
    fields
        .iter()
        .map(|(place, names)| {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            format!("{place}: {}\n", names.join(" "))
        })
        .collect()
}

/// Notes the names in an object and in the objects below it. Numbers by memory type are no names of
/// fields, and stored JSON is not looked into.
fn collect(place: String, value: &Value, fields: &mut Fields) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let known = matches!(name.as_str(), "success" | "stateVersion");
                if !known {
                    fields.entry(place.clone()).or_default().insert(name.clone());
                }
                let stored = ["byType", "metadata", "value", "before", "after", "report"];
                if !stored.contains(&name.as_str()) {
                    collect(format!("{place} {name}"), value, fields);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(format!("{place}[]"), item, fields)),
        _ => {}
    }
}
