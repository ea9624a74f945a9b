//! The guided run, with its checks, and what it looks like.
#![allow(clippy::unwrap_used, clippy::panic)]

use clap::Parser;
use clap::error::ErrorKind;

use super::error::{DemoError, check_count};
use super::page::{Cell, Page, Paint};
use super::{Style, run};
use crate::cli::{Cli, CliError};

fn output() -> String {
    let mut out = Vec::new();
    run(&mut out, Style::plain()).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_run_ends_well_and_fits_a_terminal() {
    let plain = output();
    assert!(!plain.contains('\u{1b}'));
    let widest = plain.lines().max_by_key(|line| line.chars().count()).unwrap();
    assert!(widest.chars().count() < 100, "{widest}");
    let lines = plain.lines().count();
    assert!((60..=90).contains(&lines), "{lines} lines");
}

/// The words of a command line as a shell takes them, up to a remark: single quotes, no escapes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.into_iter().take_while(|word| !word.is_empty() && word != "#").collect()
}

#[test]
fn every_command_line_shown_can_be_typed() {
    let output = output();
    let lines: Vec<_> = output.lines().filter_map(|line| line.trim().strip_prefix("$ ")).collect();
    assert!(lines.len() > 10, "{lines:?}");
    for line in lines {
        match Cli::try_parse_from(words(line)) {
            Err(error) if error.kind() != ErrorKind::DisplayHelp => panic!("{line}: {error}"),
            _ => {}
        }
    }
}

#[test]
fn two_runs_differ_in_ids_and_hashes_only() {
    let widths = |text: &str| text.lines().map(|line| line.chars().count()).collect::<Vec<_>>();
    assert_eq!(widths(&output()), widths(&output()));
}

#[test]
fn a_row_keeps_its_columns_and_cuts_what_does_not_fit() {
    let mut out = Vec::new();
    let cells =
        [Cell("key", 5, Paint::Plain), Cell("too long", 4, Paint::Green), Cell(&"ğ".repeat(200), 0, Paint::Bold)];
    Page::new(&mut out, Style::plain()).row(&cells).unwrap();
    let row = String::from_utf8(out).unwrap();
    assert!(row.starts_with("   key    too…  ğ") && row.ends_with("ğ…\n"), "{row}");
    assert_eq!(row.trim_end().chars().count(), 98);
}

#[test]
fn an_answer_that_is_not_as_told_ends_the_run_with_what_differs() {
    let error = check_count("entries", 2_u64, 3_u64).unwrap_err();
    assert!(matches!(&error, DemoError::Unexpected(what) if what == "entries: 2, not 3"), "{error:?}");
    let error = CliError::from(error);
    assert!(matches!(&error, CliError::Unexpected(what) if what == "entries: 2, not 3"), "{error:?}");
}
