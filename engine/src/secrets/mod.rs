//! Finds credentials in JSON text and in plain text.
//!
//! A credential is recognised by its form alone: a prefix that its issuer chose, an alphabet and a
//! length; a PEM block; three base64url parts of which the first is a token header; or a value of the
//! right form behind a name such as `AccountKey`. There is no guessing by randomness, so a hash, an id
//! or a picture in base64 is none. What was found is told by kind and place, never by value.
//!
//! Every scan is linear in the text: each row of the table looks at a bounded number of bytes per
//! word, and everything else reads a byte a fixed number of times.

mod blocks;
mod patterns;
mod walk;

#[cfg(test)]
mod tests;

/// A credential and where it is. Holds nothing of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSecret {
    /// What kind of credential it looks like, in `snake_case`.
    pub kind: &'static str,
    /// The string it is in, as a JSON path such as `$.a[2].token`; `$` for a text that is all there
    /// is. A credential in a member's name has the path of the object, for the name must not be shown.
    pub path: String,
}

/// The shortest text that any credential fits in, in bytes.
const SHORTEST: usize = 20;

/// The first credential in a JSON text, in the values of its strings or in the names of its members.
///
/// Anything but compact or spaced JSON gives an answer, too, though not one to rely on.
#[must_use]
pub fn find_secret(json_text: &str) -> Option<FoundSecret> {
    if json_text.len() < SHORTEST {
        return None;
    }
    let mut found = walk::find(json_text, scan)?;
    if found.kind == blocks::PRIVATE_KEY && json_text.contains("service_account") {
        found.kind = "gcp_service_account_key";
    }
    Some(found)
}

/// The first credential in a plain text. Its path is `$`.
#[must_use]
pub fn find_secret_in_text(text: &str) -> Option<FoundSecret> {
    scan(text, None).map(|kind| FoundSecret { kind, path: String::from("$") })
}

/// The kind of the first credential in `text`, which is the value of the member `name`, if of any.
fn scan(text: &str, name: Option<&str>) -> Option<&'static str> {
    if text.len() < SHORTEST {
        return None;
    }
    patterns::token(text)
        .or_else(|| blocks::private_key(text))
        .or_else(|| blocks::jwt(text))
        .or_else(|| blocks::assigned(text, name))
}

/// Whether a word begins at `at`: nothing, punctuation or an escape that was not decoded stands
/// before it. Texts hold texts: in the source of a program a line break is `\n`, in an address an
/// equals sign is `%3D`.
fn starts_word(bytes: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|i| bytes.get(i)).copied();
    match before(1) {
        Some(b'n' | b'r' | b't') if before(2) == Some(b'\\') => true,
        Some(digit) if digit.is_ascii_hexdigit() && before(3) == Some(b'%') => true,
        Some(byte) => !byte.is_ascii_alphanumeric() && byte != b'_',
        None => true,
    }
}

/// Standard base64 without its padding.
const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// The alphabet of base64url.
const fn is_url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}
