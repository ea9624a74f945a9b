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
    let mut hasher = blake3::Hasher::new();
    hasher.update(&link_head(previous, header));
    hasher.update(permanent);
    *hasher.finalize().as_bytes()
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
    let mut hasher = blake3::Hasher::new();
    hasher.update(salt);
    hasher.update(body);
    *hasher.finalize().as_bytes()
}
