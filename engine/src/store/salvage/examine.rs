//! Reading what is whole of a damaged log.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bilinc_core::{Event, Key, RecordedEvent, Seq};

use crate::answer::Kept;
use crate::codec::{self, Bodies, CODEC_V1};
use crate::error::EngineError;
use crate::log::salvage::{Gap, Part, Run, Survey};
use crate::log::{BodyState, ChainHash, Frame, LogError, link_of};

/// Positions of which nothing is left, or nothing that can be read.
#[derive(Debug, Clone)]
pub(crate) struct Missing {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) bytes: u64,
    pub(crate) reason: String,
    /// The time of the operation before it.
    pub(super) time: Option<i64>,
}

/// A body that is not there as it was recorded.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) key: Option<Key>,
    pub(crate) reason: String,
    /// Whether it is all zeros.
    zeroed: bool,
}

/// What is whole of a damaged log, and what that says of the rest.
#[derive(Debug, Default)]
pub(crate) struct Examined {
    pub(crate) kept: Kept,
    pub(crate) missing: Vec<Missing>,
    /// Lost positions that a later event of a key names, with that key and its event before.
    pub(crate) links: BTreeMap<u64, (Key, u64)>,
    /// Bodies that are lost.
    pub(crate) bodies: BTreeMap<u64, Body>,
    pub(crate) unproven: BTreeSet<u64>,
    /// Frames that pass their checksums and are no events.
    pub(super) unreadable: BTreeSet<u64>,
    /// Bodies to write as zeros: lost ones, and those that are being erased.
    pub(super) zeroed: BTreeSet<u64>,
    /// Purged bodies that are not all zeros although their purge was finished: source, offset, length.
    pub(crate) purged: Vec<(usize, u64, u64)>,
    /// The last position to keep, when an interrupted write lies behind it.
    pub(super) end: Option<u64>,
    /// Lost events that no record of a salvage names any more.
    pub(super) unrecorded: Vec<(u64, u64)>,
    pub(super) last_time: Option<i64>,
    /// The chain behind the last whole frame, and its last position.
    pub(super) chain: Option<(u64, ChainHash)>,
}

/// What is only of use on the way.
#[derive(Debug, Default)]
struct Walk {
    found: Examined,
    heads: HashMap<Key, u64>,
    damaged: BTreeMap<u64, Body>,
    /// Bodies that purges name, with whether a purge that does was finished.
    named: BTreeMap<u64, bool>,
    purges: HashMap<Seq, Vec<Seq>>,
    recorded_bodies: BTreeSet<u64>,
    recorded_events: BTreeMap<u64, u64>,
    lost_events: Vec<(u64, u64)>,
}

impl Examined {
    pub(crate) fn of(survey: &Survey) -> Result<Self, EngineError> {
        let mut walk = Walk::default();
        for part in &survey.parts {
            match part {
                Part::Gap(gap) => walk.gap(survey, gap),
                Part::Run(run) => {
                    let ended = !survey.frames(run, &mut |frame| walk.frame(survey, frame))?;
                    if ended {
                        break;
                    }
                }
            }
        }
        walk.judge(survey)
    }

    /// What is damaged, in words.
    pub(crate) fn damage(&self, survey: &Survey) -> Vec<String> {
        let mut damage: Vec<String> = survey.loose.iter().map(ToString::to_string).collect();
        damage.extend(survey.faults.iter().map(|fault| survey.damage_of(fault).to_string()));
        let told = |first: u64| survey.faults.iter().any(|fault| fault.position == first);
        let missing = self.missing.iter().filter(|missing| !told(missing.first));
        damage.extend(missing.map(|missing| match (missing.first, missing.last) {
            (first, last) if first == last => format!("position {first}: {}", missing.reason),
            (first, last) => format!("positions {first} to {last}: {}", missing.reason),
        }));
        damage.extend(self.bodies.iter().map(|(seq, body)| format!("position {seq}: {}", body.reason)));
        damage.extend(self.unproven.iter().map(|seq| format!("position {seq}: the chain does not lead to it")));
        if !self.purged.is_empty() {
            damage.push(format!("{} bodies are not all zeros, though a purge erased them", self.purged.len()));
        }
        damage.extend(self.unrecorded.iter().map(|(first, last)| {
            format!("positions {first} to {last} were lost earlier, and the record of that was lost, too")
        }));
        damage
    }
}

