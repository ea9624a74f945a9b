//! A client of a server: the operations of the catalogue, carried out somewhere else.
//!
//! A request of [`crate::wire::requests`] is written down as its route reads it (`ask`), sent
//! (`client`), and its answer read back into the twin of [`crate::wire`] that the server wrote. What
//! goes wrong on the way has the shape of every error (`errors`).
//!
//! An answer that is lost is no reason to act twice: each write goes under an idempotency key.

mod address;
mod ask;
mod client;
mod errors;
mod streams;

pub use self::address::{Address, InvalidAddress};
pub(crate) use self::client::own_name;
pub use self::client::{Client, Received, SetUp};
pub use self::errors::ServerError;
pub use self::streams::Events;
