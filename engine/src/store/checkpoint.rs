//! Opening from checkpoints, and keeping them.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use bilinc_core::{Row, Seq, SharedNames, SlotBlock, SlotBlocks, State, StateRows, Timestamp};
use bilinc_projections::recall::Recall;

use super::indexing::side_by_side;
use super::{Published, Store};
use crate::checkpoint::{Beside, Checkpoints, Decode, Held, Kept};
use crate::codec::kept::{Manifest, RowDecoder, decode_places, encode_places, encode_row};
use crate::error::EngineError;
use crate::log::{Damage, End, KeptIndex, LogError};
use crate::storage::Storage;

/// Who cannot have the lock for so long makes the fold anew instead.
pub(super) const LOAD_WAIT: Duration = Duration::from_millis(100);

/// Where frames lie is kept, too, so that the first reads need not walk through segments.
const PLACES: &str = "places";
const PLACES_VERSION: u32 = 1;

/// So many rows are decoded sooner than a thread begins.
const FEW_ROWS: u64 = 2_000;

/// A row of a key takes more bytes than this.
const SHORTEST_ROW_BYTES: u64 = 16;

impl Store {
    fn kept_state(&self) -> Kept {
        Kept { name: State::NAME, version: State::VERSION, store_id: self.log.store_id() }
    }

    fn kept_places(&self) -> Kept {
        Kept { name: PLACES, version: PLACES_VERSION, store_id: self.log.store_id() }
    }

    fn kept_recall(&self) -> Kept {
        Kept { name: Recall::NAME, version: Recall::VERSION, store_id: self.log.store_id() }
    }

    /// Begins with the state that a checkpoint holds, where there is one that fits this log. One that is
    /// sound and names what the log does not reach is damage: the log has lost what it held.
    pub(super) fn take_up_checkpoint(&self) -> Option<Damage> {
        if !self.keeping.is_on || !self.checkpoints.has(State::NAME) || self.log.stopped().is_some() {
            return None;
        }
        let held = self.checkpoints.hold_unless_at_work(LOAD_WAIT).ok()?;
        let manifest = held.manifest(self.kept_state())?;
        let durable = self.log.durable().ok()?.seq;
        let is_ahead = manifest.end.seq > durable;
        match (self.log.fault_at(&manifest.end).ok()?, is_ahead) {
            (None, false) => {}
            // It is there, and whoever moves the mark has not come to it yet.
            (None, true) => return None,
            (Some(_), false) => {
                held.set_aside(State::NAME);
                return None;
            }
            (Some(fault), true) => {
                let sound = self.load_state(&held, &manifest).is_some();
                let reason = format!(
                    "a checkpoint was made of the log through position {}, and the log ends at {durable}",
                    manifest.end.seq
                );
                return sound.then(|| Damage { position: durable.saturating_add(1), reason, ..fault });
            }
        }
        let (mut state, mut places) = (None, Vec::new());
        // Most of what it takes to find the places is waiting for sled.
        side_by_side(&mut || places = self.load_places(&held, &manifest), &mut || {
            state = self.load_state(&held, &manifest);
        });
        if let Some(state) = state {
            let earliest = earliest(&places, manifest.end.seq);
            for (segment, index) in places {
                self.log.take_up_index(segment, index);
            }
            self.keeping.since.store(manifest.end.seq, Ordering::Relaxed);
            self.learn_lost(state.lost_bodies());
            *self.published_mut() = Published::of(state, earliest);
        }
        None
    }

