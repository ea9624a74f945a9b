//! Lines in and out.

use std::cell::RefCell;

use bilinc::{
    ChangeOp, Commit, Error, ImportOptions, ImportSummary, LogQuery, Memory, MemoryEntry, MemoryType, Selection, Undo,
};

use crate::support::*;

fn import(memory: &Memory, text: impl AsRef<[u8]>) -> Result<ImportSummary, Error> {
    Ok(memory.import(text.as_ref(), ImportOptions::default(), &mut |_, _| {})?.answer)
}

fn export(memory: &Memory) -> String {
    let mut text = Vec::new();
    memory.export(&mut text, &mut |_, _| {}).unwrap();
    String::from_utf8(text).unwrap()
}

/// Every field but version and flags.
fn told(entry: &MemoryEntry) -> String {
    let inner = &entry.entry;
    let times = (inner.created_at, inner.updated_at, inner.confirmed_at);
    format!("{} {:?} {times:?} {:?} {:?}", entry.key, inner.facts, entry.value, entry.metadata)
}

#[test]
fn an_import_of_an_export_gives_equal_entries() {
    let from = Bench::new();
    from.clock.advance(123_456);
    let rich = Commit {
        metadata: Some(json(r#"{"z":1.10,"a":{"b":[1e400]}}"#)),
        memory_type: Some(MemoryType::Spatial),
        importance: Some(0.1),
        source: Some("someone".into()),
        session_id: Some("s1".into()),
        canonical: Some(false),
        priority: Some(1.0),
        ttl: Some(86_400.5),
        ..Commit::new(key("rich \"key\" ğ"), json("[1.10, 12345678901234567890, 1e400, -0.0, {\"b\":1,\"a\":2}]"))
    };
    from.memory.commit(rich).unwrap();
    from.put("plain", "line\nbreak");
    from.put("confirmed", "v");
    from.memory.confirm(confirm("confirmed")).unwrap();
    from.memory.flag(flag("plain")).unwrap();
    from.put("gone", "never exported");
    from.forget("gone");
    let dream = from.dream();
    from.memory.dream_apply(dream, Vec::new(), Some(json("\"a report\"")), false).unwrap();
    let text = export(&from.memory);
    assert_eq!(text.lines().count(), 3);
    assert!(!text.contains("never exported") && !text.contains("bilinc:dream:"));

    let to = Bench::new();
    to.clock.set(from.now().plus(DAY / 2));
    let summary = import(&to.memory.acting_as(actor("importer")), &text).unwrap();
    assert_eq!((summary.lines, summary.created, summary.replaced), (3, 3, 0));
    for name in ["rich \"key\" ğ", "plain", "confirmed"] {
        let (there, here) = (from.entry(name), to.entry(name));
        assert_eq!(told(&there), told(&here));
        assert_ne!(there.entry.version, here.entry.version);
        assert!(here.entry.flags.is_empty());
    }
    assert_eq!(export(&to.memory), text);
    to.assert_sound();
}

#[test]
fn numbers_that_need_all_their_digits_come_back_to_the_last_bit() {
    let from = Bench::new();
    let numbers: Vec<f64> = (1..300).map(|index| (f64::from(index) * 0.618_033_988_749_894_9).fract()).collect();
    for (index, number) in numbers.iter().enumerate() {
        let (importance, ttl) = (Some(*number), Some(1e6 + number * 1e9));
        let commit = Commit { importance, priority: importance, ttl, ..commit(&format!("n{index}"), "v") };
        from.memory.commit(commit).unwrap();
    }
    let to = Bench::new();
    import(&to.memory, export(&from.memory)).unwrap();
    for index in 0..numbers.len() {
        let name = format!("n{index}");
        assert_eq!(told(&from.entry(&name)), told(&to.entry(&name)));
    }
}

#[test]
fn numbers_and_the_order_of_members_come_back_as_they_were_written() {
    let bench = Bench::new();
    import(
        &bench.memory,
        r#" { "key" : "n", "value" : { "b" : 1.10 , "a" : [ 1e400, 12345678901234567890, -0, 1E+2 ] } } "#,
    )
    .unwrap();
    let value = bench.entry("n").value.unwrap();
    assert_eq!(value.as_str(), r#"{"b":1.10,"a":[1e400,12345678901234567890,-0,1E+2]}"#);
}

#[test]
fn one_bad_line_refuses_the_whole_import_with_its_number() {
    let deep = format!(r#"{{"key":"k","value":{}{}}}"#, "[".repeat(101), "]".repeat(101));
    let very_deep = format!(r#"{{"key":"k","value":{}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
    let long_key = format!(r#"{{"key":"{}","value":1}}"#, "k".repeat(513));
    let large = format!(r#"{{"key":"k","value":"{}"}}"#, "x".repeat(1024 * 1024));
    let metadata = format!(r#"{{"key":"k","value":1,"metadata":{{"m":"{}"}}}}"#, "x".repeat(64 * 1024));
    let bad: &[(&str, &str, &str)] = &[
        ("not json", "entry", "not_an_object"),
        (r#"[{"key":"k","value":1}]"#, "entry", "not_an_object"),
        (r#"{"key":"k" "value":1}"#, "entry", "invalid_json"),
        (r#"{"key":"k","value":1"#, "entry", "invalid_json"),
        (r#"{"key":"k","value":1} {}"#, "entry", "invalid_json"),
        (r#"{"key":"k","value":1,"colour":"red"}"#, "entry", "unknown_field"),
        (r#"{"key":"k","value":1,"memory_type":"semantic"}"#, "entry", "unknown_field"),
        (r#"{"key":"k","key":"l","value":1}"#, "entry", "duplicate_member"),
        (r#"{"key":"k"}"#, "entry", "required"),
        (r#"{"value":1}"#, "entry", "required"),
        (r#"{"key":7,"value":1}"#, "entry", "invalid_type"),
        (r#""a plain string""#, "entry", "not_an_object"),
        (r#"{"key":"k","value":{"a":1,"a":2}}"#, "value", "duplicate_member"),
        (r#"{"key":"k","value":"\ud800"}"#, "value", "invalid_json"),
        (r#"{"key":" ","value":1}"#, "key", "invalid_key"),
        (r#"{"key":"a\u0000b","value":1}"#, "key", "invalid_key"),
        (r#"{"key":"k","value":1,"memoryType":"Semantic"}"#, "memoryType", "unknown_value"),
        (r#"{"key":"k","value":1,"importance":1.5}"#, "importance", "out_of_range"),
        (r#"{"key":"k","value":1,"ttl":0}"#, "ttl", "out_of_range"),
        (r#"{"key":"k","value":1,"metadata":[]}"#, "metadata", "not_an_object"),
        (r#"{"key":"k","value":1,"createdAt":"yesterday"}"#, "createdAt", "invalid_time"),
        (&deep, "value", "too_deep"),
        (&very_deep, "value", "too_deep"),
        (&long_key, "key", "invalid_key"),
        (&large, "value", "too_large"),
        (&metadata, "metadata", "too_large"),
    ];
    let bench = Bench::new();
    for (line, field, reason) in bad {
        let text = format!("{{\"key\":\"good\",\"value\":1}}\n\n{line}\n{{\"key\":\"later\",\"value\":1}}\n");
        let (at, why) = invalid(import(&bench.memory, text).unwrap_err());
        let start: String = line.chars().take(60).collect();
        assert_eq!((at.as_str(), why), (format!("line 3: {field}").as_str(), *reason), "{start}");
    }
    let mut bytes = b"{\"key\":\"good\",\"value\":1}\n{\"key\":\"\xff\",\"value\":1}".to_vec();
    assert_eq!(invalid(import(&bench.memory, &bytes).unwrap_err()), ("line 2".to_owned(), "invalid_utf8"));
    bytes = vec![b' '; 17 * 1024 * 1024];
    assert_eq!(invalid(import(&bench.memory, &bytes).unwrap_err()), ("line 1".to_owned(), "too_large"));
    assert_eq!(bench.head().get(), 0, "nothing was written");
}

#[test]
fn a_refused_line_is_not_repeated_in_the_error() {
    let bench = Bench::new();
    let secret = "correct horse battery";
    let lines = [
        format!(r#""{secret}""#),
        format!(r#"{{"key":"k","value":1,"importance":"{secret}"}}"#),
        format!(r#"{{"key":"k","value":"{secret}",}}"#),
        format!(r#"{{"key":"k","value":"{secret}","value":1}}"#),
        format!(r#"{{"key":"k","value":"{secret}"}} trailing"#),
        format!(r#"{{"key":"k","value":{{"a":"{secret}","a":"{secret}"}}}}"#),
        format!(r#"["{secret}"]"#),
        format!(r#"{{"key":"k","value":1,"{secret}":1}}"#),
        format!(r#"{{"key":"k","value":1,"memoryType":"{secret}"}}"#),
        format!(r#"{{"key":"k","value":"{secret}","canonical":"{secret}"}}"#),
    ];
    for line in lines {
        let error = import(&bench.memory, &line).unwrap_err();
        assert!(!format!("{error} {error:?}").contains(secret), "{error}");
    }
    let token = ["ghp_", "0123456789abcdefghijABCDEFGHIJ012345"].concat();
    let careful = bench.builder().refuse_secrets(true).open_in(std::sync::Arc::clone(&bench.storage)).unwrap();
    let leak = format!("{{\"key\":\"good\",\"value\":1}}\n{{\"key\":\"k\",\"value\":{{\"a\":[\"{token}\"]}}}}");
    let error = import(&careful, &leak).unwrap_err();
    assert_eq!(error.code(), "secret_detected");
    let text = error.to_string();
    assert!(text.contains("line 2: value.a[0]") && !text.contains(&token), "{text}");
    assert_eq!(bench.head().get(), 0);
}

#[test]
fn marks_of_other_systems_and_empty_lines_are_no_mistakes() {
    let bench = Bench::new();
    let text = "\u{feff}{\"key\":\"a\",\"value\":\"\u{feff}\"}\r\n\r\n   \n{\"key\":\"b\",\"value\":null,\"metadata\":null}\r\n\n";
    let summary = import(&bench.memory, text).unwrap();
    assert_eq!((summary.lines, summary.created), (2, 2));
    assert_eq!(bench.value("a").as_deref(), Some("\u{feff}"));
    assert_eq!(bench.entry("b").value, Some(json("null")));
    let nothing = import(&bench.memory, "\n \r\n").unwrap();
    assert_eq!((nothing.lines, nothing.created), (0, 0));
    let shown = r#"{"key":"c","value":1,"entryVersion":"v1_0","expiresAt":null,"flags":[{"reason":"x"}]}"#;
    assert_eq!(import(&bench.memory, shown).unwrap().created, 1, "what get prints can be imported");
}

#[test]
fn existing_keys_are_replaced_or_left_alone_and_reserved_ones_counted() {
    let bench = Bench::new();
    bench.put("old", "before");
    let created = bench.entry("old").entry.created_at;
    let text = concat!(
        "{\"key\":\"old\",\"value\":\"imported\"}\n{\"key\":\"new\",\"value\":1}\n",
        "{\"key\":\"bilinc:dream:x\",\"value\":1}\n{\"key\":\"new\",\"value\":2}\n",
    );
    let absent = ImportOptions { if_absent: true };
    let summary = bench.memory.import(text.as_bytes(), absent, &mut |_, _| {}).unwrap().answer;
    assert_eq!((summary.lines, summary.created, summary.replaced), (4, 1, 0));
    assert_eq!((summary.skipped_existing, summary.skipped_reserved), (2, 1));
    assert_eq!((bench.value("old"), bench.value("new")), (Some("before".into()), Some("1".into())));
    bench.tick();
    let summary = import(&bench.memory, text).unwrap();
    assert_eq!((summary.created, summary.replaced, summary.skipped_reserved), (0, 3, 1));
    assert_eq!((bench.value("old"), bench.value("new")), (Some("imported".into()), Some("2".into())));
    assert_eq!(bench.entry("old").entry.created_at, created);
    assert_eq!(bench.memory.history("old", 1, false).unwrap().items[0].op, ChangeOp::Update);
    let head = bench.head();
    bench.memory.import(text.as_bytes(), absent, &mut |_, _| {}).unwrap();
    assert_eq!(bench.head(), head, "an operation of nothing is not written");
    bench.assert_sound();
}

#[test]
fn times_of_the_future_are_not_kept() {
    let bench = Bench::new();
    let (past, future) = (START.plus(-DAY), START.plus(1));
    let line = |name: &str, created: &str, updated: &str| {
        format!("{{\"key\":\"{name}\",\"value\":1,\"createdAt\":\"{created}\",\"updatedAt\":\"{updated}\"}}\n")
    };
    let exact = "2025-06-01T12:00:00.123456+02:00";
    let text = line("past", &past.to_string(), &past.to_string())
        + &line("mixed", &past.to_string(), "2026-01-01T00:00:00.000001Z")
        + &line("future", "2026-01-01T00:00:00.000001Z", "9999-12-31T00:00:00Z")
        + &line("exact", exact, exact);
    import(&bench.memory, text).unwrap();
    let times = |name| (bench.entry(name).entry.created_at, bench.entry(name).entry.updated_at);
    assert_eq!(times("past"), (past, past));
    assert_eq!(times("mixed"), (past, START));
    assert_eq!(times("future"), (START, START));
    assert_eq!(times("exact").0.to_string(), "2025-06-01T10:00:00.123Z");
    assert_eq!(times("exact").0.micros() % SECOND, 123_456);
    assert!(future > START);
}

#[test]
fn operations_of_one_import_share_an_id_by_which_all_are_undone() {
    let bench = Bench::new();
    bench.put("k7", "mine");
    let lines: String = (0..2_345).map(|index| format!("{{\"key\":\"k{index}\",\"value\":{index}}}\n")).collect();
    let told = RefCell::new(Vec::new());
    let summary = bench
        .memory
        .import(lines.as_bytes(), ImportOptions::default(), &mut |done, total| told.borrow_mut().push((done, total)))
        .unwrap()
        .answer;
    assert_eq!((summary.lines, summary.created, summary.replaced), (2_345, 2_344, 1));
    assert_eq!(*told.borrow(), [0, 1_000, 2_000, 2_345].map(|done| (done, 2_345)));
    let query = LogQuery { import: Some(summary.import), limit: Some(1_000), ..LogQuery::default() };
    assert_eq!(bench.memory.log(&query).unwrap().events[0].op, "import");
    let undo = Undo { selection: Selection::Import(summary.import), dry_run: false };
    let undone = bench.memory.undo(undo).unwrap().answer.undone;
    assert_eq!((undone.restored.len(), undone.conflicts.len()), (2_345, 0));
    assert_eq!(bench.memory.status().unwrap().counts.entries(), 1);
    assert_eq!(bench.value("k7").as_deref(), Some("mine"));
    bench.assert_sound();
}

#[test]
fn an_import_repeated_after_it_stopped_half_way_goes_on_under_its_first_id() {
    let bench = Bench::new();
    let line = |index: usize| format!("{{\"key\":\"k{index}\",\"value\":{index}}}\n");
    let whole: String = (0..1_500).map(line).collect();
    let first_page: String = (0..1_000).map(line).collect();
    let keyed = bench.memory.with_idempotency_key("import");
    let first = import(&keyed, &first_page).unwrap();
    bench.tick();
    let rest = keyed.import(whole.as_bytes(), ImportOptions::default(), &mut |_, _| {}).unwrap();
    assert!(!rest.replayed);
    assert_eq!((rest.answer.import, rest.answer.created), (first.import, 1_500));
    let again = keyed.import(whole.as_bytes(), ImportOptions::default(), &mut |_, _| {}).unwrap();
    assert!(again.replayed);
    assert_eq!(again.answer, rest.answer);
    let undo = Undo { selection: Selection::Import(first.import), dry_run: true };
    assert_eq!(bench.memory.undo(undo).unwrap().answer.undone.restored.len(), 1_500);
}

#[test]
fn a_store_in_which_the_importer_has_a_session_gets_equal_entries_too() {
    let from = Bench::new();
    from.put("a", "v");
    let to = Bench::new();
    to.clock.set(from.now());
    let importer = bilinc::Actor { source: "importer".into(), session_id: Some("today".into()) };
    import(&to.memory.acting_as(importer), export(&from.memory)).unwrap();
    assert_eq!(told(&from.entry("a")), told(&to.entry("a")));
}
