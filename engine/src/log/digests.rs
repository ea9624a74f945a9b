//! Many short texts hashed side by side.
//!
//! BLAKE3 spreads one long input over the lanes of the processor; a link of the chain or the digest of a body has
//! some hundred bytes, which fill one lane. Whoever proves a log has many of them at once: blocks of texts that are
//! equally long are compressed together, one text to a lane. This goes through a part of the `blake3` crate that its
//! documentation leaves out, so that crate's version is pinned, and a test holds every length against its plain hash.

use blake3::IncrementCounter;
use blake3::platform::Platform;

const BLOCK: usize = blake3::BLOCK_LEN;
/// What is longer is a tree of chunks, which the crate hashes well enough alone.
const CHUNK: usize = blake3::CHUNK_LEN;
/// The most lanes of any processor.
const LANES: usize = 16;
/// So many bytes of texts are room that is kept.
const KEPT: usize = 256 * 1024;

const IV: [u32; 8] =
    [0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19];
const CHUNK_START: u8 = 1;
const CHUNK_END: u8 = 2;
const ROOT: u8 = 8;

/// Texts to hash, and their hashes once they are [computed](Self::compute).
#[derive(Debug)]
pub(super) struct Digests {
    platform: Platform,
    /// The texts one behind the other.
    texts: Vec<u8>,
    /// Those that are hashed together, by the number of whole blocks before their last one.
    waiting: [Vec<Text>; CHUNK / BLOCK],
    digests: Vec<[u8; 32]>,
}

#[derive(Debug, Clone, Copy)]
struct Text {
    digest: usize,
    start: usize,
    len: usize,
}

impl Default for Digests {
    fn default() -> Self {
        Self { platform: Platform::detect(), texts: Vec::new(), waiting: Default::default(), digests: Vec::new() }
    }
}

impl Digests {
    /// Forgets all texts and their hashes.
    pub(super) fn clear(&mut self) {
        self.texts.clear();
        // One operation may be as large as a frame can be.
        self.texts.shrink_to(KEPT);
        self.digests.clear();
        self.waiting.iter_mut().for_each(Vec::clear);
    }

    /// Adds a text that is made of parts; the number under which its hash is [found](Self::get).
    pub(super) fn add(&mut self, parts: &[&[u8]]) -> usize {
        let digest = self.digests.len();
        let len = parts.iter().fold(0_usize, |len, part| len.saturating_add(part.len()));
        match self.waiting.get_mut(len.saturating_sub(1) / BLOCK) {
            Some(waiting) => {
                waiting.push(Text { digest, start: self.texts.len(), len });
                parts.iter().for_each(|part| self.texts.extend_from_slice(part));
                self.digests.push([0; 32]);
            }
            None => {
                let mut hasher = blake3::Hasher::new();
                parts.iter().for_each(|part| {
                    hasher.update(part);
                });
                self.digests.push(*hasher.finalize().as_bytes());
            }
        }
        digest
    }

    /// Hashes what was added since the last clearing.
    pub(super) fn compute(&mut self) {
        for (blocks, waiting) in self.waiting.iter().enumerate() {
            for texts in waiting.chunks(LANES) {
                let chains = first_blocks(self.platform, &self.texts, texts, blocks);
                for (text, mut chain) in texts.iter().zip(chains) {
                    let from = blocks.saturating_mul(BLOCK);
                    let last = part(&self.texts, text.start.saturating_add(from), text.len.saturating_sub(from));
                    let mut block = [0; BLOCK];
                    block.iter_mut().zip(last).for_each(|(to, byte)| *to = *byte);
                    let start = if blocks == 0 { CHUNK_START } else { 0 };
                    // At most a block.
                    let len = u8::try_from(last.len()).unwrap_or(0);
                    self.platform.compress_in_place(&mut chain, &block, len, 0, start | CHUNK_END | ROOT);
                    if let Some(digest) = self.digests.get_mut(text.digest) {
                        *digest = bytes_of(&chain);
                    }
                }
            }
        }
        self.waiting.iter_mut().for_each(Vec::clear);
    }

