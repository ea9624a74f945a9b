//! By which names this server may be called where a browser could be the caller.
//!
//! A page of somebody else's can make a browser send requests to this machine, under a name of that
//! page's own choosing (DNS rebinding) or with its origin told. Clients that are no browsers tell none.

use std::net::IpAddr;

use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::uri::{Authority, Uri};

use super::errors::Failure;

/// The names of this server.
#[derive(Debug)]
pub(super) struct Names {
    /// The address at which it listens.
    address: IpAddr,
    /// Those that it was told, in lower case.
    told: Vec<String>,
}

impl Names {
    /// The names of a server that listens there and was told these.
    pub(super) fn new(address: IpAddr, told: &[String]) -> Self {
        Self { address, told: told.iter().map(|name| plain(name)).collect() }
    }

    /// Refuses a request by another name, or from a page of another origin.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), Failure> {
        // At an address that others reach, only who runs the server knows its names.
        if self.address.is_loopback() || !self.told.is_empty() {
            let host = only(headers, &header::HOST).and_then(|host| Authority::try_from(host).ok());
            if !host.is_some_and(|host| self.is_known(host.host())) {
                return Err(Failure::not_allowed(
                    "host",
                    "this server has no such name; `--allowed-host` of `bilinc serve` adds one",
                ));
            }
        }
        if headers.contains_key(header::ORIGIN) {
            let origin = only(headers, &header::ORIGIN).and_then(|origin| Uri::try_from(origin).ok());
            let known = |origin: Uri| {
                matches!(origin.scheme_str(), Some("http" | "https"))
                    && origin.host().is_some_and(|host| self.is_known(host))
            };
            if !origin.is_some_and(known) {
                return Err(Failure::not_allowed(
                    "origin",
                    "pages of this origin may not ask; `--allowed-host` names another",
                ));
            }
        }
        Ok(())
    }

    fn is_known(&self, host: &str) -> bool {
        let host = plain(host);
        let address = host.parse::<IpAddr>().ok();
        let near = host == "localhost" || address.is_some_and(|address| address.is_loopback());
        (near && self.address.is_loopback()) || address == Some(self.address) || self.told.contains(&host)
    }
}

/// A header that comes once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a [u8]> {
    let mut values = headers.get_all(name).iter().map(HeaderValue::as_bytes);
    values.next().filter(|_| values.next().is_none())
}

/// A name without its brackets, the dot at its end, and capitals.
fn plain(name: &str) -> String {
    name.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn allowed(names: &Names, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        names.check(&headers).is_ok()
    }

    #[test]
    fn a_server_of_this_machine_alone_has_the_names_of_this_machine() {
        let names = Names::new([127, 0, 0, 1].into(), &[]);
        for host in ["localhost", "LOCALHOST:8787", "127.0.0.1:1", "127.0.0.2", "[::1]:8787", "localhost."] {
            assert!(allowed(&names, host, None), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "@", ""] {
            assert!(!allowed(&names, host, None), "{host}");
        }
        for origin in ["http://localhost:6274", "https://127.0.0.1", "http://[::1]:3000"] {
            assert!(allowed(&names, "localhost", Some(origin)), "{origin}");
        }
        for origin in ["null", "", "http://evil.example", "file://localhost", "localhost", "http://localhost.evil"] {
            assert!(!allowed(&names, "localhost", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn a_server_that_others_reach_takes_every_name_until_it_is_told_its_own() {
        let names = Names::new([0, 0, 0, 0].into(), &[]);
        assert!(allowed(&names, "memory.example", None));
        for origin in ["http://memory.example", "http://localhost"] {
            assert!(!allowed(&names, "memory.example", Some(origin)), "{origin}");
        }
        let names = Names::new([0, 0, 0, 0].into(), &["Memory.example".to_owned()]);
        assert!(allowed(&names, "memory.example:443", Some("https://memory.example")));
        assert!(!allowed(&names, "other.example", None) && !allowed(&names, "localhost", None));
    }

    #[test]
    fn a_name_that_comes_twice_is_none() {
        let names = Names::new([127, 0, 0, 1].into(), &[]);
        let mut headers = HeaderMap::new();
        assert!(names.check(&headers).is_err());
        headers.append(header::HOST, HeaderValue::from_static("localhost"));
        headers.append(header::HOST, HeaderValue::from_static("evil.example"));
        assert!(names.check(&headers).is_err());
    }
}
