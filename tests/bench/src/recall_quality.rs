//! How often a question finds the memory that answers it, and what each step of the search brings.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use bilinc::{Durability, ImportOptions, Memory, RecallQuery};
use bilinc_projections::recall::{Document, Recall, SearchOptions, Step};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::Outcome;
use crate::bench::{Bench, builder};
use crate::measure::{Latencies, timed};
use crate::report::{Kept, Table, number};
use crate::rivals::Fts5;

const MEMORIES: &str = "locomo-memories.jsonl";
const QUESTIONS: &str = "locomo-questions.jsonl";
/// How deep is looked.
const DEPTH: usize = 10;

/// A line of the memories, in the import format.
#[derive(Debug, Deserialize)]
struct Line {
    key: String,
    value: Box<RawValue>,
    source: String,
    importance: f64,
    metadata: Box<RawValue>,
}

/// What of the metadata a question names.
#[derive(Debug, Deserialize)]
struct Marks {
    evidence: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Question {
    conv: String,
    question: String,
    evidence: Vec<String>,
}

/// The memories of one pair of people, and the questions about them that have an answer among them.
#[derive(Default)]
struct Pair {
    /// As they stand in the file.
    text: String,
    lines: Vec<Line>,
    marks: HashMap<String, Vec<String>>,
    questions: Vec<Question>,
}

/// How a way of searching came out.
#[derive(Debug, Serialize)]
struct Result {
    way: String,
    questions: usize,
    top_5: usize,
    top_10: usize,
    p50_micros: f64,
}

/// What is left out of a search, and what that is called.
const ABLATIONS: [(&str, Step); 6] = [
    ("without stems", Step::Stems),
    ("without stop words", Step::StopWords),
    ("without beginnings", Step::Beginnings),
    ("without slips", Step::Slips),
    ("without weights of fields", Step::Fields),
    ("without coverage", Step::Coverage),
];

/// Hit rates in the first five and ten results. Only the entries of a question's pair are searched; a question counts
/// as found when one of the results has a mark that it names; questions without such an entry are left out.
pub(crate) fn run(bench: &Bench, data: &Path, kept: &Kept) -> Outcome<()> {
    if !data.join(MEMORIES).is_file() || !data.join(QUESTIONS).is_file() {
        println!("skipped: {} does not hold {MEMORIES} and {QUESTIONS}; name the folder with --data", data.display());
        return Ok(());
    }
    let pairs = read(data)?;
    let mut results = Vec::new();

    let mut stores: HashMap<&str, Memory> = HashMap::new();
    for (name, pair) in &pairs {
        let memory = builder().durability(Durability::Relaxed).open(bench.path(name))?;
        memory.import(pair.text.as_bytes(), ImportOptions::default(), &mut |_, _| {})?;
        memory.recall(&RecallQuery::new("warm up"))?;
        stores.insert(name, memory);
    }
    results.push(ask("Memory::recall, values included", &pairs, |name, question| {
        let memory = stores.get(name).ok_or("a pair has no store")?;
        let hits = memory.recall(&RecallQuery { limit: DEPTH, ..RecallQuery::new(question) })?;
        Ok(hits.into_iter().map(|hit| hit.memory.key.as_str().to_owned()).collect())
    })?);

    let indexes: HashMap<&str, Recall> = pairs.iter().map(|(name, pair)| (name.as_str(), index(pair))).collect();
    let ways = ABLATIONS.into_iter().map(|(way, step)| (way, Some(step)));
    for (way, without) in [("the index alone", None)].into_iter().chain(ways) {
        let options = SearchOptions { limit: DEPTH, without, ..SearchOptions::default() };
        results.push(ask(way, &pairs, |name, question| {
            let index = indexes.get(name).ok_or("a pair has no index")?;
            let hits = index.search(question, &options, &mut |_| true);
            Ok(hits.into_iter().map(|hit| hit.key.to_string()).collect())
        })?);
    }

    let mut rivals: HashMap<&str, Fts5> = HashMap::new();
    for (name, pair) in &pairs {
        let mut rival = Fts5::open(&bench.path(&format!("{name}.db")))?;
        rival.put(pair.lines.iter().map(|line| (line.key.clone(), line.value.get().to_owned())))?;
        rivals.insert(name, rival);
    }
    results.push(ask("SQLite FTS5, porter, bm25", &pairs, |name, question| {
        let words = question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
        rivals.get(name).ok_or("a pair has no index")?.keys(&words)
    })?);
    kept.json(&results)?;
    kept.text(&table(&results), bench.below())
}

fn read(data: &Path) -> Outcome<BTreeMap<String, Pair>> {
    let mut pairs: BTreeMap<String, Pair> = BTreeMap::new();
    for text in BufReader::new(File::open(data.join(MEMORIES))?).lines() {
        let text = text?;
        let line: Line = serde_json::from_str(&text)?;
        let marks: Marks = serde_json::from_str(line.metadata.get())?;
        let pair = pairs.entry(line.source.clone()).or_default();
        pair.text.push_str(&text);
        pair.text.push('\n');
        pair.marks.insert(line.key.clone(), marks.evidence);
        pair.lines.push(line);
    }
    for text in BufReader::new(File::open(data.join(QUESTIONS))?).lines() {
        let question: Question = serde_json::from_str(&text?)?;
        let pair = pairs.get_mut(&format!("locomo-{}", question.conv));
        if let Some(pair) = pair
            && pair.marks.keys().any(|key| pair.answers(key, &question))
        {
            pair.questions.push(question);
        }
    }
    pairs.retain(|_, pair| !pair.questions.is_empty());
    Ok(pairs)
}

impl Pair {
    fn answers(&self, key: &str, question: &Question) -> bool {
        self.marks.get(key).is_some_and(|marks| marks.iter().any(|mark| question.evidence.contains(mark)))
    }
}

fn index(pair: &Pair) -> Recall {
    let mut index = Recall::new(0);
    for (changed, line) in (1..).zip(&pair.lines) {
        index.put(Document {
            key: Arc::from(line.key.as_str()),
            value_json: line.value.get(),
            metadata_json: line.metadata.get(),
            memory_type: 0,
            importance: line.importance,
            changed,
        });
    }
    index
}

/// Asks all questions.
fn ask(
    way: &str,
    pairs: &BTreeMap<String, Pair>,
    mut search: impl FnMut(&str, &str) -> Outcome<Vec<String>>,
) -> Outcome<Result> {
    let (mut questions, mut top_5, mut top_10) = (0, 0, 0);
    let mut latencies = Latencies::default();
    for (name, pair) in pairs {
        for question in &pair.questions {
            let (took, keys) = timed(|| search(name, &question.question))?;
            latencies.push(std::time::Duration::from_secs_f64(took));
            let found = keys.iter().position(|key| pair.answers(key, question));
            questions += 1;
            top_5 += usize::from(found.is_some_and(|at| at < 5));
            top_10 += usize::from(found.is_some_and(|at| at < DEPTH));
        }
    }
    Ok(Result { way: way.to_owned(), questions, top_5, top_10, p50_micros: latencies.p50() * 1e6 })
}

fn table(results: &[Result]) -> String {
    let mut table = Table::new(["way", "questions", "top 5", "top 10", "p50"]);
    for result in results {
        let share = |found: usize| format!("{:.1} %", 100.0 * found as f64 / result.questions as f64);
        let p50 = format!("{} µs", number(result.p50_micros));
        let row = [result.way.clone(), result.questions.to_string(), share(result.top_5), share(result.top_10), p50];
        table.row(row);
    }
    table.to_string()
}
