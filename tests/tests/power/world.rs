//! One run of a workload on a disk that may stop or fail, and what was promised in it.

use std::sync::Arc;

use bilinc::storage::{Fault, FaultKind, FaultStorage, MemoryStorage};
use bilinc::{CountingIds, Durability, Error, ManualClock, Memory, Seq};

use super::workloads::Workload;
use crate::support::*;

/// Called when an operation has failed, with its number and the operation itself.
pub(super) type Settle<'a> = &'a dyn Fn(&World<'_>, &Failed<'_>);

/// A failed operation, which can be asked for again under its name.
pub(super) struct Failed<'a> {
    pub(super) handle: usize,
    pub(super) error: &'a Error,
    /// On any handle: the same request under the same idempotency key.
    pub(super) again: &'a dyn Fn(&Memory) -> Result<(), Error>,
}

pub(super) struct World<'a> {
    pub(super) faults: FaultStorage,
    /// The bytes under it, as a process finds them that starts after this one was killed.
    pub(super) disk: MemoryStorage,
    pub(super) clock: Arc<ManualClock>,
    ids: Arc<CountingIds>,
    workload: &'static Workload,
    settle: Option<Settle<'a>>,
    handles: Vec<Option<Memory>>,
    /// The head behind each operation that was answered.
    pub(super) answered: Vec<Seq>,
    /// The calls that there had been by the last answer.
    pub(super) worked: u64,
    /// How much of it a power cut must leave: all, but for relaxed durability.
    pub(super) synced: Seq,
    /// The call at which the machine stops.
    stops_at: Option<u64>,
}

impl<'a> World<'a> {
    pub(super) fn new(workload: &'static Workload) -> Self {
        let disk = MemoryStorage::new();
        Self {
            faults: FaultStorage::new(Arc::new(disk.clone())).unwrap(),
            disk,
            clock: Arc::new(ManualClock::at(START)),
            ids: Arc::new(CountingIds::new(7)),
            workload,
            settle: None,
            handles: Vec::new(),
            answered: vec![Seq::ZERO],
            worked: 0,
            synced: Seq::ZERO,
            stops_at: None,
        }
    }

    pub(super) fn stopping(workload: &'static Workload, at: u64) -> Self {
        let world = Self { stops_at: Some(at), ..Self::new(workload) };
        world.faults.set_fault(Some(freeze(at)));
        world
    }

    pub(super) fn settling(workload: &'static Workload, settle: Settle<'a>) -> Self {
        Self { settle: Some(settle), ..Self::new(workload) }
    }

    /// Does the work, and closes what is open unless something failed.
    pub(super) fn run(&mut self) -> Result<(), Error> {
        (self.workload.work)(self)?;
        for handle in 0..self.handles.len() {
            self.close(handle);
        }
        Ok(())
    }

    /// Another handle with its own state, as another process has it.
    pub(super) fn open(&mut self) -> Result<usize, Error> {
        self.open_as(self.workload.durability)
    }

    pub(super) fn open_as(&mut self, durability: Durability) -> Result<usize, Error> {
        let builder = builder(&self.clock, &self.ids).segment_bytes(self.workload.segment_bytes);
        let memory = builder.durability(durability).open_in(Arc::new(self.faults.clone()))?;
        self.handles.push(Some(memory));
        Ok(self.handles.len() - 1)
    }

    /// Closes a handle; when that surely went through, everything answered so far has been synced.
    pub(super) fn close(&mut self, handle: usize) {
        self.handles[handle] = None;
        if self.settle.is_none() && !self.is_stopped() {
            self.synced = self.answered();
        }
    }

    /// What the handle can be asked besides operations.
    pub(super) fn memory(&self, handle: usize) -> Memory {
        self.handles[handle].clone().unwrap()
    }

    /// One operation of the workload, under a name of its own.
    pub(super) fn op<T>(&mut self, handle: usize, act: impl Fn(&Memory) -> Result<T, Error>) -> Result<T, Error> {
        let name = format!("{}-{}", self.workload.name, self.answered.len());
        let memory = self.memory(handle);
        match act(&memory.with_idempotency_key(&name)) {
            Ok(answer) => {
                let head = memory.head()?.seq;
                self.answered.push(head);
                self.worked = self.faults.calls();
                if self.workload.durability == Durability::Durable {
                    self.synced = head;
                }
                self.clock.advance(SECOND);
                Ok(answer)
            }
            Err(error) => {
                drop(memory);
                if let Some(settle) = self.settle {
                    let again = |memory: &Memory| act(&memory.with_idempotency_key(&name)).map(|_| ());
                    settle(self, &Failed { handle, error: &error, again: &again });
                }
                Err(error)
            }
        }
    }

    pub(super) fn answered(&self) -> Seq {
        self.answered.last().copied().unwrap()
    }

    pub(super) fn open_handles(&self) -> impl Iterator<Item = &Memory> {
        self.handles.iter().flatten()
    }

    pub(super) fn others(&self, than: usize) -> impl Iterator<Item = &Memory> {
        let others = self.handles.iter().enumerate().filter(move |(handle, _)| *handle != than);
        others.filter_map(|(_, memory)| memory.as_ref())
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stops_at.is_some_and(|at| self.faults.calls() >= at)
    }

    /// All processes are killed: they tidy nothing up.
    pub(super) fn kill(&mut self) {
        self.faults.set_fault(Some(freeze(self.faults.calls() + 1)));
        self.handles.clear();
        self.faults.set_fault(None);
    }
}

/// The machine stops just before that call.
pub(super) fn freeze(at: u64) -> Fault {
    Fault { at, kind: FaultKind::Freeze, sticky: false, only: None }
}
