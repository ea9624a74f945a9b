//! Pages of a dream.

use bilinc_core::{
    Action, ActionRefusal, ActionStatus, ChangeOp, Command, DreamApply, DreamClosedReason, DreamId, DreamPhase, Json,
    Rejection, Version,
};

use crate::harness::{Act, DAY, HOUR, SECOND, Store, applied, json, key};

fn store_of(number: usize) -> Store {
    let mut store = Store::new();
    for index in 0..number {
        store.commit(&format!("k{index}"), "v");
    }
    store
}

fn forgets(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|index| format!("k{index}")).collect()
}

fn acts(names: &[String]) -> Vec<Act<'_>> {
    names.iter().map(|name| Act::Forget(name)).collect()
}

#[track_caller]
fn error_code(status: &ActionStatus) -> &str {
    match status {
        ActionStatus::Error { code, .. } => code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_kind_of_action_does_its_work() {
    let mut store = store_of(4);
    let dream = store.start();
    store.step(HOUR);
    let flagged = store.version("k3");
    let records = store.page(dream, &[Act::Revise("k0", "w"), Act::Forget("k1"), Act::Confirm("k2"), Act::Flag("k3")]);
    assert_eq!(applied(&records[0]), Some(store.version("k0")));
    assert_eq!(applied(&records[1]), None);
    assert_eq!(applied(&records[2]), Some(store.version("k2")));
    assert_eq!(applied(&records[3]), Some(flagged), "a flag leaves the version");
    assert_eq!((store.value("k0").unwrap(), store.entry("k1")), ("w".into(), None));
    assert_eq!(store.there("k2").confirmed_at, Some(store.now));
    assert_eq!(store.there("k3").flags[0].dream, Some(dream));
}

#[test]
fn actions_of_a_page_are_judged_in_order_and_a_new_version_carries_on() {
    let mut store = store_of(1);
    let dream = store.start();
    let first = store.version("k0");
    let records = store.page(dream, &[Act::Revise("k0", "w"), Act::Revise("k0", "x")]);
    let second = applied(&records[0]).unwrap();
    let ActionStatus::Conflict { current, change } = &records[1].status else { panic!("{records:?}") };
    assert_eq!(
        (*current, change.as_ref().unwrap().seq),
        (Some(second), store.log.facts(store.state.head()).operation.first)
    );
    let on = |version| Action { expected_version: Some(version), ..Act::Revise("k0", "y").of(&store) };
    let (stale, fresh) = (on(first), on(second));
    let records = store.actions(dream, vec![stale, fresh]);
    assert!(matches!(records[0].status, ActionStatus::Conflict { .. }));
    assert_eq!((applied(&records[1]), store.value("k0").unwrap()), (Some(store.version("k0")), "y".into()));
}

#[test]
fn a_change_by_somebody_else_is_a_conflict_that_names_it() {
    let mut store = store_of(4);
    let dream = store.start();
    let page =
        [Act::Revise("k0", "w"), Act::Confirm("k1"), Act::Flag("k2"), Act::Confirm("k3")].map(|act| act.of(&store));
    store.by("bob").revise("k0", "bob's");
    let seq = store.state.head();
    store.forget("k1");
    store.forget("k2");
    store.flag("k3", "flags are no changes");
    let records = store.by("ada").actions(dream, page.to_vec());
    let ActionStatus::Conflict { current, change: Some(change) } = &records[0].status else { panic!("{records:?}") };
    assert_eq!((*current, change.op, change.seq), (Some(store.version("k0")), ChangeOp::Update, seq));
    assert_eq!((change.source.as_ref(), change.at), ("bob", store.now));
    for record in &records[1..3] {
        let ActionStatus::Conflict { current: None, change: Some(change) } = &record.status else {
            panic!("{record:?}")
        };
        assert_eq!(change.op, ChangeOp::Forget);
    }
    applied(&records[3]);
    assert_eq!(store.value("k0").unwrap(), "bob's");
}

#[test]
fn an_expired_candidate_is_a_conflict_without_a_change() {
    let mut store = Store::new();
    store.ok(Command::Commit(bilinc_core::Commit { ttl: Some(1.0), ..crate::harness::commit("k", "v") }));
    let dream = store.start();
    let page = Act::Confirm("k").of(&store);
    store.step(2 * SECOND);
    let records = store.actions(dream, vec![page]);
    assert_eq!(records[0].status, ActionStatus::Conflict { current: None, change: None });
}

#[test]
fn what_cannot_be_carried_out_is_an_error_for_that_action_alone() {
    let mut store = store_of(2);
    let dream = store.start();
    store.commit("later", "not a candidate");
    let unversioned = |act: Act<'_>| Action { expected_version: None, ..act.of(&store) };
    let refused = ActionRefusal { code: "secret_detected".into(), message: "a key".into() };
    let huge = Action { new_value: Some(json(&"x".repeat(1 << 20))), ..Act::Revise("k0", "").of(&store) };
    let actions = vec![
        Act::Confirm("later").of(&store),
        unversioned(Act::Revise("k0", "w")),
        unversioned(Act::Flag("k0")),
        Action { refused: Some(refused), new_value: None, ..Act::Revise("k0", "w").of(&store) },
        huge,
        Act::Confirm("k1").of(&store),
    ];
    let records = store.actions(dream, actions);
    let codes: Vec<_> = [0, 1, 3, 4].map(|index: usize| error_code(&records[index].status)).into();
    assert_eq!(codes, ["invalid_request", "invalid_request", "secret_detected", "invalid_request"]);
    applied(&records[2]);
    applied(&records[5]);
    assert_eq!(store.value("k0").unwrap(), "v");
}

#[test]
fn what_is_no_action_refuses_the_page_with_its_index() {
    let mut store = store_of(2);
    let dream = store.start();
    let fine = Act::Confirm("k0").of(&store);
    let revise = Act::Revise("k1", "w").of(&store);
    let bad = [
        ("reason", Action { reason: "".into(), ..fine.clone() }),
        ("reason", Action { reason: "x".repeat(513), ..fine.clone() }),
        ("new_value", Action { new_value: None, ..revise.clone() }),
        ("new_value", Action { new_value: Some(json("w")), ..fine.clone() }),
        ("merged_from", Action { merged_from: vec![key("k0")], ..fine.clone() }),
        ("evidence_keys", Action { evidence_keys: vec![key("k0"); 51], ..fine.clone() }),
    ];
    for (name, action) in bad {
        let apply = DreamApply { actions: vec![fine.clone(), action], ..store.page_of(dream, &[]) };
        let Rejection::Invalid { field, .. } = store.refused(Command::DreamApply(apply)) else { panic!() };
        assert_eq!(field, format!("actions[1].{name}"));
    }
    let many = DreamApply { actions: vec![fine; 26], ..store.page_of(dream, &[]) };
    assert!(matches!(store.refused(Command::DreamApply(many)), Rejection::Invalid { reason: "too_many", .. }));
    let nothing = store.page_of(dream, &[]);
    assert!(matches!(store.refused(Command::DreamApply(nothing)), Rejection::Invalid { reason: "required", .. }));
}

#[test]
fn merged_and_evidence_keys_are_kept() {
    let mut store = store_of(3);
    let dream = store.start();
    let merge = Action {
        merged_from: vec![key("k1")],
        evidence_keys: vec![key("k2"); 50],
        ..Act::Revise("k0", "both").of(&store)
    };
    let records = store.actions(dream, vec![merge]);
    assert_eq!((&records[0].merged_from, records[0].evidence_keys.len()), (&vec![key("k1")], 50));
    let first = store.log.facts(store.state.dream(dream).unwrap().own[0]);
    assert!(matches!(&first.event, bilinc_core::Event::Revised(event) if event.merged_from == [key("k1")]));
}

#[test]
fn the_cap_is_checked_before_anything_of_the_page_is_written() {
    let mut store = store_of(10);
    let dream = store.start();
    let (two, four) = (forgets(0..2), forgets(2..4));
    store.page(dream, &acts(&two));
    let head = store.state.head();
    let mut page = vec![Act::Confirm("k9")];
    page.extend(acts(&four));
    let rejection = store.refused(Command::DreamApply(store.page_of(dream, &page)));
    assert_eq!(rejection, Rejection::ForgetCapExceeded { cap: 3, applied: 2, asked: 2 });
    assert_eq!(store.state.head(), head);
    store.page(dream, &acts(&four[..1]));
    let rejection = store.refused(Command::DreamApply(store.page_of(dream, &acts(&four[1..]))));
    assert_eq!(rejection, Rejection::ForgetCapExceeded { cap: 3, applied: 3, asked: 1 });
    store.page(dream, &[Act::Confirm("k9")]);
}

#[test]
fn no_dream_forgets_more_than_twenty() {
    let mut store = store_of(120);
    let dream = store.start();
    store.page(dream, &acts(&forgets(0..20)));
    let rejection = store.refused(Command::DreamApply(store.page_of(dream, &acts(&forgets(20..21)))));
    assert_eq!(rejection, Rejection::ForgetCapExceeded { cap: 20, applied: 20, asked: 1 });
}

#[test]
fn forgets_that_came_to_nothing_give_their_place_back() {
    let mut store = store_of(4);
    let dream = store.start();
    let stale = Action { expected_version: Some(Version::from_u128(1)), ..Act::Forget("k0").of(&store) };
    let unknown = Act::Forget("other").of(&store);
    for action in [stale, unknown] {
        store.actions(dream, vec![action]);
    }
    assert_eq!(store.state.dream(dream).unwrap().forgets, 0);
    store.page(dream, &[Act::Forget("k0")]);
    assert_eq!(store.state.dream(dream).unwrap().forgets, 1);
    store.finish(dream, &[]);
    let rejection = store.refused(Command::DreamApply(store.page_of(dream, &[Act::Forget("k1")])));
    assert!(matches!(rejection, Rejection::ForgetCapExceeded { .. }), "the cap counts on after the finish");
}

#[test]
fn a_dream_takes_actions_for_seven_days_after_its_start() {
    let mut store = store_of(1);
    let dream = store.start();
    store.step(7 * DAY).page(dream, &[Act::Confirm("k0")]);
    store.step(1);
    let rejection = store.refused(Command::DreamApply(store.page_of(dream, &[Act::Confirm("k0")])));
    assert_eq!(rejection, Rejection::DreamClosed { dream, reason: DreamClosedReason::Expired });
}

#[test]
fn an_undone_dream_takes_no_more_actions_wholly_or_partly() {
    let mut store = store_of(2);
    let dream = store.start();
    store.page(dream, &[Act::Revise("k0", "w"), Act::Revise("k1", "w")]);
    let mut partly = store.clone();
    partly.by("bob").commit("k0", "x");
    for (mut store, phase) in [(store, DreamPhase::Undone), (partly, DreamPhase::PartlyUndone)] {
        store.undo_dream(dream);
        assert_eq!(store.phase(dream), phase);
        let rejection = store.refused(Command::DreamApply(store.page_of(dream, &[Act::Confirm("k0")])));
        assert_eq!(rejection, Rejection::DreamClosed { dream, reason: DreamClosedReason::Undone });
    }
}

#[test]
fn an_unknown_dream_is_not_found() {
    let mut store = store_of(1);
    let dream = DreamId::from_u128(9);
    let rejection = store.refused(Command::DreamApply(store.page_of(dream, &[Act::Confirm("k0")])));
    assert_eq!(rejection, Rejection::DreamNotFound(dream));
}

#[test]
fn a_dry_run_tells_what_would_be_and_writes_nothing() {
    let mut store = store_of(4);
    let dream = store.start();
    let actions = [Act::Revise("k0", "w"), Act::Forget("k1"), Act::Flag("other")];
    let head = store.state.head();
    let command = DreamApply { dry_run: true, finish: true, ..store.page_of(dream, &actions) };
    let dry = store.ok(Command::DreamApply(command));
    assert_eq!((store.state.head(), store.value("k0").unwrap()), (head, "v".into()));
    let bilinc_core::Outcome::Page { actions: dry, .. } = dry.outcome else { panic!() };
    let real = store.page(dream, &actions);
    let kinds = |records: &[bilinc_core::ActionRecord]| {
        records.iter().map(|record| std::mem::discriminant(&record.status)).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&dry), kinds(&real));
}

#[test]
fn conflicts_and_errors_are_recorded_in_the_dream() {
    let mut store = store_of(1);
    let dream = store.start();
    let head = store.state.head();
    store.page(dream, &[Act::Flag("other")]);
    assert_eq!(store.state.head(), head.plus(1));
    assert_eq!(store.state.dream(dream).unwrap().pages, [head.plus(1)]);
}

#[test]
fn a_further_page_moves_the_deadline_but_not_the_mark() {
    let mut store = store_of(1);
    let dream = store.start();
    let started = store.state.head();
    store.step(DAY).finish(dream, &[Act::Confirm("k0")]);
    assert_eq!(store.state.dream(dream).unwrap().undo_until(), store.now.plus(7 * DAY));
    store.step(DAY).page(dream, &[Act::Confirm("k0")]);
    let record = store.state.dream(dream).unwrap();
    assert_eq!(record.undo_until(), store.now.plus(7 * DAY), "the page is as young as that");
    store.step(DAY).finish(dream, &[]);
    let record = store.state.dream(dream).unwrap();
    assert_eq!((record.finished_at, record.undo_until()), (Some(store.now), store.now.plus(7 * DAY)));
    assert_eq!((store.state.dream_mark(), store.phase(dream)), (Some(started), DreamPhase::Finished));
}

#[test]
fn several_open_dreams_are_kept_apart_by_versions() {
    let mut store = store_of(1);
    let (first, second) = (store.start(), store.start());
    let act = Act::Revise("k0", "w").of(&store);
    applied(&store.actions(first, vec![act.clone()])[0]);
    assert!(matches!(store.actions(second, vec![act])[0].status, ActionStatus::Conflict { .. }));
}

#[test]
fn a_report_that_no_page_would_keep_is_refused() {
    let mut store = store_of(1);
    let dream = store.start();
    let page = DreamApply { report: Some(Json::string("too early")), ..store.page_of(dream, &[Act::Confirm("k0")]) };
    assert_eq!(store.refused(Command::DreamApply(page)).code(), "invalid_request");
    assert_eq!(store.report(dream), None);
}
