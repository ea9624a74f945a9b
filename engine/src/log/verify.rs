//! Proving the whole log.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use super::Log;
use super::chain::ChainHash;
use super::error::{Damage, Doing, LogError};
use super::prove::Prover;
use super::scan::{Scanner, Step};
use super::segment::Segment;
use super::view::crossing;

const READ_BYTES: usize = 256 * 1024;
/// Progress is told after so many bytes.
pub(super) const PROGRESS_BYTES: u64 = 1024 * 1024;

/// What a verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyReport {
    /// How many operations hold.
    pub frames: u64,
    /// How many events.
    pub events: u64,
    /// How many bodies, erased ones too.
    pub bodies: u64,
    /// The positions whose bodies are zeroed. Whether each is the doing of a purge is for those to
    /// judge who know what purges there were.
    pub zeroed: Vec<u64>,
    /// The positions whose bodies are neither as they were recorded nor all zeros, of which the judge said
    /// that they are being erased.
    pub half_erased: Vec<u64>,
    /// Bytes of frames and segment headers.
    pub bytes: u64,
    /// The last position that was proved.
    pub last_seq: u64,
    /// The chain there, recomputed.
    pub chain: ChainHash,
    /// The first damage, in the order of the log; the counts are of what lies before it.
    pub damage: Option<Damage>,
}

/// An operation that was proved; the start of the log is one without positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Proved {
    /// The first position.
    pub first_seq: u64,
    /// The last position.
    pub last_seq: u64,
    /// The chain there, recomputed.
    pub chain: ChainHash,
}

/// Who judges bodies that fail, and who is told what was proved.
#[derive(Clone, Copy)]
struct Judge<'a> {
    being_erased: &'a (dyn Fn(u64) -> bool + Sync),
    watch: &'a (dyn Fn(Proved) + Sync),
}

enum Word {
    Bytes(u64),
    Done(usize, Box<Result<Proof, LogError>>),
}

#[derive(Default)]
struct Proof {
    report: VerifyReport,
    /// The end did not come at `through`: for the crossing to the next segment.
    end: Option<Scanner>,
}

