//! Confirmation tokens of rollbacks: a keyed hash, so that nothing is kept and a restart loses none.

use bilinc_core::limits::CONFIRMATION_MICROS;
use bilinc_core::{Confirmation, Seq, SnapshotId, Timestamp};

use super::Store;
use crate::error::EngineError;
use crate::log::LogError;
use crate::storage::{OpenMode, is_no_file, read_full};

/// The file with the key of the hash, in the store's folder.
const KEY_FILE: &str = "token.key";
const KEY_BYTES: usize = 32;
const HASH_BYTES: usize = 16;

impl Store {
    /// A token that confirms a rollback for the log as it stands at `head`, and until when.
    pub(crate) fn rollback_token(
        &self,
        snapshot: SnapshotId,
        head: Seq,
        reason: &str,
    ) -> Result<(String, Timestamp), EngineError> {
        let key = self.token_key()?;
        let expires_at = self.now().plus(CONFIRMATION_MICROS);
        let hash = self.token_hash(&key, snapshot, head, reason, expires_at);
        let mut token = format!("rb1_{:016x}{:016x}", expires_at.micros(), head.get());
        for byte in hash {
            token.push_str(&format!("{byte:02x}"));
        }
        Ok((token, expires_at))
    }

    /// What a token is worth for this rollback.
    pub(crate) fn check_rollback_token(
        &self,
        token: &str,
        snapshot: SnapshotId,
        reason: &str,
    ) -> Result<Confirmation, EngineError> {
        let Some((expires_at, head, hash)) = parse(token) else { return Ok(Confirmation::Mismatch) };
        let Some(key) = self.stored_token_key()? else { return Ok(Confirmation::Mismatch) };
        let expected = self.token_hash(&key, snapshot, head, reason, expires_at);
        // Compared without stopping at the first difference, so that its time tells nothing.
        let differs = expected.iter().zip(hash).fold(0, |differs, (a, b)| differs | (a ^ b));
        Ok(if differs != 0 {
            Confirmation::Mismatch
        } else if self.now() > expires_at {
            Confirmation::Expired
        } else {
            Confirmation::Valid { head }
        })
    }

    fn token_hash(
        &self,
        key: &[u8; KEY_BYTES],
        snapshot: SnapshotId,
        head: Seq,
        reason: &str,
        expires_at: Timestamp,
    ) -> [u8; HASH_BYTES] {
        let mut hasher = blake3::Hasher::new_keyed(key);
        hasher.update(&self.log.store_id().to_be_bytes());
        hasher.update(&snapshot.as_u128().to_be_bytes());
        hasher.update(&head.get().to_be_bytes());
        hasher.update(&expires_at.micros().to_be_bytes());
        hasher.update(reason.as_bytes());
        let mut hash = [0_u8; HASH_BYTES];
        hasher.finalize_xof().fill(&mut hash);
        hash
    }

    /// The key, made when there is none. Made under the right to append, so that two processes do
    /// not make two.
    fn token_key(&self) -> Result<[u8; KEY_BYTES], EngineError> {
        if let Some(key) = self.stored_token_key()? {
            return Ok(key);
        }
        let _append = self.log.begin_append()?;
        if let Some(key) = self.stored_token_key()? {
            return Ok(key);
        }
        let mut key = [0_u8; KEY_BYTES];
        getrandom::fill(&mut key).map_err(|error| EngineError::Random(error.to_string()))?;
        let temporary = "token.key.tmp";
        let write = || {
            let file = self.storage.open(temporary, OpenMode::Truncate)?;
            file.write_at(&key, 0)?;
            file.sync_data()?;
            self.storage.rename(temporary, KEY_FILE)?;
            self.storage.sync_dir("")
        };
        write().map_err(|source| io_error("write the key of tokens", source))?;
        Ok(key)
    }

    /// The key that is there. A file of another length is no key, nor are zeros, which a crash may leave
    /// and anybody can guess; a new one only makes tokens that are out invalid.
    fn stored_token_key(&self) -> Result<Option<[u8; KEY_BYTES]>, EngineError> {
        let read = || {
            let file = match self.storage.open(KEY_FILE, OpenMode::Read) {
                Err(error) if is_no_file(&error) => return Ok(None),
                opened => opened?,
            };
            let mut key = [0_u8; KEY_BYTES];
            let whole = file.len()? == KEY_BYTES as u64 && read_full(file.as_ref(), &mut key, 0)? == KEY_BYTES;
            Ok(Some(key).filter(|key| whole && *key != [0; KEY_BYTES]))
        };
        read().map_err(|source| io_error("read the key of tokens", source))
    }
}

fn io_error(doing: &'static str, source: std::io::Error) -> EngineError {
    LogError::Io { path: KEY_FILE.to_owned(), doing, source }.into()
}

fn parse(token: &str) -> Option<(Timestamp, Seq, [u8; HASH_BYTES])> {
    let digits = token.strip_prefix("rb1_").filter(|digits| digits.len() == 64 && digits.is_ascii())?;
    // A moment before 1970 is a negative number.
    let expires_at = u64::from_str_radix(digits.get(..16)?, 16).ok()?.cast_signed();
    let head = u64::from_str_radix(digits.get(16..32)?, 16).ok()?;
    let hash = u128::from_str_radix(digits.get(32..)?, 16).ok()?;
    Some((Timestamp::from_micros(expires_at), Seq::new(head), hash.to_be_bytes()))
}
