//! Segments and marks as bytes, and their checksums made right again: what a fuzzer needs to get past
//! them. `docs/design.md` draws the bytes.

use arbitrary::Arbitrary;

use crate::{Splice, spliced};

const SEGMENT_HEADER: usize = 108;
const FRAME_HEADER: usize = 84;
const ROW: usize = 40;
const PREFIX: usize = 20;
const CHAIN_LINK: &[u8] = b"bilinc log frame 1\0";

/// What is done to a segment.
#[derive(Debug, Arbitrary)]
pub enum Change {
    /// Its header.
    Header(Splice),
    /// A field of a frame's header, by its offset and length.
    Field { frame: u8, field: Field, value: u64 },
    /// Behind a frame's header; with `fit` the length of the permanent part follows.
    Frame { frame: u8, splice: Splice, fit: bool },
    /// A frame once more, before another one.
    Copy { frame: u8, before: u8 },
    Drop { frame: u8 },
    /// Bytes behind the last frame, or in place of all frames.
    End(Vec<u8>),
    All(Vec<u8>),
    /// The file ends so many bytes early.
    Cut(u16),
}

#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum Field {
    Magic,
    Version,
    Codec,
    Flags,
    First,
    Count,
    Permanent,
    Bodies,
    Time,
    Synced,
    Chain,
}

impl Field {
    fn place(self) -> (usize, usize) {
        match self {
            Self::Magic => (0, 4),
            Self::Version => (4, 1),
            Self::Codec => (5, 1),
            Self::Flags => (6, 1),
            Self::First => (8, 8),
            Self::Count => (16, 4),
            Self::Permanent => (20, 4),
            Self::Bodies => (24, 4),
            Self::Time => (32, 8),
            Self::Synced => (40, 8),
            Self::Chain => (48, 8),
        }
    }
}

/// Which checksums are made right again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Arbitrary)]
pub enum Repair {
    Nothing,
    /// Those of headers and permanent parts.
    Checksums,
    /// Those of bodies, too, their digests, and the chain.
    All,
}

/// A segment in its parts.
pub struct Segment {
    header: Vec<u8>,
    frames: Vec<Vec<u8>>,
    end: Vec<u8>,
    cut: usize,
}

impl Segment {
    /// The parts of a sound segment.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let (header, mut rest) = bytes.split_at(SEGMENT_HEADER);
        let mut frames = Vec::new();
        while rest.len() >= FRAME_HEADER && rest[0] != 0 {
            let len = FRAME_HEADER + number(rest, 20) + number(rest, 24);
            let (frame, behind) = rest.split_at(len);
            frames.push(frame.to_vec());
            rest = behind;
        }
        Self { header: header.to_vec(), frames, end: Vec::new(), cut: 0 }
    }

    pub fn change(&mut self, change: &Change) {
        let pick = |frame: &u8, frames: &[Vec<u8>]| usize::from(*frame) % frames.len().max(1);
        match change {
            Change::Header(splice) => self.header = spliced(&self.header, std::slice::from_ref(splice)),
            Change::Field { frame, field, value } => {
                let at = pick(frame, &self.frames);
                let (from, len) = field.place();
                if let Some(bytes) = self.frames.get_mut(at).and_then(|frame| frame.get_mut(from..from + len)) {
                    bytes.copy_from_slice(&value.to_le_bytes()[..len]);
                }
            }
            Change::Frame { frame, splice, fit } => {
                let at = pick(frame, &self.frames);
                let Some(frame) = self.frames.get_mut(at).filter(|frame| frame.len() >= FRAME_HEADER) else { return };
                let behind = spliced(&frame[FRAME_HEADER..], std::slice::from_ref(splice));
                frame.truncate(FRAME_HEADER);
                frame.extend(behind);
                if *fit {
                    let permanent = frame.len().saturating_sub(FRAME_HEADER + number(frame, 24));
                    frame[20..24].copy_from_slice(&(permanent as u32).to_le_bytes());
                }
            }
            Change::Copy { frame, before } => {
                let (from, to) = (pick(frame, &self.frames), pick(before, &self.frames));
                if let Some(frame) = self.frames.get(from).cloned() {
                    self.frames.insert(to, frame);
                }
            }
            Change::Drop { frame } => {
                let at = pick(frame, &self.frames);
                if at < self.frames.len() {
                    self.frames.remove(at);
                }
            }
            Change::End(bytes) => self.end.extend(bytes),
            Change::All(bytes) => (self.frames, self.end) = (vec![bytes.clone()], Vec::new()),
            Change::Cut(bytes) => self.cut = usize::from(*bytes),
        }
    }

    /// The file.
    #[must_use]
    pub fn bytes(mut self, repair: Repair) -> Vec<u8> {
        if repair != Repair::Nothing {
            seal(&mut self.header, 0, 104);
        }
        let mut bytes = self.header;
        let mut chain: [u8; 32] = part(&bytes, 64);
        let seed = {
            let place: [u8; 24] = part(&bytes, 16);
            crc32fast::hash(&place)
        };
        for mut frame in self.frames {
            if repair != Repair::Nothing && frame.len() >= FRAME_HEADER {
                if repair == Repair::All {
                    repair_bodies(&mut frame);
                    chain = link(&chain, &frame);
                    frame[48..80].copy_from_slice(&chain);
                }
                let crc = crc32fast::hash(permanent(&frame)).to_le_bytes();
                frame[28..32].copy_from_slice(&crc);
                let mut hasher = crc32fast::Hasher::new_with_initial(seed);
                hasher.update(&(bytes.len() as u64).to_le_bytes());
                hasher.update(&frame[..80]);
                frame[80..84].copy_from_slice(&hasher.finalize().to_le_bytes());
            }
            bytes.extend(frame);
        }
        bytes.extend(self.end);
        bytes.truncate(bytes.len() - self.cut.min(bytes.len()));
        bytes
    }
}

