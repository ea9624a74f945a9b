//! Wrong use, help and completions.

use bilinc_surface::catalogue;

use crate::shell::Shell;

#[test]
fn wrong_use_exits_with_two_and_says_so_on_standard_error_alone() {
    let shell = Shell::new();
    let words: [&[&str]; 14] = [
        &["list", "--no-such-option"],
        &["no-such-command"],
        &["dream", "no-such-command"],
        &["commit", "--key", "k"],
        &["commit", "--value", "v"],
        &["commit", "--key", "k", "--value", "v", "--type", "imaginary"],
        &["commit", "--key", "k", "--value", "v", "--importance", "1.1"],
        &["forget", "--key", "k"],
        &["get"],
        &["list", "extra"],
        &["recall", "--query", "x", "--profile", "thorough"],
        &["log", "--from-seq", "-1"],
        &["rollback", "execute", "--snapshot", "s"],
        &["undo"],
    ];
    for words in words {
        let ran = shell.run(words);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{words:?}");
        assert!(ran.err.starts_with("bilinc: error: "), "{words:?}: {ran:?}");
        let error = shell.run(&[words, &["--json"]].concat()).error(2);
        assert_eq!(error["error"], "invalid_request", "{words:?}");
        assert_eq!(error["details"]["reason"], "usage", "{words:?}");
        let message = error["message"].as_str().unwrap();
        assert!(!message.contains("Usage:") && !message.contains("--help"), "{words:?}: {message}");
    }
    assert!(!shell.store().exists());
}

#[test]
fn a_group_without_a_command_shows_its_help_on_standard_error() {
    let shell = Shell::new();
    for group in ["dream", "snapshot", "rollback"] {
        let ran = shell.run(&[group]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{group}");
        assert!(ran.err.contains(&format!("bilinc {group}")), "{group}: {ran:?}");
    }
}

#[test]
fn the_help_of_every_command_says_what_it_does_and_names_an_example() {
    let shell = Shell::new();
    let groups = ["dream", "snapshot", "rollback", "completions", "demo"].map(|name| (name, ""));
    let operations = catalogue::ALL.iter().map(|operation| (operation.name, operation.summary));
    for (name, summary) in operations.chain(groups) {
        let words: Vec<_> = name.split(' ').chain(["--help"]).collect();
        let help = shell.text(&words);
        assert!(help.starts_with(summary), "{name}: {help}");
        assert!(
            help.contains(&format!("\n  bilinc {name}")) || help.contains(&format!("| bilinc {name}")),
            "{name}: {help}"
        );
        assert!(help.contains("--store") && help.contains("--json"), "{name}");
    }
}

#[test]
fn the_overview_names_every_operation() {
    let shell = Shell::new();
    let text = shell.text(&[]);
    for operation in catalogue::ALL {
        let line = text.lines().find(|line| line.trim_start().starts_with(&format!("{} ", operation.name)));
        assert!(line.is_some_and(|line| line.ends_with(operation.summary)), "{}", operation.name);
    }
    for words in [&["--help"][..], &["-h"], &["help"]] {
        assert_eq!(shell.text(words), text, "{words:?}");
    }
    assert!(shell.text(&["--version"]).starts_with("bilinc "));
}

#[test]
fn completions_are_made_for_each_shell() {
    let shell = Shell::new();
    for name in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = shell.text(&["completions", name]);
        assert!(script.len() > 1000 && script.contains("expected-version"), "{name}");
    }
    assert_eq!(shell.run(&["completions", "tcsh"]).code, Some(2));
}

/// A shell that reads the script without complaint, where there is one.
#[test]
fn shells_take_their_completions() {
    let shell = Shell::new();
    for (name, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let script = shell.write(name, shell.text(&["completions", name]));
        let Ok(ran) = std::process::Command::new(name).args([check, &script]).output() else { continue };
        assert!(ran.status.success(), "{name}: {ran:?}");
    }
}
