//! Requests that change one entry.

use bilinc::Rejection;
use bilinc::{At, Commit, Confirm, EntryChange, Error, Flag, Forget, Json, Memory, Revise, Strategy, Unflag, Written};

use super::{
    Prepared, Request, Surface, actor, answered, key, keys, memory_type, named, request, signed, version, whole,
};
use crate::catalogue::{self, Operation};
use crate::wire::entries::{Committed, Confirmed, Flags, Forgotten, Revised, flags_of};

request! {
    /// Saves a memory, or replaces one.
    CommitRequest {
        /// The memory's key, 1 to 512 characters.
        #[schema(min_length = 1, max_length = 512)]
        key: String,
        /// Any JSON value.
        #[schema(value_type = serde_json::Value)]
        value: Json,
        /// What kind of memory it is; `semantic` when absent.
        #[schema(pattern = "^(semantic|episodic|procedural|working|spatial)$")]
        memory_type: Option<String>,
        /// 0.0 to 1.0; 1.0 when absent.
        #[schema(minimum = 0, maximum = 1)]
        importance: Option<f64>,
        /// A JSON object kept with it.
        #[schema(value_type = Option<utoipa::openapi::Object>)]
        metadata: Option<Json>,
        /// Who saves it.
        #[schema(max_length = 256)]
        source: Option<String>,
        /// The session it is saved in.
        #[schema(max_length = 256)]
        session_id: Option<String>,
        /// Whether it is the agreed truth.
        canonical: Option<bool>,
        /// 0.0 to 1.0.
        #[schema(minimum = 0, maximum = 1)]
        priority: Option<f64>,
        /// Seconds after which it is gone.
        ttl: Option<f64>,
        /// Refuse when there is a memory with this key.
        if_absent: Option<bool>,
        /// Refuse when the memory has another version.
        #[schema(pattern = "^v1_[0-9a-f]{32}$")]
        expected_version: Option<String>,
    }
}

whole!(Committed, Revised, Forgotten, Confirmed, Flags);

impl Request for CommitRequest {
    const OPERATION: Operation = catalogue::COMMIT;
    type Answer = Committed;

    signed!();

    fn prepare(self, surface: &Surface) -> Result<Prepared<Committed>, Rejection> {
        let actor = actor(self.source.as_deref(), self.session_id.as_deref(), surface);
        let memory_type = self.memory_type.as_deref().map(|name| memory_type("memory_type", name)).transpose()?;
        let commit = Commit {
            metadata: self.metadata,
            memory_type,
            importance: self.importance,
            canonical: self.canonical,
            priority: self.priority,
            ttl: self.ttl,
            if_absent: self.if_absent.unwrap_or_default(),
            expected_version: version(self.expected_version.as_deref())?,
            ..Commit::new(key(&self.key)?, self.value)
        };
        Ok(Box::new(move |memory| {
            let written = memory.acting_as(actor).commit(commit)?;
            Ok(answered(written, |change| Committed::from(&change)))
        }))
    }
}

request! {
    /// Replaces the value of a memory that exists.
    ReviseRequest {
        /// The memory's key.
        #[schema(min_length = 1, max_length = 512)]
        key: String,
        /// Its new value: any JSON.
        #[schema(value_type = serde_json::Value)]
        value: Json,
        /// Its new importance, 0.0 to 1.0; kept when absent.
        #[schema(minimum = 0, maximum = 1)]
        importance: Option<f64>,
        /// When to keep what is stored: `recency`, `importance`, `entrenchment` or `verification`.
        #[schema(pattern = "^(recency|importance|entrenchment|verification)$")]
        strategy: Option<String>,
        /// Why.
        #[schema(min_length = 1, max_length = 512)]
        reason: Option<String>,
        /// Refuse when the memory has another version.
        #[schema(pattern = "^v1_[0-9a-f]{32}$")]
        expected_version: Option<String>,
        /// Who revises it.
        #[schema(max_length = 256)]
        source: Option<String>,
        /// The session it is revised in.
        #[schema(max_length = 256)]
        session_id: Option<String>,
    }
}

impl Request for ReviseRequest {
    const OPERATION: Operation = catalogue::REVISE;
    type Answer = Revised;

    signed!();

    fn prepare(self, surface: &Surface) -> Result<Prepared<Revised>, Rejection> {
        let actor = actor(self.source.as_deref(), self.session_id.as_deref(), surface);
        let strategy = match self.strategy.as_deref() {
            Some(name) => named("strategy", name, Strategy::ALL, Strategy::name)?,
            None => Strategy::default(),
        };
        let revise = Revise {
            key: key(&self.key)?,
            value: self.value,
            importance: self.importance,
            strategy,
            reason: self.reason,
            expected_version: version(self.expected_version.as_deref())?,
        };
        Ok(Box::new(move |memory| {
            let written = memory.acting_as(actor).revise(revise)?;
            Ok(answered(written, |change| Revised::new(&change, strategy)))
        }))
    }
}

request! {
    /// Takes a memory out of use.
    ForgetRequest {
        /// The memory's key, exactly.
        #[schema(min_length = 1, max_length = 512)]
        key: String,
        /// Why, 1 to 512 characters.
        #[schema(min_length = 1, max_length = 512)]
        reason: String,
        /// Refuse when the memory has another version.
        #[schema(pattern = "^v1_[0-9a-f]{32}$")]
        expected_version: Option<String>,
        /// Erase it for good, with all its earlier values.
        purge: Option<bool>,
        /// Who forgets it.
        #[schema(max_length = 256)]
        source: Option<String>,
        /// The session it is forgotten in.
        #[schema(max_length = 256)]
        session_id: Option<String>,
    }
}

