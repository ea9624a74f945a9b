"""Calls about the store as a whole: status, log, proof, export and import."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from datetime import datetime, timezone
from typing import Any, BinaryIO, TextIO, cast

from . import _check, _events, _http, _json, limits
from ._base import MEMORY
from ._finding import Finding
from .errors import BilincCloudError, invalid

#: Bytes of an export or import that are held in memory before a temporary file holds them.
_SPOOL = 8 * 1024 * 1024
#: What a list says of an entry and an import does not take.
_NOT_IMPORTED = frozenset({"entryVersion", "expiresAt", "flags", "valuesRedacted", "valueTruncated"})


class Store(Finding):
    """The store as a whole."""

    def status(self) -> dict[str, Any]:
        """What the key may do, what the store holds and how it is."""
        return self._get("/api/cloud/status")

    def health(self) -> dict[str, Any]:
        """Whether the server answers; that needs no valid key."""
        return self._get("/api/cloud/health")

    def verify(self, *, since_head: str | None = None) -> dict[str, Any]:
        """Proves the whole log: checksums, order, hash chain, state.

        `since_head` is a head that `status` or `verify` gave some day: the history up to it is unchanged.
        """
        return self._get(f"{MEMORY}/verify", {"sinceHead": _check.optional_text("since_head", since_head)})

    def log(
        self,
        *,
        key: str | None = None,
        source: str | None = None,
        session_id: str | None = None,
        dream_id: str | None = None,
        import_id: str | None = None,
        operation_id: str | None = None,
        from_seq: int | None = None,
        to_seq: int | None = None,
        after: datetime | str | None = None,
        before: datetime | str | None = None,
        oldest_first: bool = False,
        include_values: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> dict[str, Any]:
        """One page of the events themselves, newest first. `nextCursor` is the `cursor` of the next."""
        narrowed = _filters(
            key=key,
            source=source,
            session_id=session_id,
            dream_id=dream_id,
            import_id=import_id,
            operation_id=operation_id,
            from_seq=from_seq,
            include_values=include_values,
        )
        fields = {
            **narrowed,
            "toSeq": _check.position("to_seq", to_seq),
            "after": _check.moment("after", after),
            "before": _check.moment("before", before),
            "order": "oldest" if oldest_first else None,
            "limit": _check.count("limit", limit, limits.MAX_LOG_LIMIT),
            "cursor": _check.optional_text("cursor", cursor),
        }
        return self._get(f"{MEMORY}/log", fields)

    def iter_log(self, *, page_size: int = 200, **filters: Any) -> Iterator[dict[str, Any]]:
        """All events that match the filters of `log`, page by page."""
        cursor = filters.pop("cursor", None)
        while True:
            page = self.log(limit=page_size, cursor=cursor, **filters)
            yield from page.get("events") or []
            following = page.get("nextCursor")
            if not following:
                return
            if following == cursor:
                raise BilincCloudError("the server gave the same cursor twice", code="invalid_response")
            cursor = following

    def follow_log(
        self,
        *,
        from_seq: int | None = None,
        key: str | None = None,
        source: str | None = None,
        session_id: str | None = None,
        dream_id: str | None = None,
        import_id: str | None = None,
        operation_id: str | None = None,
        include_values: bool = False,
    ) -> Iterator[dict[str, Any]]:
        """Events as they come, without end. A broken connection is taken up again after the last event.

        Without `from_seq` it begins with the next event. It waits as long as `timeout` for a sign of life.
        """
        fields = _filters(
            key=key,
            source=source,
            session_id=session_id,
            dream_id=dream_id,
            import_id=import_id,
            operation_id=operation_id,
            from_seq=from_seq,
            include_values=include_values,
        )
        fields["follow"] = True
        if from_seq is None:
            # A position, so that nothing is missed when the connection breaks before the first event.
            newest = self.log(limit=1).get("events") or [{"seq": 0}]
            fields["fromSeq"] = newest[0]["seq"] + 1
        headers = {**self._headers(), "Accept": "text/event-stream"}
        failures = 0
        while True:
            try:
                with self._open("GET", _http.with_query(f"{self.base_url}{MEMORY}/log", fields), headers) as answer:
                    for event in _events.read(answer):
                        item = _http.json_object(event.encode("utf-8"), self._parse_float)
                        if "error" in item and "seq" not in item:
                            raise BilincCloudError(str(item.get("message")), code=str(item["error"]))
                        failures = 0
                        if isinstance(item.get("seq"), int):
                            fields["fromSeq"] = item["seq"] + 1
                        yield item
                raise _http.unreachable(ConnectionError("the server ended the stream"))
            except BilincCloudError as error:
                failures += 1
                if not error.retryable or failures >= self.attempts:
                    raise
                self._sleep(self.retry_delay * 2 ** (failures - 1))

    def export(
        self,
        *,
        prefix: str | None = None,
        memory_type: str | None = None,
        to: str | os.PathLike[str] | TextIO | BinaryIO | None = None,
    ) -> dict[str, Any]:
        """All memories with their whole values: `exported_at`, `count` and `entries`.

        With `to`, a path or an open file, they are written there as JSON Lines that `import_` takes, as
        of one moment and with number text kept, and the answer has no `entries`. A file is made for its
        owner alone and takes the place of an older one only when it is complete.
        """
        begun = {"exported_at": datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")}
        if to is None:
            entries = list(self.iter_memories(prefix=prefix, memory_type=memory_type, values="full"))
            return {**begun, "count": len(entries), "entries": entries}
        prefix = _check.verbatim("prefix", prefix)
        if memory_type is not None:
            _check.choice("memory_type", memory_type, limits.MEMORY_TYPES)
        if isinstance(to, (str, os.PathLike)):
            return {**begun, "count": self._export_to_path(os.path.realpath(to), prefix, memory_type)}
        with tempfile.SpooledTemporaryFile(_SPOOL) as whole:
            count = self._attempt(lambda: self._export_lines(cast(BinaryIO, whole), prefix, memory_type))
            whole.seek(0)
            if isinstance(to, io.TextIOBase):
                to.writelines(line.decode("utf-8") for line in whole)
            else:
                _http.copy(cast(BinaryIO, whole), cast(BinaryIO, to))
        return {**begun, "count": count}

    def _export_to_path(self, path: str, prefix: str | None, memory_type: str | None) -> int:
        # `mkstemp` makes files that only their owner can read.
        handle, beside = tempfile.mkstemp(prefix=".bilinc-export-", dir=os.path.dirname(path))
        try:
            with os.fdopen(handle, "wb") as file:
                count = self._attempt(lambda: self._export_lines(file, prefix, memory_type))
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
            return count
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(beside)
            raise

    def _export_lines(self, file: BinaryIO, prefix: str | None, memory_type: str | None) -> int:
        file.seek(0)
        file.truncate()
        headers = {**self._headers(), "Accept": "application/x-ndjson"}
        with self._open("GET", f"{self.base_url}{MEMORY}/export", headers) as answer:
            if prefix is None and memory_type is None:
                return _http.copy(answer, file)
            count = 0
            for line in answer:
                entry = _http.json_object(line, str)
                wanted = memory_type is None or entry.get("memoryType") == memory_type
                if wanted and str(entry.get("key")).startswith(prefix or ""):
                    count += 1
                    file.write(line)
            return count

    def import_(
        self,
        source: str | os.PathLike[str] | BinaryIO | TextIO | Iterable[Mapping[str, Any]],
        *,
        if_absent: bool = False,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Saves memories: all of them, or none when a line is wrong.

        `source` is a path or an open file of JSON Lines, or the memories themselves, such as the
        `entries` of `export`. Those that exist are replaced, or left alone with `if_absent`. The answer's
        `importId` is what `undo(import_id=…)` takes.
        """
        key = _check.idempotency_key(idempotency_key)
        fields = {**self._actor, "ifAbsent": True if if_absent else None}
        url = _http.with_query(f"{self.base_url}{MEMORY}/import", fields)
        headers = self._headers(content="application/x-ndjson", idempotency_key=key)
        with ExitStack() as held:
            lines = held.enter_context(_lines(source))
            headers["Content-Length"] = str(lines.seek(0, os.SEEK_END))

            def send() -> dict[str, Any]:
                lines.seek(0)
                with self._open("POST", url, headers, lines) as answer:
                    return _http.json_object(answer.read(), self._parse_float)

            try:
                return self._attempt(send, write=True)
            except BilincCloudError as error:
                error.idempotency_key = key
                raise


