"""The published client against our server, and the table of what works."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def bilinc() -> Any:
    return pytest.importorskip("bilinc", reason="the published client is not installed: ./run-tests installs it")


@pytest.fixture
def key(server: Any) -> Iterator[str]:
    """The key of a project of its own."""
    yield server.key(f"project-{next(server.projects)}")


@pytest.fixture
def theirs(bilinc: Any, server: Any, key: str) -> Any:
    return bilinc.CloudClient(key, server.url)


_TABLE: dict[str, str] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keeps what became of each method, command and tool."""
    for kind in ("method", "command", "tool"):
        _, found, name = report.nodeid.partition(f"::test_{kind}[")
        if found and (report.when == "call" or not report.passed):
            _TABLE[f"{kind} {name.rstrip(']')}"] = report.outcome


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _TABLE:
        terminalreporter.section("the published client against this server")
        for name, outcome in _TABLE.items():
            terminalreporter.write_line(f"{outcome:<8} {name}")
