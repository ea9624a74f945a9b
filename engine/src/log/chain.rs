//! The chain of hashes over what stays.

use super::bytes::put_fields;
use super::frame_header::FrameHeader;

/// A hash of the chain.
pub type ChainHash = [u8; 32];

const GENESIS: &[u8] = b"bilinc log genesis 1\0";
const LINK: &[u8] = b"bilinc log frame 1\0";
const LINK_HEAD_BYTES: usize = LINK.len() + 32 + 8 + 4 + 8 + 2;

/// Where the chain of a new store starts. A copy goes on with the chain of the store that it was made of.
pub(crate) fn genesis(store_id: u128) -> ChainHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(GENESIS);
    hasher.update(&store_id.to_le_bytes());
    *hasher.finalize().as_bytes()
}

/// The hash after a frame: over what the frame says for ever, so neither `synced_through`, which is
/// about the disk, nor bodies, which may be erased, but their salted digests.
pub(crate) fn link(previous: &ChainHash, header: &FrameHeader, permanent: &[u8]) -> ChainHash {
    hash(&link_head(previous, header), permanent)
}

/// What is hashed before the permanent part.
pub(crate) fn link_head(previous: &ChainHash, header: &FrameHeader) -> [u8; LINK_HEAD_BYTES] {
    let mut fixed = [0_u8; LINK_HEAD_BYTES];
    let fields: [&[u8]; 7] = [
        LINK,
        previous,
        &header.first_seq.to_le_bytes(),
        &header.count.to_le_bytes(),
        &header.time.to_le_bytes(),
        &[header.codec],
        &[header.flags],
    ];
    put_fields(&mut fixed, &fields);
    fixed
}

/// The salted digest of a body.
pub(crate) fn body_digest(salt: &[u8], body: &[u8]) -> [u8; 32] {
    hash(salt, body)
}

/// BLAKE3 of two parts, one behind the other. What fits into a chunk, as nearly all does, is hashed where it lies
/// together: a hasher for inputs of any length is two kilobytes to prepare.
fn hash(first: &[u8], second: &[u8]) -> [u8; 32] {
    let mut both = [0_u8; blake3::CHUNK_LEN];
    if let Some(both) = both.get_mut(..first.len().saturating_add(second.len())) {
        put_fields(both, &[first, second]);
        return *blake3::hash(both).as_bytes();
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(first);
    hasher.update(second);
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_parts_of_any_length_have_the_hash_of_their_bytes() {
        let bytes = [7_u8; 1_100];
        for len in [0, 1, 63, 64, 65, 1_022, 1_023, 1_024, 1_025, 1_100] {
            let bytes = bytes.get(..len).unwrap_or_default();
            for cut in [0, 1, 16, len / 2, len] {
                let (first, second) = bytes.split_at(cut.min(len));
                assert_eq!(hash(first, second), *blake3::hash(bytes).as_bytes(), "{cut} of {len}");
            }
        }
    }
}
