//! Chain heads as people note them, and what is proved from one.

use std::fmt;
use std::str::FromStr;

use bilinc_core::Seq;

use super::{ChainHash, Head, Verified};

/// As it is printed, noted and read back: `<position>:<64 hex digits>`.
impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.chain)
    }
}

/// A chain head that was noted earlier: `status`, `verify` and `backup` print one as
/// `<position>:<64 hex digits>`. The hash alone will do, too; it is looked for at every position.
///
/// ```
/// use bilinc::{KnownHead, Memory};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let memory = Memory::in_memory()?;
/// let noted = memory.head()?.to_string();
/// let head: KnownHead = noted.parse()?;
/// assert_eq!(memory.verify_since(head, &mut |_, _| {})?.events_since, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KnownHead {
    /// The last position it speaks of, where that was noted.
    pub seq: Option<Seq>,
    /// The chain hash there.
    pub chain: ChainHash,
}

impl From<Head> for KnownHead {
    fn from(head: Head) -> Self {
        Self { seq: Some(head.seq), chain: head.chain }
    }
}

impl fmt::Display for KnownHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seq {
            Some(seq) => fmt::Display::fmt(&Head { seq, chain: self.chain }, f),
            None => fmt::Display::fmt(&self.chain, f),
        }
    }
}

/// A text that is no chain head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a chain head is a position, a colon and 64 hex digits, as `status` and `verify` print it; or the digits alone"
)]
pub struct InvalidHead;

impl FromStr for KnownHead {
    type Err = InvalidHead;

    fn from_str(text: &str) -> Result<Self, InvalidHead> {
        let (seq, hash) = match text.split_once(':') {
            Some((seq, hash)) => (Some(position(seq).ok_or(InvalidHead)?), hash),
            None => (None, text),
        };
        Ok(Self { seq, chain: chain_hash(hash).ok_or(InvalidHead)? })
    }
}

fn position(text: &str) -> Option<Seq> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok().map(Seq::new))?
}

fn chain_hash(text: &str) -> Option<ChainHash> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut hash = [0; 32];
    for (to, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *to = digit(*high)? << 4 | digit(*low)?;
    }
    Some(ChainHash(hash))
}

/// The log is whole, and its history up to a head that was noted earlier is the one that it was
/// noted of, unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedSince {
    /// The proof of the whole log.
    pub verified: Verified,
    /// Where the chain goes through the head.
    pub met: Head,
    /// How many events have come since.
    pub events_since: u64,
}

/// A log that is whole and does not go through a head that was noted earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct HeadNotMet {
    /// The head that was noted.
    pub expected: KnownHead,
    /// The chain hash of this log at that position; none when the log ends before it, or no position
    /// was noted.
    pub found: Option<ChainHash>,
    /// Where this log ends.
    pub last: Head,
}

impl fmt::Display for HeadNotMet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected: KnownHead { seq, chain }, found, last } = self;
        f.write_str("the log is whole, but it is not the history that this head was noted of: ")?;
        match (seq, found) {
            (Some(seq), Some(found)) => write!(f, "at position {seq} its chain is {found}, not {chain}"),
            (Some(seq), None) => write!(f, "it ends at position {}, before position {seq}", last.seq),
            (None, _) => write!(f, "no operation up to its last position, {}, ends with the chain {chain}", last.seq),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_head_is_read_as_it_is_printed_and_nothing_else_is_one() {
        let chain = ChainHash(std::array::from_fn(|at| u8::try_from(at * 7 % 256).unwrap()));
        let head = Head { seq: Seq::new(u64::MAX), chain };
        let text = head.to_string();
        assert_eq!(text.parse(), Ok(KnownHead::from(head)));
        assert_eq!(KnownHead::from(head).to_string(), text);
        let (_, digits) = text.split_once(':').unwrap();
        assert_eq!(digits.parse(), Ok(KnownHead { seq: None, chain }));
        assert_eq!(digits.to_uppercase().parse(), Ok(KnownHead { seq: None, chain }));
        let short = digits.get(1..).unwrap();
        let wrong = [String::new(), ":".into(), format!(":{digits}"), format!("+1:{digits}"), format!("@1:{digits}")];
        let more = [format!("1:{short}"), format!("1:0{digits}"), format!("1:g{short}"), format!("1:+{short}")];
        let last = [format!("1 :{digits}"), format!("1:{digits} "), format!("18446744073709551616:{digits}")];
        for text in wrong.into_iter().chain(more).chain(last).chain([format!("é{}", "0".repeat(62))]) {
            assert_eq!(text.parse::<KnownHead>(), Err(InvalidHead), "{text}");
        }
    }
}
