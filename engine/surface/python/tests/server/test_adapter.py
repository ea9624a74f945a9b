"""`python3 -m bilinc_client.cloud_mcp` serves the memories of a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from server_process import PACKAGE


class Adapter:
    """The adapter, spoken to as an editor does."""

    def __init__(self, server: Any, key: str) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": str(PACKAGE),
            "BILINC_BIN": str(server.program),
            "BILINC_BASE_URL": server.url,
            "BILINC_API_KEY": key,
        }
        self._id = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bilinc_client.cloud_mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def __enter__(self) -> Adapter:
        about = {"name": "test", "version": "0"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about})
        self._send({"method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        assert self._process.wait(timeout=60) == 0
        self._process.stdout.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdout is not None
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        answer = json.loads(self._process.stdout.readline())
        assert answer["id"] == self._id
        return dict(answer["result"])

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not result["isError"], result
        return dict(result["structuredContent"])


def test_the_adapter_acts_on_the_server(server):
    client = server.client()
    with Adapter(server, client.api_key) as adapter:
        adapter.call("commit_mem", key="a", value="from the adapter")
        assert client.get("a")["value"] == "from the adapter" and client.get("a")["source"] == "bilinc_mcp"
        client.commit("b", "from the client")
        assert adapter.call("recall", query="client")["results"][0]["key"] == "b"


def test_a_key_that_may_only_read_lists_only_reads(server):
    key = server.key("adapter-reads", "--read-only")
    with Adapter(server, key) as adapter:
        names = [tool["name"] for tool in adapter.ask("tools/list", {})["tools"]]
        assert "recall" in names and "commit_mem" not in names
