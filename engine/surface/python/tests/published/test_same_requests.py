"""Both clients ask the same question in the same bytes of meaning, and refuse the same mistakes."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from wire import Wire

import bilinc_client

bilinc = pytest.importorskip("bilinc", reason="the published client is not installed: ./run-tests installs it")

CALLS = [
    ("commit", ("k", {"a": [1, "ö", None, 1.5]}), {}),
    (
        "commit",
        (" k ", "v"),
        dict(
            memory_type="working",
            importance=0,
            metadata={"a": 1},
            source=" s ",
            session_id="x",
            canonical=True,
            priority=1,
            ttl=5,
            idempotency_key="i",
        ),
    ),
    ("recall", (" q ",), {}),
    ("recall", ("q",), dict(profile="deep", limit=100, memory_types=["semantic"], explain=True, query_timestamp="t")),
    ("revise", ("k", None), {}),
    ("revise", ("k", 1), dict(importance=0.1, strategy="recency", reason=" r ", expected_version="v")),
    ("forget", ("k",), dict(reason="r", expected_version="v")),
    ("confirm", ("k",), dict(expected_version="v", reason="r")),
    ("history", ("k",), dict(limit=100, values="none")),
    ("list_memories", (), {}),
    (
        "list_memories",
        (),
        dict(
            prefix=" p ",
            memory_type="spatial",
            updated_after=datetime(2026, 1, 1),
            updated_before=datetime(2026, 1, 1, tzinfo=timezone.utc),
            cursor="c",
            limit=1,
            values="full",
        ),
    ),
    ("snapshot", (), dict(label="l", metadata={"a": 1})),
    ("snapshot", ("list",), dict(limit=100)),
    ("create_snapshot", (), {}),
    ("list_snapshots", (), {}),
    ("diff", ("s",), dict(to_snapshot_id="t", include_values=True, limit=500)),
    ("rollback_preview", ("s",), dict(reason="r", limit=1)),
    ("rollback", ("s",), dict(confirmation_token=" t ", reason="r")),
    ("status", (), {}),
    ("health", (), {}),
]

MISTAKES = [
    ("commit", ("", 1), {}),
    ("commit", (1, 1), {}),
    ("commit", ("k" * 513, 1), {}),
    ("commit", ("k", 1), dict(memory_type="x")),
    ("commit", ("k", 1), dict(importance=-0.1)),
    ("commit", ("k", 1), dict(importance=True)),
    ("commit", ("k", 1), dict(metadata=[1])),
    ("commit", ("k", 1), dict(source="")),
    ("commit", ("k", 1), dict(session_id=7)),
    ("commit", ("k", 1), dict(canonical="yes")),
    ("commit", ("k", 1), dict(priority=2)),
    ("commit", ("k", 1), dict(ttl=-1)),
    ("recall", (" ",), {}),
    ("recall", ("q" * 4097,), {}),
    ("recall", ("q",), dict(profile="x")),
    ("recall", ("q",), dict(limit=0)),
    ("recall", ("q",), dict(memory_types=["x"])),
    ("recall", ("q",), dict(query_timestamp="")),
    ("revise", ("k", 1), dict(strategy="x")),
    ("forget", ("k",), dict(reason=" ")),
    ("history", ("k",), dict(limit=101)),
    ("history", ("k",), dict(values="x")),
    ("list_memories", (), dict(limit=101)),
    ("list_memories", (), dict(prefix="")),
    ("list_memories", (), dict(order="x")),
    ("list_memories", (), dict(sources=[])),
    ("list_memories", (), dict(sources="x")),
    ("list_memories", (), dict(sources=["\0"])),
    ("list_memories", (), dict(updated_after="")),
    ("snapshot", ("x",), {}),
    ("list_snapshots", (), dict(limit=101)),
    ("diff", ("",), {}),
    ("diff", ("s",), dict(to_snapshot_id="")),
    ("rollback_preview", ("s",), dict(reason="")),
    ("rollback", ("s",), dict(confirmation_token="", reason="r")),
]


def both(wire: Wire):
    for package in (bilinc, bilinc_client):
        yield package, package.CloudClient("bil_live_k", "http://server.test/", transport=wire)


@pytest.mark.parametrize(("name", "args", "options"), CALLS)
def test_a_call_is_the_same_request(name, args, options):
    wire = Wire()
    for _, client in both(wire):
        getattr(client, name)(*args, **options)
    theirs, ours = wire.sent
    for what in ("method", "path", "query", "body", "timeout"):
        assert getattr(ours, what) == getattr(theirs, what), what
    for header in ("Authorization", "Content-Type"):
        assert ours.headers.get(header) == theirs.headers.get(header)
    if "idempotency_key" in options:
        assert ours.key == theirs.key


@pytest.mark.parametrize(("name", "args", "options"), MISTAKES)
def test_a_mistake_is_the_same_refusal(name, args, options):
    wire = Wire()
    refusals = []
    for package, client in both(wire):
        with pytest.raises(package.BilincValidationError) as refused:
            getattr(client, name)(*args, **options)
        refusals.append((refused.value.code, refused.value.status, refused.value.details["field"]))
    assert refusals[0] == refusals[1] and wire.sent == []


def test_a_walk_asks_for_the_same_pages():
    for options in ({}, dict(prefix="p", memory_type="working", page_size=7, values="full", cursor="z")):
        asked = []
        for package in (bilinc, bilinc_client):
            wire = Wire({"entries": [{"key": 1}], "nextCursor": "c"}, {"entries": [{"key": 2}], "nextCursor": None})
            client = package.CloudClient("k", "http://server.test", transport=wire)
            assert [entry["key"] for entry in client.iter_memories(**options)] == [1, 2]
            asked.append([sent.body for sent in wire.sent])
        assert asked[0] == asked[1]
