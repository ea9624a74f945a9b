//! Lists whose announced length is believed only as far as elements follow.

use std::ops::Deref;

use bincode::de::{BorrowDecode, BorrowDecoder};
use bincode::enc::{Encode, Encoder};
use bincode::error::{DecodeError, EncodeError};

/// A list with the bytes of a `Vec`, read without making room for a length that nothing vouches for.
///
/// A `Vec` claims its length times the size of its elements in memory before it reads the first. That
/// lets a forged length take as much as the limit allows, and refuses a true list whose elements are
/// larger in memory than on the disk.
pub(in crate::codec) struct List<T>(Vec<T>);

impl<T: Encode> Encode for List<T> {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.0.encode(encoder)
    }
}

impl<'de, C, T: BorrowDecode<'de, C>> BorrowDecode<'de, C> for List<T> {
    fn borrow_decode<D: BorrowDecoder<'de, Context = C>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let len = u64::borrow_decode(decoder)?;
        let mut items = Vec::new();
        for _ in 0..len {
            items.push(T::borrow_decode(decoder)?);
        }
        Ok(Self(items))
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl<T> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}
