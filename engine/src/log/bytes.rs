//! Fixed little-endian fields.

/// The `N` bytes at `at`. Callers pass buffers of the fixed length; past the end reads as zeros,
/// which no magic, CRC or limit accepts.
pub(crate) fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    (bytes.get(at..at.saturating_add(N))).and_then(|field| field.try_into().ok()).unwrap_or([0; N])
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, at))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

pub(crate) fn i64_at(bytes: &[u8], at: usize) -> i64 {
    i64::from_le_bytes(array_at(bytes, at))
}

/// Whether all bytes are zero.
pub(crate) fn all_zero(bytes: &[u8]) -> bool {
    let (chunks, rest) = bytes.as_chunks::<32>();
    chunks.iter().all(|chunk| *chunk == [0; 32]) && rest.iter().all(|byte| *byte == 0)
}

/// Puts fields one after the other, as far as there is room.
pub(crate) fn put_fields(mut to: &mut [u8], fields: &[&[u8]]) {
    for field in fields {
        let Some((here, rest)) = std::mem::take(&mut to).split_at_mut_checked(field.len()) else {
            return;
        };
        here.copy_from_slice(field);
        to = rest;
    }
}

/// Puts one field where it belongs.
pub(crate) fn put_at(to: &mut [u8], at: usize, field: &[u8]) {
    put_fields(to.get_mut(at..).unwrap_or_default(), &[field]);
}