def _filters(
    *,
    key: str | None,
    source: str | None,
    session_id: str | None,
    dream_id: str | None,
    import_id: str | None,
    operation_id: str | None,
    from_seq: int | None,
    include_values: bool,
) -> dict[str, Any]:
    """What a page of the log and its following can both be narrowed to."""
    return _check.given(
        key=_check.optional_text("key", key, limits.MAX_KEY_LENGTH),
        # Not trimmed: sources are compared exactly, and "" is who named none.
        source=source,
        sessionId=_check.optional_text("session_id", session_id),
        dreamId=_check.optional_text("dream_id", dream_id),
        importId=_check.optional_text("import_id", import_id),
        operationId=_check.optional_text("operation_id", operation_id),
        fromSeq=_check.position("from_seq", from_seq),
        includeValues=True if include_values else None,
    )


def _lines(source: Any) -> BinaryIO:
    """What is to be imported, as a file of bytes that can be read again for another attempt."""
    if isinstance(source, (str, os.PathLike)):
        return open(source, "rb")
    file = cast(BinaryIO, tempfile.SpooledTemporaryFile(_SPOOL))  # noqa: SIM115 - its asker closes it
    try:
        if hasattr(source, "read"):
            while block := source.read(64 * 1024):
                file.write(block.encode("utf-8") if isinstance(block, str) else block)
        else:
            for entry in source:
                if not isinstance(entry, Mapping):
                    raise invalid("source", "is a path, an open file, or memories as objects")
                file.write(_json.encode({name: entry[name] for name in entry if _imported(name, entry)}) + b"\n")
    except BaseException:
        file.close()
        raise
    return file


def _imported(name: str, entry: Mapping[str, Any]) -> bool:
    return name not in _NOT_IMPORTED and (name == "value" or entry[name] is not None)
