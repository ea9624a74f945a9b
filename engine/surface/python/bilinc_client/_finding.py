"""Calls that find memories and read them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from . import _check, limits
from ._base import MEMORY, BaseClient
from .errors import BilincCloudError, BilincValidationError


class Finding(BaseClient):
    """Searching, listing, looking at one."""

    def recall(
        self,
        query: str,
        *,
        profile: str = "balanced",
        limit: int = 10,
        memory_types: list[str] | None = None,
        explain: bool = False,
        query_timestamp: str | None = None,
    ) -> dict[str, Any]:
        """Searches, best match first. `query_timestamp` searches what there was at that time."""
        payload: dict[str, Any] = {
            "query": _check.required_text("query", query, limits.MAX_QUERY_LENGTH),
            "profile": _check.choice("profile", profile, limits.RECALL_PROFILES),
            "limit": _check.count("limit", limit, limits.MAX_RECALL_LIMIT),
        }
        if memory_types is not None:
            payload["memoryTypes"] = [_check.choice("memory_type", name, limits.MEMORY_TYPES) for name in memory_types]
        if explain:
            payload["explain"] = True
        moment = _check.optional_text("query_timestamp", query_timestamp, limits.MAX_TIME_LENGTH)
        payload.update(_check.given(queryTimestamp=moment))
        return self._read(f"{MEMORY}/recall", payload)

    def get(self, key: str, *, as_of: int | str | datetime | None = None) -> dict[str, Any]:
        """One memory with all its fields, now or as of a position or a time."""
        return self._get(f"{MEMORY}/entry", {"key": _check.key(key), "asOf": _check.point("as_of", as_of)})

    def history(self, key: str, *, limit: int = 20, values: str = "full") -> dict[str, Any]:
        """What happened to one key, newest first. Values before a forget that stands are hidden."""
        payload = {
            "key": _check.key(key),
            "limit": _check.count("limit", limit, limits.MAX_HISTORY_LIMIT),
            "values": _check.choice("values", values, limits.VALUE_MODES),
        }
        return self._read(f"{MEMORY}/history", payload)

    def list_memories(
        self,
        *,
        prefix: str | None = None,
        memory_type: str | None = None,
        updated_after: datetime | str | None = None,
        updated_before: datetime | str | None = None,
        cursor: str | None = None,
        limit: int = 50,
        values: str = "preview",
        sources: list[str] | None = None,
        order: str | None = None,
        flagged: bool | None = None,
    ) -> dict[str, Any]:
        """One page of memories. `nextCursor` is the `cursor` of the next page, under the same filters.

        `total` counts all that match. Both times are exclusive. `sources` are exact, and `""` is none.
        """
        payload: dict[str, Any] = {
            "limit": _check.count("limit", limit, limits.MAX_LIST_LIMIT),
            "values": _check.choice("values", values, limits.VALUE_MODES),
            **_check.given(prefix=_check.verbatim("prefix", prefix)),
        }
        if memory_type is not None:
            payload["memoryType"] = _check.choice("memory_type", memory_type, limits.MEMORY_TYPES)
        payload.update(
            _check.given(
                updatedAfter=_check.moment("updated_after", updated_after),
                updatedBefore=_check.moment("updated_before", updated_before),
                cursor=_check.optional_text("cursor", cursor),
            )
        )
        if sources is not None:
            payload["sources"] = _check.texts("sources", sources, limits.MAX_LIST_SOURCES, limits.MAX_SOURCE_LENGTH)
        if order is not None:
            payload["order"] = _check.choice("order", order, limits.LIST_ORDERS)
        payload.update(_check.given(flagged=_check.optional_bool("flagged", flagged)))
        page = self._read(f"{MEMORY}/list", payload)
        # A server that does not know an order or a filter must not pass its page off as the asked-for one.
        echoed = page.get("sources")
        if (order in ("newest", "oldest") and page.get("order") != order) or (
            sources is not None and (not isinstance(echoed, list) or set(echoed) != set(payload["sources"]))
        ):
            raise BilincCloudError(
                "the server did not apply the order or the sources that were asked for",
                code="capability_unavailable",
                status=503,
            )
        return page

    def iter_memories(
        self,
        *,
        prefix: str | None = None,
        memory_type: str | None = None,
        updated_after: datetime | str | None = None,
        updated_before: datetime | str | None = None,
        page_size: int = limits.MAX_LIST_LIMIT,
        values: str = "preview",
        cursor: str | None = None,
        sources: list[str] | None = None,
        order: str | None = None,
        flagged: bool | None = None,
    ) -> Iterator[dict[str, Any]]:
        """All memories that match, page by page. What changes meanwhile may be seen or not; nothing else
        is skipped or given twice.
        """
        size = _check.count("page_size", page_size, limits.MAX_LIST_LIMIT)
        seen = {cursor}
        while True:
            try:
                page = self.list_memories(
                    prefix=prefix,
                    memory_type=memory_type,
                    updated_after=updated_after,
                    updated_before=updated_before,
                    cursor=cursor,
                    limit=size,
                    values=values,
                    sources=sources,
                    order=order,
                    flagged=flagged,
                )
            except BilincValidationError as error:
                # Large values: fewer at a time. A page of one is always given whole.
                if size == 1 or not _too_large(error):
                    raise
                size = max(1, size // 8)
                continue
            yield from page.get("entries") or []
            cursor = page.get("nextCursor")
            if not cursor:
                return
            if cursor in seen:
                raise BilincCloudError("the server gave the same cursor twice", code="invalid_response")
            seen.add(cursor)
            size = min(page_size, size * 8)


def _too_large(error: BilincCloudError) -> bool:
    return isinstance(error.details, dict) and error.details.get("reason") == "response_too_large"
