//! What is asked of a store, and the answers in words.

use bilinc::{At, DiffQuery, DreamId, Error, ListQuery, LogQuery, Memory, Order, RecallQuery, Seq, Values};

use super::story::KEYS;
use crate::support::*;

/// An answer in words; or the code and the words of the refusal.
pub(super) type Answer = Result<String, (&'static str, String)>;

/// Questions by name, with their answers.
pub(super) type Answers = Vec<(String, Answer)>;

fn told<T: std::fmt::Debug>(answer: Result<T, Error>) -> Answer {
    answer.map(|answer| format!("{answer:?}")).map_err(|error| (error.code(), error.to_string()))
}

/// Everything that reads; the proof comes last, since it stops writing when it finds something.
pub(super) fn all(memory: &Memory, dream: DreamId) -> Answers {
    some(memory, dream, &mut |_| true)
}

/// Those reads that are `wanted`, by their number; the proof has 0.
pub(super) fn some(memory: &Memory, dream: DreamId, wanted: &mut dyn FnMut(usize) -> bool) -> Answers {
    let mut answers = Vec::new();
    let mut number = 0;
    let mut ask = |name: String, answer: &dyn Fn() -> Answer| {
        number += 1;
        if wanted(if name == "verify" { 0 } else { number }) {
            answers.push((name, answer()));
        }
    };
    for name in KEYS {
        ask(format!("get {name}"), &|| told(memory.get(name)));
    }
    for name in ["a", "b", "i1", "erased"] {
        ask(format!("history {name}"), &|| told(memory.history(name, 100, true)));
    }
    ask("get a at 1".into(), &|| told(memory.get_at("a", At::Position(Seq::new(1)))));
    ask("get b then".into(), &|| told(memory.get_at("b", At::Time(START.plus(2 * SECOND)))));
    let full = ListQuery::default();
    ask("list".into(), &|| told(memory.list(&full)));
    let without = ListQuery { values: Values::None, order: Order::Newest, ..ListQuery::default() };
    ask("list none".into(), &|| told(memory.list(&without)));
    ask("recall".into(), &|| told(memory.recall(&RecallQuery::new("value"))));
    let then = RecallQuery { query_timestamp: Some(START.plus(3 * SECOND)), ..RecallQuery::new("value") };
    ask("recall then".into(), &|| told(memory.recall(&then)));
    let log = LogQuery { oldest_first: true, include_values: true, limit: Some(100), ..LogQuery::default() };
    ask("log".into(), &|| told(memory.log(&log)));
    let of_b = LogQuery { key: Some(key("b")), ..log.clone() };
    ask("log of b".into(), &|| told(memory.log(&of_b)));
    ask("export".into(), &|| {
        let mut text = Vec::new();
        let exported = memory.export(&mut text, &mut |_, _| {});
        told(exported.map(|count| (count, String::from_utf8(text).unwrap())))
    });
    let diff = DiffQuery { from: At::Position(Seq::new(2)), to: At::Now, include_values: true, limit: 100 };
    ask("diff".into(), &|| told(memory.diff(&diff)));
    ask("dreams".into(), &|| told(memory.dreams(10)));
    ask("dream".into(), &|| told(memory.dream(dream)));
    ask("snapshots".into(), &|| told(memory.snapshots(10)));
    let status = memory.status().unwrap();
    ask("status".into(), &|| Ok(format!("{:?} {} {:?}", status.counts, status.snapshots, status.dreams)));
    ask("verify".into(), &|| {
        let proof = memory.verify(&mut |_, _| {});
        // How many segments hold them may differ.
        told(proof.map(|proof| (proof.head, proof.operations, proof.bodies, proof.erased_bodies, proof.state_equal)))
    });
    answers
}

/// The last position that reads show.
pub(super) fn shown_through(memory: &Memory) -> u64 {
    let newest = memory.log(&LogQuery { limit: Some(1), ..LogQuery::default() }).unwrap();
    newest.events.first().map_or(0, |event| event.seq.get())
}
