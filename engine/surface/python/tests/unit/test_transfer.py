"""Export and import hand over exactly what is there."""

from __future__ import annotations

import io
import os
import stat
from decimal import Decimal

import pytest
from wire import Wire

from bilinc_client import BilincCloudError, BilincValidationError

LINES = b'{"key":"a.1","value":1.10,"memoryType":"semantic"}\n{"key":"b","value":1e400,"memoryType":"working"}\n'


def test_an_export_without_a_target_gives_the_entries(client_of):
    wire = Wire({"entries": [{"key": "a", "value": 1}], "nextCursor": None})
    answer = client_of(wire).export(prefix="a", memory_type="semantic")
    assert (answer["count"], answer["entries"]) == (1, [{"key": "a", "value": 1}])
    assert answer["exported_at"].endswith("Z")
    assert wire.last.body == {"limit": 100, "values": "full", "prefix": "a", "memoryType": "semantic"}


def test_an_export_to_a_path_keeps_every_byte_and_is_its_owners_alone(client_of, tmp_path):
    path = tmp_path / "memories.jsonl"
    path.touch(0o644)
    answer = client_of(Wire(LINES)).export(to=path)
    assert path.read_bytes() == LINES
    assert answer["count"] == 2 and "entries" not in answer
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_export_through_a_link_leaves_the_link(client_of, tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    os.symlink(target, link)
    client_of(Wire(LINES)).export(to=link)
    assert link.is_symlink() and target.read_bytes() == LINES


@pytest.mark.parametrize(
    ("options", "kept"),
    [({"prefix": "a."}, [0]), ({"memory_type": "working"}, [1]), ({"prefix": "a.", "memory_type": "working"}, [])],
)
def test_a_filtered_export_keeps_the_text_of_its_lines(client_of, options, kept):
    file = io.BytesIO()
    lines = LINES.splitlines(keepends=True)
    assert client_of(Wire(LINES)).export(to=file, **options)["count"] == len(kept)
    assert file.getvalue() == b"".join(lines[at] for at in kept)


def test_an_export_goes_to_open_files_of_bytes_and_of_text(client_of):
    binary, text = io.BytesIO(), io.StringIO()
    client_of(Wire(LINES)).export(to=binary)
    client_of(Wire(LINES)).export(to=text)
    assert binary.getvalue() == text.getvalue().encode() == LINES


def test_a_failed_export_leaves_no_trace(client_of, tmp_path):
    with pytest.raises(BilincCloudError):
        client_of(Wire(BilincCloudError("no", status=403))).export(to=tmp_path / "memories.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_not_told_as_a_lost_connection(client_of, monkeypatch, tmp_path):
    def full(_file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    wire = Wire(LINES, LINES, LINES)
    with pytest.raises(OSError, match="No space"):
        client_of(wire).export(to=tmp_path / "memories.jsonl")
    assert len(wire.sent) == 1 and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["path", "bytes", "text", "pipe"])
def test_an_import_sends_a_file_as_it_is(client_of, tmp_path, kind):
    path = tmp_path / "memories.jsonl"
    path.write_bytes(LINES)
    wire = Wire({"created": 2})
    if kind == "pipe":
        read, write = os.pipe()
        os.write(write, LINES)
        os.close(write)
        source = open(read, "rb")  # noqa: SIM115
    else:
        source = {"path": path, "bytes": io.BytesIO(LINES), "text": io.StringIO(LINES.decode())}[kind]
    assert client_of(wire).import_(source, if_absent=True, idempotency_key="i") == {"created": 2}
    sent = wire.last
    assert (sent.method, sent.path, sent.query) == ("POST", "/api/cloud/memory/import", {"ifAbsent": "true"})
    assert (sent.raw, sent.key, sent.headers["Content-Type"]) == (LINES, "i", "application/x-ndjson")
    if kind == "pipe":
        source.close()


def test_the_entries_of_an_export_can_be_imported(client_of):
    wire = Wire()
    entry = {
        "key": "a",
        "value": None,
        "ttl": None,
        "entryVersion": "v1_0",
        "flags": [],
        "expiresAt": None,
        "importance": 1.0,
    }
    client_of(wire).import_([entry, {"key": "b", "value": Decimal("1.10")}])
    assert wire.last.raw == b'{"key":"a","value":null,"importance":1.0}\n{"key":"b","value":1.10}\n'
    assert wire.last.query == {} and wire.last.key


def test_what_is_no_memory_is_not_imported(client_of):
    wire = Wire()
    with pytest.raises(BilincValidationError):
        client_of(wire).import_([1])
    with pytest.raises(FileNotFoundError):
        client_of(wire).import_("/nowhere/memories.jsonl")
    assert wire.sent == []