    /// The hash of a text, computed before.
    pub(super) fn get(&self, digest: usize) -> [u8; 32] {
        self.digests.get(digest).copied().unwrap_or_default()
    }
}

/// The chaining values of texts behind their first blocks.
fn first_blocks(platform: Platform, bytes: &[u8], texts: &[Text], blocks: usize) -> [[u32; 8]; LANES] {
    match blocks {
        0 => [IV; LANES],
        1 => chained::<{ BLOCK }>(platform, bytes, texts),
        2 => chained::<{ 2 * BLOCK }>(platform, bytes, texts),
        3 => chained::<{ 3 * BLOCK }>(platform, bytes, texts),
        4 => chained::<{ 4 * BLOCK }>(platform, bytes, texts),
        5 => chained::<{ 5 * BLOCK }>(platform, bytes, texts),
        6 => chained::<{ 6 * BLOCK }>(platform, bytes, texts),
        7 => chained::<{ 7 * BLOCK }>(platform, bytes, texts),
        8 => chained::<{ 8 * BLOCK }>(platform, bytes, texts),
        9 => chained::<{ 9 * BLOCK }>(platform, bytes, texts),
        10 => chained::<{ 10 * BLOCK }>(platform, bytes, texts),
        11 => chained::<{ 11 * BLOCK }>(platform, bytes, texts),
        12 => chained::<{ 12 * BLOCK }>(platform, bytes, texts),
        13 => chained::<{ 13 * BLOCK }>(platform, bytes, texts),
        14 => chained::<{ 14 * BLOCK }>(platform, bytes, texts),
        _ => chained::<{ 15 * BLOCK }>(platform, bytes, texts),
    }
}

fn chained<const N: usize>(platform: Platform, bytes: &[u8], texts: &[Text]) -> [[u32; 8]; LANES] {
    const NONE: u64 = 0;
    let mut inputs: [&[u8; N]; LANES] = [&[0; N]; LANES];
    for (input, text) in inputs.iter_mut().zip(texts) {
        if let Some(first) = part(bytes, text.start, N).first_chunk() {
            *input = first;
        }
    }
    let inputs = inputs.get(..texts.len()).unwrap_or_default();
    let mut out = [0; 32 * LANES];
    platform.hash_many(inputs, &IV, NONE, IncrementCounter::No, 0, CHUNK_START, 0, &mut out);
    let mut chains = [IV; LANES];
    let (values, _) = out.as_chunks::<32>();
    for (chain, value) in chains.iter_mut().zip(values) {
        let (words, _) = value.as_chunks::<4>();
        chain.iter_mut().zip(words).for_each(|(to, word)| *to = u32::from_le_bytes(*word));
    }
    chains
}

fn part(bytes: &[u8], start: usize, len: usize) -> &[u8] {
    bytes.get(start..start.saturating_add(len)).unwrap_or_default()
}

fn bytes_of(chain: &[u32; 8]) -> [u8; 32] {
    let mut bytes = [0; 32];
    let (words, _) = bytes.as_chunks_mut::<4>();
    words.iter_mut().zip(chain).for_each(|(to, word)| *to = word.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that repeat nowhere near.
    fn bytes(len: usize) -> Vec<u8> {
        (0..len).map(|at| u8::try_from(at.wrapping_mul(at).wrapping_add(at / 7) % 251).unwrap_or_default()).collect()
    }

    #[test]
    fn texts_of_every_length_have_their_plain_hash() {
        let bytes = bytes(4_000);
        let mut digests = Digests::default();
        // More than the lanes hold of one length, and all lengths between one another.
        for round in 0..2 {
            digests.clear();
            let mut wanted = Vec::new();
            for turn in 0..20 {
                for len in (turn..1_300).step_by(if turn == 0 { 1 } else { 7 }) {
                    let text = part(&bytes, turn * 3 + round, len);
                    let (head, tail) = text.split_at(len.min(16 * turn));
                    wanted.push((digests.add(&[head, &[], tail]), *blake3::hash(text).as_bytes()));
                }
            }
            digests.compute();
            for (digest, hash) in wanted {
                assert_eq!(digests.get(digest), hash);
            }
        }
    }
}
