//! Every limit of the domain, with its unit.

use crate::time::Timestamp;

/// Longest key, in Unicode scalar values.
pub const KEY_CHARS: usize = 512;
/// Largest value, in bytes of compact JSON.
pub const VALUE_BYTES: usize = 1024 * 1024;
/// Deepest nesting of a JSON text, in levels.
pub const JSON_DEPTH: usize = 100;
/// Largest metadata object, in bytes of compact JSON.
pub const METADATA_BYTES: usize = 64 * 1024;
/// Longest source and session id, in Unicode scalar values.
pub const SOURCE_CHARS: usize = 256;
/// Longest reason, in Unicode scalar values.
pub const REASON_CHARS: usize = 512;
/// Longest snapshot label, in Unicode scalar values.
pub const LABEL_CHARS: usize = 256;
/// Longest idempotency key, in Unicode scalar values.
pub const IDEMPOTENCY_KEY_CHARS: usize = 256;
/// How long an idempotency key is remembered, in microseconds (24 hours).
pub const IDEMPOTENCY_MICROS: i64 = 24 * Timestamp::HOUR;
/// Most evidence keys, and most keys folded into one, that an action or a flag may name.
pub const EVIDENCE_KEYS: usize = 50;
/// Most open flags of one entry: past that, a person should look before more are set.
pub const OPEN_FLAGS: usize = 100;
/// Most candidates of one dream.
pub const DREAM_CANDIDATES: u32 = 200;
/// Up to this number a dream start counts exactly how many more entries matched.
pub const DREAM_MORE_EXACT: u64 = 10_000;
/// Most actions on one page of a dream.
pub const PAGE_ACTIONS: usize = 25;
/// Most actions in one `dream_apply` call.
pub const APPLY_ACTIONS: usize = 1_000;
/// Share of its candidates that a dream may forget, in percent, rounded down.
pub const FORGET_PERCENT: u32 = 30;
/// Most entries that a dream may forget.
pub const FORGET_MOST: u32 = 20;
/// Largest report of a dream, in bytes of compact JSON.
pub const REPORT_BYTES: usize = 64 * 1024;
/// How long a dream takes actions after its start, and how long it can be undone after its last
/// page, in microseconds (7 days).
pub const DREAM_MICROS: i64 = 7 * 24 * Timestamp::HOUR;
/// Days of the undo window, as surfaces show it.
pub const UNDO_WINDOW_DAYS: u32 = 7;
/// Most entries in one operation of an import.
pub const IMPORT_ENTRIES: usize = 1_000;
/// Most positions that one undo may name singly.
pub const UNDO_SEQS: usize = 10_000;
/// A recorded time may lie this far ahead of the clock and still hold later times back, in
/// microseconds (25 hours); beyond it, it is taken for a clock that was wrong.
pub const CLOCK_AHEAD_MICROS: i64 = 25 * Timestamp::HOUR;
/// How long the token of a rollback preview is good, in microseconds (15 minutes).
pub const CONFIRMATION_MICROS: i64 = Timestamp::HOUR / 4;