/// A mark with changes, its checksums right again if that is asked for.
#[must_use]
pub fn mark(sound: &[u8], splices: &[Splice], repair: Repair) -> Vec<u8> {
    let mut bytes = spliced(sound, splices);
    if repair != Repair::Nothing {
        for slot in bytes.chunks_mut(512) {
            seal(slot, 0, 184);
        }
    }
    bytes
}

/// A CRC over the bytes before it.
fn seal(bytes: &mut [u8], from: usize, at: usize) {
    if bytes.len() >= at + 4 {
        let crc = crc32fast::hash(&bytes[from..at]).to_le_bytes();
        bytes[at..at + 4].copy_from_slice(&crc);
    }
}

fn permanent(frame: &[u8]) -> &[u8] {
    let behind = &frame[FRAME_HEADER..];
    &behind[..number(frame, 20).min(behind.len())]
}

/// Checksums and digests of the bodies, as far as the table leads to them.
fn repair_bodies(frame: &mut [u8]) {
    let table = FRAME_HEADER + 4;
    let mut body = FRAME_HEADER + number(frame, 20);
    if frame[6] & 2 == 0 || frame.len() < table {
        return;
    }
    for row in 0..number(frame, FRAME_HEADER).min(1_000) {
        let at = table + row * ROW;
        if frame.len() < at + ROW {
            return;
        }
        let end = body.saturating_add(PREFIX).saturating_add(number(frame, at + 4));
        let Some(bytes) = frame.get(body..end).filter(|bytes| bytes.iter().any(|byte| *byte != 0)) else {
            body = end;
            continue;
        };
        let without_crc = [&bytes[..16], &bytes[PREFIX..]].concat();
        let digest = *blake3::hash(&without_crc).as_bytes();
        let crc = crc32fast::hash(&without_crc).to_le_bytes();
        frame[body + 16..body + PREFIX].copy_from_slice(&crc);
        frame[at + 8..at + ROW].copy_from_slice(&digest);
        body = end;
    }
}

fn link(previous: &[u8; 32], frame: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in [CHAIN_LINK, previous, &frame[8..20], &frame[32..40], &frame[5..7], permanent(frame)] {
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

fn number(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(part(bytes, at)) as usize
}

/// The bytes there, zeros behind the end.
fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut found = [0; N];
    for (to, from) in found.iter_mut().zip(bytes.iter().skip(at)) {
        *to = *from;
    }
    found
}
