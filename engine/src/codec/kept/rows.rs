//! Rows of the state.

use std::borrow::Cow;
use std::sync::Arc;

use bilinc_core::{
    DreamId, DreamRecord, DreamUndoRecord, Entry, Fingerprint, IdempotencyRecord, Json, Key, OpenFlag, Row, Seq, Slot,
    SnapshotId, SnapshotRecord, Timestamp, Version,
};
use bincode::enc::write::Writer;
use bincode::error::EncodeError;
use bincode::{BorrowDecode, Encode};

use super::super::config;
use super::super::v1::{DreamStartedV1, FactsV1, FlagV1, List};
use super::quick;

#[derive(Encode, BorrowDecode)]
enum RowWire<'a> {
    Stand { head: u64, last_time: Option<i64>, recorded_bytes: u64, purged_bytes: u64 },
    Dream(DreamWire<'a>),
    Snapshot(SnapshotWire<'a>),
    Remembered { name: &'a str, at: i64, record: Option<RememberedWire> },
    UnfinishedPurge { seq: u64, bodies: List<u64> },
    Track { key: &'a str, base: u64, own: List<([u8; 16], u64)>, looked: List<[u8; 16]> },
    Slot(&'a str, SlotWire<'a>),
    Losses { events: List<(u64, u64)>, bodies: List<u64> },
}

#[derive(Encode, BorrowDecode)]
struct DreamWire<'a> {
    started: u64,
    started_at: i64,
    start: DreamStartedV1<'a>,
    pages: List<u64>,
    own: List<u64>,
    last_page_at: Option<i64>,
    finished: Option<u64>,
    finished_at: Option<i64>,
    forgets: u32,
    undo: Option<UndoWire>,
}

#[derive(Encode, BorrowDecode)]
struct UndoWire {
    summary: u64,
    first: u64,
    count: u32,
    at: i64,
    partly: bool,
}

#[derive(Encode, BorrowDecode)]
struct SnapshotWire<'a> {
    id: [u8; 16],
    seq: u64,
    at: i64,
    label: Option<&'a str>,
    metadata: Option<&'a str>,
    by_type: [u64; 5],
}

#[derive(Encode, BorrowDecode)]
struct RememberedWire {
    fingerprint: Option<[u8; 32]>,
    first: u64,
    count: u32,
    at: i64,
}

#[derive(Encode, BorrowDecode)]
struct SlotWire<'a> {
    head: u64,
    changed: u64,
    changed_at: i64,
    hidden_through: u64,
    purged_through: u64,
    lost_at: u64,
    entry: Option<EntryWire<'a>>,
}

#[derive(Encode, BorrowDecode)]
struct EntryWire<'a> {
    facts: FactsV1<'a>,
    created_at: i64,
    updated_at: i64,
    confirmed_at: Option<i64>,
    version: [u8; 16],
    value_at: u64,
    metadata_at: u64,
    value_bytes: u32,
    metadata_bytes: u32,
    flags: List<FlagV1<'a>>,
    incomplete: bool,
}

struct Bytes<'a>(&'a mut Vec<u8>);

impl Writer for Bytes<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// Appends a row.
pub(crate) fn encode_row(row: &Row<'_>, out: &mut Vec<u8>) -> Result<(), String> {
    bincode::encode_into_writer(RowWire::of(row), Bytes(out), config()).map_err(|error| error.to_string())
}

/// Decodes rows, and what one slot after another has in common once.
#[derive(Debug, Default)]
pub(crate) struct RowDecoder {
    names: quick::Names,
}

