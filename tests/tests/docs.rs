//! The documents say what the code does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The part of a document under a heading of the second level.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let start = text.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no section {heading}")) + 1;
    let rest = &text[start + 3..];
    rest.find("\n## ").map_or(rest, |end| &rest[..end])
}

#[test]
fn the_list_of_commands_and_events_is_that_of_the_code() {
    let text = std::fs::read_to_string(root().join("docs/events.md")).unwrap();
    let commands: Vec<_> = section(&text, "Commands")
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(name, _)| name))
        .collect();
    assert_eq!(commands, bilinc_core::Command::NAMES);
    let events: Vec<_> = section(&text, "Events").lines().filter_map(|line| line.strip_prefix("### ")).collect();
    assert_eq!(events, bilinc_core::Event::NAMES);
    // What a command becomes is an event that there is.
    let named = section(&text, "Commands").lines().filter(|line| line.starts_with("| `"));
    for line in named {
        let becomes = line.rsplit('|').nth(1).unwrap();
        for name in becomes.split('`').skip(1).step_by(2) {
            let known = bilinc_core::Event::NAMES.contains(&name) || bilinc_core::Command::NAMES.contains(&name);
            assert!(known, "{name} is no event");
        }
    }
}

fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            documents(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// Targets of `[text](target)`, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        }
        if code {
            continue;
        }
        for rest in line.split("](").skip(1) {
            found.extend(rest.split_once(')').map(|(target, _)| target.to_owned()));
        }
    }
    found
}

/// The anchor of a heading, as forges make it.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter_map(|line| line.strip_prefix('#')).map(|line| line.trim_start_matches('#'));
    let anchor = |heading: &str| {
        let kept = heading.trim().to_lowercase();
        kept.chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let mut found = vec![];
    documents(&root().join("docs"), &mut found);
    let top = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    found.extend(top.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    assert!(found.iter().any(|path| path.ends_with("README.md")));
    for document in found {
        let text = std::fs::read_to_string(&document).unwrap();
        for link in links(&text).into_iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (path, anchor) =
                link.split_once('#').map_or((link.as_str(), None), |(path, anchor)| (path, Some(anchor)));
            let target = if path.is_empty() { document.clone() } else { document.parent().unwrap().join(path) };
            assert!(target.exists(), "{}: {link} leads nowhere", document.display());
            if let Some(anchor) = anchor.filter(|_| target.extension().is_some_and(|extension| extension == "md")) {
                let there = anchors(&std::fs::read_to_string(&target).unwrap());
                assert!(there.contains(anchor), "{}: no heading for {link}", document.display());
            }
        }
    }
}
