//! How a store is.

use std::borrow::Cow;

use bilinc::{ChainHash, DreamId, Head, Seq, Status, StoreId, limits};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ByType;

/// How a store is, what it holds and what it allows.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusView {
    /// Always `self-hosted`.
    pub plan: Cow<'static, str>,
    /// What the caller works on.
    pub workspace: Workspace,
    /// What can be done.
    pub capabilities: Capabilities,
    /// Limits of the domain.
    pub limits: Limits,
    /// What is there.
    pub usage: Usage,
    /// How the log is.
    pub store: StoreView,
}

/// What the caller works on.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Workspace {
    /// The project, on a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The store's id; none when there is no store yet.
    #[schema(value_type = Option<String>)]
    pub id: Option<StoreId>,
    /// Where it is.
    pub path: Option<String>,
}

/// What can be done.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// Whether it can be read.
    pub read: bool,
    /// Whether it can be written.
    pub write: bool,
    /// How thoroughly a recall can search.
    #[schema(value_type = Vec<String>)]
    pub recall_profiles: Vec<Cow<'static, str>>,
}

/// Limits of the domain.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Longest key, in characters.
    pub key_chars: usize,
    /// Largest value, in bytes of compact JSON.
    pub value_bytes: usize,
    /// Deepest nesting of a value.
    pub json_depth: usize,
    /// Largest metadata object, in bytes of compact JSON.
    pub metadata_bytes: usize,
    /// Most candidates of one dream.
    pub dream_candidates: u32,
    /// Most actions on one page of a dream.
    pub page_actions: usize,
    /// Days for which a dream can be undone.
    pub undo_window_days: u32,
}

/// What is there.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Entries that are there.
    pub memories: u64,
    /// Entries by memory type.
    pub by_type: ByType,
    /// Keys that have ever been used.
    pub keys: u64,
    /// Entries with an open flag.
    pub flagged: u64,
    /// Snapshots taken.
    pub snapshots: u64,
    /// Bytes of the values and metadata of the entries.
    pub live_bytes: u64,
    /// Bytes of values and metadata recorded earlier, which the log still holds.
    pub history_bytes: u64,
    /// Bytes of values and metadata that purges erased.
    pub purged_bytes: u64,
    /// Bytes that the log takes on disk.
    pub log_bytes: u64,
}

/// How the log is.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreView {
    /// Whether there is a store.
    pub exists: bool,
    /// The last position.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// The chain hash there.
    pub root_hash: String,
    /// Both, as `verify --since-head` takes them.
    pub head: String,
    /// Segments of the log.
    pub segments: u64,
    /// The position of the checkpoint that the next open can begin with.
    #[schema(value_type = Option<u64>)]
    pub checkpoint: Option<Seq>,
    /// `durable` or `relaxed`.
    pub durability: Cow<'static, str>,
    /// Why it takes no writes, if it takes none.
    pub read_only: Option<String>,
    /// What an open cut off the end of the log.
    pub recovered: Option<String>,
    /// Events that were lost with damage of the log.
    pub lost_events: u64,
    /// Events that lost their values with damage of the log.
    pub lost_bodies: u64,
    /// Dreams that can be undone or still act.
    pub dreams: Vec<OpenDreamView>,
}

/// A dream that can be undone or still acts.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenDreamView {
    /// Its id.
    #[schema(value_type = String)]
    pub dream_id: DreamId,
    /// Where it is in its life.
    pub state: Cow<'static, str>,
    /// Whole days left to undo it.
    pub days_left: i64,
}

impl StatusView {
    /// The state of the store at `path`, which may not be there yet.
    #[must_use]
    pub fn new(status: &Status, path: Option<String>, exists: bool) -> Self {
        let counts = &status.counts;
        let head = if exists { status.head } else { Head { chain: ChainHash([0; 32]), ..status.head } };
        let dreams = (status.dreams.iter())
            .map(|open| OpenDreamView {
                dream_id: open.dream,
                state: open.phase.name().into(),
                days_left: open.days_left,
            })
            .collect();
        Self {
            plan: "self-hosted".into(),
            workspace: Workspace { project: None, id: exists.then_some(status.store), path },
            capabilities: Capabilities {
                read: true,
                write: status.read_only.is_none(),
                recall_profiles: super::fields::PROFILE_NAMES.map(Cow::Borrowed).to_vec(),
            },
            limits: Limits {
                key_chars: limits::KEY_CHARS,
                value_bytes: limits::VALUE_BYTES,
                json_depth: limits::JSON_DEPTH,
                metadata_bytes: limits::METADATA_BYTES,
                dream_candidates: limits::DREAM_CANDIDATES,
                page_actions: limits::PAGE_ACTIONS,
                undo_window_days: limits::UNDO_WINDOW_DAYS,
            },
            usage: Usage {
                memories: counts.entries(),
                by_type: ByType(counts.by_type),
                keys: counts.keys,
                flagged: counts.flagged,
                snapshots: status.snapshots,
                live_bytes: counts.live_bytes,
                history_bytes: counts
                    .recorded_bytes
                    .saturating_sub(counts.live_bytes)
                    .saturating_sub(counts.purged_bytes),
                purged_bytes: counts.purged_bytes,
                log_bytes: if exists { status.log_bytes } else { 0 },
            },
            store: StoreView {
                exists,
                seq: head.seq,
                root_hash: head.chain.to_string(),
                head: head.to_string(),
                segments: if exists { status.segments } else { 0 },
                checkpoint: status.checkpoint,
                durability: status.durability.into(),
                read_only: status.read_only.clone(),
                recovered: status.recovered.clone(),
                lost_events: status.lost.0,
                lost_bodies: status.lost.1,
                dreams,
            },
        }
    }
}
