//! `log`.

use std::time::Duration;

use bilinc::{LogQuery, Memory, Seq};
use clap::Args;

use super::console::Console;
use super::errors::CliError;
use super::times::{self, Edge};
use super::write::position;
use super::{carry, render, server, store};
use crate::remote::Client;
use crate::wire::log::LogEvent;
use crate::wire::requests::{LogRequest, StatusRequest};

/// How often the end of the log is looked at.
const POLL: Duration = Duration::from_millis(200);
/// Before a stream that broke off is taken up again, and how often in a row that is tried.
const RECONNECT: Duration = Duration::from_secs(1);
const RECONNECTS: u32 = 30;
/// Events that are shown before those to come.
const TAIL: usize = 10;

/// Options of `log`.
#[derive(Debug, Args)]
#[command(after_help = "\
With --follow and --json, each event is one line of JSON. A time as it is shown means its whole \
millisecond: what has that very time is neither after it nor before it.

Examples:
  bilinc log --limit 20
  bilinc log --session run-42 --oldest-first
  bilinc log --follow")]
pub(super) struct LogArgs {
    /// Only events about this key
    #[arg(long, allow_hyphen_values = true)]
    key: Option<String>,
    /// Only events by this writer
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    source: Option<String>,
    /// Only events of this session
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    session: Option<String>,
    /// Only the own events of this dream
    #[arg(long, value_name = "ID")]
    dream: Option<String>,
    /// Only events of this import
    #[arg(long, value_name = "ID")]
    import: Option<String>,
    /// Only events of this operation
    #[arg(long, value_name = "ID")]
    operation: Option<String>,
    /// Only events from this position on
    #[arg(long, value_name = "POSITION", value_parser = position)]
    from_seq: Option<u64>,
    /// Only events up to this position
    #[arg(long, value_name = "POSITION", value_parser = position)]
    to_seq: Option<u64>,
    /// Only events recorded after this time
    #[arg(long, value_name = "TIME")]
    after: Option<String>,
    /// Only events recorded before this time
    #[arg(long, value_name = "TIME")]
    before: Option<String>,
    /// Oldest first instead of newest first
    #[arg(long)]
    oldest_first: bool,
    /// Show values, too
    #[arg(long)]
    include_values: bool,
    /// Events on a page, 1 to 1000
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u64,
    /// Where the page before ended
    #[arg(long, value_name = "CURSOR", conflicts_with = "follow")]
    cursor: Option<String>,
    /// Show the last events, then each new one as it comes
    #[arg(long, conflicts_with_all = ["to_seq", "before"])]
    follow: bool,
}

impl LogArgs {
    fn request(&self) -> Result<LogRequest, CliError> {
        Ok(LogRequest {
            limit: Some(self.limit),
            key: self.key.clone(),
            source: self.source.clone(),
            session_id: self.session.clone(),
            dream_id: self.dream.clone(),
            import_id: self.import.clone(),
            operation_id: self.operation.clone(),
            from_seq: self.from_seq,
            to_seq: self.to_seq,
            after: times::optional("after", self.after.as_deref(), Edge::End)?,
            before: times::optional("before", self.before.as_deref(), Edge::Start)?,
            order: Some(if self.oldest_first { "oldest" } else { "newest" }.to_owned()),
            include_values: Some(self.include_values),
            cursor: self.cursor.clone(),
            follow: None,
        })
    }

    /// The command for the next page, with the same filters.
    fn next_command(&self) -> String {
        let mut command = String::from("bilinc log");
        let numbers = [("--from-seq", self.from_seq), ("--to-seq", self.to_seq)];
        let texts = [
            ("--key", &self.key),
            ("--source", &self.source),
            ("--session", &self.session),
            ("--dream", &self.dream),
            ("--import", &self.import),
            ("--operation", &self.operation),
            ("--after", &self.after),
            ("--before", &self.before),
        ];
        let texts = texts.into_iter().filter_map(|(name, value)| Some((name, render::shell_word(value.as_ref()?))));
        let numbers = numbers.into_iter().filter_map(|(name, value)| Some((name, value?.to_string())));
        for (name, value) in texts.chain(numbers) {
            command.push_str(&format!(" {name} {value}"));
        }
        for (name, given) in [("--oldest-first", self.oldest_first), ("--include-values", self.include_values)] {
            if given {
                command.push_str(&format!(" {name}"));
            }
        }
        command.push_str(&format!(" --limit {}", self.limit));
        command
    }
}

