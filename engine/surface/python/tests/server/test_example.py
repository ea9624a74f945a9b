"""The example does what it says, on a real server."""

from __future__ import annotations

import os
import subprocess
import sys

from server_process import PACKAGE


def test_the_example_runs_and_leaves_nothing_behind(server):
    client = server.client()
    environment = {
        **os.environ,
        "PYTHONPATH": str(PACKAGE),
        "BILINC_BASE_URL": server.url,
        "BILINC_API_KEY": client.api_key,
    }
    done = subprocess.run(
        [sys.executable, PACKAGE / "examples" / "dream_pass.py"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    for said in (
        "revise   applied   example.test.command",
        "forget   applied   example.how.to.test",
        "version_conflict",
        "restored example.how.to.test (forget)",
        "kept     example.test.command (changed since)",
        "alreadyUndone=True",
    ):
        assert said in done.stdout, done.stdout
    assert client.list_memories(prefix="example.")["total"] == 0
