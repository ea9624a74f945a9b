//! What is stored: seeded, random, and the same in every run.
//!
//! A value is a JSON text of 200 bytes made of words. Few words are common and many are rare, as in a language,
//! so that a recall has middling words to look for.

use std::sync::LazyLock;

use bilinc::{Actor, Commit, Key};
use bilinc_core::Json;
use serde::{Deserialize, Serialize};

use crate::Outcome;

/// Bytes of a value.
pub(crate) const VALUE_BYTES: usize = 200;
/// Words of the vocabulary.
const WORDS: u64 = 20_000;

/// Who writes in every benchmark.
pub(crate) fn actor() -> Actor {
    Actor { source: "bench-agent".into(), session_id: Some("session-1".into()) }
}

/// Random numbers (SplitMix64): one line, seeded, good enough to scatter keys and words.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// Numbers of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The next number below a limit.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// A rank of the vocabulary: each rank about as often as its inverse.
    fn rank(&mut self) -> u64 {
        let uniform = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((WORDS as f64).powf(uniform) - 1.0) as u64
    }
}

/// The key of a number: numbers in order give keys in no order.
pub(crate) fn key_text(number: u64) -> String {
    let hash = Random::new(number ^ 0x5eed).next();
    format!("area{}.topic.{:016x}", hash % 16, hash)
}

/// The same as a key.
pub(crate) fn key(number: u64) -> Outcome<Key> {
    Ok(Key::new(&key_text(number))?)
}

/// The word of a rank: three syllables, and each second word is another one with an ending, so that words have
/// relatives as in a language.
pub(crate) fn word(rank: u64) -> String {
    const SYLLABLES: [&str; 32] = [
        "ba", "ko", "ri", "mun", "tel", "sa", "vor", "pi", "du", "len", "ga", "shi", "to", "ner", "fa", "lo", "mi",
        "ter", "zu", "ka", "bel", "no", "ra", "di", "su", "wen", "po", "hal", "ju", "ki", "ve", "man",
    ];
    const ENDINGS: [&str; 4] = ["s", "ing", "ed", "er"];
    // An odd factor gives each its own, scattered over all there are.
    let scattered = (rank / 2).wrapping_mul(20_077) % 32_768;
    let mut word = String::new();
    for place in [scattered / 1_024, scattered / 32, scattered] {
        word.push_str(SYLLABLES.get((place % 32) as usize).copied().unwrap_or_default());
    }
    if rank % 2 == 1 {
        word.push_str(ENDINGS.get((scattered % 4) as usize).copied().unwrap_or_default());
    }
    word
}

/// The value of an entry in one of its versions.
pub(crate) fn value_text(number: u64, version: u64) -> String {
    value_with(number, version, "")
}

/// The same, beginning with a word of the caller's.
pub(crate) fn value_with(number: u64, version: u64, first: &str) -> String {
    let mut random = Random::new(number.wrapping_mul(31).wrapping_add(version) ^ 0xda7a);
    let mut text = format!("{{\"id\":{},\"text\":\"{first}", number % 1_000_000);
    while text.len() < VALUE_BYTES - 2 {
        text.push(' ');
        text.push_str(&word(random.rank()));
    }
    text.truncate(VALUE_BYTES - 2);
    text.push_str("\"}");
    text
}

/// The same as JSON.
pub(crate) fn value(number: u64, version: u64) -> Outcome<Json> {
    Ok(Json::parse(&value_text(number, version), bilinc_core::limits::VALUE_BYTES)?)
}

/// A commit of an entry in one of its versions.
pub(crate) fn commit(number: u64, version: u64) -> Outcome<Commit> {
    Ok(Commit::new(key(number)?, value(number, version)?))
}

/// Values that are there before a clock runs: making one takes microseconds.
static PREPARED: LazyLock<Vec<Json>> =
    LazyLock::new(|| (0..1_024).filter_map(|number| value(number, 0).ok()).collect());

/// A commit of an entry with one of a thousand values, for where each microsecond counts.
pub(crate) fn prepared_commit(number: u64) -> Outcome<Commit> {
    let value = PREPARED.get(number as usize % PREPARED.len().max(1)).ok_or("no values were prepared")?;
    Ok(Commit::new(key(number)?, value.clone()))
}

/// What the anchors write and read for one event: the same facts as an event of the product, plainly.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Its position.
    pub(crate) seq: u64,
    /// The event of the same key before.
    pub(crate) prev: u64,
    /// When.
    pub(crate) at: i64,
    /// The operation's id.
    pub(crate) operation: u128,
    /// What happened.
    pub(crate) kind: u8,
    /// By whom.
    pub(crate) source: String,
    /// In which session.
    pub(crate) session: Option<String>,
    /// The key.
    pub(crate) key: String,
    /// Whether the entry is new.
    pub(crate) created: bool,
    /// What kind of memory.
    pub(crate) memory_type: u8,
    /// 0.0 to 1.0.
    pub(crate) importance: f64,
    /// The entry's version.
    pub(crate) version: u128,
    /// The value as JSON text.
    pub(crate) value: String,
}

impl Record {
    /// The event that commits an entry in one of its versions.
    pub(crate) fn new(number: u64, version: u64) -> Self {
        let mut random = Random::new(number ^ version << 32);
        Self {
            seq: number,
            prev: 0,
            at: 1_780_000_000_000_000 + number as i64,
            operation: u128::from(random.next()) << 64 | u128::from(random.next()),
            kind: 0,
            source: "bench-agent".to_owned(),
            session: Some("session-1".to_owned()),
            key: key_text(number),
            created: version == 0,
            memory_type: 0,
            importance: 0.5,
            version: u128::from(random.next()) << 64 | u128::from(random.next()),
            value: value_text(number, version),
        }
    }

    /// Its bytes, as bincode 1 makes them.
    pub(crate) fn bytes(&self) -> Outcome<Vec<u8>> {
        Ok(bincode1::serialize(self)?)
    }
}
