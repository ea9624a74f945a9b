//! Salvage: putting a damaged store in order.

use std::path::Path;
use std::sync::Arc;

use bilinc_core::{Key, RecordedEvent, Salvaged, Seq, StoreId};

use super::{Memory, MemoryBuilder};
use crate::answer::{ChainHash, Head, LostBody, LostPositions, SalvageRecord, SalvageReport};
use crate::error::{EngineError, Error};
use crate::log::LogError;
use crate::log::salvage::{BothLocks, Survey, finish_under, is_decided, refuse_nothing, rewrite};
use crate::storage::{FileStorage, Storage};
use crate::store::{Examined, Recorder, kept_through};

impl Memory {
    /// Keys of present entries of which a part was lost with damage of the log, in order: a value or a
    /// metadata object, or an event that shaped the rest.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn keys_with_losses(&self) -> Result<Vec<Key>, Error> {
        self.store.refresh()?;
        let published = self.store.published();
        let entries = published.state.entries(self.now());
        let lossy = entries.filter(|(_, entry)| entry.incomplete || published.state.has_lost(entry));
        let mut keys: Vec<Key> = lossy.map(|(key, _)| key.clone()).collect();
        keys.sort_unstable();
        Ok(keys)
    }
}

impl SalvageRecord {
    pub(super) fn of(recorded: &RecordedEvent, salvaged: &Salvaged) -> Self {
        let lost = salvaged.lost.iter().map(|range| LostPositions {
            first: range.first,
            last: range.last,
            bytes: range.bytes,
            reason: range.reason.to_string(),
            keys: Vec::new(),
        });
        Self {
            seq: recorded.seq,
            at: recorded.operation.at,
            lost: lost.collect(),
            bodies: salvaged.bodies.clone(),
            unproven: salvaged.unproven.clone(),
            damage: salvaged.damage.iter().map(ToString::to_string).collect(),
            before: Head { seq: salvaged.head, chain: ChainHash(salvaged.chain) },
        }
    }
}

impl MemoryBuilder {
    /// Puts a damaged store in order and keeps all that is whole, also behind the damage.
    ///
    /// Every position keeps its meaning: where events are lost, [`Event::Lost`](crate::Event::Lost) stands
    /// in their place, and [`Event::Salvaged`](crate::Event::Salvaged) says for ever what that cost. The
    /// damaged files are moved to `quarantine/`. A store that is not damaged is left as it is. After an
    /// interruption the next open for writing, or the next salvage, goes on with it.
    ///
    /// Whoever has the store open writes no more until they open it again.
    ///
    /// # Errors
    /// [`EngineError::Log`] when the folder holds no store, was written by a later version, cannot be
    /// written, or nothing in it says which store it was. Nothing of the log was changed then, unless the
    /// message says that the salvage is decided.
    pub fn salvage(self, path: impl AsRef<Path>) -> Result<SalvageReport, Error> {
        self.salvage_in(Arc::new(FileStorage::new(path.as_ref())))
    }

    /// What [`Self::salvage`] would keep and what would be lost. Writes nothing and takes no lock.
    ///
    /// # Errors
    /// As [`Self::salvage`]; [`LogError::SalvageUnfinished`] when one was interrupted.
    pub fn salvage_preview(self, path: impl AsRef<Path>) -> Result<SalvageReport, Error> {
        self.salvage_preview_in(Arc::new(FileStorage::new(path.as_ref())))
    }

    /// As [`Self::salvage`], in a storage of the caller's.
    ///
    /// # Errors
    /// As [`Self::salvage`].
    pub fn salvage_in(mut self, storage: Arc<dyn Storage>) -> Result<SalvageReport, Error> {
        self.log.created_at.get_or_insert(self.settings.clock.now().micros());
        // Where there is no store, no lock file is made either.
        refuse_nothing(storage.as_ref()).map_err(EngineError::from)?;
        if self.log.read_only {
            return Err(EngineError::Log(LogError::ReadOnly { reason: "it was asked for".to_owned() }).into());
        }
        crate::log::refuse_network(storage.as_ref(), &self.log).map_err(EngineError::from)?;
        let locks = BothLocks::take(storage.as_ref(), &self.log).map_err(EngineError::from)?;
        let finished_earlier = finish_under(storage.as_ref(), &locks).map_err(EngineError::from)?;
        let (mut report, survey, examined) = self.report(&storage, false)?;
        report.finished_earlier = finished_earlier;
        if report.is_needed() {
            let recorder = Recorder { clock: Arc::clone(&self.settings.clock), ids: Arc::clone(&self.settings.ids) };
            let repair = examined.repair(&survey, &recorder)?;
            report.quarantined = rewrite(&survey, &repair, &self.log, &locks).map_err(EngineError::from)?;
        }
        drop((survey, locks));
        // Shows that what was written opens, and finishes what purges were interrupted.
        let memory = self.create(false).open_in(storage)?;
        if let Some(damage) = memory.store.damage() {
            return Err(damage.again().into());
        }
        report.head = Some(memory.head()?);
        let storage = &memory.store.storage;
        report.quarantined.retain(|path| storage.exists(path).unwrap_or(true));
        Ok(report)
    }

    /// As [`Self::salvage_preview`], in a storage of the caller's.
    ///
    /// # Errors
    /// As [`Self::salvage_preview`].
    pub fn salvage_preview_in(self, storage: Arc<dyn Storage>) -> Result<SalvageReport, Error> {
        if is_decided(storage.as_ref()).map_err(EngineError::from)? {
            return Err(EngineError::Log(LogError::SalvageUnfinished { path: storage.describe() }).into());
        }
        self.report(&storage, true).map(|(report, _, _)| report)
    }

    fn report(&self, storage: &Arc<dyn Storage>, preview: bool) -> Result<(SalvageReport, Survey, Examined), Error> {
        let kept = |store_id| kept_through(storage, store_id);
        let survey = Survey::of(Arc::clone(storage), &kept).map_err(EngineError::from)?;
        let examined = Examined::of(&survey)?;
        let keys = |first: u64, last: u64| {
            let mut keys: Vec<Key> = examined.links.range(first..=last).map(|(_, (key, _))| key.clone()).collect();
            keys.sort_unstable();
            keys.dedup();
            keys
        };
        let lost = examined.missing.iter().map(|missing| LostPositions {
            first: Seq::new(missing.first),
            last: Seq::new(missing.last),
            bytes: missing.bytes,
            reason: missing.reason.clone(),
            keys: keys(missing.first, missing.last),
        });
        let bodies = examined.bodies.iter().map(|(seq, body)| LostBody {
            seq: Seq::new(*seq),
            key: body.key.clone(),
            reason: body.reason.clone(),
        });
        let report = SalvageReport {
            store: StoreId::from_u128(survey.store_id),
            preview,
            finished_earlier: false,
            damage: examined.damage(&survey),
            kept: examined.kept,
            lost: lost.collect(),
            lost_bodies: bodies.collect(),
            unproven: examined.unproven.iter().copied().map(Seq::new).collect(),
            incomplete: keys(0, u64::MAX),
            before: examined.before(&survey),
            quarantined: Vec::new(),
            head: None,
        };
        Ok((report, survey, examined))
    }
}