impl Log {
    /// Checks everything that is durable: headers, checksums, order, that no position is missing, the
    /// chain (computed anew), and every body that is left against its salted digest. Segments are
    /// proved side by side, since each states the chain it follows. Changes nothing.
    pub fn verify(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<VerifyReport, LogError> {
        self.verify_judging(progress, &|_| false)
    }

    /// As [`Log::verify`]; a body that is not as it was recorded and not all zeros is no damage when
    /// `being_erased` says so of its position: then it is listed apart.
    pub fn verify_judging(
        &self,
        progress: &mut dyn FnMut(u64, u64),
        being_erased: &(dyn Fn(u64) -> bool + Sync),
    ) -> Result<VerifyReport, LogError> {
        self.verify_watched(progress, being_erased, &|_| {})
    }

    /// As [`Log::verify_judging`]; `watch` is told of every place that was proved where the log once
    /// ended: the start, and the end of each operation. Segments are proved side by side, so they come
    /// in no order, and those behind a damage come, too.
    pub(crate) fn verify_watched(
        &self,
        progress: &mut dyn FnMut(u64, u64),
        being_erased: &(dyn Fn(u64) -> bool + Sync),
        watch: &(dyn Fn(Proved) + Sync),
    ) -> Result<VerifyReport, LogError> {
        let through = self.visible()?.seq;
        let listed = super::view::list_segments(self.storage.as_ref(), &self.known_segments())?;
        let segments: Vec<Arc<Segment>> =
            (listed.segments.into_iter()).filter(|segment| segment.first_seq() <= through.max(1)).collect();
        let mut total = 0_u64;
        for segment in &segments {
            let len = segment.file.len().doing("measure a segment", &segment.path)?;
            total = total.saturating_add(len);
        }
        let judge = Judge { being_erased, watch };
        watch(Proved { first_seq: 0, last_seq: 0, chain: self.genesis() });
        let proofs = prove_all(&segments, through, total, progress, judge)?;
        let mut report = VerifyReport { chain: self.genesis(), ..VerifyReport::default() };
        for (at, proof) in proofs.into_iter().enumerate() {
            let next = segments.get(at.saturating_add(1));
            report.add(proof.report);
            if report.damage.is_none()
                && let Some(end) = proof.end
            {
                report.damage = match next {
                    Some(next) => crossing(&end, Some(&report.chain), next),
                    None if end.next_seq() <= through => {
                        Some(end.damage(&format!("the log ends here, but is durable through position {through}")))
                    }
                    None => None,
                };
            }
            if report.damage.is_some() {
                break;
            }
        }
        if report.damage.is_none() && report.last_seq < through {
            report.damage = listed.damage;
        }
        if let Some(damage) = &report.damage {
            self.damaged(damage.clone());
        }
        Ok(report)
    }
}

impl VerifyReport {
    fn add(&mut self, other: Self) {
        self.frames = self.frames.saturating_add(other.frames);
        self.events = self.events.saturating_add(other.events);
        self.bodies = self.bodies.saturating_add(other.bodies);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.zeroed.extend(other.zeroed);
        self.half_erased.extend(other.half_erased);
        self.last_seq = other.last_seq;
        self.chain = other.chain;
        self.damage = other.damage;
    }
}

fn prove_all(
    segments: &[Arc<Segment>],
    through: u64,
    total: u64,
    progress: &mut dyn FnMut(u64, u64),
    judge: Judge<'_>,
) -> Result<Vec<Proof>, LogError> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let workers = cores.min(8).min(segments.len());
    let next = AtomicUsize::new(0);
    let (words, heard) = mpsc::channel();
    let mut proofs: Vec<Option<Proof>> = Vec::new();
    proofs.resize_with(segments.len(), || None);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (words, next) = (words.clone(), &next);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(segment) = segments.get(at) else { return };
                    let proof = prove(segment, through, judge, &mut |bytes| {
                        let _ = words.send(Word::Bytes(bytes));
                    });
                    let _ = words.send(Word::Done(at, Box::new(proof)));
                }
            });
        }
        drop(words);
        let mut done = 0_u64;
        for word in heard {
            match word {
                Word::Bytes(bytes) => {
                    done = done.saturating_add(bytes);
                    progress(done.min(total), total);
                }
                Word::Done(at, proof) => {
                    if let Some(slot) = proofs.get_mut(at) {
                        *slot = Some((*proof)?);
                    }
                }
            }
        }
        progress(total, total);
        Ok::<(), LogError>(())
    })?;
    Ok(proofs.into_iter().flatten().collect())
}

fn prove(segment: &Arc<Segment>, through: u64, judge: Judge<'_>, tell: &mut dyn FnMut(u64)) -> Result<Proof, LogError> {
    let start = segment.start();
    let mut report =
        VerifyReport { bytes: start.offset, last_seq: start.seq, chain: start.chain, ..VerifyReport::default() };
    let mut scanner = Scanner::new(Arc::clone(segment), start.offset, segment.first_seq(), READ_BYTES);
    let mut untold = start.offset;
    let mut prover = Prover::default();
    loop {
        let step = if scanner.next_seq() > through { None } else { Some(scanner.next()) };
        let ended = match step {
            Some(Ok(Step::Frame(frame))) => {
                untold = untold.saturating_add(frame.location().len);
                if !prover.add(frame, &report.chain) {
                    continue;
                }
                None
            }
            ended => Some(ended),
        };
        // What waits lies before what ended the walk.
        let proved = prover.prove(segment, judge.being_erased, &mut report, &mut |frame| {
            (judge.watch)(Proved { first_seq: frame.first_seq(), last_seq: frame.last_seq(), chain: frame.chain() });
        });
        if let Err(damage) = proved {
            report.damage = Some(damage);
            return Ok(Proof { report, end: None });
        }
        let Some(ended) = ended else {
            if untold >= PROGRESS_BYTES {
                tell(std::mem::take(&mut untold));
            }
            continue;
        };
        let end = match ended.transpose()? {
            Some(Step::Bad(bad)) => {
                report.damage = Some(segment.damage(bad.offset, bad.seq, bad.reason));
                return Ok(Proof { report, end: None });
            }
            Some(_) => Some(scanner),
            None => None,
        };
        tell(untold);
        return Ok(Proof { report, end });
    }
}
