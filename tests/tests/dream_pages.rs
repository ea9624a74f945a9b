//! Dream passes of one page and of many, through the façade.

use bilinc::{
    Action, ActionOp, ActionRecord, ActionStatus, ChangeOp, DreamApply, DreamClosedReason, DreamId, DreamPhase,
    DreamStart, Json, MemoryType, Rejection, limits,
};

use crate::support::*;

fn store_of(entries: usize) -> (Bench, DreamId) {
    let bench = Bench::new();
    for index in 0..entries {
        bench.put(&name(index), "as it was");
    }
    let dream = bench.dream();
    bench.tick();
    (bench, dream)
}

fn name(index: usize) -> String {
    format!("note.{index:03}")
}

fn act(bench: &Bench, op: ActionOp, index: usize) -> Action {
    action(op, &name(index), Some(bench.version(&name(index))))
}

fn page(dream: DreamId, actions: Vec<Action>, finish: bool) -> DreamApply {
    DreamApply { dream, actions, report: None, finish, dry_run: false }
}

/// What became of each action, without its version.
fn statuses(results: &[ActionRecord]) -> Vec<&'static str> {
    let status = |record: &ActionRecord| match record.status {
        ActionStatus::Applied { .. } => "applied",
        ActionStatus::Conflict { .. } => "conflict",
        ActionStatus::Error { .. } => "error",
    };
    results.iter().map(status).collect()
}