    fn load_state(&self, held: &Held<'_>, manifest: &Manifest) -> Option<State> {
        let mut rows = StateRows::new(self.hash_seed);
        // No row is shorter, so that a forged count reserves no more than its files could fill.
        let most = manifest.files.iter().map(|file| file.len).sum::<u64>() / SHORTEST_ROW_BYTES;
        rows.reserve(usize::try_from(manifest.rows.min(most)).unwrap_or(0));
        let mut decode = decoder(rows.blocks());
        let decode = Mutex::new(&mut decode as &mut Decode<'_, _>);
        let loaded = thread::scope(|scope| {
            let many = manifest.rows > FEW_ROWS;
            let mut beside = if many { Beside::start(scope, &decode) } else { Beside::without(&decode) };
            held.load(self.kept_state(), manifest, rows, |rows, pack| {
                beside.pass(pack, |unpacked: Unpacked| unpacked.push_to(rows))
            })
        });
        let state = loaded?.finish();
        let stands = state.head().get() == manifest.end.seq;
        if !stands {
            held.set_aside(State::NAME);
        }
        stands.then_some(state)
    }

    /// What was known of where frames lie when the state was kept.
    fn load_places(&self, held: &Held<'_>, state: &Manifest) -> Vec<(u64, KeptIndex)> {
        let kept = self.kept_places();
        let manifest = held.manifest(kept).filter(|manifest| manifest.end == state.end);
        let bytes = manifest.and_then(|manifest| held.load_bytes(kept, &manifest));
        bytes.and_then(|bytes| decode_places(&bytes).ok()).unwrap_or_default()
    }

    fn keep_places(&self, held: &Held<'_>, end: &End) -> Result<(), EngineError> {
        let mut bytes = Vec::new();
        for (segment, index) in self.log.index_through(end) {
            let encoded = encode_places(segment, &index);
            bytes.extend(encoded.map_err(|reason| EngineError::Unreadable { position: Seq::new(end.seq), reason })?);
        }
        let saved = held.save(self.kept_places(), end, |packer| packer.push_bytes(&bytes));
        saved.map_err(|source| failed(PLACES, source))
    }

    /// The state that the checkpoint holds, and its position; for comparing it with the log.
    pub(crate) fn kept_beside(&self) -> Option<(Seq, State)> {
        if !self.keeping.is_on || !self.checkpoints.has(State::NAME) {
            return None;
        }
        let held = self.checkpoints.hold_unless_at_work(LOAD_WAIT).ok()?;
        let manifest = held.manifest(self.kept_state())?;
        let state = self.load_state(&held, &manifest)?;
        Some((Seq::new(manifest.end.seq), state))
    }

    /// Sets the checkpoint of the state aside, which turned out not to be what the log gives.
    pub(crate) fn doubt_checkpoint(&self) {
        if let Ok(held) = self.checkpoints.hold_unless_at_work(LOAD_WAIT) {
            held.set_aside(State::NAME);
        }
    }

    /// The position of the checkpoint of the state, if one is kept.
    pub(crate) fn checkpoint_at(&self) -> Option<Seq> {
        self.checkpoints.manifest_now(self.kept_state()).map(|manifest| Seq::new(manifest.end.seq))
    }

    /// Whether nothing that is known speaks against what is published.
    pub(super) fn is_sound(&self) -> bool {
        self.damage().is_none() && self.log.stopped().is_none()
    }

    /// Keeps checkpoints of what is durable now; answers their position, none where none can be kept. Waits
    /// at most `wait` for another process that is at work on them.
    pub(crate) fn keep_checkpoint(&self, wait: Duration) -> Result<Option<Seq>, EngineError> {
        if !self.checkpoints.are_possible() || !self.is_sound() {
            return Ok(None);
        }
        let held = self.checkpoints.hold(wait)?;
        // Under the lock: a purge that is recorded later removes what is kept here.
        self.refresh()?;
        let (head, first_rows, slots) = {
            let published = self.published();
            let (head, state) = (published.head(), &published.state);
            if !head.is_some() || !state.unfinished_purges().is_empty() {
                return Ok(None);
            }
            let rows: Result<Vec<Vec<u8>>, String> = state.rows_before_slots().map(|row| encoded(&row)).collect();
            let rows = rows.map_err(|reason| EngineError::Unreadable { position: head, reason })?;
            // Writers and readers go on while these are packed.
            (head, rows, state.frozen_slots())
        };
        // A checkpoint of what a power cut takes back would later be taken for a log that lost something.
        if !self.log.is_synced_through(head.get())? {
            self.log.harden_through(head.get())?;
        }
        let end = self.log.end_at(head.get())?;
        let saved = held.save(self.kept_state(), &end, |packer| {
            for row in first_rows {
                packer.push(|out| {
                    out.extend(row);
                    Ok(())
                })?;
            }
            slots.try_each(|row| packer.push(|out| encode_row(row, out)))
        });
        saved.map_err(|source| failed(State::NAME, source))?;
        self.keeping.since.store(head.get(), Ordering::Relaxed);
        self.keep_places(&held, &end)?;
        self.keep_recall(&held)?;
        Ok(Some(head))
    }

    fn keep_recall(&self, held: &Held<'_>) -> Result<(), EngineError> {
        let kept = self.save_and_renew_recall(held);
        self.end_saving();
        kept
    }

    fn save_and_renew_recall(&self, held: &Held<'_>) -> Result<(), EngineError> {
        let Some(saved) = self.saved_recall()? else { return Ok(()) };
        if self.log.is_synced_through(saved.at.get())? {
            let end = self.log.end_at(saved.at.get())?;
            let kept = held.save(self.kept_recall(), &end, |packer| packer.push_bytes(&saved.bytes));
            kept.map_err(|source| failed(Recall::NAME, source))?;
        }
        self.renew_recall(&saved)
    }

    /// The bytes of a recall index that was kept, and the position it stands at; none past `head`.
    pub(super) fn kept_recall_through(&self, head: Seq) -> Option<(Seq, Vec<u8>)> {
        if !self.keeping.is_on || !self.checkpoints.has(Recall::NAME) {
            return None;
        }
        let held = self.checkpoints.hold_unless_at_work(LOAD_WAIT).ok()?;
        let kept = self.kept_recall();
        let manifest = held.manifest(kept)?;
        if manifest.end.seq > head.get() {
            return None;
        }
        if self.log.fault_at(&manifest.end).ok()?.is_some() {
            held.set_aside(kept.name);
            return None;
        }
        let bytes = held.load_bytes(kept, &manifest)?;
        Some((Seq::new(manifest.end.seq), bytes))
    }

    /// Sets the checkpoint of the recall index aside.
    pub(super) fn doubt_kept_recall(&self) {
        if let Ok(held) = self.checkpoints.hold_unless_at_work(LOAD_WAIT) {
            held.set_aside(Recall::NAME);
        }
    }

    /// Keeps others from making or loading checkpoints, from before a purge is recorded until they are
    /// removed: whoever makes one later has seen the purge.
    pub(super) fn hold_for_purge(&self) -> Result<Option<Held<'_>>, EngineError> {
        if !self.checkpoints.are_possible() {
            return Ok(None);
        }
        Ok(Some(self.checkpoints.hold(self.options.lock_timeout)?))
    }
}

