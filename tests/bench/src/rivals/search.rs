//! Two full-text indexes.

use std::path::Path;

use rusqlite::Connection;
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions, Value};
use tantivy::{Index, IndexReader, TantivyDocument, doc};

use crate::Outcome;
use crate::data::{key_text, value_text};

/// SQLite's FTS5 with stems of English, its file in the page cache.
pub(crate) struct Fts5(Connection);

impl Fts5 {
    /// An empty index.
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144;
             CREATE VIRTUAL TABLE memory USING fts5(key, value, tokenize = 'porter unicode61');",
        )?;
        Ok(Self(connection))
    }

    /// Puts so many entries in.
    pub(crate) fn fill(&mut self, entries: u64) -> Outcome<()> {
        self.put((0..entries).map(|number| (key_text(number), value_text(number, 0))))
    }

    /// Puts keys and values in.
    pub(crate) fn put(&mut self, entries: impl Iterator<Item = (String, String)>) -> Outcome<()> {
        let all = self.0.transaction()?;
        {
            let mut insert = all.prepare("INSERT INTO memory (key, value) VALUES (?1, ?2)")?;
            for entry in entries {
                insert.execute(entry)?;
            }
        }
        all.commit()?;
        Ok(())
    }

    /// The ten best that hold any of these words; how many there are.
    pub(crate) fn find(&self, words: &[String]) -> Outcome<usize> {
        Ok(self.keys(words)?.len())
    }

    /// The keys of the ten best that hold any of these words, their values read as well.
    pub(crate) fn keys(&self, words: &[String]) -> Outcome<Vec<String>> {
        let mut select =
            self.0.prepare_cached("SELECT key, value FROM memory WHERE memory MATCH ?1 ORDER BY rank LIMIT 10")?;
        let rows =
            select.query_map([words.join(" OR ")], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        Ok(rows.map(|row| row.map(|(key, _)| key)).collect::<Result<Vec<_>, _>>()?)
    }
}

/// Tantivy in memory, without stems.
pub(crate) struct Tantivy {
    reader: IndexReader,
    parser: QueryParser,
    value: Field,
}

impl Tantivy {
    /// An index of so many entries.
    pub(crate) fn filled(entries: u64) -> Outcome<Self> {
        let indexing =
            TextFieldIndexing::default().set_tokenizer("default").set_index_option(IndexRecordOption::WithFreqs);
        let text = TextOptions::default().set_indexing_options(indexing) | STORED;
        let mut schema = Schema::builder();
        let (key, value) = (schema.add_text_field("key", text.clone()), schema.add_text_field("value", text));
        let index = Index::create_in_ram(schema.build());
        let mut writer = index.writer_with_num_threads(1, 64 << 20)?;
        for number in 0..entries {
            writer.add_document(doc!(key => key_text(number), value => value_text(number, 0)))?;
        }
        writer.commit()?;
        let parser = QueryParser::for_index(&index, vec![key, value]);
        Ok(Self { reader: index.reader()?, parser, value })
    }

    /// The ten best that hold any of these words; how many there are.
    pub(crate) fn find(&self, words: &[String]) -> Outcome<usize> {
        let searcher = self.reader.searcher();
        let query = self.parser.parse_query(&words.join(" "))?;
        let best = searcher.search(&query, &TopDocs::with_limit(10).order_by_score())?;
        let mut bytes = 0;
        for (_, at) in &best {
            let document: TantivyDocument = searcher.doc(*at)?;
            bytes += document.get_first(self.value).and_then(|value| value.as_str()).map_or(0, str::len);
        }
        if best.is_empty() || bytes > 0 { Ok(best.len()) } else { Err("values are missing".into()) }
    }
}
