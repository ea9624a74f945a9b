"""Calls that change one memory."""

from __future__ import annotations

from typing import Any

from . import _check, limits
from ._base import MEMORY, BaseClient
from .errors import BilincCloudError


class Memories(BaseClient):
    """Saving, correcting, forgetting."""

    def commit(
        self,
        key: str,
        value: Any,
        *,
        memory_type: str = "semantic",
        importance: float = 1.0,
        metadata: dict[str, Any] | None = None,
        source: str | None = None,
        session_id: str | None = None,
        canonical: bool | None = None,
        priority: float | None = None,
        ttl: float | None = None,
        idempotency_key: str | None = None,
        if_absent: bool = False,
        expected_version: str | None = None,
    ) -> dict[str, Any]:
        """Saves a memory, or replaces the one that has this key.

        With `if_absent` it only creates: `memory_exists` otherwise. `expected_version` refuses with
        `version_conflict` when the memory is not the one that was read.
        """
        payload = {
            "key": _check.key(key),
            "value": value,
            "memoryType": _check.choice("memory_type", memory_type, limits.MEMORY_TYPES),
            "importance": _check.unit("importance", importance),
            "metadata": _check.json_object("metadata", metadata),
            **_check.given(
                source=_check.optional_text("source", source),
                sessionId=_check.optional_text("session_id", session_id),
                canonical=_check.optional_bool("canonical", canonical),
                priority=_check.optional_unit("priority", priority),
                ttl=_check.optional_positive("ttl", ttl),
                ifAbsent=True if if_absent else None,
                expectedVersion=_check.optional_text("expected_version", expected_version),
            ),
        }
        return self._write(f"{MEMORY}/commit", payload, idempotency_key)

    def revise(
        self,
        key: str,
        value: Any,
        *,
        importance: float = 1.0,
        strategy: str = "entrenchment",
        reason: str | None = None,
        expected_version: str | None = None,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Replaces the value of a memory that exists; `memory_not_found` when it does not.

        The importance is set, too: pass the stored one to keep it. `strategy` names when a less
        important value must not replace the stored one (`revision_rejected`).
        """
        payload = {
            "key": _check.key(key),
            "value": value,
            "importance": _check.unit("importance", importance),
            "strategy": _check.choice("strategy", strategy, limits.REVISION_STRATEGIES),
            **_check.given(
                reason=_check.optional_text("reason", reason),
                expectedVersion=_check.optional_text("expected_version", expected_version),
            ),
        }
        return self._write(f"{MEMORY}/revise", payload, idempotency_key)

    def forget(
        self,
        key: str,
        *,
        reason: str,
        expected_version: str | None = None,
        idempotency_key: str | None = None,
        purge: bool = False,
    ) -> dict[str, Any]:
        """Takes a memory out of use, so that an undo can bring it back.

        With `purge` its values are erased from every file of the store, all its past included, and no
        undo brings them back. That also works on a memory that was forgotten earlier.
        """
        payload: dict[str, Any] = {
            "key": _check.key(key),
            "reason": _check.reason(reason),
            **_check.given(
                expectedVersion=_check.optional_text("expected_version", expected_version),
                purge=True if purge else None,
            ),
        }
        answer = self._write(f"{MEMORY}/forget", payload, idempotency_key)
        if purge and not isinstance(answer.get("purged"), dict):
            raise BilincCloudError(
                "the server forgot the memory and does not say that it erased it", code="purge_not_supported"
            )
        return answer

    def confirm(
        self,
        key: str,
        *,
        expected_version: str | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Records that a memory is still right. Its value stays, its time moves to now."""
        payload = {
            "key": _check.key(key),
            **_check.given(
                expectedVersion=_check.optional_text("expected_version", expected_version),
                reason=_check.optional_text("reason", reason),
            ),
        }
        return self._write(f"{MEMORY}/confirm", payload, idempotency_key)

    def flag(
        self,
        key: str,
        *,
        reason: str,
        evidence_keys: list[str] | None = None,
        expected_version: str | None = None,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Marks a memory for a person to look at. Its version stays."""
        payload = {
            "key": _check.key(key),
            "reason": _check.reason(reason),
            **_check.given(
                evidenceKeys=evidence_keys,
                expectedVersion=_check.optional_text("expected_version", expected_version),
            ),
        }
        return self._write(f"{MEMORY}/flag", payload, idempotency_key)

    def unflag(
        self,
        key: str,
        *,
        reason: str | None = None,
        expected_version: str | None = None,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Clears the open flags of a memory."""
        payload = {
            "key": _check.key(key),
            **_check.given(
                reason=_check.optional_text("reason", reason),
                expectedVersion=_check.optional_text("expected_version", expected_version),
            ),
        }
        return self._write(f"{MEMORY}/unflag", payload, idempotency_key)
