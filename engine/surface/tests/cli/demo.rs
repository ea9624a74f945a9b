//! The guided tour.

use std::time::{Duration, Instant};

use crate::shell::{Ran, Shell};

#[test]
fn the_demo_runs_through_and_leaves_nothing_behind() {
    let shell = Shell::new();
    let temp = shell.path().join("temp");
    std::fs::create_dir(&temp).unwrap();
    let began = Instant::now();
    let text = Ran::from(shell.command(&["demo"]).env("TMPDIR", &temp).output().unwrap()).text();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(std::fs::read_dir(&temp).unwrap().count(), 0);
    assert!(!shell.store().exists() && !shell.path().join("home").exists());
    assert!(text.lines().count() > 20 && !text.contains('\u{1b}'), "{text}");
    for part in ["dream", "undo", "editor-2", "conflict"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_demo_that_cannot_have_its_folder_says_so() {
    let shell = Shell::new();
    let mut command = shell.command(&["demo"]);
    let ran = Ran::from(command.env("TMPDIR", shell.path().join("missing")).output().unwrap());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.starts_with("bilinc: error: "), "{ran:?}");
}
