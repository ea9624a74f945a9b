//! Events about what damage of the log has taken.

use std::sync::Arc;

use bilinc_core::{Key, Lost, LostRange, Salvaged, Seq};
use bincode::{BorrowDecode, Encode};

use super::list::List;
use super::{numbers, seqs};

#[derive(Encode, BorrowDecode)]
pub(super) struct LostV1<'a> {
    key: Option<&'a str>,
}

impl<'a> From<&'a Lost> for LostV1<'a> {
    fn from(event: &'a Lost) -> Self {
        Self { key: event.key.as_ref().map(Key::as_str) }
    }
}

impl From<LostV1<'_>> for Lost {
    fn from(event: LostV1<'_>) -> Self {
        Self { key: event.key.map(Key::from_recorded) }
    }
}

#[derive(Encode, BorrowDecode)]
struct LostRangeV1<'a> {
    first: u64,
    last: u64,
    bytes: u64,
    reason: &'a str,
}

#[derive(Encode, BorrowDecode)]
pub(super) struct SalvagedV1<'a> {
    lost: List<LostRangeV1<'a>>,
    bodies: List<u64>,
    unproven: List<u64>,
    damage: List<&'a str>,
    head: u64,
    chain: [u8; 32],
}

impl<'a> From<&'a Salvaged> for SalvagedV1<'a> {
    fn from(event: &'a Salvaged) -> Self {
        let range = |range: &'a LostRange| LostRangeV1 {
            first: range.first.get(),
            last: range.last.get(),
            bytes: range.bytes,
            reason: &range.reason,
        };
        Self {
            lost: event.lost.iter().map(range).collect(),
            bodies: numbers(&event.bodies),
            unproven: numbers(&event.unproven),
            damage: event.damage.iter().map(|text| &**text).collect(),
            head: event.head.get(),
            chain: event.chain,
        }
    }
}

impl From<SalvagedV1<'_>> for Salvaged {
    fn from(event: SalvagedV1<'_>) -> Self {
        let range = |range: LostRangeV1<'_>| LostRange {
            first: Seq::new(range.first),
            last: Seq::new(range.last),
            bytes: range.bytes,
            reason: range.reason.into(),
        };
        Self {
            lost: event.lost.into_iter().map(range).collect(),
            bodies: seqs(&event.bodies),
            unproven: seqs(&event.unproven),
            damage: event.damage.into_iter().map(Arc::from).collect(),
            head: Seq::new(event.head),
            chain: event.chain,
        }
    }
}
