"""The adapter becomes `bilinc mcp`, with the key in the environment alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from server_process import PACKAGE

STUB = '#!/bin/sh\nprintf "%s\\n" "$0" "$@"\nprintf "key=%s\\n" "$BILINC_API_KEY"\n'


def script(path: Path, text: str = STUB) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/nowhere", "PYTHONPATH": str(PACKAGE), **environment}
    command = [sys.executable, "-m", "bilinc_client.cloud_mcp", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)


def test_it_becomes_the_program_on_the_path(tmp_path):
    found = script(tmp_path / "bin" / "bilinc")
    done = run(
        PATH=f"{found.parent}:{os.environ['PATH']}", BILINC_API_KEY="bil_live_k", BILINC_BASE_URL="https://a.test"
    )
    assert done.stdout.splitlines() == [str(found), "mcp", "--base-url", "https://a.test", "key=bil_live_k"]
    assert done.returncode == 0


def test_a_named_program_wins_and_the_server_of_this_machine_is_the_default(tmp_path):
    named, other = script(tmp_path / "named"), script(tmp_path / "bin" / "bilinc")
    done = run("--read-only", PATH=str(other.parent), BILINC_BIN=str(named), BILINC_API_KEY="k")
    assert done.stdout.splitlines()[:5] == [str(named), "mcp", "--base-url", "http://127.0.0.1:8787", "--read-only"]


@pytest.mark.parametrize("arguments", [["--base-url", "http://b.test"], ["--base-url=http://b.test"]])
def test_an_address_can_be_an_argument(tmp_path, arguments):
    named = script(tmp_path / "named")
    done = run(*arguments, BILINC_BIN=str(named), BILINC_API_KEY="k", BILINC_BASE_URL="http://a.test")
    assert done.stdout.splitlines()[1:-1] == ["mcp", *arguments]


def test_a_python_command_of_the_same_name_is_not_taken_for_the_program(tmp_path):
    other = script(tmp_path / "first" / "bilinc", f"#!{sys.executable}\nraise SystemExit('wrong')\n")
    right = script(tmp_path / "second" / "bilinc")
    done = run(PATH=f"{other.parent}:{right.parent}", BILINC_API_KEY="k")
    assert done.stdout.splitlines()[0] == str(right)
    assert "no `bilinc` program" in run(PATH=str(other.parent), BILINC_API_KEY="k").stderr


def test_what_is_missing_is_said_on_standard_error(tmp_path):
    for environment in ({}, {"BILINC_BIN": str(tmp_path / "none")}):
        done = run(BILINC_API_KEY="k", **environment)
        assert done.returncode == 1 and done.stdout == ""
        assert "no `bilinc` program" in done.stderr and "BILINC_BIN" in done.stderr
    done = run(BILINC_BIN=str(script(tmp_path / "named")))
    assert done.returncode == 1 and done.stdout == "" and "BILINC_API_KEY is not set" in done.stderr
