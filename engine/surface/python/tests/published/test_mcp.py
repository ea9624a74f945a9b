"""The MCP adapter of the published package over stdio, against our server."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


class Adapter:
    """Speaks the protocol with the adapter, a line at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.number = process, 0

    def send(self, method: str, params: dict[str, Any] | None = None, **more: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}, **more}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        self.number += 1
        self.send(method, params, id=self.number)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
        raise AssertionError("the adapter ended")

    def call(self, tool: str, **arguments: Any) -> Any:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        text = result["content"][0]["text"]
        assert not result.get("isError"), text
        return json.loads(text)

    def refused(self, tool: str, **arguments: Any) -> str:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert result["isError"] is True
        return str(result["content"][0]["text"])


@pytest.fixture
def adapter(bilinc: Any, server: Any, key: str, tmp_path: Path) -> Iterator[Adapter]:
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "BILINC_CONFIG_DIR": str(tmp_path / "config"),
        "BILINC_BASE_URL": server.url,
        "BILINC_API_KEY": key,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "bilinc.cloud_mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    # Whatever happens, no test waits for it without end.
    guard = threading.Timer(120, process.kill)
    guard.start()
    speaker = Adapter(process)
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
    assert speaker.ask("initialize", about)["serverInfo"]["name"] == "bilinc"
    speaker.send("notifications/initialized")
    yield speaker
    guard.cancel()
    assert process.stdin is not None and process.stdout is not None
    process.stdin.close()
    process.wait(timeout=60)
    process.stdout.close()


Check = Callable[[Adapter], None]
TOOLS: dict[str, Check] = {}


def tool(check: Check) -> Check:
    TOOLS[check.__name__] = check
    return check


@tool
def commit_mem(adapter: Adapter) -> None:
    arguments = dict(
        key="k",
        value={"a": [1]},
        memory_type="episodic",
        importance=0.5,
        metadata={"m": 1},
        source="me",
        session_id="s",
        canonical=True,
        priority=0.5,
        ttl=60,
        idempotency_key="once",
    )
    made = adapter.call("commit_mem", **arguments)
    assert made["operation"] == "create"
    assert adapter.call("commit_mem", **arguments)["entryVersion"] == made["entryVersion"]


@tool
def recall(adapter: Adapter) -> None:
    adapter.call("commit_mem", key="deploy.target", value="production")
    answer = adapter.call("recall", query="where do we deploy", limit=5, explain=True)
    assert answer["results"][0]["value"] == "production"


@tool
def revise(adapter: Adapter) -> None:
    version = adapter.call("commit_mem", key="k", value=1)["entryVersion"]
    assert adapter.call("revise", key="k", value=2, reason="better", expected_version=version)["key"] == "k"
    refused = adapter.refused("revise", key="k", value=3, expected_version=version)
    assert "request failed" in refused


@tool
def forget(adapter: Adapter) -> None:
    adapter.call("commit_mem", key="k", value=1)
    assert adapter.call("forget", key="k", reason="old")["removed"] is True
    assert adapter.call("forget", key="k", reason="old", purge=True)["purged"]


@tool
def status(adapter: Adapter) -> None:
    assert adapter.call("status")["plan"] == "self-hosted"


@tool
def snapshot(adapter: Adapter) -> None:
    made = adapter.call("snapshot", label="l", metadata={"a": 1})["snapshot"]
    assert adapter.call("snapshot", action="list")["snapshots"][0]["id"] == made["id"]


@tool
def diff(adapter: Adapter) -> None:
    made = adapter.call("snapshot")["snapshot"]["id"]
    adapter.call("commit_mem", key="k", value=1)
    assert adapter.call("diff", from_snapshot_id=made, include_values=True)["counts"]["added"] == 1


@tool
def rollback(adapter: Adapter) -> None:
    made = adapter.call("snapshot")["snapshot"]["id"]
    adapter.call("commit_mem", key="k", value=1)
    token = adapter.call("rollback", snapshot_id=made, reason="bad run")["confirmationToken"]
    answer = adapter.call("rollback", snapshot_id=made, reason="bad run", mode="execute", confirmation_token=token)
    assert answer["counts"]["deleted"] == 1


@tool
def list_memories(adapter: Adapter) -> None:
    for at in range(3):
        adapter.call("commit_mem", key=f"k{at}", value=at, source="me")
    page = adapter.call("list_memories", limit=2, order="newest", sources=["me"], values="full")
    rest = adapter.call(
        "list_memories", limit=2, order="newest", sources=["me"], values="full", cursor=page["nextCursor"]
    )
    assert [entry["value"] for entry in page["entries"] + rest["entries"]] == [2, 1, 0]


@tool
def history(adapter: Adapter) -> None:
    adapter.call("commit_mem", key="k", value=1)
    assert adapter.call("history", key="k")["entries"][0]["op"] == "create"


@tool
def confirm(adapter: Adapter) -> None:
    adapter.call("commit_mem", key="k", value=1)
    assert adapter.call("confirm", key="k", reason="checked")["confirmed"] is True


@pytest.mark.parametrize("name", [*TOOLS])
def test_tool(name: str, adapter: Adapter) -> None:
    TOOLS[name](adapter)


def test_no_tool_is_left_out(adapter: Adapter) -> None:
    assert sorted(TOOLS) == sorted(one["name"] for one in adapter.ask("tools/list")["tools"])