impl RowDecoder {
    /// Hands over the rows that take up all the bytes, those of keys to `take_slot`; says how many there were.
    pub(crate) fn decode(
        &mut self,
        bytes: &[u8],
        take: &mut dyn FnMut(Row<'static>),
        mut take_slot: impl FnMut(Key, Slot),
    ) -> Result<u64, String> {
        let (mut rest, mut rows) = (bytes, 0_u64);
        while !rest.is_empty() {
            match quick::slot(&mut rest, &mut self.names) {
                Some((key, slot)) => take_slot(key, slot),
                None => match next_row(&mut rest)? {
                    Row::Slot(key, slot) => take_slot(key.into_owned(), slot.into_owned()),
                    row => take(row),
                },
            }
            rows = rows.saturating_add(1);
        }
        Ok(rows)
    }
}

/// The next row, read in the general way.
pub(super) fn next_row(rest: &mut &[u8]) -> Result<Row<'static>, String> {
    let (wire, used): (RowWire<'_>, usize) =
        bincode::borrow_decode_from_slice(rest, config()).map_err(|error| error.to_string())?;
    *rest = rest.get(used..).filter(|_| used > 0).ok_or("a row without bytes")?;
    wire.into_row()
}

fn number(seq: &Seq) -> u64 {
    seq.get()
}

fn numbers(seqs: &[Seq]) -> List<u64> {
    seqs.iter().map(number).collect()
}

fn seqs(numbers: &[u64]) -> Vec<Seq> {
    numbers.iter().copied().map(Seq::new).collect()
}

fn bits(dream: &DreamId) -> [u8; 16] {
    dream.as_u128().to_be_bytes()
}

fn dream(bits: [u8; 16]) -> DreamId {
    DreamId::from_u128(u128::from_be_bytes(bits))
}

fn time(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

impl<'a> RowWire<'a> {
    fn of(row: &'a Row<'_>) -> Self {
        match row {
            Row::Stand { head, last_time, recorded_bytes, purged_bytes } => Self::Stand {
                head: head.get(),
                last_time: last_time.map(Timestamp::micros),
                recorded_bytes: *recorded_bytes,
                purged_bytes: *purged_bytes,
            },
            Row::Dream(record) => Self::Dream(DreamWire::of(record)),
            Row::Snapshot(record) => Self::Snapshot(SnapshotWire::of(record)),
            Row::Remembered { name, at, record } => Self::Remembered {
                name,
                at: at.micros(),
                record: record.map(|record| RememberedWire {
                    fingerprint: record.fingerprint.map(|fingerprint| fingerprint.0),
                    first: record.first.get(),
                    count: record.count,
                    at: record.at.micros(),
                }),
            },
            Row::UnfinishedPurge { seq, bodies } => Self::UnfinishedPurge { seq: seq.get(), bodies: numbers(bodies) },
            Row::Losses { events, bodies } => Self::Losses {
                events: events.iter().map(|(first, last)| (first.get(), last.get())).collect(),
                bodies: numbers(bodies),
            },
            Row::Track { key, base, own, looked } => Self::Track {
                key: key.as_str(),
                base: base.get(),
                own: own.iter().map(|(dream, seq)| (bits(dream), seq.get())).collect(),
                looked: looked.iter().map(bits).collect(),
            },
            Row::Slot(key, slot) => Self::Slot(key.as_str(), SlotWire::of(slot)),
        }
    }

    fn into_row(self) -> Result<Row<'static>, String> {
        Ok(match self {
            Self::Stand { head, last_time, recorded_bytes, purged_bytes } => {
                Row::Stand { head: Seq::new(head), last_time: last_time.map(time), recorded_bytes, purged_bytes }
            }
            Self::Dream(wire) => Row::Dream(Cow::Owned(wire.into_record())),
            Self::Snapshot(wire) => Row::Snapshot(Cow::Owned(wire.into_record())),
            Self::Remembered { name, at, record } => Row::Remembered {
                name: Arc::from(name),
                at: time(at),
                record: record.map(|record| IdempotencyRecord {
                    fingerprint: record.fingerprint.map(Fingerprint),
                    first: Seq::new(record.first),
                    count: record.count,
                    at: time(record.at),
                }),
            },
            Self::UnfinishedPurge { seq, bodies } => {
                Row::UnfinishedPurge { seq: Seq::new(seq), bodies: Cow::Owned(seqs(&bodies)) }
            }
            Self::Losses { events, bodies } => Row::Losses {
                events: events.into_iter().map(|(first, last)| (Seq::new(first), Seq::new(last))).collect(),
                bodies: seqs(&bodies),
            },
            Self::Track { key, base, own, looked } => Row::Track {
                key: Cow::Owned(Key::from_recorded(key)),
                base: Seq::new(base),
                own: own.into_iter().map(|(bits, seq)| (dream(bits), Seq::new(seq))).collect(),
                looked: looked.into_iter().map(dream).collect(),
            },
            Self::Slot(key, slot) => Row::Slot(Cow::Owned(Key::from_recorded(key)), Cow::Owned(slot.into_slot()?)),
        })
    }
}

impl<'a> DreamWire<'a> {
    fn of(record: &'a DreamRecord) -> Self {
        Self {
            started: record.started.get(),
            started_at: record.started_at.micros(),
            start: DreamStartedV1::from(record.start.as_ref()),
            pages: numbers(&record.pages),
            own: numbers(&record.own),
            last_page_at: record.last_page_at.map(Timestamp::micros),
            finished: record.finished.map(Seq::get),
            finished_at: record.finished_at.map(Timestamp::micros),
            forgets: record.forgets,
            undo: record.undo.map(|undo| UndoWire {
                summary: undo.summary.get(),
                first: undo.first.get(),
                count: undo.count,
                at: undo.at.micros(),
                partly: undo.partly,
            }),
        }
    }

