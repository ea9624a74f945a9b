"""Server-sent events, as far as a log needs them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO


def read(answer: BinaryIO) -> Iterator[str]:
    """The data of each event. Comments, which only keep a connection alive, are passed over."""
    data: list[str] = []
    for raw in answer:
        line = raw.decode("utf-8").rstrip("\r\n")
        if line:
            name, _, value = line.partition(":")
            if name == "data":
                data.append(value.removeprefix(" "))
        elif data:
            yield "\n".join(data)
            data = []
