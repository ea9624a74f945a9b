//! Lengths that lie: no memory is taken for them. Held to by a process of its own that may have little.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::process::Command;

use super::super::config;
use super::{Manifest, RowDecoder, decode_places};

/// Set in the process that may not have much.
const LITTLE: &str = "BILINC_LITTLE_MEMORY";

/// How many elements are announced: as many as fit what bincode counts, and more.
const LENGTHS: [u64; 6] = [300, 1 << 20, 1 << 23, 1 << 24, 1 << 25, u64::MAX];

fn number(value: u64) -> Vec<u8> {
    bincode::encode_to_vec(value, config()).unwrap()
}

/// What begins a manifest, up to the number of its files; and then a sound checksum.
fn manifest(length: &[u8]) -> Vec<u8> {
    let name_to_offset = [&[1, b's', 1, 1, 1][..], &[0; 32], &[0, 1, 1, 1]].concat();
    let mut bytes = [b"BILINCk\n", &1_u32.to_le_bytes()[..], &name_to_offset, &[1], &[0; 32], length].concat();
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

fn decode_rows(bytes: &[u8]) -> Result<u64, String> {
    RowDecoder::default().decode(bytes, &mut |_| (), |_, _| ())
}

fn refuse_all() {
    for length in LENGTHS.map(number) {
        // The blocks of a segment.
        decode_places(&[&[1], &length[..], &[1, 108, 0]].concat()).unwrap_err();
        // The bodies of a purge; a track's changes, and the dreams that looked at it; the name of a key;
        // what was lost.
        let rows: [&[u8]; 6] = [&[4, 1], &[5, 1, b'k', 0], &[5, 1, b'k', 0, 0], &[6], &[7], &[7, 0]];
        for row in rows {
            decode_rows(&[row, &length, &[1, 2, 3]].concat()).unwrap_err();
        }
        Manifest::decode(&manifest(&length)).unwrap_err();
    }
    // What was announced is where it was meant to be.
    Manifest::decode(&manifest(&number(0))).unwrap();
    decode_places(&[1, 1, 1, 108, 0, 200, 2]).unwrap();
    decode_rows(&[4, 1, 0, 5, 1, b'k', 0, 0, 0]).unwrap();
}

#[test]
fn a_forged_length_of_what_is_kept_takes_no_memory() {
    if std::env::var_os(LITTLE).is_some() {
        refuse_all();
        return println!("all were refused");
    }
    // `ulimit -v` counts in kibibytes.
    let test = "codec::kept::tests::a_forged_length_of_what_is_kept_takes_no_memory";
    let child = Command::new("sh")
        .args(["-c", "ulimit -v 131072; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(LITTLE, "1")
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&child.stdout).into_owned() + &String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && told.contains("all were refused"), "{told}");
}