    fn into_record(self) -> DreamRecord {
        DreamRecord {
            started: Seq::new(self.started),
            started_at: time(self.started_at),
            start: Arc::new(self.start.into()),
            pages: seqs(&self.pages),
            own: seqs(&self.own),
            last_page_at: self.last_page_at.map(time),
            finished: self.finished.map(Seq::new),
            finished_at: self.finished_at.map(time),
            forgets: self.forgets,
            undo: self.undo.map(|undo| DreamUndoRecord {
                summary: Seq::new(undo.summary),
                first: Seq::new(undo.first),
                count: undo.count,
                at: time(undo.at),
                partly: undo.partly,
            }),
        }
    }
}

impl<'a> SnapshotWire<'a> {
    fn of(record: &'a SnapshotRecord) -> Self {
        Self {
            id: record.id.as_u128().to_be_bytes(),
            seq: record.seq.get(),
            at: record.at.micros(),
            label: record.label.as_deref(),
            metadata: record.metadata.as_ref().map(Json::as_str),
            by_type: record.by_type,
        }
    }

    fn into_record(self) -> SnapshotRecord {
        SnapshotRecord {
            id: SnapshotId::from_u128(u128::from_be_bytes(self.id)),
            seq: Seq::new(self.seq),
            at: time(self.at),
            label: self.label.map(Arc::from),
            metadata: self.metadata.map(Json::from_recorded),
            by_type: self.by_type,
        }
    }
}

impl<'a> SlotWire<'a> {
    fn of(slot: &'a Slot) -> Self {
        Self {
            head: slot.head.get(),
            changed: slot.changed.get(),
            changed_at: slot.changed_at.micros(),
            hidden_through: slot.hidden_through.get(),
            purged_through: slot.purged_through.get(),
            lost_at: slot.lost_at.get(),
            entry: slot.entry.as_ref().map(EntryWire::of),
        }
    }

    fn into_slot(self) -> Result<Slot, String> {
        Ok(Slot {
            head: Seq::new(self.head),
            changed: Seq::new(self.changed),
            changed_at: time(self.changed_at),
            hidden_through: Seq::new(self.hidden_through),
            purged_through: Seq::new(self.purged_through),
            lost_at: Seq::new(self.lost_at),
            entry: self.entry.map(EntryWire::into_entry).transpose()?,
        })
    }
}

impl<'a> EntryWire<'a> {
    fn of(entry: &'a Entry) -> Self {
        Self {
            facts: FactsV1::new(&entry.facts, None),
            created_at: entry.created_at.micros(),
            updated_at: entry.updated_at.micros(),
            confirmed_at: entry.confirmed_at.map(Timestamp::micros),
            version: entry.version.as_u128().to_be_bytes(),
            value_at: entry.value_at.get(),
            metadata_at: entry.metadata_at.get(),
            value_bytes: entry.value_bytes,
            metadata_bytes: entry.metadata_bytes,
            flags: entry.flags.iter().map(FlagV1::from).collect(),
            incomplete: entry.incomplete,
        }
    }

    fn into_entry(self) -> Result<Entry, String> {
        Ok(Entry {
            facts: self.facts.into_facts(None)?,
            created_at: time(self.created_at),
            updated_at: time(self.updated_at),
            confirmed_at: self.confirmed_at.map(time),
            version: Version::from_u128(u128::from_be_bytes(self.version)),
            value_at: Seq::new(self.value_at),
            metadata_at: Seq::new(self.metadata_at),
            value_bytes: self.value_bytes,
            metadata_bytes: self.metadata_bytes,
            flags: self.flags.into_iter().map(OpenFlag::from).collect(),
            incomplete: self.incomplete,
        })
    }
}
