//! Scenarios, properties and processes over the façade; see `tests/`. The README's Rust examples are
//! compiled and run here, so that it cannot promise what the library does not offer.

#[doc = include_str!("../../README.md")]
#[cfg(doctest)]
pub struct Readme;