impl Walk {
    fn gap(&mut self, survey: &Survey, gap: &Gap) {
        let faults = survey.faults.iter().filter(|fault| (gap.first..=gap.last).contains(&fault.position));
        let (mut bytes, mut reason) = (0_u64, None);
        for fault in faults {
            bytes = bytes.saturating_add(survey.bytes_of(fault));
            reason.get_or_insert(fault.reason);
        }
        let elsewhere = if gap.last == survey.end() { "the log ends before it" } else { "nothing of it is left" };
        self.miss(gap.first, gap.last, bytes, reason.unwrap_or(elsewhere).to_owned());
    }

    fn miss(&mut self, first: u64, last: u64, bytes: u64, reason: String) {
        let time = self.found.last_time;
        self.found.missing.push(Missing { first, last, bytes, reason, time });
    }

    fn is_missing(&self, seq: u64) -> bool {
        let after = self.found.missing.partition_point(|missing| missing.first <= seq);
        (after.checked_sub(1)).and_then(|at| self.found.missing.get(at)).is_some_and(|missing| seq <= missing.last)
    }

    /// Whether the log goes on with this frame.
    fn frame(&mut self, survey: &Survey, frame: &Frame) -> Result<bool, EngineError> {
        let (first, last) = (frame.first_seq(), frame.last_seq());
        if frame.codec() > CODEC_V1 {
            let path = format!("position {first}");
            let (found, supported) = (u32::from(frame.codec()), u32::from(CODEC_V1));
            return Err(LogError::NewerFormat { path, found, supported }.into());
        }
        let events = match codec::decode(frame, Bodies::None) {
            Ok(events) => events,
            Err(error) => {
                self.found.unreadable.insert(first);
                self.miss(first, last, frame.location().len, error.to_string());
                self.proceed(frame);
                return Ok(true);
            }
        };
        let damaged = damaged_bodies(frame, &events);
        if first > survey.durable && !damaged.is_empty() {
            // Not written to its end: as at open, the log ends before it.
            self.found.end = Some(first.saturating_sub(1));
            return Ok(false);
        }
        self.damaged.extend(damaged);
        if !self.follows(survey, frame) {
            self.found.unproven.insert(first);
        }
        for event in &events {
            self.event(event);
        }
        self.proceed(frame);
        let kept = &mut self.found.kept;
        kept.operations = kept.operations.saturating_add(1);
        kept.events = kept.events.saturating_add(events.len() as u64);
        kept.bytes = kept.bytes.saturating_add(frame.location().len);
        Ok(true)
    }

    fn proceed(&mut self, frame: &Frame) {
        self.found.last_time = Some(frame.time());
        self.found.chain = Some((frame.last_seq(), frame.chain()));
    }

    /// Whether the chain leads to the frame, as far as what lies before it is there.
    fn follows(&self, survey: &Survey, frame: &Frame) -> bool {
        let before = match self.found.chain {
            Some((last, chain)) if last.saturating_add(1) == frame.first_seq() => chain,
            None if frame.first_seq() == 1 => survey.genesis(),
            _ => return true,
        };
        link_of(&before, frame) == frame.chain()
    }

