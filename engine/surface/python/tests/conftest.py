"""What tests share: a transport that records, and a server that really runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PACKAGE))

from bilinc_client import CloudClient  # noqa: E402

pytest_plugins = ["server_process"]


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
        yield answer if hasattr(answer, "read") else BytesIO(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

    @property
    def last(self) -> Sent:
        return self.sent[-1]


class Waits(list):
    """The waits between attempts, which no test really waits."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def client_of(waits: Waits) -> Callable[..., CloudClient]:
    def make(wire: Wire, **options: Any) -> CloudClient:
        return CloudClient("bil_live_test", "http://server.test", transport=wire, stream=wire.stream, sleep=waits, **options)

    return make


@pytest.fixture(autouse=True)
def no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key, address or saved login of whoever runs the tests is used, and no proxy."""
    for name in ("BILINC_API_KEY", "BILINC_BASE_URL", "BILINC_CA_BUNDLE", "SSL_CERT_FILE", "BILINC_CLIENT_COMMAND"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BILINC_CONFIG_DIR", str(tmp_path / "no-config"))
