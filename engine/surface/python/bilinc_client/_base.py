"""What every call goes through: headers, retries, idempotency keys."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, BinaryIO, TypeVar

from . import _check, _http, _json, limits
from ._http import Stream, Transport
from ._version import __version__
from .errors import BilincApiKeyRequired, BilincCloudError, BilincError, invalid

#: The address that a server listens on when it is told no other.
DEFAULT_BASE_URL = "http://127.0.0.1:8787"
#: How often a call is made before its failure is given back.
ATTEMPTS = 3
#: Seconds before the second attempt; each further wait is twice as long.
RETRY_DELAY = 0.25
#: The longest that is waited because a server asks for it.
MAX_RETRY_AFTER = 30.0

MEMORY = "/api/cloud/memory"

Answer = TypeVar("Answer")
Client = TypeVar("Client", bound="BaseClient")


class BaseClient:
    """A connection's settings, and how requests are made. The calls themselves are in the subclasses."""

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str = DEFAULT_BASE_URL,
        timeout: float = 30.0,
        transport: Transport | None = None,
        *,
        stream: Stream | None = None,
        attempts: int = ATTEMPTS,
        retry_delay: float = RETRY_DELAY,
        sleep: Callable[[float], None] = time.sleep,
        parse_float: Callable[[str], Any] = _json.fraction,
        source: str | None = None,
        session_id: str | None = None,
    ) -> None:
        """Without a key, BILINC_API_KEY is the key; without an address, BILINC_BASE_URL is the address.

        `source` and `session_id` say who writes, and in which session: `undo` can take back by either.
        `parse_float` reads numbers with a fraction or an exponent; `decimal.Decimal` keeps every digit.
        `transport` and `stream` replace the network, `sleep` the waiting between attempts.
        """
        found = os.environ.get("BILINC_API_KEY") if api_key is None else api_key
        if not found or not found.strip():
            raise BilincApiKeyRequired(
                "no API key: set BILINC_API_KEY, or pass api_key. "
                "`bilinc keys create --project NAME` makes one on the server's machine."
            )
        if not (found.strip().isascii() and found.strip().isprintable()):
            raise invalid("api_key", "has printable ASCII characters only")
        self.api_key = found.strip()
        if base_url == DEFAULT_BASE_URL:
            base_url = os.environ.get("BILINC_BASE_URL") or base_url
        self.base_url = _http.checked_base(base_url)
        self.timeout = timeout
        self.attempts = _check.count("attempts", attempts, 100)
        self.retry_delay = retry_delay
        self._sleep = sleep
        self._parse_float = parse_float
        self.transport: Transport = transport or _http.json_transport(parse_float)
        self.stream: Stream = stream or _http.stream
        # Who writes, as every write but an undo says it: there, both select what is taken back.
        self._actor: dict[str, Any] = _check.given(
            source=_check.optional_text("source", source, limits.MAX_SOURCE_LENGTH),
            sessionId=_check.optional_text("session_id", session_id, limits.MAX_SOURCE_LENGTH),
        )
        self._closed = False

    @classmethod
    def from_env(cls: type[Client], **options: Any) -> Client:
        """A client of BILINC_BASE_URL with BILINC_API_KEY; `options` are those of the constructor."""
        return cls(**options)

    def close(self) -> None:
        """Ends the client's use. Each request has a connection of its own, so none is left open."""
        self._closed = True

    def __enter__(self: Client) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        # Never the key: what is printed ends up in logs.
        return f"{type(self).__name__}(base_url={self.base_url!r})"

    def _get(self, path: str, fields: dict[str, Any] | None = None) -> dict[str, Any]:
        url = _http.with_query(self.base_url + path, fields or {})
        return self._attempt(
            lambda: self.transport("GET", url, headers=self._headers(), body=None, timeout=self.timeout)
        )

    def _read(self, path: str, payload: dict[str, Any]) -> dict[str, Any]:
        """A read whose question is a body."""
        return self._post(path, _json.encode(payload), self._headers(content="application/json"))

    def _write(self, path: str, payload: dict[str, Any], idempotency_key: str | None) -> dict[str, Any]:
        """A write. It goes under one key however often it is tried, so it cannot act twice."""
        key = _check.idempotency_key(idempotency_key)
        return self._write_under(key, path, _json.encode({**self._actor, **payload}))

    def _write_under(self, key: str, path: str, body: bytes) -> dict[str, Any]:
        try:
            return self._post(path, body, self._headers(content="application/json", idempotency_key=key), write=True)
        except BilincCloudError as error:
            error.idempotency_key = key
            raise

    def _post(self, path: str, body: bytes, headers: dict[str, str], write: bool = False) -> dict[str, Any]:
        url = self.base_url + path
        return self._attempt(
            lambda: self.transport("POST", url, headers=headers, body=body, timeout=self.timeout), write
        )

    def _open(
        self, method: str, url: str, headers: dict[str, str], body: bytes | BinaryIO | None = None
    ) -> AbstractContextManager[BinaryIO]:
        """A streamed answer; not tried again, because only the caller knows what it has used of it."""
        self._check_open()
        return self.stream(method, url, headers=headers, body=body, timeout=self.timeout)

    def _headers(self, content: str | None = None, idempotency_key: str | None = None) -> dict[str, str]:
        headers = {
            "Authorization": f"Bearer {self.api_key}",
            "User-Agent": f"bilinc-client-python/{__version__}",
            "Accept": "application/json",
        }
        if content is not None:
            headers["Content-Type"] = content
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        return headers

    def _attempt(self, call: Callable[[], Answer], write: bool = False) -> Answer:
        """Makes a call again, a bounded number of times, while its failure may pass."""
        lost = False
        for attempt in range(1, self.attempts + 1):
            self._check_open()
            try:
                return call()
            except BilincCloudError as error:
                lost = write and (lost or _answer_lost(error))
                if not error.retryable or attempt == self.attempts:
                    # A refusal of the second attempt means that the first did nothing: a write that
                    # happened is answered under its key before anything else is judged.
                    error.outcome_unknown = lost and (error.retryable or _answer_lost(error))
                    raise
                asked = min(error.retry_after or 0.0, MAX_RETRY_AFTER)
                self._sleep(max(self.retry_delay * 2 ** (attempt - 1), asked))
        raise AssertionError("there is always a last attempt")  # pragma: no cover

    def _check_open(self) -> None:
        if self._closed:
            raise BilincError("this client is closed")


def _answer_lost(error: BilincCloudError) -> bool:
    """Whether a write may have happened although it failed."""
    if error.status is None:
        return True
    said = error.details.get("outcome") if isinstance(error.details, dict) else None
    return said == "unknown" or (error.status >= 500 and error.code in (None, "internal_error"))
