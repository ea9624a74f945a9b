"""Every command of the published command line, against our server."""

from __future__ import annotations

import argparse
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


class Shell:
    """Runs the published command as its users do: key and address in the environment."""

    def __init__(self, folder: Path, url: str, key: str) -> None:
        self.folder = folder
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "BILINC_CONFIG_DIR": str(folder / "config"),
            "BILINC_BASE_URL": url,
            "BILINC_API_KEY": key,
        }

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            # As it is installed: `python -m bilinc.cli` of 2.6.0 ends with 0 whatever happens.
            [Path(sys.executable).parent / "bilinc", *words],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**self.environment, **environment},
            timeout=120,
        )

    def text(self, *words: str) -> str:
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *words: str) -> Any:
        return json.loads(self.text(*words))


@pytest.fixture
def shell(bilinc: Any, server: Any, key: str, tmp_path: Path) -> Shell:
    return Shell(tmp_path, server.url, key)


Check = Callable[[Shell], None]
COMMANDS: dict[str, Check] = {}


def command(check: Check) -> Check:
    COMMANDS[check.__name__] = check
    return check


@command
def start(shell: Shell) -> None:
    answer = shell.json("start")
    assert answer["ready"] is True and answer["status"]["plan"] == "self-hosted"


@command
def login(shell: Shell) -> None:
    key = shell.environment.pop("BILINC_API_KEY")
    assert shell.run("status").returncode == 1
    assert shell.json("login", "--api-key", key)["saved"] is True
    assert shell.json("status")["success"] is True


@command
def signup(shell: Shell) -> None:
    assert shell.json("signup")["signup"]


@command
def commit(shell: Shell) -> None:
    answer = shell.json(
        "commit",
        "--key",
        "k",
        "--value",
        '{"a":1}',
        "--type",
        "episodic",
        "--importance",
        "0.5",
        "--metadata",
        '{"m":1}',
    )
    assert answer["operation"] == "create" and answer["entryVersion"]


@command
def recall(shell: Shell) -> None:
    shell.json("commit", "--key", "test.command", "--value", "cargo test")
    answer = shell.json("recall", "--query", "how to test", "--profile", "balanced", "--limit", "3")
    assert answer["results"][0]["key"] == "test.command"


@command
def revise(shell: Shell) -> None:
    version = shell.json("commit", "--key", "k", "--value", "1")["entryVersion"]
    answer = shell.json(
        "revise",
        "--key",
        "k",
        "--value",
        "2",
        "--reason",
        "better",
        "--strategy",
        "recency",
        "--expected-version",
        version,
    )
    assert answer["strategy"] == "recency"
    stale = shell.run("revise", "--key", "k", "--value", "3", "--expected-version", version)
    assert stale.returncode == 1 and stale.stderr.startswith("bilinc: error: ")


@command
def forget(shell: Shell) -> None:
    shell.json("commit", "--key", "k", "--value", "1")
    assert shell.json("forget", "--key", "k", "--reason", "old")["removed"] is True
    assert shell.json("forget", "--key", "k", "--reason", "old", "--purge")["purged"]


@command
def confirm(shell: Shell) -> None:
    shell.json("commit", "--key", "k", "--value", "1")
    assert shell.json("confirm", "k", "--reason", "checked")["confirmed"] is True


@command
def history(shell: Shell) -> None:
    shell.json("commit", "--key", "k", "--value", "one")
    shell.json("revise", "--key", "k", "--value", "two", "--reason", "better")
    shown = shell.text("history", "k")
    assert "one -> two" in shown and "reason: better" in shown and "source: " in shown
    assert len(shell.json("history", "k", "--json", "--limit", "1")["entries"]) == 1
    shell.json("forget", "--key", "k", "--reason", "old")
    shown = shell.text("history", "k")
    assert ", forgotten)" in shown and "value not shown" in shown
    assert shell.text("history", "never").startswith("No recorded changes")


