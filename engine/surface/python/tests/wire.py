"""A transport that records what a client sends and plays what a server says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl, urlsplit


class Sent:
    """One request as it left the client."""

    def __init__(self, method: str, url: str, headers: dict[str, str], body: Any, timeout: float) -> None:
        parts = urlsplit(url)
        self.method, self.path = method, parts.path
        self.query = dict(parse_qsl(parts.query, keep_blank_values=True))
        self.headers, self.timeout = headers, timeout
        self.raw = body.read() if hasattr(body, "read") else body
        self.key = headers.get("Idempotency-Key")

    @property
    def body(self) -> Any:
        return None if self.raw is None else json.loads(self.raw)


class Wire:
    """Records requests and plays answers: dicts are given, exceptions raised, functions asked."""

    def __init__(self, *answers: Any) -> None:
        self.sent: list[Sent] = []
        self.answers = list(answers)

    def __call__(self, method: str, url: str, *, headers: dict[str, str], body: Any, timeout: float) -> dict[str, Any]:
        sent = Sent(method, url, headers, body, timeout)
        self.sent.append(sent)
        answer = self.answers.pop(0) if self.answers else {"success": True}
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            return answer(sent)
        return answer

    @contextmanager
    def stream(self, method: str, url: str, *, headers: dict[str, str], body: Any, timeout: float) -> Iterator[BytesIO]:
        answer = self(method, url, headers=headers, body=body, timeout=timeout)
        yield (
            answer
            if hasattr(answer, "read")
            else BytesIO(answer if isinstance(answer, bytes) else json.dumps(answer).encode())
        )

    @property
    def last(self) -> Sent:
        return self.sent[-1]


class Waits(list):
    """The waits between attempts, which no test really waits."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)
