//! What to do next, where an error leaves it open.

use bilinc::Key;

use super::render;
use crate::remote::ServerError;
use crate::wire::errors::Details;

/// What to do when a head is not met.
pub(super) const OTHER_HISTORY: &str =
    "nothing was changed; keep the folder as it is, and look for the backup in which this head is met";

/// A key as an operand of a command in a shell.
fn operand(key: &Key) -> String {
    let word = render::shell_word(&render::escape(key.as_str()));
    if word.starts_with('-') { format!("-- {word}") } else { word }
}

/// What to do about a refusal.
pub(super) fn hint_for(code: &str, details: &Details) -> Option<String> {
    Some(match code {
        "memory_not_found" => {
            format!("`bilinc history {}` shows whether it ever existed", operand(details.key.as_ref()?))
        }
        "version_conflict" => {
            let key = operand(details.key.as_ref()?);
            format!("`bilinc get {key}` shows it as it is now, `bilinc history {key}` what changed")
        }
        "snapshot_not_found" => "`bilinc snapshot list` names them all".to_owned(),
        "dream_not_found" => "`bilinc dream list` names them all".to_owned(),
        "undo_window_expired" => format!("`bilinc undo --dream {}` has no time limit", details.dream_id?),
        "secret_detected" => "if it is none, say so with --allow-secrets".to_owned(),
        "state_changed_since_preview" | "rollback_confirmation_expired" => {
            "`bilinc rollback preview` gives a new token".to_owned()
        }
        _ => return None,
    })
}

/// What to do about an error of a server.
pub(super) fn server_hint(error: &ServerError) -> Option<String> {
    let details = &error.view.details;
    if details.outcome.is_some() {
        let key = details.idempotency_key.as_deref().map(render::escape);
        let key = key.map_or_else(|| "the same --idempotency-key".into(), |key| format!("--idempotency-key {key}"));
        return Some(format!(
            "whether it was written is unknown: the same command with {key} finds out, or does it now"
        ));
    }
    Some(match (error.code(), details.reason.as_deref()) {
        ("cloud_runtime_unavailable", Some("unreachable")) => {
            "nothing was sent; check --base-url and BILINC_BASE_URL, and whether the server runs".to_owned()
        }
        ("invalid_api_key", _) => {
            "check BILINC_API_KEY; `bilinc keys list` on the server's machine names all keys".to_owned()
        }
        ("read_only", _) => "reads go on; `bilinc status` says what the key may do and how the store is".to_owned(),
        ("secret_detected", _) => {
            "the server takes no credentials: its operator decides that (`serve --allow-secrets`)".to_owned()
        }
        ("store_corrupt", Some("other_history")) => OTHER_HISTORY.to_owned(),
        ("store_corrupt", _) => {
            "nothing was changed; who runs the server can look with `bilinc salvage --preview`".to_owned()
        }
        (code, _) => return hint_for(code, details),
    })
}
