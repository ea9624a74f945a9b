//! Proving frames against the chain and their digests, many at once.

use super::chain::{self, ChainHash};
use super::digests::Digests;
use super::error::Damage;
use super::frame::{BodyState, Frame};
use super::segment::Segment;
use super::verify::VerifyReport;

/// So many frames are hashed together, or fewer with so many bytes: they stay in the processor's second cache.
const FRAMES: usize = 256;
const BYTES: u64 = 128 * 1024;

/// Frames of one segment that wait for their proof, in order.
///
/// Every frame states the chain after it, so its link can be hashed from what the frame before it states: where all
/// links hold, each stated hash is the one that hashing from the start would have come to.
#[derive(Debug, Default)]
pub(super) struct Prover {
    digests: Digests,
    frames: Vec<Waiting>,
    /// What was found of their bodies, one after the other.
    bodies: Vec<Found>,
    bytes: u64,
}

#[derive(Debug)]
struct Waiting {
    frame: Frame,
    link: usize,
}

#[derive(Debug)]
enum Found {
    /// Its checksum holds; the number of its digest.
    Digest(usize),
    Zeroed,
    Broken,
}

impl Prover {
    /// Takes the frame after the others; `before` is the chain that was proved before all of them. Whether there
    /// are enough of them.
    pub(super) fn add(&mut self, frame: Frame, before: &ChainHash) -> bool {
        let stated = self.frames.last().map(|last| last.frame.chain());
        let head = chain::link_head(&stated.unwrap_or(*before), frame.header());
        let link = self.digests.add(&[&head, frame.stored_permanent()]);
        for body in frame.bodies() {
            self.bodies.push(match body.read() {
                Ok(BodyState::Present(bytes)) => Found::Digest(self.digests.add(&[body.salt(), bytes])),
                Ok(BodyState::Zeroed) => Found::Zeroed,
                Err(_) => Found::Broken,
            });
        }
        self.bytes = self.bytes.saturating_add(frame.location().len);
        self.frames.push(Waiting { frame, link });
        self.frames.len() >= FRAMES || self.bytes >= BYTES
    }

    /// Proves what waits, and adds it to the counts; the first damage, before which all holds. `proved` is told of
    /// each frame.
    pub(super) fn prove(
        &mut self,
        segment: &Segment,
        being_erased: &(dyn Fn(u64) -> bool + Sync),
        report: &mut VerifyReport,
        proved: &mut dyn FnMut(&Frame),
    ) -> Result<(), Damage> {
        self.digests.compute();
        let mut bodies = self.bodies.drain(..);
        for Waiting { frame, link } in self.frames.drain(..) {
            if self.digests.get(link) != frame.chain() {
                return Err(segment.damage(
                    frame.location().offset,
                    frame.first_seq(),
                    "the chain is broken: this is not what was recorded, or not in this order",
                ));
            }
            for (body, found) in frame.bodies().zip(&mut bodies) {
                let holds = match found {
                    Found::Digest(digest) => body.compare(&self.digests.get(digest)).map(|()| true),
                    Found::Zeroed => Ok(false),
                    Found::Broken => body.read().map(|_| true),
                };
                match holds {
                    Ok(true) => {}
                    Ok(false) => report.zeroed.push(body.seq()),
                    Err(_) if being_erased(body.seq()) => report.half_erased.push(body.seq()),
                    Err(damage) => return Err(damage),
                }
                report.bodies = report.bodies.saturating_add(1);
            }
            report.frames = report.frames.saturating_add(1);
            report.events = report.events.saturating_add(u64::from(frame.count()));
            report.bytes = report.bytes.saturating_add(frame.location().len);
            report.last_seq = frame.last_seq();
            report.chain = frame.chain();
            proved(&frame);
        }
        drop(bodies);
        self.digests.clear();
        self.bytes = 0;
        Ok(())
    }
}