impl Request for ForgetRequest {
    const OPERATION: Operation = catalogue::FORGET;
    type Answer = Forgotten;

    signed!();

    fn prepare(self, surface: &Surface) -> Result<Prepared<Forgotten>, Rejection> {
        let actor = actor(self.source.as_deref(), self.session_id.as_deref(), surface);
        let forget = Forget {
            key: key(&self.key)?,
            reason: self.reason,
            expected_version: version(self.expected_version.as_deref())?,
            purge: self.purge.unwrap_or_default(),
        };
        Ok(Box::new(move |memory| {
            let written = memory.acting_as(actor).forget(forget)?;
            Ok(answered(written, |change| Forgotten::from(&change)))
        }))
    }
}

request! {
    /// Says that a memory is still right.
    ConfirmRequest {
        /// The memory's key.
        #[schema(min_length = 1, max_length = 512)]
        key: String,
        /// Refuse when the memory has another version.
        #[schema(pattern = "^v1_[0-9a-f]{32}$")]
        expected_version: Option<String>,
        /// Why.
        #[schema(min_length = 1, max_length = 512)]
        reason: Option<String>,
        /// Who confirms it.
        #[schema(max_length = 256)]
        source: Option<String>,
        /// The session it is confirmed in.
        #[schema(max_length = 256)]
        session_id: Option<String>,
    }
}

impl Request for ConfirmRequest {
    const OPERATION: Operation = catalogue::CONFIRM;
    type Answer = Confirmed;

    signed!();

    fn prepare(self, surface: &Surface) -> Result<Prepared<Confirmed>, Rejection> {
        let actor = actor(self.source.as_deref(), self.session_id.as_deref(), surface);
        let expected_version = version(self.expected_version.as_deref())?;
        let confirm = Confirm { key: key(&self.key)?, reason: self.reason, expected_version };
        Ok(Box::new(move |memory| {
            let written = memory.acting_as(actor).confirm(confirm)?;
            Ok(answered(written, |change| Confirmed::from(&change)))
        }))
    }
}

request! {
    /// Marks a memory for a person.
    FlagRequest {
        /// The memory's key.
        #[schema(min_length = 1, max_length = 512)]
        key: String,
        /// What is to be looked at, 1 to 512 characters.
        #[schema(min_length = 1, max_length = 512)]
        reason: String,
        /// Memories that speak for it.
        #[schema(max_items = 50)]
        evidence_keys: Option<Vec<String>>,
        /// Refuse when the memory has another version.
        #[schema(pattern = "^v1_[0-9a-f]{32}$")]
        expected_version: Option<String>,
        /// Who flags it.
        #[schema(max_length = 256)]
        source: Option<String>,
        /// The session it is flagged in.
        #[schema(max_length = 256)]
        session_id: Option<String>,
    }
}

impl Request for FlagRequest {
    const OPERATION: Operation = catalogue::FLAG;
    type Answer = Flags;

    signed!();

    fn prepare(self, surface: &Surface) -> Result<Prepared<Flags>, Rejection> {
        let actor = actor(self.source.as_deref(), self.session_id.as_deref(), surface);
        let flag = Flag {
            key: key(&self.key)?,
            reason: self.reason,
            evidence_keys: keys("evidence_keys", self.evidence_keys)?,
            expected_version: version(self.expected_version.as_deref())?,
        };
        Ok(Box::new(move |memory| {
            let written = memory.acting_as(actor).flag(flag)?;
            open_flags(memory, written)
        }))
    }
}

request! {
    /// Clears the open flags of a memory.
    UnflagRequest {
        /// The memory's key.
        #[schema(min_length = 1, max_length = 512)]
        key: String,
        /// Why.
        #[schema(min_length = 1, max_length = 512)]
        reason: Option<String>,
        /// Refuse when the memory has another version.
        #[schema(pattern = "^v1_[0-9a-f]{32}$")]
        expected_version: Option<String>,
        /// Who clears them.
        #[schema(max_length = 256)]
        source: Option<String>,
        /// The session they are cleared in.
        #[schema(max_length = 256)]
        session_id: Option<String>,
    }
}

impl Request for UnflagRequest {
    const OPERATION: Operation = catalogue::UNFLAG;
    type Answer = Flags;

    signed!();

    fn prepare(self, surface: &Surface) -> Result<Prepared<Flags>, Rejection> {
        let actor = actor(self.source.as_deref(), self.session_id.as_deref(), surface);
        let expected_version = version(self.expected_version.as_deref())?;
        let unflag = Unflag { key: key(&self.key)?, reason: self.reason, expected_version };
        Ok(Box::new(move |memory| {
            let written = memory.acting_as(actor).unflag(unflag)?;
            open_flags(memory, written)
        }))
    }
}

/// The flags that are open after the change, also when its answer is given again later.
fn open_flags(memory: &Memory, written: Written<EntryChange>) -> Result<Written<Flags>, Error> {
    let key = written.answer.key;
    let found = memory.get_at(key.as_str(), At::Position(written.answer.seq))?;
    let flags = found.map(|found| flags_of(&found.entry)).unwrap_or_default();
    Ok(Written { answer: Flags { key, flags }, replayed: written.replayed })
}
