"""The local MCP adapter: `python3 -m bilinc_client.cloud_mcp` becomes `bilinc mcp --base-url …`.

BILINC_BASE_URL (or `--base-url`) names the server and BILINC_API_KEY the key, which stays in the
environment and never on a command line. The program is BILINC_BIN, else `bilinc` on the PATH.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from typing import NoReturn

from ._base import DEFAULT_BASE_URL

NOT_FOUND = (
    "bilinc_client.cloud_mcp: there is no `bilinc` program. "
    "Build it with `cargo install --path engine/surface`, or set BILINC_BIN to where it is."
)
NO_KEY = "bilinc_client.cloud_mcp: BILINC_API_KEY is not set. `bilinc keys create --project NAME` makes a key."


def program() -> str | None:
    """The path of the `bilinc` program."""
    named = os.environ.get("BILINC_BIN")
    if named:
        return shutil.which(os.path.expanduser(named))
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which("bilinc", path=folder or os.curdir)
        if found and not _is_python(found):
            return found
    return None


def _is_python(path: str) -> bool:
    """Whether it is a Python script: a package of the same name on PyPI installs such a command."""
    try:
        with open(path, "rb") as file:
            first = file.readline(256)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Becomes the adapter; further arguments are handed on to it."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    found = program()
    if found is None:
        sys.exit(NOT_FOUND)
    if not os.environ.get("BILINC_API_KEY", "").strip():
        sys.exit(NO_KEY)
    if not any(word == "--base-url" or word.startswith("--base-url=") for word in arguments):
        arguments = ["--base-url", os.environ.get("BILINC_BASE_URL") or DEFAULT_BASE_URL, *arguments]
    os.execv(found, [found, "mcp", *arguments])


if __name__ == "__main__":
    main()
