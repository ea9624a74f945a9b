"""A real server for tests, on a port of its own and a folder that is thrown away."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import pytest

from bilinc_client import CloudClient

PACKAGE = Path(__file__).resolve().parents[1]
REPOSITORY = PACKAGE.parents[2]
#: How long a start may take before the test says that it failed.
START_SECONDS = 60
_ADDRESS = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\]):([1-9][0-9]*)")


def find_program() -> Path | None:
    named = os.environ.get("BILINC_BIN")
    if named:
        return Path(named)
    target = Path(os.environ.get("CARGO_TARGET_DIR") or REPOSITORY / "target")
    found = [path for kind in ("release", "debug") if (path := target / kind / "bilinc").is_file()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def _missing(why: str) -> Any:
    """A test without a server is skipped, but where a server was promised."""
    if os.environ.get("BILINC_BIN"):
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def program() -> Path:
    path = find_program()
    if path is None or not path.is_file():
        _missing("no bilinc program: build it with `cargo build`, or set BILINC_BIN")
    if subprocess.run([path, "serve", "--help"], capture_output=True, timeout=60).returncode:
        _missing(f"{path} has no `serve` command")
    return path


@dataclass
class Server:
    """A running server, and the keys of its projects."""

    program: Path
    data: Path
    process: subprocess.Popen[str]
    url: str
    output: list[str]
    projects: Iterator[int] = field(default_factory=count)

    def key(self, project: str, *options: str) -> str:
        made = subprocess.run(
            [self.program, "keys", "create", "--data", self.data, "--project", project, *options, "--json"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert made.returncode == 0, made.stderr
        return str(json.loads(made.stdout)["key"])

    def client(self, key: str | None = None, **options: Any) -> CloudClient:
        """A client of a project of its own, or with this key."""
        return CloudClient(key or self.key(f"project-{next(self.projects)}"), self.url, **options)


def start(program: Path, data: Path, listen_on: str = "127.0.0.1:0") -> Server:
    # Its environment is its own: no store, key or address of whoever runs the tests.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BILINC_")}
    process = subprocess.Popen(
        [program, "serve", "--data", data, "--listen", listen_on],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )
    output: list[str] = []
    ports: Queue[str | None] = Queue()

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            output.append(line)
            if found := _ADDRESS.search(line):
                ports.put(found[1])
        ports.put(None)

    threading.Thread(target=listen, daemon=True).start()
    try:
        port = ports.get(timeout=START_SECONDS)
    except Empty:
        port = None
    if port is None:
        process.kill()
        process.wait()
        pytest.fail("the server did not say where it listens:\n" + "".join(output))
    return Server(program, data, process, f"http://127.0.0.1:{port}", output)


def stop(running: Server) -> None:
    """Asks it to stop, and sees that it does so in order."""
    running.process.send_signal(signal.SIGTERM)
    try:
        code = running.process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        running.process.kill()
        pytest.fail("the server did not stop when it was asked to")
    assert code in (0, -signal.SIGTERM), "".join(running.output)


@pytest.fixture(scope="session")
def server(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start(program, tmp_path_factory.mktemp("data"))
    yield running
    stop(running)


@pytest.fixture
def client(server: Server) -> CloudClient:
    return server.client()


@pytest.fixture
def fresh(server: Server) -> Callable[..., CloudClient]:
    return server.client
