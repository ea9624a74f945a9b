//! Keys of entries.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use core::borrow::Borrow;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use unicode_normalization::UnicodeNormalization;

use crate::limits::KEY_CHARS;

/// Keys that begin so hold dream reports; only the dream pass writes them.
pub const DREAM_PREFIX: &str = "bilinc:dream:";

/// The name of one memory: in NFC, trimmed, 1 to [`KEY_CHARS`] characters, none of them a control
/// character. Compared byte for byte. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

/// Why a text is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// Nothing is left after trimming.
    #[error("a key must not be empty")]
    Empty,
    /// Over [`KEY_CHARS`] characters.
    #[error("a key holds at most {KEY_CHARS} characters, this one {0}")]
    TooLong(usize),
    /// A character of category Cc.
    #[error("a key holds no control characters, this one has U+{0:04X}")]
    Control(u32),
}

impl Key {
    /// Normalises and checks a text.
    ///
    /// # Errors
    /// [`InvalidKey`] says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, InvalidKey> {
        // ASCII is in NFC as it stands.
        let normal: Cow<'_, str> = if text.is_ascii() { text.into() } else { text.nfc().collect::<String>().into() };
        Self::normal(normal.trim())
    }

    /// Checks a text in NFC that was trimmed.
    fn normal(normal: &str) -> Result<Self, InvalidKey> {
        if normal.is_empty() {
            return Err(InvalidKey::Empty);
        }
        // Bytes that may be part of a control character; nearly always there are none.
        if normal.bytes().any(|byte| byte < b' ' || byte == 0x7f || byte == 0xc2)
            && let Some(control) = normal.chars().find(|c| c.is_control())
        {
            return Err(InvalidKey::Control(u32::from(control)));
        }
        match normal.chars().count() {
            chars if chars > KEY_CHARS => Err(InvalidKey::TooLong(chars)),
            _ => Ok(Self(Arc::from(normal))),
        }
    }

    /// A key that was checked when it was recorded. Anything else makes an entry that no command
    /// can name.
    #[must_use]
    pub fn from_recorded(text: &str) -> Self {
        Self(Arc::from(text))
    }

    /// As [`Key::from_recorded`], without copying the text.
    #[must_use]
    pub fn from_shared(text: Arc<str>) -> Self {
        Self(text)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The shared text.
    #[must_use]
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// Whether it names a dream report.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.0.starts_with(DREAM_PREFIX)
    }
}

/// The beginning of a text that was refused, to show what is meant: a message repeats no more of it.
pub(crate) fn beginning(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => text.get(..at).unwrap_or_default().chars().chain(['…']).collect(),
        None => text.into(),
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    /// As [`Key::new`], the slow way.
    fn plainly(text: &str) -> Result<Key, InvalidKey> {
        let normal: String = text.nfc().collect();
        let normal = normal.trim();
        let control = normal.chars().find(|c| c.is_control());
        match (normal.chars().count(), control) {
            (0, _) => Err(InvalidKey::Empty),
            (_, Some(control)) => Err(InvalidKey::Control(u32::from(control))),
            (chars, None) if chars > KEY_CHARS => Err(InvalidKey::TooLong(chars)),
            _ => Ok(Key(Arc::from(normal))),
        }
    }

    proptest! {
        #[test]
        fn short_cuts_change_no_key(
            texts in proptest::collection::vec(prop_oneof!["[ -~]{0,9}", "[\\x00-\\x7f]{0,3}", "\\PC{0,5}", "[\u{80}-\u{100}]{0,3}"], 0..4),
            times in prop_oneof![9 => Just(1_usize), 1 => 50..200_usize],
        ) {
            let text = texts.concat().repeat(times);
            prop_assert_eq!(Key::new(&text), plainly(&text));
        }
    }

    #[test]
    fn spellings_of_one_text_are_one_key() {
        assert_eq!(Key::new(" cafe\u{301} ").unwrap(), Key::new("caf\u{e9}").unwrap());
        assert_ne!(Key::new("Key").unwrap(), Key::new("key").unwrap());
    }

    #[test]
    fn what_no_key_may_be_is_refused() {
        assert_eq!(Key::new(" \t "), Err(InvalidKey::Empty));
        assert_eq!(Key::new("a\u{0}b"), Err(InvalidKey::Control(0)));
        assert_eq!(Key::new("a\u{85}b"), Err(InvalidKey::Control(0x85)));
        assert!(Key::new(&"ğ".repeat(512)).is_ok());
        assert_eq!(Key::new(&"ğ".repeat(513)), Err(InvalidKey::TooLong(513)));
    }

    #[test]
    fn only_the_exact_spelling_is_reserved() {
        assert!(Key::new(" bilinc:dream:x").unwrap().is_reserved());
        assert!(!Key::new("Bilinc:Dream:x").unwrap().is_reserved());
    }
}
