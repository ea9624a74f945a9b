//! What the product is held against.

mod search;
mod stores;

pub(crate) use search::{Fts5, Tantivy};
pub(crate) use stores::{Batch, Fjall, Redb, Rival, Sled, Sqlite};
