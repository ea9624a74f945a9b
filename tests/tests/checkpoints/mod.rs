//! Checkpoints make opens fast and nothing else: with one, without one and with a broken one a store is the
//! same.

mod beside;
mod cuts;
mod doubt;
mod erased;
mod ground;
mod opening;
