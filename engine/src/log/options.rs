//! How a log is opened.

use std::fmt::Debug;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// When an operation counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// When a sync of the disk has covered it.
    #[default]
    Durable,
    /// When the system has it: a crash of the process loses nothing, a power cut may lose what the
    /// last sync (at the end of a segment, at close, by a durable writer) did not cover.
    Relaxed,
}

/// Where salts come from.
pub trait SaltSource: Send + Sync + Debug {
    /// Fills `bytes` with what nobody can guess.
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()>;
}

/// The system's random numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemSalts;

impl SaltSource for SystemSalts {
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()> {
        crate::drawn::fill(bytes)
    }
}

/// How a log is opened. Start from [`LogOptions::default`].
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// A segment takes no further frame that would make it longer. One frame may be longer by itself.
    pub segment_bytes: u64,
    /// How long to wait for another process before [`Busy`](super::LogError::Busy).
    pub lock_timeout: Duration,
    /// When an operation counts as done.
    pub durability: Durability,
    /// Take no lock for writing and change nothing.
    pub read_only: bool,
    /// Make the store when there is none.
    pub create: bool,
    /// Go on although the folder is on a network file system.
    pub force_network_file_system: bool,
    /// Where salts come from; fixed ones make byte-equal logs for tests.
    pub salts: Arc<dyn SaltSource>,
    /// Stamped on segments; microseconds since 1970 UTC. The system's clock when not given.
    pub created_at: Option<i64>,
    /// What the lock files say about us.
    pub holder: String,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            segment_bytes: 64 * 1024 * 1024,
            lock_timeout: Duration::from_secs(10),
            durability: Durability::Durable,
            read_only: false,
            create: true,
            force_network_file_system: false,
            salts: Arc::new(SystemSalts),
            created_at: None,
            holder: holder(),
        }
    }
}

impl LogOptions {
    pub(crate) fn now(&self) -> i64 {
        self.created_at.unwrap_or_else(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            now.map_or(0, |now| i64::try_from(now.as_micros()).unwrap_or(i64::MAX))
        })
    }
}

fn holder() -> String {
    let program = std::env::current_exe().ok();
    let name = (program.as_deref())
        .and_then(|path| path.file_name())
        .map_or_else(|| "unknown".into(), |name| name.to_string_lossy());
    format!("{name} (process {})", std::process::id())
}