#[test]
fn a_pass_of_two_pages_is_finished_by_its_last_page() {
    let (bench, dream) = store_of(30);
    let ops = |index| if index < 6 { ActionOp::Forget } else { ActionOp::Confirm };
    let actions: Vec<_> = (0..30).map(|index| act(&bench, ops(index), index)).collect();
    let applied = bench.memory.dream_apply(dream, actions, Some(Json::string("tidied up")), false).unwrap().answer;
    assert_eq!(applied.pages, 2);
    assert_eq!(applied.phase, DreamPhase::Finished);
    assert_eq!((applied.forget_cap, applied.forgets), (9, 6));
    assert_eq!(applied.undo_until, bench.now().plus(limits::DREAM_MICROS));
    assert_eq!(statuses(&applied.results), vec!["applied"; 30]);

    let view = bench.memory.dream(dream).unwrap();
    assert_eq!(view.phase, DreamPhase::Finished);
    assert_eq!(view.actions, applied.results);
    assert_eq!(view.report, Some(Json::string("tidied up")));
    assert_eq!((view.candidates.len(), view.more_candidates, view.undo), (30, 0, None));
    let listed = bench.memory.dreams(10).unwrap();
    assert_eq!((listed.len(), listed[0].dream, listed[0].changes), (1, dream, 30));

    let report = bench.entry(&format!("bilinc:dream:{dream}"));
    assert_eq!(report.entry.facts.memory_type, MemoryType::Episodic);
    assert_eq!(&*report.entry.facts.source, "bilinc_dream");
    let text = report.value.unwrap();
    assert!(text.as_str().contains(r#""forgotten":6"#) && text.as_str().contains(r#""confirmed":24"#), "{text}");
    assert!(!text.as_str().contains("as it was"), "a report holds no values");
    assert_eq!(bench.value(&name(0)), None);
    bench.assert_sound();
}

#[test]
fn a_page_over_the_cap_leaves_earlier_pages_applied_and_says_so() {
    let (bench, dream) = store_of(100);
    let ops = |index| if index % 5 < 3 { ActionOp::Forget } else { ActionOp::Confirm };
    let actions: Vec<_> = (0..60).map(|index| act(&bench, ops(index), index)).collect();
    let before = bench.head();
    let failed = bench.memory.dream_apply(dream, actions, None, false).unwrap_err();
    assert_eq!(failed.page, 2);
    assert_eq!(rejection(failed.error), Rejection::ForgetCapExceeded { cap: 20, applied: 15, asked: 15 });
    assert_eq!(statuses(&failed.results), vec!["applied"; 25]);
    assert_eq!(failed.not_tried, (25..60).collect::<Vec<_>>());
    assert_eq!(bench.head(), before.plus(26), "one page and nothing of the next");
    assert_eq!(bench.memory.dream(dream).unwrap().phase, DreamPhase::Open);
    // Five more still fit, and an empty call finishes.
    let rest: Vec<_> = (25..30).map(|index| act(&bench, ActionOp::Forget, index)).collect();
    let applied = bench.memory.dream_apply(dream, rest, None, false).unwrap().answer;
    assert_eq!((applied.forgets, applied.phase), (20, DreamPhase::Finished));
    bench.assert_sound();
}

#[test]
fn a_dry_run_of_several_pages_gives_the_results_of_the_real_run_and_writes_nothing() {
    let (bench, dream) = store_of(60);
    let mut actions: Vec<_> = (0..40).map(|index| act(&bench, ActionOp::Confirm, index)).collect();
    // Judged on what the first page left: this version is gone by then.
    actions.push(act(&bench, ActionOp::Revise, 0));
    actions.push(action(ActionOp::Flag, "note.001", None));
    actions.push(action(ActionOp::Forget, "no candidate", None));
    let before = bench.head();
    let would = bench.memory.dream_apply(dream, actions.clone(), Some(json("{}")), true).unwrap().answer;
    assert_eq!(bench.head(), before);
    assert_eq!((would.pages, would.phase), (2, DreamPhase::Open));
    assert_eq!(statuses(&would.results)[40..], ["conflict", "applied", "error"]);
    let did = bench.memory.dream_apply(dream, actions, Some(json("{}")), false).unwrap().answer;
    assert_eq!(statuses(&did.results), statuses(&would.results));
    assert_eq!((did.forgets, did.pages), (would.forgets, would.pages));
    bench.assert_sound();
}

#[test]
fn a_dry_run_of_several_pages_finds_the_page_that_would_go_past_the_cap() {
    let (bench, dream) = store_of(100);
    let actions: Vec<_> = (0..30).map(|index| act(&bench, ActionOp::Forget, index % 100)).collect();
    let before = bench.head();
    let failed = bench.memory.dream_apply(dream, actions[..].to_vec(), None, true).unwrap_err();
    assert_eq!(failed.page, 1, "25 forgets on one page are over the cap of 20");
    let mut spread: Vec<_> = (0..15).map(|index| act(&bench, ActionOp::Forget, index)).collect();
    spread.extend((40..50).map(|index| act(&bench, ActionOp::Confirm, index)));
    spread.extend((15..30).map(|index| act(&bench, ActionOp::Forget, index)));
    let failed = bench.memory.dream_apply(dream, spread, None, true).unwrap_err();
    assert_eq!((failed.page, failed.results.len(), failed.not_tried.len()), (2, 25, 15));
    assert_eq!(failed.error.code(), "forget_cap_exceeded");
    assert_eq!(bench.head(), before);
}

#[test]
fn a_malformed_action_is_named_by_its_index_in_the_whole_call() {
    let (bench, dream) = store_of(30);
    let mut actions: Vec<_> = (0..30).map(|index| act(&bench, ActionOp::Confirm, index)).collect();
    actions[27].reason = " ".into();
    let failed = bench.memory.dream_apply(dream, actions, None, false).unwrap_err();
    assert_eq!(failed.page, 2);
    assert_eq!(invalid(failed.error), ("actions[27].reason".to_owned(), "required"));
}

#[test]
fn what_no_call_may_hold_is_refused_before_its_first_page() {
    let (bench, dream) = store_of(30);
    let actions: Vec<_> = (0..30).map(|index| act(&bench, ActionOp::Confirm, index)).collect();
    let before = bench.head();
    let large = Json::string(&"x".repeat(limits::REPORT_BYTES));
    let failed = bench.memory.dream_apply(dream, actions.clone(), Some(large), false).unwrap_err();
    assert_eq!(invalid(failed.error), ("report".to_owned(), "too_large"));
    let many = actions.iter().cycle().take(1_001).cloned().collect();
    let failed = bench.memory.dream_apply(dream, many, None, false).unwrap_err();
    assert_eq!(invalid(failed.error), ("actions".to_owned(), "too_many"));
    assert_eq!(failed.not_tried.len(), 1_001);
    assert_eq!(bench.head(), before);
}

#[test]
fn a_call_repeated_after_a_lost_answer_goes_on_where_it_stopped() {
    let (bench, dream) = store_of(60);
    let actions: Vec<_> = (0..55).map(|index| act(&bench, ActionOp::Confirm, index)).collect();
    let keyed = bench.memory.with_idempotency_key("pass");
    // The first page got through before the caller lost touch.
    let first = keyed.dream_apply_page(page(dream, actions[..25].to_vec(), false)).unwrap().answer;
    let whole = keyed.dream_apply(dream, actions.clone(), None, false).unwrap();
    assert!(!whole.replayed, "two of three pages are new");
    assert_eq!(whole.answer.results[..25], first.results[..]);
    assert_eq!(statuses(&whole.answer.results), vec!["applied"; 55]);
    let head = bench.head();
    let again = keyed.dream_apply(dream, actions.clone(), None, false).unwrap();
    assert!(again.replayed);
    assert_eq!(again.answer, whole.answer);
    assert_eq!(bench.head(), head);
    let other = keyed.dream_apply(dream, actions[..30].to_vec(), None, false).unwrap_err();
    assert_eq!((other.page, other.error.code()), (2, "idempotency_conflict"));
}

#[test]
fn a_repeated_page_gets_its_first_answer_although_the_dream_went_on() {
    let (bench, dream) = store_of(40);
    let one = page(dream, vec![act(&bench, ActionOp::Forget, 0)], false);
    let first = bench.memory.with_idempotency_key("one").dream_apply_page(one.clone()).unwrap().answer;
    bench.tick();
    let two = page(dream, vec![act(&bench, ActionOp::Forget, 1)], true);
    bench.memory.dream_apply_page(two).unwrap();
    let again = bench.memory.with_idempotency_key("one").dream_apply_page(one).unwrap();
    assert!(again.replayed);
    assert_eq!(again.answer, first);
    assert_eq!((first.forgets, first.phase), (1, DreamPhase::Open));
}

#[test]
fn what_another_writer_changed_meanwhile_is_left_alone_and_named() {
    let (bench, dream) = store_of(10);
    let actions: Vec<_> = (0..4).map(|index| act(&bench, ActionOp::Revise, index)).collect();
    let editor = bench.memory.acting_as(actor("editor"));
    let changed = editor.revise(revise(&name(1), "newer")).unwrap().answer;
    editor.forget(forget(&name(2))).unwrap();
    bench.tick();
    let results = bench.memory.dream_apply(dream, actions, None, false).unwrap().answer.results;
    assert_eq!(statuses(&results), ["applied", "conflict", "conflict", "applied"]);
    let ActionStatus::Conflict { current, change: Some(change) } = &results[1].status else { panic!("{results:?}") };
    assert_eq!((*current, change.seq, change.op), (changed.version, changed.seq, ChangeOp::Update));
    assert_eq!(&*change.source, "editor");
    let ActionStatus::Conflict { current: None, change: Some(change) } = &results[2].status else { panic!() };
    assert_eq!(change.op, ChangeOp::Forget);
    assert_eq!(bench.value(&name(1)).as_deref(), Some("newer"));
    bench.assert_sound();
}

#[test]
fn a_dream_takes_no_actions_once_its_week_is_over() {
    let (bench, dream) = store_of(3);
    bench.clock.set(bench.memory.dream(dream).unwrap().started_at.plus(limits::DREAM_MICROS));
    bench.memory.dream_apply_page(page(dream, vec![act(&bench, ActionOp::Confirm, 0)], false)).unwrap();
    bench.clock.advance(1);
    let late = page(dream, vec![act(&bench, ActionOp::Confirm, 1)], true);
    let refused = rejection(bench.memory.dream_apply_page(late).unwrap_err());
    assert_eq!(refused, Rejection::DreamClosed { dream, reason: DreamClosedReason::Expired });
}

#[test]
fn a_start_without_candidates_writes_nothing() {
    let bench = Bench::new();
    let started = bench.memory.dream_start(DreamStart::default()).unwrap().answer;
    assert_eq!((started.dream, started.candidates.len()), (None, 0));
    assert_eq!(bench.head().get(), 0);
    bench.put("old", "news");
    bench.clock.advance(8 * DAY);
    assert_eq!(bench.memory.dream_start(DreamStart::default()).unwrap().answer.dream, None);
}

#[test]
fn the_next_dream_sees_what_others_changed_while_the_last_one_ran_and_nothing_of_its_own() {
    let (bench, dream) = store_of(4);
    let actions = vec![act(&bench, ActionOp::Revise, 0), act(&bench, ActionOp::Confirm, 1)];
    bench.put("meanwhile", "by somebody else");
    bench.memory.dream_apply(dream, actions, None, false).unwrap();
    bench.tick();
    let next = bench.memory.dream_start(DreamStart::default()).unwrap().answer;
    let keys: Vec<_> = next.candidates.iter().map(|candidate| candidate.memory.key.as_str()).collect();
    assert_eq!(keys, ["meanwhile"]);
    assert_eq!(next.candidates[0].memory.value, Some(Json::string("by somebody else")));
}

#[test]
fn a_report_once_forgotten_is_not_written_again() {
    let (bench, dream) = store_of(10);
    bench.memory.dream_apply(dream, Vec::new(), Some(Json::string("first")), false).unwrap();
    let report = format!("bilinc:dream:{dream}");
    let mine = bench.memory.commit(commit(&report, "mine")).unwrap_err();
    assert_eq!(invalid(mine), ("key".to_owned(), "reserved_key"));
    bench.forget(&report);
    let actions = vec![act(&bench, ActionOp::Confirm, 0)];
    bench.memory.dream_apply(dream, actions, Some(Json::string("second")), false).unwrap();
    assert!(bench.memory.get(&report).unwrap().is_none());
    assert_eq!(bench.memory.dream(dream).unwrap().report, None);
    bench.assert_sound();
}

#[test]
fn a_credential_in_one_action_is_an_error_of_that_action_alone() {
    let bench = Bench::new();
    bench.put("a", "one");
    bench.put("b", "two");
    let dream = bench.dream();
    let careful = bench.builder().refuse_secrets(true).open_in(std::sync::Arc::clone(&bench.storage)).unwrap();
    let token = ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
    let mut leaking = action(ActionOp::Revise, "a", Some(bench.version("a")));
    leaking.new_value = Some(Json::string(&token));
    let actions = vec![leaking, action(ActionOp::Revise, "b", Some(bench.version("b")))];
    let results = careful.dream_apply(dream, actions, None, false).unwrap().answer.results;
    assert_eq!(statuses(&results), ["error", "applied"]);
    assert!(!format!("{results:?}").contains(&token));
    assert!(!format!("{:?}", careful.recorded(bilinc::Seq::ZERO).unwrap()).contains(&token));
}

#[test]
fn a_credential_is_not_recorded_with_an_action_that_was_refused_already() {
    let bench = Bench::new();
    bench.put("a", "one");
    let dream = bench.dream();
    let careful = bench.builder().refuse_secrets(true).open_in(std::sync::Arc::clone(&bench.storage)).unwrap();
    let token = ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
    let mut refused = action(ActionOp::Confirm, "a", Some(bench.version("a")));
    refused.reason = format!("still right, see {token}");
    refused.refused = Some(bilinc::ActionRefusal { code: "invalid_request".into(), message: "no".into() });
    let results = careful.dream_apply(dream, vec![refused], None, false).unwrap().answer.results;
    assert_eq!(statuses(&results), ["error"]);
    assert!(!format!("{:?}", careful.recorded(bilinc::Seq::ZERO).unwrap()).contains(&token));
}
