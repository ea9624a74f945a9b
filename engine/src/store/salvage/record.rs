//! The events that a salvage writes.

use std::sync::Arc;

use bilinc_core::{
    Actor, Event, Lost, LostRange, Operation, OperationId, OperationKind, RecordedEvent, Salvaged, Seq, Timestamp,
    recorded_time,
};

use super::{Examined, Missing, Recorder};
use crate::answer::{ChainHash, Head};
use crate::codec;
use crate::error::EngineError;
use crate::log::FrameDraft;
use crate::log::salvage::{Repair, Survey};

/// A frame holds no more lost positions, and no more bytes of their keys, than can be read at once.
const LOST_EVENTS: u64 = 16_384;
const LOST_KEY_BYTES: usize = 4 * 1024 * 1024;
/// An event names no more of each kind; where there are more, another one follows.
const NAMED_RANGES: usize = 16_384;
const NAMED_POSITIONS: usize = 262_144;
/// How much of what was found is kept in words.
const DAMAGE_LINES: usize = 256;

impl Examined {
    /// What is to be written.
    pub(crate) fn repair(&self, survey: &Survey, recorder: &Recorder) -> Result<Repair, EngineError> {
        let id = recorder.ids.next_id();
        let mut repair = Repair {
            id: format!("{id:032x}"),
            zeroed: self.zeroed.clone(),
            unproven: self.unproven.clone(),
            end: self.end,
            purged: self.purged.clone(),
            ..Repair::default()
        };
        for missing in &self.missing {
            repair.fillers.insert(missing.first, self.fillers(missing, recorder)?);
        }
        repair.summary = self.summary(survey, recorder, OperationId::from_u128(id))?;
        Ok(repair)
    }

    fn fillers(&self, missing: &Missing, recorder: &Recorder) -> Result<Vec<FrameDraft>, EngineError> {
        let mut drafts = Vec::new();
        // Between its neighbours in time, too: "as of" a moment means the same as before.
        let time = missing.time.map_or_else(|| recorder.now(), Timestamp::from_micros);
        let mut first = missing.first;
        while first <= missing.last {
            let mut last = first.saturating_add(LOST_EVENTS).saturating_sub(1).min(missing.last);
            let mut bytes = 0;
            for (seq, (key, _)) in self.links.range(first..=last) {
                bytes += key.as_str().len();
                if bytes > LOST_KEY_BYTES && *seq > first {
                    last = seq.saturating_sub(1);
                    break;
                }
            }
            let id = OperationId::from_u128(recorder.ids.next_id());
            let events = (first..=last).map(|seq| {
                let link = self.links.get(&seq);
                let prev = link.map_or(0, |(_, before)| *before);
                (Seq::new(prev), Event::Lost(Lost { key: link.map(|(key, _)| key.clone()) }))
            });
            drafts.push(draft(id, (time, false), first, events.collect())?);
            first = last.saturating_add(1);
        }
        Ok(drafts)
    }

    fn summary(&self, survey: &Survey, recorder: &Recorder, id: OperationId) -> Result<Vec<FrameDraft>, EngineError> {
        let mut lost: Vec<LostRange> = self.missing.iter().map(range_of).collect();
        lost.extend(self.unrecorded.iter().map(|(first, last)| LostRange {
            first: Seq::new(*first),
            last: Seq::new(*last),
            bytes: 0,
            reason: "lost earlier, and the record of that with it".into(),
        }));
        lost.sort_by_key(|range| range.first);
        let before = self.before(survey);
        let head = before.seq.get();
        let damage: Vec<Arc<str>> = self.damage(survey).into_iter().take(DAMAGE_LINES).map(Arc::from).collect();
        let mut rest = Salvaged {
            lost,
            bodies: self.bodies.keys().copied().map(Seq::new).collect(),
            unproven: self.unproven.iter().copied().map(Seq::new).collect(),
            damage,
            head: before.seq,
            chain: before.chain.0,
        };
        let (mut drafts, mut next, mut id) = (Vec::new(), head.saturating_add(1), id);
        loop {
            let more = Salvaged {
                lost: rest.lost.split_off(rest.lost.len().min(NAMED_RANGES)),
                bodies: rest.bodies.split_off(rest.bodies.len().min(NAMED_POSITIONS)),
                unproven: rest.unproven.split_off(rest.unproven.len().min(NAMED_POSITIONS)),
                damage: Vec::new(),
                ..rest
            };
            let time = recorded_time(recorder.now(), self.last_time.map(Timestamp::from_micros));
            drafts.push(draft(id, time, next, vec![(Seq::ZERO, Event::Salvaged(rest))])?);
            if more.lost.is_empty() && more.bodies.is_empty() && more.unproven.is_empty() {
                return Ok(drafts);
            }
            (rest, next, id) = (more, next.saturating_add(1), OperationId::from_u128(recorder.ids.next_id()));
        }
    }

    /// Where the log stood. Its chain is known by the mark or by the last frame; it is zeros where neither is
    /// left.
    pub(crate) fn before(&self, survey: &Survey) -> Head {
        let head = self.end.unwrap_or_else(|| survey.end());
        let marked = survey.mark.iter().flat_map(|mark| [&mark.visible, &mark.synced]);
        let marked = marked.map(|end| (end.seq, end.chain));
        let chain = marked.chain(self.chain).find(|(seq, _)| *seq == head).map_or([0; 32], |(_, chain)| chain);
        Head { seq: Seq::new(head), chain: ChainHash(chain) }
    }
}

fn range_of(missing: &Missing) -> LostRange {
    LostRange {
        first: Seq::new(missing.first),
        last: Seq::new(missing.last),
        bytes: missing.bytes,
        reason: missing.reason.as_str().into(),
    }
}

fn draft(
    id: OperationId,
    (at, clock_back): (Timestamp, bool),
    first: u64,
    events: Vec<(Seq, Event)>,
) -> Result<FrameDraft, EngineError> {
    let operation = Arc::new(Operation {
        id,
        at,
        clock_back,
        actor: Actor::default(),
        kind: OperationKind::Salvage,
        idempotency: None,
        first: Seq::new(first),
        count: u32::try_from(events.len()).unwrap_or(u32::MAX),
    });
    let recorded = (first..).zip(events).map(|(seq, (prev, event))| RecordedEvent {
        seq: Seq::new(seq),
        prev,
        operation: Arc::clone(&operation),
        event,
        body: None,
    });
    codec::encode(&recorded.collect::<Vec<_>>())
}
