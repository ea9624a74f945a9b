//! The manifest of a checkpoint: what it is, where it stands, and which bytes belong to it.

use bincode::{BorrowDecode, Encode};

use super::super::config;
use super::super::v1::List;
use crate::log::End;

const MAGIC: [u8; 8] = *b"BILINCk\n";
/// The version of the manifest and of how rows are packed.
const MANIFEST_VERSION: u32 = 1;
const CRC_BYTES: usize = 4;

/// One file that belongs to a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeptFile {
    /// Path inside the checkpoint's folder.
    pub(crate) path: String,
    pub(crate) len: u64,
    pub(crate) crc: u32,
}

/// What a checkpoint says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// Name and version of what was kept.
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) store_id: u128,
    /// The end of the log that it was made of.
    pub(crate) end: End,
    /// How many rows it holds.
    pub(crate) rows: u64,
    /// BLAKE3 over the packs in their order.
    pub(crate) digest: [u8; 32],
    /// Every file but the manifest, in the order of their paths.
    pub(crate) files: Vec<KeptFile>,
}

#[derive(Encode, BorrowDecode)]
struct Wire<'a> {
    name: &'a str,
    version: u32,
    store_id: u128,
    seq: u64,
    chain: [u8; 32],
    time: Option<i64>,
    segment: u64,
    frame: u64,
    offset: u64,
    rows: u64,
    digest: [u8; 32],
    files: List<(&'a str, u64, u32)>,
}

impl Manifest {
    pub(crate) fn encode(&self) -> Result<Vec<u8>, String> {
        let Self { name, version, store_id, end, rows, digest, files } = self;
        let End { seq, chain, time, segment, frame, offset } = end.clone();
        let (version, store_id, rows, digest) = (*version, *store_id, *rows, *digest);
        let files = files.iter().map(|file| (file.path.as_str(), file.len, file.crc)).collect();
        let wire = Wire { name, version, store_id, seq, chain, time, segment, frame, offset, rows, digest, files };
        let body = bincode::encode_to_vec(&wire, config()).map_err(|error| error.to_string())?;
        let mut bytes = [&MAGIC[..], &MANIFEST_VERSION.to_le_bytes(), &body].concat();
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// Nothing in it is believed before its checksum holds.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, String> {
        let (checked, crc) = bytes.split_last_chunk::<CRC_BYTES>().ok_or("the manifest is too short")?;
        if crc32fast::hash(checked) != u32::from_le_bytes(*crc) {
            return Err("the manifest fails its checksum".to_owned());
        }
        let body = checked.strip_prefix(&MAGIC).ok_or("this is no manifest")?;
        let (version, body) = body.split_first_chunk::<4>().ok_or("the manifest is too short")?;
        if u32::from_le_bytes(*version) != MANIFEST_VERSION {
            return Err(format!("the manifest has version {}", u32::from_le_bytes(*version)));
        }
        let (wire, used): (Wire<'_>, usize) =
            bincode::borrow_decode_from_slice(body, config()).map_err(|error| error.to_string())?;
        if used != body.len() {
            return Err("the manifest has bytes left over".to_owned());
        }
        let Wire { name, version, store_id, seq, chain, time, segment, frame, offset, rows, digest, files } = wire;
        let end = End { seq, chain, time, segment, frame, offset };
        let file = |(path, len, crc): (&str, u64, u32)| KeptFile { path: path.to_owned(), len, crc };
        let (name, files) = (name.to_owned(), files.into_iter().map(file).collect());
        Ok(Self { name, version, store_id, end, rows, digest, files })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn sample() -> Manifest {
        let end = End { seq: 7, chain: [3; 32], time: Some(-5), segment: 1, frame: 400, offset: 900 };
        let file = KeptFile { path: "db".to_owned(), len: 12, crc: 99 };
        let (name, files) = ("state".to_owned(), vec![file]);
        Manifest { name, version: 1, store_id: 5, end, rows: 3, digest: [9; 32], files }
    }

    #[test]
    fn no_changed_byte_of_a_manifest_is_believed() {
        let bytes = sample().encode().unwrap();
        assert_eq!(Manifest::decode(&bytes).unwrap(), sample());
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            *changed.get_mut(at).unwrap() ^= 0x10;
            assert!(Manifest::decode(&changed).is_err(), "byte {at}");
            assert!(Manifest::decode(bytes.get(..at).unwrap()).is_err(), "cut at {at}");
        }
    }
}
