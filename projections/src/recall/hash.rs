//! A keyed hash of byte strings.
//!
//! Words and keys come from strangers, so the hash takes a seed that they do not know. It only places
//! entries in tables that are looked up and never walked: no result depends on it.

/// Odd constants with well-mixed bits (digits of pi).
const MIX: [u64; 3] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345, 0xa409_3822_299f_31d1];

/// Multiplies to 128 bits and folds the halves, so that every input bit reaches every output bit.
const fn fold(left: u64, right: u64) -> u64 {
    let wide = (left as u128).wrapping_mul(right as u128);
    (wide as u64) ^ ((wide >> 64) as u64)
}

/// The hash of `bytes` under `seed`.
pub(super) fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let [first, second, third] = MIX;
    let mut state = fold(seed ^ first, second ^ bytes.len() as u64);
    for chunk in bytes.chunks(8) {
        let mut word = [0_u8; 8];
        for (to, from) in word.iter_mut().zip(chunk) {
            *to = *from;
        }
        state = fold(state ^ u64::from_le_bytes(word) ^ third, seed ^ second);
    }
    fold(state ^ first, third)
}