/// The earliest recorded time of the events through a position, if the indexes of all segments tell of all of them.
fn earliest(places: &[(u64, KeptIndex)], through: u64) -> Option<Timestamp> {
    let (mut next, mut earliest) = (1, i64::MAX);
    for (segment, index) in places {
        if *segment != next {
            return None;
        }
        earliest = index.blocks.iter().fold(earliest, |earliest, block| earliest.min(block.min_time));
        next = index.next_seq;
    }
    (next.checked_sub(1) == Some(through)).then(|| Timestamp::from_micros(earliest))
}

/// What was decoded of a pack. Slots come as they are put together, so maybe with a later one.
#[derive(Default)]
struct Unpacked {
    rows: Vec<Row<'static>>,
    blocks: Vec<SlotBlock>,
    names: Option<SharedNames>,
}

impl Unpacked {
    fn push_to(self, state: &mut StateRows) {
        self.rows.into_iter().for_each(|row| state.push(row));
        self.blocks.into_iter().for_each(|block| state.push_block(block));
        self.names.into_iter().for_each(|names| state.push_names(names));
    }
}

/// Decodes packs in their order, and puts slots together.
fn decoder(blocks: SlotBlocks) -> impl FnMut(Option<&[u8]>) -> Result<(Unpacked, u64), String> + Send {
    let (mut blocks, mut decoder) = (Some(blocks), RowDecoder::default());
    move |pack| {
        let mut unpacked = Unpacked::default();
        let mut number = 0;
        if let (Some(pack), Some(blocks)) = (pack, &mut blocks) {
            let Unpacked { rows, blocks: full, .. } = &mut unpacked;
            number =
                decoder.decode(pack, &mut |row| rows.push(row), |key, slot| full.extend(blocks.push(key, slot)))?;
        } else if let Some((last, names)) = blocks.take().map(SlotBlocks::finish) {
            unpacked.blocks.push(last);
            unpacked.names = Some(names);
        }
        Ok((unpacked, number))
    }
}

/// How far the log once reached, as far as a checkpoint of the state knows; 0 when there is none, or any
/// doubt about it. Takes no lock.
pub(crate) fn kept_through(storage: &Arc<dyn Storage>, store_id: u128) -> u64 {
    let kept = Kept { name: State::NAME, version: State::VERSION, store_id };
    let checkpoints = Checkpoints::new(Arc::clone(storage), String::new());
    checkpoints.sound_manifest_now(kept).map_or(0, |manifest| manifest.end.seq)
}

fn encoded(row: &Row<'_>) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    encode_row(row, &mut out)?;
    Ok(out)
}

fn failed(name: &'static str, source: std::io::Error) -> EngineError {
    LogError::Io { path: format!("checkpoints/{name}"), doing: "keep a checkpoint", source }.into()
}
