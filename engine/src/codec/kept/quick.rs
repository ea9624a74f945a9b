//! Rows of slots, read by hand.
//!
//! A checkpoint is mostly slots. As [`super::super::v1::quick`] does for commits, this reads one in one go to where
//! it stays, with the names that the last one had. Whatever is not as it mostly is gives `None`, with nothing moved
//! past, and is then read in the general way, which also says what is wrong with it. So this must never accept what
//! the general way refuses, nor read it otherwise; a property test holds that.

use std::sync::Arc;

use bilinc_core::{Entry, Facts, Key, MemoryType, Seq, Slot, Timestamp, Version};

/// The source and the session id that came last: mostly the next slot has them, too.
#[derive(Debug, Default)]
pub(super) struct Names {
    source: Arc<str>,
    session_id: Option<Arc<str>>,
}

impl Names {
    /// Bytes that equal a text are that text.
    fn source(&mut self, bytes: &[u8]) -> Option<Arc<str>> {
        if self.source.as_bytes() != bytes {
            self.source = std::str::from_utf8(bytes).ok()?.into();
        }
        Some(Arc::clone(&self.source))
    }

    fn session_id(&mut self, bytes: &[u8]) -> Option<Arc<str>> {
        match &self.session_id {
            Some(held) if held.as_bytes() == bytes => {}
            _ => self.session_id = Some(std::str::from_utf8(bytes).ok()?.into()),
        }
        self.session_id.clone()
    }
}

/// Where the row of a slot stands among the kinds of rows.
const SLOT: u8 = 6;

/// The next row, if it is that of a slot without open flags.
#[inline]
pub(super) fn slot(bytes: &mut &[u8], names: &mut Names) -> Option<(Key, Slot)> {
    let mut rest = Reader(bytes);
    if rest.byte()? != SLOT {
        return None;
    }
    let key = rest.text()?;
    let mut slot = Slot {
        head: rest.seq()?,
        changed: rest.seq()?,
        changed_at: rest.time()?,
        hidden_through: rest.seq()?,
        purged_through: rest.seq()?,
        lost_at: rest.seq()?,
        entry: None,
    };
    if rest.flag()? {
        slot.entry = Some(entry(&mut rest, names)?);
    }
    *bytes = rest.0;
    Some((Key::from_recorded(key), slot))
}

#[inline]
fn entry(rest: &mut Reader<'_>, names: &mut Names) -> Option<Entry> {
    let memory_type = *MemoryType::ALL.get(usize::from(rest.byte()?))?;
    let importance = rest.number()?.unwrap_or(1.0);
    let source = match rest.byte()? {
        // What says that it is the acting writer's, where there is none.
        0 | 1 => Arc::default(),
        2 => names.source(rest.slice()?)?,
        _ => return None,
    };
    let session_id = match rest.byte()? {
        0 | 1 => None,
        2 => Some(names.session_id(rest.slice()?)?),
        _ => return None,
    };
    let canonical = if rest.flag()? { Some(rest.flag()?) } else { None };
    let (priority, ttl) = (rest.number()?, rest.number()?);
    let entry = Entry {
        facts: Facts { memory_type, importance, source, session_id, canonical, priority, ttl },
        created_at: rest.time()?,
        updated_at: rest.time()?,
        confirmed_at: if rest.flag()? { Some(rest.time()?) } else { None },
        version: Version::from_u128(u128::from_be_bytes(rest.array()?)),
        value_at: rest.seq()?,
        metadata_at: rest.seq()?,
        value_bytes: rest.u32()?,
        metadata_bytes: rest.u32()?,
        flags: Vec::new(),
        incomplete: if rest.u64()? == 0 { rest.flag()? } else { return None },
    };
    Some(entry)
}

/// Reads what bincode writes with variable-length, little-endian integers.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    /// A `bool`, or whether an option is there.
    #[inline]
    fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// A number may be written longer than it needs to be; bincode reads that, too.
    #[inline]
    fn u32(&mut self) -> Option<u32> {
        match self.byte()? {
            byte @ ..=250 => Some(u32::from(byte)),
            251 => self.array().map(|bytes| u32::from(u16::from_le_bytes(bytes))),
            252 => self.array().map(u32::from_le_bytes),
            253.. => None,
        }
    }

    #[inline]
    fn u64(&mut self) -> Option<u64> {
        match self.byte()? {
            byte @ ..=250 => Some(u64::from(byte)),
            251 => self.array().map(|bytes| u64::from(u16::from_le_bytes(bytes))),
            252 => self.array().map(|bytes| u64::from(u32::from_le_bytes(bytes))),
            253 => self.array().map(u64::from_le_bytes),
            254.. => None,
        }
    }

    #[inline]
    fn seq(&mut self) -> Option<Seq> {
        self.u64().map(Seq::new)
    }

    /// Bytes behind their length.
    #[inline]
    fn slice(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.u64()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    #[inline]
    fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.slice()?).ok()
    }

    #[inline]
    fn number(&mut self) -> Option<Option<f64>> {
        Some(if self.flag()? { Some(f64::from_le_bytes(self.array()?)) } else { None })
    }

    #[inline]
    fn time(&mut self) -> Option<Timestamp> {
        // The lowest bit is the sign.
        let folded = self.u64()?;
        let half = (folded >> 1).cast_signed();
        Some(Timestamp::from_micros(if folded & 1 == 0 { half } else { !half }))
    }
}

#[cfg(test)]
#[path = "quick_tests.rs"]
mod tests;
