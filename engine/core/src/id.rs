//! Positions, versions and ids: one type each, so that they do not mix.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// A text that is not an id of the kind asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {kind}")]
pub struct InvalidId {
    text: String,
    kind: &'static str,
}

/// An event's place in the log: 1, 2, 3 …, without gaps. [`Seq::ZERO`] is the place before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Seq(u64);

impl Seq {
    /// The place before the first event; as a link it says "none".
    pub const ZERO: Self = Self(0);
    /// Beyond every position that can be recorded.
    pub const MAX: Self = Self(u64::MAX);

    /// The position with that number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number of this position.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The position so many places later.
    #[must_use]
    pub const fn plus(self, places: u64) -> Self {
        Self(self.0.saturating_add(places))
    }

    /// The position before this one, [`Seq::ZERO`] at the start.
    #[must_use]
    pub const fn before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// Whether this is a real position and not "none".
    #[must_use]
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }
}

impl From<u64> for Seq {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Defines an id type over 128 bits, shown as a UUID.
macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u128);

        impl $name {
            /// The id with these 128 bits.
            #[must_use]
            pub const fn from_u128(bits: u128) -> Self {
                Self(bits)
            }

            /// The 128 bits of this id.
            #[must_use]
            pub const fn as_u128(self) -> u128 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&Uuid::from_u128(self.0).hyphenated(), f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Uuid::try_parse(text.trim())
                    .map(|uuid| Self(uuid.as_u128()))
                    .map_err(|_| InvalidId { text: crate::key::beginning(text), kind: $kind })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id_type!(
    /// Names one operation, that is one atomic batch of events.
    OperationId, "operation id");
id_type!(
    /// Names a dream pass; the id of the operation that started it.
    ///
    /// ```compile_fail
    /// let dream: bilinc_core::DreamId = bilinc_core::SnapshotId::from_u128(1);
    /// ```
    DreamId, "dream id");
id_type!(
    /// Names a snapshot; the id of the operation that took it.
    SnapshotId, "snapshot id");
id_type!(
    /// Names an import, whatever number of operations it took.
    ImportId, "import id");
id_type!(
    /// Names a store.
    StoreId, "store id");

impl From<OperationId> for DreamId {
    fn from(id: OperationId) -> Self {
        Self(id.0)
    }
}

impl From<OperationId> for SnapshotId {
    fn from(id: OperationId) -> Self {
        Self(id.0)
    }
}

/// What an entry is compared by: new at every change of the entry and never used twice, also after
/// an undo. Opaque, shown as `v1_` and 32 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u128);

impl Version {
    /// The version that the `index`-th event of an operation gives.
    ///
    /// A bijection of the index for each operation, and of the operation for each index. The id is
    /// mixed before the index is added, so that the versions of operations with neighbouring ids do
    /// not meet; nothing of a value enters. The rounds are those of a multiply–xorshift mixer over
    /// 128 bits.
    #[must_use]
    pub fn of(operation: OperationId, index: u32) -> Self {
        const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
        let mixed = |bits: u128| (bits ^ (bits >> 65)).wrapping_mul(ODD);
        let bits = mixed(mixed(operation.as_u128()).wrapping_add(u128::from(index)));
        Self(bits ^ (bits >> 65))
    }

    /// The version with these 128 bits.
    #[must_use]
    pub const fn from_u128(bits: u128) -> Self {
        Self(bits)
    }

    /// The 128 bits of this version.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v1_{:032x}", self.0)
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Version {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        text.strip_prefix("v1_")
            .filter(|hex| hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|hex| u128::from_str_radix(hex, 16).ok())
            .map(Self)
            .ok_or_else(|| InvalidId { text: crate::key::beginning(text), kind: "version (v1_ and 32 hex digits)" })
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn versions_of_one_operation_differ_and_read_back() {
        let operation = OperationId::from_u128(7);
        let first = Version::of(operation, 0);
        assert_ne!(first, Version::of(operation, 1));
        assert_ne!(Version::of(OperationId::from_u128(8), 0), Version::of(operation, 1));
        assert_eq!(first.to_string().parse::<Version>().unwrap(), first);
        assert!("v1_+123456789abcdef0123456789abcdef".parse::<Version>().is_err());
    }

    #[test]
    fn ids_are_shown_as_uuids_and_read_back() {
        let id = DreamId::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0001);
        assert_eq!(id.to_string(), "01920000-0000-7000-8000-000000000001");
        assert_eq!(id.to_string().parse::<DreamId>().unwrap(), id);
        assert!("dream".parse::<DreamId>().is_err());
    }
}
