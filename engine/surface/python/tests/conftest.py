"""What all tests share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from wire import Waits, Wire

from bilinc_client import CloudClient

pytest_plugins = ["server_process"]


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def client_of(waits: Waits) -> Callable[..., CloudClient]:
    def make(wire: Wire, **options: Any) -> CloudClient:
        return CloudClient(
            "bil_live_test", "http://server.test", transport=wire, stream=wire.stream, sleep=waits, **options
        )

    return make


@pytest.fixture(autouse=True)
def no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key, address or saved login of whoever runs the tests is used, and no proxy."""
    for name in ("BILINC_API_KEY", "BILINC_BASE_URL", "BILINC_CA_BUNDLE", "SSL_CERT_FILE", "BILINC_CLIENT_COMMAND"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BILINC_CONFIG_DIR", str(tmp_path / "no-config"))