@command
def list(shell: Shell) -> None:
    for at in range(5):
        shell.json("commit", "--key", f"k{at}", "--value", str(at))
    shown = shell.text("list", "--limit", "2", "--order", "newest", "--source", "bilinc_cloud")
    assert "2 shown of 5" in shown and "More: bilinc list" in shown and "--cursor" in shown
    page = shell.json("list", "--json", "--limit", "2")
    rest = shell.json("list", "--json", "--cursor", page["nextCursor"])
    assert [entry["key"] for entry in page["entries"] + rest["entries"]] == [f"k{at}" for at in range(5)]
    assert shell.json("list", "--all", "--json", "--limit", "2", "--values", "full", "--prefix", "k")["count"] == 5
    assert shell.text("list", "--type", "working") == "No memories match.\n"
    assert "5 shown" in shell.text("list", "--updated-after", "2020-01-01", "--updated-before", "2999-01-01T00:00:00Z")


@command
def export(shell: Shell) -> None:
    shell.json("commit", "--key", "k", "--value", '{"a":[1]}')
    done = shell.run("export", "-o", "memories.json")
    assert done.returncode == 0 and "Exported 1 memories" in done.stderr
    path = shell.folder / "memories.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["entries"][0]["value"] == {"a": [1]}
    assert shell.json("export", "--prefix", "none", "--type", "working")["count"] == 0


@command
def snapshot(shell: Shell) -> None:
    made = shell.json("snapshot", "create", "--label", "l", "--metadata", '{"a":1}')["snapshot"]
    assert shell.json("snapshot", "list", "--limit", "5")["snapshots"][0]["id"] == made["id"]


@command
def diff(shell: Shell) -> None:
    made = shell.json("snapshot")["snapshot"]["id"]
    shell.json("commit", "--key", "k", "--value", "1")
    assert shell.json("diff", "--from-snapshot", made, "--include-values")["counts"]["added"] == 1
    end = shell.json("snapshot")["snapshot"]["id"]
    assert shell.json("diff", "--from-snapshot", made, "--to-snapshot", end)["counts"]["added"] == 1


@command
def rollback(shell: Shell) -> None:
    made = shell.json("snapshot")["snapshot"]["id"]
    shell.json("commit", "--key", "k", "--value", "1")
    words = ("--snapshot", made, "--reason", "bad run")
    token = shell.json("rollback", "preview", *words)["confirmationToken"]
    assert shell.run("rollback", "execute", *words).returncode == 1
    answer = shell.json("rollback", "execute", *words, "--confirmation-token", token)
    assert answer["counts"]["deleted"] == 1


@command
def status(shell: Shell) -> None:
    answer = shell.json("status")
    assert answer["plan"] == "self-hosted" and answer["capabilities"] and answer["usage"] and answer["limits"]


@command
def health(shell: Shell) -> None:
    assert shell.json("health")["status"] == "ok"


@command
def doctor(shell: Shell) -> None:
    answer = shell.json("doctor")
    assert answer["cloud_health"]["status"] == "ok" and answer["account_status"]["success"] is True


@command
def quicktest(shell: Shell) -> None:
    answer = shell.json("quicktest", "--key", "quick", "--value", '{"status":"ready"}')
    assert answer["ok"] is True and answer["commit"]["operation"] == "create"
    assert answer["recall"]["results"][0]["key"] == "quick" and answer["status"]["success"] is True
    assert shell.json("quicktest")["recall"]["results"], "its own key is found by its words"


@command
def mcp(shell: Shell) -> None:
    assert shell.json("mcp", "install")["mcpServers"]["bilinc"]["args"] == ["-m", "bilinc.cloud_mcp"]


@pytest.mark.parametrize("name", [*COMMANDS])
def test_command(name: str, shell: Shell) -> None:
    COMMANDS[name](shell)


def test_no_command_is_left_out(bilinc: Any) -> None:
    from bilinc.cli.main import build_parser

    (commands,) = [action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction)]
    assert sorted(COMMANDS) == sorted(commands.choices)


def test_a_wrong_key_is_one_line_and_no_trace(shell: Shell) -> None:
    done = shell.run("status", BILINC_API_KEY="bil_live_wrong")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("bilinc: error: ") and "Traceback" not in done.stderr
    assert os.linesep not in done.stderr.rstrip()
