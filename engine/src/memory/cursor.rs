//! Cursors: opaque texts that say where a page ended.

use bilinc_core::{Rejection, StoreId};

/// What a cursor holds: the store and the list that it belongs to, and the last sort key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) store: StoreId,
    /// Which list, in which order.
    pub(super) list: u8,
    pub(super) number: i64,
    pub(super) key: String,
}

impl Cursor {
    pub(super) fn encode(&self) -> String {
        let mut bytes = self.store.as_u128().to_be_bytes().to_vec();
        bytes.push(self.list);
        bytes.extend(self.number.to_be_bytes());
        bytes.extend(self.key.as_bytes());
        let mut text = String::with_capacity(bytes.len() * 2 + 2);
        text.push_str("c1");
        for byte in bytes {
            text.push_str(&format!("{byte:02x}"));
        }
        text
    }

    /// Reads a cursor of this store and list.
    pub(super) fn decode(text: &str, store: StoreId, list: u8) -> Result<Self, Rejection> {
        Self::parse(text).filter(|cursor| cursor.store == store && cursor.list == list).ok_or_else(|| {
            let message = "not a cursor that this list in this order gave; begin again without one";
            Rejection::invalid("cursor", "invalid_cursor", message)
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("c1").filter(|digits| digits.is_ascii() && digits.len() % 2 == 0)?;
        let bytes: Vec<u8> = (0..digits.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok())
            .collect::<Option<_>>()?;
        let (store, rest) = bytes.split_first_chunk::<16>()?;
        let (list, rest) = rest.split_first()?;
        let (number, key) = rest.split_first_chunk::<8>()?;
        Some(Self {
            store: StoreId::from_u128(u128::from_be_bytes(*store)),
            list: *list,
            number: i64::from_be_bytes(*number),
            key: std::str::from_utf8(key).ok()?.to_owned(),
        })
    }
}
