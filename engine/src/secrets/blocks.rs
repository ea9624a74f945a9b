//! Credentials that are known by their shape or by the name before them.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use super::patterns::is_mixed;
use super::{is_base64, is_url_safe, starts_word};

/// The kind of a private key in PEM.
pub(super) const PRIVATE_KEY: &str = "private_key";

/// The kind of a PEM block that holds a private key. The mark alone is no key: a text may speak of it.
pub(super) fn private_key(text: &str) -> Option<&'static str> {
    // Between two marks of five dashes stands a label or a body, and each is read once.
    let mut parts = text.split("-----").peekable();
    while let Some(label) = parts.next() {
        let named = label.strip_prefix("BEGIN ").is_some_and(|label| {
            label.len() <= 64 && (label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK"))
        });
        if named && parts.peek().is_some_and(|body| holds_key(body)) {
            return Some(PRIVATE_KEY);
        }
    }
    None
}

/// Whether key material follows: a run as long as words are not, or a first line without spaces, for
/// a key may have been cut short.
fn holds_key(body: &str) -> bool {
    let longest = body.as_bytes().split(|byte| !is_base64(*byte)).map(<[u8]>::len).max();
    if longest >= Some(40) {
        return true;
    }
    let line = body.strip_prefix("\\r").unwrap_or(body);
    let Some(line) = line.strip_prefix("\\n").or_else(|| line.trim_start_matches([' ', '\r']).strip_prefix('\n'))
    else {
        return false;
    };
    let run = line.bytes().take_while(|byte| is_base64(*byte)).count();
    run >= 3 && !matches!(line.as_bytes().get(run), Some(b' ' | b',' | b';'))
}

/// The least base64url characters of a token's header, of its claims and of its signature.
const JWT_PARTS: [usize; 3] = [16, 8, 8];
/// A longer first part is no header.
const JWT_HEADER: usize = 8 * 1024;

/// The kind of a signed token: three base64url parts, the first of which is a JSON object that names
/// its algorithm or type.
pub(super) fn jwt(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    let mut end = 0;
    // Runs are cut at what is neither base64url nor a dot, and each is read once.
    for run in bytes.split(|byte| !is_url_safe(*byte) && *byte != b'.') {
        let start = end;
        end = start + run.len() + 1;
        // In `\neyJ…` the `n` belongs to an escape.
        let run = match run.get(1..) {
            Some(rest) if rest.starts_with(b"ey") && starts_word(bytes, start + 1) => rest,
            _ => run,
        };
        if run.len() < JWT_PARTS.iter().sum() {
            continue;
        }
        let parts: Vec<&[u8]> = run.split(|byte| *byte == b'.').collect();
        if parts.windows(3).any(is_jwt) {
            return Some("jwt");
        }
    }
    None
}

fn is_jwt(three: &[&[u8]]) -> bool {
    three.iter().zip(JWT_PARTS).all(|(part, least)| part.len() >= least)
        && three.first().is_some_and(|header| {
            // A JSON object always begins so in base64.
            header.starts_with(b"ey")
                && header.len() <= JWT_HEADER
                && serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(&base64_decoded(header))
                    .is_ok_and(|members| members.contains_key("alg") || members.contains_key("typ"))
        })
}

fn base64_decoded(part: &[u8]) -> Vec<u8> {
    let (mut bits, mut count) = (0_u32, 0_u32);
    let mut out = Vec::with_capacity(part.len());
    for byte in part {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' => 62,
            _ => 63,
        };
        bits = (bits << 6 | u32::from(six)) & 0xFFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(bits >> count & 0xFF).unwrap_or_default());
        }
    }
    out
}

/// A credential without a mark of its own: only the name before it tells.
struct Assigned {
    kind: &'static str,
    /// How the name ends, in small letters and without anything but letters.
    names: &'static [&'static str],
    /// Base64 characters of the value.
    length: usize,
    /// The padding behind them.
    padding: &'static [u8],
}

const ASSIGNED: &[Assigned] = &[
    Assigned {
        kind: "aws_secret_access_key",
        names: &["secretaccesskey", "awssecretkey", "awssecret", "secretkey", "secretaccesskeyis"],
        length: 40,
        padding: b"",
    },
    Assigned {
        kind: "azure_storage_key",
        names: &["accountkey", "storagekey", "storageaccesskey"],
        length: 86,
        padding: b"==",
    },
];

/// A name is looked for in so many bytes before the value.
const NAME_BYTES: usize = 48;

/// The kind of a value of the right form behind a name that says what it is, be it in the text or the
/// name of the member that the text is the value of.
pub(super) fn assigned(text: &str, name: Option<&str>) -> Option<&'static str> {
    let bytes = text.as_bytes();
    let mut end = 0;
    for run in bytes.split(|byte| !is_base64(*byte)) {
        let start = end;
        end = start + run.len() + 1;
        let Some(form) = ASSIGNED.iter().find(|form| form.length == run.len()) else { continue };
        let padded = bytes.get(start + run.len()..).is_some_and(|rest| rest.starts_with(form.padding));
        if !padded || !is_mixed(run) {
            continue;
        }
        let mut before = last_letters(bytes.get(..start).unwrap_or_default());
        if before.is_empty() {
            before = last_letters(name.unwrap_or_default().as_bytes());
        }
        if form.names.iter().any(|name| before.ends_with(name)) {
            return Some(form.kind);
        }
    }
    None
}

/// The letters at the end of a text, small.
fn last_letters(text: &[u8]) -> String {
    let end = text.get(text.len().saturating_sub(NAME_BYTES)..).unwrap_or_default();
    end.iter().filter(|byte| byte.is_ascii_alphabetic()).map(|byte| char::from(byte.to_ascii_lowercase())).collect()
}