/// Shows events.
pub(super) fn log(console: &mut Console<'_>, args: LogArgs) -> Result<(), CliError> {
    let request = args.request()?;
    if args.follow {
        if let Some(client) = server::named(&console.globals)? {
            return follow_server(console, &client, request);
        }
        let query = request.query()?;
        let mut store = store::read(&console.globals)?;
        // A default store that is not there yet is waited for, and followed from its first event.
        let whole = args.from_seq.is_some() || !store.exists;
        while !store.exists {
            std::thread::sleep(POLL);
            store = store::read(&console.globals)?;
        }
        return follow(console, &store.memory, query, whole);
    }
    let reply = carry::read(console, request)?;
    let more = args.next_command();
    console.answer(&reply, |out, style, view| render::log(out, style, view, &more))
}

/// The same on a server, which tells each event as it comes. A stream that breaks off is taken up
/// behind the last event that was shown.
fn follow_server(console: &mut Console<'_>, client: &Client, request: LogRequest) -> Result<(), CliError> {
    carry::judge(&request)?;
    let mut next = match request.from_seq {
        Some(from) => from,
        None => {
            let head = client.ask(&StatusRequest {}, None)?.answer.store.seq;
            let tail = LogRequest {
                limit: Some(TAIL as u64),
                order: Some("newest".to_owned()),
                to_seq: Some(head.get()),
                ..request.clone()
            };
            for event in client.ask(&tail, None)?.answer.events.iter().rev() {
                show(console, event)?;
            }
            head.plus(1).get()
        }
    };
    console.out.flush()?;
    let mut failures = 0;
    loop {
        let mut shown = false;
        let failed = match client.follow(&request, next) {
            Ok(events) => {
                for event in events.map_while(Result::ok) {
                    show(console, &event)?;
                    console.out.flush()?;
                    (next, shown) = (event.seq.plus(1).get(), true);
                }
                None
            }
            Err(error) => Some(error),
        };
        failures = if shown { 0 } else { failures + 1 };
        match failed {
            // One that says no says so again; one that starts anew needs a moment.
            Some(error) if failures > RECONNECTS || !error.view.retryable => return Err(error.into()),
            _ => std::thread::sleep(RECONNECT),
        }
    }
}

/// Shows the last events, or those from a position on, and then each new one, until the process or
/// its reader ends.
fn follow(console: &mut Console<'_>, memory: &Memory, query: LogQuery, whole: bool) -> Result<(), CliError> {
    let mut seen = memory.head()?.seq;
    if whole {
        let first = query.from_seq.unwrap_or(Seq::new(1));
        show_through(console, memory, &query, first, seen)?;
    } else {
        let tail = LogQuery { limit: Some(TAIL), oldest_first: false, to_seq: Some(seen), ..query.clone() };
        let page = memory.log(&tail)?;
        for item in page.events.iter().rev() {
            show(console, &LogEvent::from(item))?;
        }
    }
    console.out.flush()?;
    loop {
        std::thread::sleep(POLL);
        let head = memory.head()?.seq;
        if head > seen {
            show_through(console, memory, &query, seen.plus(1), head)?;
            console.out.flush()?;
            seen = head;
        }
    }
}

/// Shows all matching events from one position through another, oldest first.
fn show_through(
    console: &mut Console<'_>,
    memory: &Memory,
    query: &LogQuery,
    from: Seq,
    to: Seq,
) -> Result<(), CliError> {
    let mut query = LogQuery {
        limit: Some(bilinc::MAX_PAGE),
        from_seq: Some(from),
        to_seq: Some(to),
        oldest_first: true,
        cursor: None,
        ..query.clone()
    };
    loop {
        let page = memory.log(&query)?;
        for item in &page.events {
            show(console, &LogEvent::from(item))?;
        }
        match page.next_cursor {
            Some(cursor) => query.cursor = Some(cursor),
            None => return Ok(()),
        }
    }
}

fn show(console: &mut Console<'_>, event: &LogEvent) -> Result<(), CliError> {
    if console.globals.json {
        return console.json_line(event);
    }
    Ok(render::log_line(console.out, console.style, event)?)
}
