//! Read models of Bilinc, folded from events: search and orders.
//!
//! Everything here is plain memory and plain functions. This crate deliberately knows nothing of files,
//! clocks, threads, randomness or environment, nor of how or where values are stored: a caller hands it
//! what has changed and gets answers that depend on that alone. Whatever it holds can be dropped and
//! folded again.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod order;
mod projection;
pub mod recall;

pub use projection::Projection;
