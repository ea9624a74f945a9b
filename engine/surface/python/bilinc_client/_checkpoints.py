"""Calls that go back: snapshots, diffs, rollback, undo."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from . import _check, _json, limits
from ._base import MEMORY, BaseClient
from .errors import invalid


class Checkpoints(BaseClient):
    """Naming a position, comparing with it, returning to it; taking single changes back."""

    def snapshot(
        self,
        action: str = "create",
        *,
        label: str | None = None,
        metadata: dict[str, Any] | None = None,
        limit: int = 20,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """`create` or `list`, as `create_snapshot` and `list_snapshots`."""
        if _check.choice("action", action, ("create", "list")) == "list":
            return self.list_snapshots(limit=limit)
        return self.create_snapshot(label=label, metadata=metadata, idempotency_key=idempotency_key)

    def create_snapshot(
        self,
        *,
        label: str | None = None,
        metadata: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Names the present position. That costs the same however much is stored."""
        payload = {
            "metadata": _check.json_object("metadata", metadata),
            **_check.given(label=_check.optional_text("label", label)),
        }
        return self._write(f"{MEMORY}/snapshots", payload, idempotency_key)

    def list_snapshots(self, *, limit: int = 20) -> dict[str, Any]:
        """Snapshots, newest first."""
        return self._get(f"{MEMORY}/snapshots", {"limit": _check.count("limit", limit, limits.MAX_SNAPSHOT_LIST_LIMIT)})

    def diff(
        self,
        from_snapshot_id: str,
        *,
        to_snapshot_id: str | None = None,
        include_values: bool = False,
        limit: int = 100,
    ) -> dict[str, Any]:
        """What was added, modified and removed between two points, or since one.

        A point is a snapshot's id, `@` and a position, or a time.
        """
        payload: dict[str, Any] = {
            "fromSnapshotId": _check.required_text("from_snapshot_id", from_snapshot_id),
            "includeValues": bool(include_values),
            "limit": _check.count("limit", limit, limits.MAX_DIFF_LIMIT),
            **_check.given(toSnapshotId=_check.optional_text("to_snapshot_id", to_snapshot_id)),
        }
        return self._read(f"{MEMORY}/diff", payload)

    def rollback_preview(self, snapshot_id: str, *, reason: str, limit: int = 100) -> dict[str, Any]:
        """What a return to a snapshot would change, and the token that `rollback` needs for it.

        The token holds for a quarter of an hour, for this reason and for the state that was previewed.
        """
        payload = {
            "snapshotId": _check.required_text("snapshot_id", snapshot_id),
            "reason": _check.reason(reason),
            "limit": _check.count("limit", limit, limits.MAX_DIFF_LIMIT),
        }
        return self._read(f"{MEMORY}/rollback/preview", payload)

    def rollback(
        self,
        snapshot_id: str,
        *,
        confirmation_token: str,
        reason: str,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Brings the memories back to a snapshot, by new events: an undo can take that back.

        Refused with `state_changed_since_preview` when anything was written since the preview.
        """
        payload = {
            "snapshotId": _check.required_text("snapshot_id", snapshot_id),
            "reason": _check.reason(reason),
            "confirmationToken": _check.required_text("confirmation_token", confirmation_token),
        }
        return self._write(f"{MEMORY}/rollback", payload, idempotency_key)

    def undo(
        self,
        *,
        dream_id: str | None = None,
        session_id: str | None = None,
        source: str | None = None,
        import_id: str | None = None,
        from_seq: int | None = None,
        to_seq: int | None = None,
        after: datetime | str | None = None,
        before: datetime | str | None = None,
        seqs: list[int] | None = None,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Takes back exactly the changes that one selection names, at any later time.

        A memory that somebody else changed since is left as it is and listed in `conflicts`. The answer's
        `seq` is the undo itself: `undo(seqs=[seq])` is the redo.
        """
        payload = _check.given(
            dreamId=_check.optional_text("dream_id", dream_id),
            sessionId=_check.optional_text("session_id", session_id),
            # Not trimmed: sources are compared exactly, and "" is who named none.
            source=source,
            importId=_check.optional_text("import_id", import_id),
            fromSeq=_check.position("from_seq", from_seq),
            toSeq=_check.position("to_seq", to_seq),
            after=_check.moment("after", after),
            before=_check.moment("before", before),
            seqs=seqs,
        )
        if not payload:
            raise invalid("selection", "is required: name what to take back", "required")
        if dry_run:
            payload["dryRun"] = True
        return self._write_under(_check.idempotency_key(idempotency_key), f"{MEMORY}/undo", _json.encode(payload))
