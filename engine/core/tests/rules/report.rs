//! The report entry of a dream.

use bilinc_core::{Command, DreamApply, DreamId, Json, MemoryType, Rejection, Timestamp};

use crate::harness::{Act, DAY, HOUR, Store, forget, undo_dream};

/// Two candidates, one revised, and a finish with this report.
fn finished(report: Option<&str>) -> (Store, DreamId) {
    let mut store = Store::new();
    for name in ["a", "b", "c", "d"] {
        store.commit(name, "the stored value");
    }
    let dream = store.start();
    finish(store.step(HOUR), dream, report);
    (store, dream)
}

#[track_caller]
fn finish(store: &mut Store, dream: DreamId, report: Option<&str>) {
    let acts = [Act::Revise("a", "the new value"), Act::Forget("b"), Act::Flag("c"), Act::Confirm("d"), Act::Flag("x")];
    let report = report.map(|text| Json::parse(text, 1 << 16).unwrap());
    store.ok(Command::DreamApply(DreamApply { report, finish: true, ..store.page_of(dream, &acts) }));
}

fn shown(at: Timestamp) -> String {
    at.to_string()
}

#[track_caller]
fn text(store: &Store, dream: DreamId) -> String {
    store.report(dream).expect("there is a report").to_string()
}

fn report_name(dream: DreamId) -> String {
    format!("bilinc:dream:{dream}")
}

#[test]
fn a_report_says_what_was_done_and_why_and_never_a_value() {
    let (store, dream) = finished(Some("{\"note\": 1.10}"));
    let text = text(&store, dream);
    let until = shown(store.now.plus(7 * DAY));
    let parts = [
        format!("\"dreamId\":\"{dream}\""),
        format!("\"startedAt\":\"{}\"", shown(store.now.plus(-HOUR))),
        format!("\"finishedAt\":\"{}\"", shown(store.now)),
        format!("\"undoUntil\":\"{until}\""),
        r#""counts":{"revised":1,"forgotten":1,"confirmed":1,"flagged":1,"conflicts":0,"errors":1}"#.into(),
        r#"{"key":"a","op":"revise","status":"applied","reason":"revise a"}"#.into(),
        r#"{"key":"x","op":"flag","status":"error","reason":"flag x"}"#.into(),
        r#""report":{"note":1.10}"#.into(),
    ];
    for part in parts {
        assert!(text.contains(&part), "{part} in {text}");
    }
    assert!(!text.contains("the new value") && !text.contains("the stored value"));
    let entry = store.there(&report_name(dream));
    assert_eq!((entry.facts.memory_type, entry.facts.source.as_ref()), (MemoryType::Episodic, "bilinc_dream"));
}

#[test]
fn a_finish_without_actions_writes_the_report_too() {
    let mut store = Store::new();
    store.commit("a", "v");
    let dream = store.start();
    let report = Some(Json::string("nothing to do"));
    store.ok(Command::DreamApply(DreamApply { report, finish: true, ..store.page_of(dream, &[]) }));
    assert!(text(&store, dream).contains(r#""report":"nothing to do""#));
}

#[test]
fn a_further_finish_rewrites_the_report_with_all_pages_and_keeps_the_agents_words() {
    let (mut store, dream) = finished(Some("\"first words\""));
    let created = store.there(&report_name(dream)).created_at;
    store.step(DAY).finish(dream, &[Act::Confirm("a")]);
    let later = text(&store, dream);
    assert!(later.contains("first words") && later.contains(r#""confirmed":2"#) && later.contains(r#""revised":1"#));
    assert!(later.contains(&shown(store.now.plus(7 * DAY))));
    assert_eq!(store.there(&report_name(dream)).created_at, created);
    let report = Some(Json::string("second words"));
    store.ok(Command::DreamApply(DreamApply { report, finish: true, ..store.page_of(dream, &[]) }));
    assert!(text(&store, dream).contains("second words") && !text(&store, dream).contains("first words"));
}

#[test]
fn a_forgotten_report_is_not_written_again() {
    let (mut store, dream) = finished(None);
    store.ok(Command::Forget(forget(&report_name(dream))));
    let forgotten = store.state.head();
    store.finish(dream, &[Act::Confirm("a")]);
    assert_eq!(store.report(dream), None);
    store.undo_dream(dream);
    assert_eq!(store.report(dream), None);
    store.undo_at(forgotten);
    assert!(store.report(dream).is_some(), "unless the forget is undone");
}

#[test]
fn the_undo_and_its_redo_are_told_in_the_report() {
    let (mut store, dream) = finished(Some("\"words\""));
    store.by("bob").commit("a", "by somebody else");
    store.step(HOUR).undo_dream(dream);
    let told = text(&store, dream);
    let undone = format!(r#""undo":{{"undoneAt":"{}","restored":3,"unchanged":0,"conflicts":["a"]"#, shown(store.now));
    assert!(told.contains(&undone) && told.contains("words"), "{told}");
    assert!(told.contains(&format!("\"undoUntil\":\"{}\"", shown(store.now.plus(7 * DAY - HOUR)))));
    let summary = store.state.dream(dream).unwrap().undo.unwrap().summary;
    store.undo_at(summary);
    assert!(!text(&store, dream).contains("\"undo\""));
}

#[test]
fn an_open_dreams_undo_writes_no_report_and_a_dry_run_none_either() {
    let (mut store, dream) = finished(None);
    let before = text(&store, dream);
    store.undo_dream_with(bilinc_core::DreamUndo { dry_run: true, ..undo_dream(dream) });
    assert_eq!(text(&store, dream), before);
    store.commit("new", "v");
    let open = store.start();
    store.page(open, &[Act::Confirm("new")]);
    store.undo_dream(open);
    assert_eq!(store.report(open), None);
}

#[test]
fn a_report_over_its_limit_is_refused() {
    let (mut store, dream) = finished(None);
    let report = Some(Json::string(&"x".repeat(64 * 1024)));
    let rejection =
        store.refused(Command::DreamApply(DreamApply { report, finish: true, ..store.page_of(dream, &[]) }));
    assert!(matches!(rejection, Rejection::Invalid { ref field, .. } if field == "report"));
}

#[test]
fn a_report_of_very_many_actions_stays_a_value_in_size() {
    let mut store = Store::new();
    store.commit("a", "v");
    let dream = store.start();
    let mut action = Act::Flag("x").of(&store);
    action.reason = "\"".repeat(512);
    for _ in 0..14 {
        store.actions(dream, vec![action.clone(); 25]);
    }
    store.finish(dream, &[]);
    let text = text(&store, dream);
    assert!(text.len() < 300 * 1024, "{}", text.len());
    assert!(text.contains("\"changesLeftOut\":") && text.contains(r#""errors":350"#));
}