    fn event(&mut self, recorded: &RecordedEvent) {
        let seq = recorded.seq.get();
        if let Some(key) = recorded.event.key() {
            let before = self.heads.insert(key.clone(), seq).unwrap_or(0);
            let prev = recorded.prev.get();
            if recorded.prev.is_some() && self.is_missing(prev) {
                // A link always points back.
                let before = if before < prev { before } else { 0 };
                self.found.links.insert(prev, (key.clone(), before));
            }
        }
        match &recorded.event {
            Event::Purged(purged) => {
                for body in &purged.bodies {
                    self.named.entry(body.get()).or_insert(false);
                }
                self.purges.insert(recorded.seq, purged.bodies.clone());
            }
            Event::PurgeCompleted(completed) => {
                for body in completed.purges.iter().filter_map(|purge| self.purges.get(purge)).flatten() {
                    self.named.insert(body.get(), true);
                }
            }
            Event::Lost(_) => match self.lost_events.last_mut() {
                Some((_, last)) if last.saturating_add(1) == seq => *last = seq,
                _ => self.lost_events.push((seq, seq)),
            },
            Event::Salvaged(salvaged) => {
                self.recorded_bodies.extend(salvaged.bodies.iter().map(|seq| seq.get()));
                let ranges = salvaged.lost.iter().map(|range| (range.first.get(), range.last.get()));
                self.recorded_events.extend(ranges);
            }
            _ => {}
        }
    }

    fn judge(mut self, survey: &Survey) -> Result<Examined, EngineError> {
        for (seq, body) in std::mem::take(&mut self.damaged) {
            let explained = self.named.contains_key(&seq) || self.recorded_bodies.contains(&seq);
            if !explained {
                self.found.bodies.insert(seq, body);
                self.found.zeroed.insert(seq);
            } else if !body.zeroed {
                // Half erased.
                self.found.zeroed.insert(seq);
            }
        }
        let mut recorded = None;
        for (first, last) in std::mem::take(&mut self.lost_events) {
            // Runs of several salvages may touch: each position is looked for.
            for seq in first..=last {
                let known = self.recorded_events.range(..=seq).next_back().is_some_and(|(_, last)| seq <= *last);
                match &mut recorded {
                    _ if known => {}
                    Some((_, last)) if *last == seq.saturating_sub(1) => *last = seq,
                    _ => {
                        self.found.unrecorded.extend(recorded.replace((seq, seq)));
                    }
                }
            }
        }
        self.found.unrecorded.extend(recorded);
        self.find_purged(survey)?;
        Ok(self.found)
    }

    /// Bodies that are not all zeros although a finished purge names them: a file was put back, say.
    fn find_purged(&mut self, survey: &Survey) -> Result<(), EngineError> {
        let finished: BTreeSet<u64> = self.named.iter().filter(|(_, done)| **done).map(|(seq, _)| *seq).collect();
        let runs = survey.parts.iter().filter_map(|part| match part {
            Part::Run(run) => Some(run),
            Part::Gap(_) => None,
        });
        for run in runs.filter(|run| finished.range(run.first..=run.last).next().is_some()) {
            self.find_purged_in(survey, run, &finished)?;
        }
        Ok(())
    }

    fn find_purged_in(&mut self, survey: &Survey, run: &Run, finished: &BTreeSet<u64>) -> Result<(), EngineError> {
        survey.frames::<EngineError>(run, &mut |frame| {
            for body in frame.bodies().filter(|body| finished.contains(&body.seq())) {
                if !matches!(body.read(), Ok(BodyState::Zeroed)) {
                    let (offset, len) = body.region();
                    self.found.purged.push((run.source, offset, len));
                    self.found.zeroed.insert(body.seq());
                }
            }
            Ok(true)
        })?;
        Ok(())
    }
}

/// The bodies of a frame that are not there as they were recorded, those that are zeros too.
fn damaged_bodies(frame: &Frame, events: &[RecordedEvent]) -> Vec<(u64, Body)> {
    let key = |index: u32| {
        let event = usize::try_from(index).ok().and_then(|index| events.get(index));
        event.and_then(|event| event.event.key().cloned())
    };
    let mut damaged = Vec::new();
    for body in frame.bodies() {
        let (reason, zeroed) = match body.verify() {
            Ok(BodyState::Present(_)) => match codec::body_in(&body) {
                Ok(_) => continue,
                Err(error) => (error.to_string(), false),
            },
            Ok(BodyState::Zeroed) => ("the body is erased, and no purge names it".to_owned(), true),
            Err(damage) => (damage.reason, false),
        };
        damaged.push((body.seq(), Body { key: key(body.event_index()), reason, zeroed }));
    }
    damaged
}
