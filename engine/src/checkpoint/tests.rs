#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::packs::Packer;
use super::*;
use crate::log::End;
use crate::storage::FileStorage;

const KEPT: Kept = Kept { name: "state", version: 3, store_id: 9 };

fn end() -> End {
    End { seq: 4, chain: [1; 32], time: None, segment: 1, frame: 200, offset: 300 }
}

fn checkpoints(folder: &tempfile::TempDir) -> Checkpoints {
    Checkpoints::new(Arc::new(FileStorage::new(folder.path())), "a test".to_owned())
}

fn save(held: &Held<'_>, rows: u64) {
    let push = |packer: &mut Packer<'_>, row: u64| {
        packer.push(|out| {
            out.extend_from_slice(&row.to_le_bytes());
            Ok(())
        })
    };
    held.save(KEPT, &end(), |packer| (0..rows).try_for_each(|row| push(packer, row))).unwrap();
}

fn load(held: &Held<'_>, kept: Kept) -> Option<Vec<u64>> {
    let manifest = held.manifest(kept)?;
    assert_eq!(manifest.end, end());
    held.load(kept, &manifest, Vec::new(), |rows, pack| {
        let (numbers, _) = pack.unwrap_or_default().as_chunks::<8>();
        rows.extend(numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)));
        Ok(numbers.len() as u64)
    })
}

#[test]
fn rows_come_back_whole_and_in_order_and_reading_them_changes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = checkpoints(&folder);
    let held = checkpoints.hold(Duration::ZERO).unwrap();
    for rows in [0, 1, 499, 500, 501, 40_000] {
        save(&held, rows);
        let files = || manifest_file::files(&folder.path().join("checkpoints/state")).unwrap();
        let before = files();
        for _ in 0..3 {
            assert_eq!(load(&held, KEPT), Some((0..rows).collect()));
            assert_eq!(files(), before, "{rows} rows");
        }
    }
}

#[test]
fn what_was_kept_under_another_version_or_by_another_store_is_set_aside() {
    for other in [Kept { version: 4, ..KEPT }, Kept { store_id: 8, ..KEPT }] {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = checkpoints(&folder);
        let held = checkpoints.hold(Duration::ZERO).unwrap();
        save(&held, 3);
        assert_eq!(load(&held, other), None);
        assert_eq!(load(&held, KEPT), None);
        assert!(folder.path().join("checkpoints/doubted/manifest").exists());
    }
}

#[test]
fn a_reader_of_rows_that_doubts_them_has_them_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = checkpoints(&folder);
    let held = checkpoints.hold(Duration::ZERO).unwrap();
    for lie in [Err("no row".to_owned()), Ok(1)] {
        save(&held, 3);
        let manifest = held.manifest(KEPT).unwrap();
        assert!(held.load(KEPT, &manifest, (), |(), _| lie.clone()).is_none());
        assert!(held.manifest(KEPT).is_none());
    }
}

#[test]
fn a_lock_that_another_process_holds_is_waited_for_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (checkpoints(&folder), checkpoints(&folder));
    let held = one.hold(Duration::ZERO).unwrap();
    let busy = two.hold(Duration::from_millis(1)).unwrap_err();
    assert!(busy.to_string().contains("a test"), "{busy}");
    // A thread of the same process is not waited for where that could wait for ever.
    let busy = one.hold_unless_at_work(Duration::ZERO).unwrap_err();
    assert!(busy.to_string().contains("another thread"), "{busy}");
    drop(held);
    drop(two.hold(Duration::ZERO).unwrap());
}
