"""One request and its answer, over the standard library alone.

Redirects are not followed: a key must never reach another address than the one that was named.
"""

from __future__ import annotations

import http.client
import io
import json
import os
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, BinaryIO, Protocol, cast

from . import _json
from .errors import BilincCloudError, BilincConnectionError, error_for_response, invalid

#: Bytes that are read of an answer that is an error.
_ERROR_BYTES = 1024 * 1024
_BLOCK = 64 * 1024


class Transport(Protocol):
    """Sends a request and gives back its JSON answer; raises a `BilincCloudError` for any other."""

    def __call__(
        self, method: str, url: str, *, headers: dict[str, str], body: bytes | None, timeout: float
    ) -> dict[str, Any]: ...


class Stream(Protocol):
    """Sends a request and gives back the bytes of its answer as they come."""

    def __call__(
        self, method: str, url: str, *, headers: dict[str, str], body: bytes | BinaryIO | None, timeout: float
    ) -> AbstractContextManager[BinaryIO]: ...


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


def _tls() -> ssl.SSLContext:
    """The system's authorities, or those of BILINC_CA_BUNDLE."""
    return ssl.create_default_context(cafile=os.environ.get("BILINC_CA_BUNDLE") or None)


@contextmanager
def stream(
    method: str, url: str, *, headers: dict[str, str], body: bytes | BinaryIO | None, timeout: float
) -> Iterator[BinaryIO]:
    """Speaks HTTP by `urllib`, and so through the proxies of the environment, if it names any."""
    handlers: list[urllib.request.BaseHandler] = [_NoRedirects()]
    if url.startswith("https:"):
        handlers.append(urllib.request.HTTPSHandler(context=_tls()))
    request = urllib.request.Request(url, data=cast(Any, body), headers=headers, method=method)
    try:
        response = urllib.request.build_opener(*handlers).open(request, timeout=timeout)
    except urllib.error.HTTPError as answer:
        with answer:
            raise _refusal(answer) from None
    except (OSError, http.client.HTTPException) as error:
        raise unreachable(error) from error
    # What goes wrong in the hands of the reader of these bytes is no failure of the connection.
    with response:
        yield cast(BinaryIO, io.BufferedReader(_Whole(response), _BLOCK))


class _Whole(io.RawIOBase):
    """An answer that is never taken for whole when its connection was cut."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        super().__init__()
        self._response = response
        # None when it comes in chunks, which say themselves where they end.
        self._left = response.length

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._left == 0:
            return 0
        try:
            read = self._response.read1(len(buffer))
        except (OSError, http.client.HTTPException) as error:
            raise unreachable(error) from error
        if self._left is not None:
            if not read:
                raise unreachable(http.client.IncompleteRead(read, self._left))
            self._left -= len(read)
        buffer[: len(read)] = read
        return len(read)


def _refusal(answer: urllib.error.HTTPError) -> BilincCloudError:
    try:
        payload = json.loads(answer.read(_ERROR_BYTES))
    except (ValueError, OSError, http.client.HTTPException):
        payload = None
    error = error_for_response(answer.code, payload)
    after = answer.headers.get("Retry-After", "")
    if after.strip().isdecimal():
        error.retry_after = float(after)
    return error


def unreachable(error: Exception) -> BilincConnectionError:
    """The error of a request that got no answer, or half of one."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    told = str(reason) or type(reason).__name__
    # A certificate does not get better by asking again.
    distrusted = isinstance(reason, ssl.SSLCertVerificationError)
    return BilincConnectionError(
        f"no answer from the server: {told} [connection_failed]",
        code="connection_failed",
        retryable=not distrusted,
    )


def json_transport(parse_float: Callable[[str], Any]) -> Transport:
    """The transport of a client that was given no other."""

    def send(method: str, url: str, *, headers: dict[str, str], body: bytes | None, timeout: float) -> dict[str, Any]:
        with stream(method, url, headers=headers, body=body, timeout=timeout) as answer:
            raw = answer.read()
        return json_object(raw, parse_float)

    return send


def json_object(raw: bytes, parse_float: Callable[[str], Any]) -> dict[str, Any]:
    """The object that an answer is."""
    if not raw:
        # No answer of a server is empty: it was cut off before its first byte.
        raise unreachable(http.client.IncompleteRead(raw))
    answer = _json.decode(raw, parse_float)
    if not isinstance(answer, dict):
        raise BilincCloudError("the server's answer is not an object", code="invalid_response")
    return answer


def copy(source: BinaryIO, target: BinaryIO) -> int:
    """Copies all of it; gives back how many lines that were."""
    lines = 0
    last = b"\n"
    while block := source.read(_BLOCK):
        target.write(block)
        lines += block.count(b"\n")
        last = block[-1:]
    return lines if last == b"\n" else lines + 1


def checked_base(url: Any) -> str:
    """An address to which paths are added."""
    parts = urllib.parse.urlsplit(url) if isinstance(url, str) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise invalid("base_url", "is an address such as http://127.0.0.1:8787")
    return str(url).rstrip("/")


def with_query(url: str, fields: Mapping[str, Any]) -> str:
    """With the fields that have a value, spelled as JSON spells them."""
    words = {name: _word(value) for name, value in fields.items() if value is not None}
    return f"{url}?{urllib.parse.urlencode(words)}" if words else url


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
