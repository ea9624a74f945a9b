//! An open file of a storage that fails when told to.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::StorageFile;
use super::fault::{State, Verdict, failed};
use super::fault_image::Pending;

#[derive(Debug)]
pub(super) struct FaultFile {
    path: String,
    id: u64,
    file: Arc<dyn StorageFile>,
    state: Arc<Mutex<State>>,
}

impl FaultFile {
    pub(super) fn new(path: &str, id: u64, file: Arc<dyn StorageFile>, state: Arc<Mutex<State>>) -> Self {
        Self { path: path.to_owned(), id, file, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the call, does it and keeps what it changed, as one step.
    fn change(
        &self,
        call: &'static str,
        pending: Pending,
        act: impl FnOnce(&dyn StorageFile) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut state = self.state();
        match state.count(call, &self.path)? {
            Verdict::Go => {
                act(self.file.as_ref())?;
                state.image.changed(self.id, pending);
                Ok(())
            }
            Verdict::Short(bytes, kind) => {
                if let Pending::Write { offset, data } = pending {
                    let data = data.into_iter().take(bytes).collect::<Vec<u8>>();
                    self.file.write_at(&data, offset)?;
                    state.image.changed(self.id, Pending::Write { offset, data });
                }
                Err(failed(kind))
            }
        }
    }
}

impl StorageFile for FaultFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.state().look("read")?;
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let pending = Pending::Write { offset, data: bytes.to_vec() };
        self.change("write", pending, |file| file.write_at(bytes, offset))
    }

    fn len(&self) -> io::Result<u64> {
        self.state().look("len")?;
        self.file.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change("set_len", Pending::SetLen(len), |file| file.set_len(len))
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.change("allocate", Pending::Allocate(len), |file| file.allocate(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.state();
        if let Err(error) = state.count("sync", &self.path) {
            if !state.frozen() {
                state.image.sync_failed(self.id);
            }
            return Err(error);
        }
        self.file.sync_data()?;
        state.image.synced(self.id);
        Ok(())
    }
}
