//! Where a server is.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What stands for itself in a path and in a query (RFC 3986, unreserved).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The address of a server, to which paths are added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

/// A text that is no address of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an address such as http://127.0.0.1:8787 or https://memory.example.org is wanted, {0}")]
pub struct InvalidAddress(&'static str);

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    /// When it is none, or holds what does not belong there. The message does not repeat it, since
    /// it may hold a password.
    pub fn parse(text: &str) -> Result<Self, InvalidAddress> {
        let text = text.trim().trim_end_matches('/');
        let uri: ureq::http::Uri = text.parse().map_err(|_| InvalidAddress("and this is none"))?;
        match (uri.scheme_str(), uri.host(), uri.authority()) {
            (Some("http" | "https"), Some(host), Some(authority)) if !host.is_empty() => {
                if authority.as_str().contains('@') {
                    return Err(InvalidAddress("without a name or a password: the key stands in BILINC_API_KEY"));
                }
            }
            _ => return Err(InvalidAddress("and this is none")),
        }
        if text.contains(['?', '#']) {
            return Err(InvalidAddress("without a query"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The address of a route, with the parameters that have a value.
    pub(super) fn route(&self, path: &str, query: &[(String, String)]) -> String {
        let mut url = format!("{}{path}", self.0);
        for (index, (name, value)) in query.iter().enumerate() {
            url.push(if index == 0 { '?' } else { '&' });
            url.push_str(&format!("{}={}", encoded(name), encoded(value)));
        }
        url
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text as a part of a path or of a query.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn paths_are_added_to_an_address_whatever_its_end() {
        let of = |text: &str| Address::parse(text).unwrap().route("/api", &[]);
        assert_eq!(of("http://127.0.0.1:8787"), "http://127.0.0.1:8787/api");
        assert_eq!(of(" https://memory.example.org/bilinc/ "), "https://memory.example.org/bilinc/api");
        let query = [("key".to_owned(), "a b&ğ".to_owned()), ("asOf".to_owned(), "@1".to_owned())];
        assert_eq!(Address::parse("http://h").unwrap().route("/x", &query), "http://h/x?key=a%20b%26%C4%9F&asOf=%401");
    }

    #[test]
    fn what_is_no_address_is_refused_and_not_repeated() {
        for wrong in ["", "127.0.0.1:8787", "ftp://h", "http://", "http:///x", "h t", "http://h?x=1", "http://h#x"] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
        let error = Address::parse("http://me:secret@h").unwrap_err().to_string();
        assert!(error.contains("BILINC_API_KEY") && !error.contains("secret"), "{error}");
    }
}
