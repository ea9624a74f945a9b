//! Stores of keys and values, each set so that an answered batch survives a power cut.

use std::path::Path;

use redb::{Database, Durability, TableDefinition};

use crate::Outcome;

/// Keys and values.
pub(crate) type Batch = Vec<(String, String)>;

const TABLE: TableDefinition<'_, &str, &str> = TableDefinition::new("memory");

/// A store that takes batches.
pub(crate) trait Rival {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Puts a batch in, whole or not at all, and comes back when it is durable.
    fn put(&mut self, batch: &Batch) -> Outcome<()>;
}

/// SQLite in WAL mode with `synchronous = FULL`.
pub(crate) struct Sqlite(rusqlite::Connection);

impl Sqlite {
    /// An empty store.
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        let connection = rusqlite::Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;
             CREATE TABLE memory (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;",
        )?;
        Ok(Self(connection))
    }
}

impl Rival for Sqlite {
    fn name(&self) -> &'static str {
        "SQLite FULL"
    }

    fn put(&mut self, batch: &Batch) -> Outcome<()> {
        let all = self.0.transaction()?;
        {
            let mut insert = all.prepare_cached("INSERT OR REPLACE INTO memory (key, value) VALUES (?1, ?2)")?;
            for (key, value) in batch {
                insert.execute((key, value))?;
            }
        }
        all.commit()?;
        Ok(())
    }
}

/// redb with immediate durability.
pub(crate) struct Redb(Database);

impl Redb {
    /// An empty store.
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        Ok(Self(Database::create(path)?))
    }
}

impl Rival for Redb {
    fn name(&self) -> &'static str {
        "redb"
    }

    fn put(&mut self, batch: &Batch) -> Outcome<()> {
        let mut all = self.0.begin_write()?;
        all.set_durability(Durability::Immediate)?;
        {
            let mut table = all.open_table(TABLE)?;
            for (key, value) in batch {
                table.insert(key.as_str(), value.as_str())?;
            }
        }
        all.commit()?;
        Ok(())
    }
}

/// fjall, each batch persisted with a sync.
pub(crate) struct Fjall {
    database: fjall::Database,
    keyspace: fjall::Keyspace,
}

impl Fjall {
    /// An empty store.
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        let database = fjall::Database::builder(path).open()?;
        let keyspace = database.keyspace("memory", fjall::KeyspaceCreateOptions::default)?;
        Ok(Self { database, keyspace })
    }
}

impl Rival for Fjall {
    fn name(&self) -> &'static str {
        "fjall"
    }

    fn put(&mut self, batch: &Batch) -> Outcome<()> {
        let mut all = self.database.batch().durability(Some(fjall::PersistMode::SyncData));
        for (key, value) in batch {
            all.insert(&self.keyspace, key.as_str(), value.as_str());
        }
        all.commit()?;
        Ok(())
    }
}

/// sled, flushed after each batch; shown beside, because its flush is no device flush.
pub(crate) struct Sled(sled::Db);

impl Sled {
    /// An empty store.
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        Ok(Self(sled::open(path)?))
    }
}

impl Rival for Sled {
    fn name(&self) -> &'static str {
        "sled"
    }

    fn put(&mut self, batch: &Batch) -> Outcome<()> {
        let mut all = sled::Batch::default();
        for (key, value) in batch {
            all.insert(key.as_str(), value.as_str());
        }
        self.0.apply_batch(all)?;
        self.0.flush()?;
        Ok(())
    }
}
