#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod crash;
mod damage;
mod erase;
mod failure;
mod forged;
mod many;
mod open;
mod read;
mod support;
mod torn;
mod verify;
mod write;
