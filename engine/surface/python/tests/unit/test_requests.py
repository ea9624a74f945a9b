"""Each method sends what the server's route wants."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from wire import Wire

from bilinc_client import BilincError, BilincValidationError, CloudClient

MEMORY = "/api/cloud/memory"
WRITES: list[tuple[str, tuple[Any, ...], dict[str, Any], str, dict[str, Any]]] = [
    (
        "commit",
        ("k", {"a": 1}),
        {},
        "/commit",
        {"key": "k", "value": {"a": 1}, "memoryType": "semantic", "importance": 1.0, "metadata": {}},
    ),
    (
        "commit",
        (" k ", None),
        dict(
            memory_type="episodic",
            importance=0,
            metadata={"m": 1},
            source="me",
            session_id="s",
            canonical=False,
            priority=0.5,
            ttl=60,
            if_absent=True,
            expected_version="v1_0",
        ),
        "/commit",
        {
            "key": "k",
            "value": None,
            "memoryType": "episodic",
            "importance": 0.0,
            "metadata": {"m": 1},
            "source": "me",
            "sessionId": "s",
            "canonical": False,
            "priority": 0.5,
            "ttl": 60.0,
            "ifAbsent": True,
            "expectedVersion": "v1_0",
        },
    ),
    (
        "revise",
        ("k", 2),
        dict(importance=0.5, strategy="recency", reason="r", expected_version="v"),
        "/revise",
        {"key": "k", "value": 2, "importance": 0.5, "strategy": "recency", "reason": "r", "expectedVersion": "v"},
    ),
    ("forget", ("k",), dict(reason=" r "), "/forget", {"key": "k", "reason": "r"}),
    ("confirm", ("k",), dict(expected_version="v"), "/confirm", {"key": "k", "expectedVersion": "v"}),
    (
        "flag",
        ("k",),
        dict(reason="r", evidence_keys=["e"], expected_version="v"),
        "/flag",
        {"key": "k", "reason": "r", "evidenceKeys": ["e"], "expectedVersion": "v"},
    ),
    ("unflag", ("k",), {}, "/unflag", {"key": "k"}),
    ("create_snapshot", (), dict(label="l", metadata={"a": 1}), "/snapshots", {"label": "l", "metadata": {"a": 1}}),
    ("snapshot", (), {}, "/snapshots", {"metadata": {}}),
    (
        "rollback",
        ("s",),
        dict(confirmation_token="t", reason="r"),
        "/rollback",
        {"snapshotId": "s", "reason": "r", "confirmationToken": "t"},
    ),
    ("dream_start", (), {}, "/dreams", {"limit": 200}),
    (
        "dream_start",
        (50, "a. ", "2026-01-01"),
        dict(include_reviewed=True),
        "/dreams",
        {"limit": 50, "prefix": "a. ", "since": "2026-01-01", "includeReviewed": True},
    ),
    ("dream_undo", ("d",), {}, "/dreams/d/undo", {}),
    (
        "dream_undo",
        ("d",),
        dict(dry_run=True, restore_metadata=True),
        "/dreams/d/undo",
        {"dryRun": True, "restoreMetadata": True},
    ),
    ("undo", (), dict(session_id="s", dry_run=True), "/undo", {"sessionId": "s", "dryRun": True}),
    ("undo", (), dict(source=""), "/undo", {"source": ""}),
    ("undo", (), dict(from_seq=1, to_seq=9), "/undo", {"fromSeq": 1, "toSeq": 9}),
    ("undo", (), dict(seqs=[3, 4]), "/undo", {"seqs": [3, 4]}),
    ("undo", (), dict(dream_id="d"), "/undo", {"dreamId": "d"}),
    ("undo", (), dict(import_id="i"), "/undo", {"importId": "i"}),
    ("undo", (), dict(after="2026-01-01"), "/undo", {"after": "2026-01-01"}),
]


@pytest.mark.parametrize(("name", "args", "options", "path", "body"), WRITES)
def test_a_write_sends_its_fields_under_an_idempotency_key(client_of, name, args, options, path, body):
    wire = Wire()
    getattr(client_of(wire), name)(*args, **options)
    sent = wire.last
    assert (sent.method, sent.path, sent.body) == ("POST", MEMORY + path, body)
    assert sent.key and sent.headers["Content-Type"] == "application/json"
    assert sent.headers["Authorization"] == "Bearer bil_live_test"
    getattr(client_of(wire), name)(*args, **options)
    assert wire.last.key != sent.key, "each call has a key of its own"
    getattr(client_of(wire), name)(*args, **options, idempotency_key="mine")
    assert wire.last.key == "mine"


READS = [
    ("recall", ("q",), {}, "/recall", {"query": "q", "profile": "balanced", "limit": 10}),
    (
        "recall",
        ("q",),
        dict(profile="deep", limit=3, memory_types=["working"], explain=True, query_timestamp="2026-01-01"),
        "/recall",
        {
            "query": "q",
            "profile": "deep",
            "limit": 3,
            "memoryTypes": ["working"],
            "explain": True,
            "queryTimestamp": "2026-01-01",
        },
    ),
    ("history", ("k",), dict(limit=5, values="none"), "/history", {"key": "k", "limit": 5, "values": "none"}),
    ("list_memories", (), {}, "/list", {"limit": 50, "values": "preview"}),
    (
        "diff",
        ("a",),
        dict(to_snapshot_id="@9", include_values=True, limit=5),
        "/diff",
        {"fromSnapshotId": "a", "toSnapshotId": "@9", "includeValues": True, "limit": 5},
    ),
    (
        "rollback_preview",
        ("s",),
        dict(reason="r"),
        "/rollback/preview",
        {"snapshotId": "s", "reason": "r", "limit": 100},
    ),
]


@pytest.mark.parametrize(("name", "args", "options", "path", "body"), READS)
def test_a_read_with_a_body_has_no_idempotency_key(client_of, name, args, options, path, body):
    wire = Wire()
    getattr(client_of(wire), name)(*args, **options)
    assert (wire.last.method, wire.last.path, wire.last.body) == ("POST", MEMORY + path, body)
    assert wire.last.key is None


GETS = [
    ("get", ("k&ö",), {}, MEMORY + "/entry", {"key": "k&ö"}),
    ("get", ("k",), dict(as_of=12), MEMORY + "/entry", {"key": "k", "asOf": "12"}),
    (
        "get",
        ("k",),
        dict(as_of="2026-01-01T00:00:00Z"),
        MEMORY + "/entry",
        {"key": "k", "asOf": "2026-01-01T00:00:00Z"},
    ),
    ("list_snapshots", (), dict(limit=3), MEMORY + "/snapshots", {"limit": "3"}),
    ("snapshot", ("list",), {}, MEMORY + "/snapshots", {"limit": "20"}),
    ("dream_show", ("a/b",), {}, MEMORY + "/dreams/a%2Fb", {}),
    ("dream_list", (), dict(limit=7), MEMORY + "/dreams", {"limit": "7"}),
    ("status", (), {}, "/api/cloud/status", {}),
    ("health", (), {}, "/api/cloud/health", {}),
    ("verify", (), dict(since_head="9:ab"), MEMORY + "/verify", {"sinceHead": "9:ab"}),
    ("log", (), {}, MEMORY + "/log", {"limit": "50"}),
    (
        "log",
        (),
        dict(
            key="k",
            source="",
            session_id="s",
            dream_id="d",
            import_id="i",
            operation_id="o",
            from_seq=1,
            to_seq=9,
            after="2026-01-01",
            before="2026-01-02",
            oldest_first=True,
            include_values=True,
            limit=5,
            cursor="c",
        ),
        MEMORY + "/log",
        {
            "key": "k",
            "source": "",
            "sessionId": "s",
            "dreamId": "d",
            "importId": "i",
            "operationId": "o",
            "fromSeq": "1",
            "toSeq": "9",
            "after": "2026-01-01",
            "before": "2026-01-02",
            "order": "oldest",
            "includeValues": "true",
            "limit": "5",
            "cursor": "c",
        },
    ),
]


@pytest.mark.parametrize(("name", "args", "options", "path", "query"), GETS)
def test_a_get_sends_its_fields_in_the_address(client_of, name, args, options, path, query):
    wire = Wire()
    getattr(client_of(wire), name)(*args, **options)
    assert (wire.last.method, wire.last.path, wire.last.query) == ("GET", path, query)
    assert wire.last.raw is None and wire.last.key is None


REFUSED = [
    ("commit", (" ", 1), {}, "key"),
    ("commit", ("k" * 513, 1), {}, "key"),
    ("commit", ("k", 1), dict(memory_type="nope"), "memory_type"),
    ("commit", ("k", 1), dict(importance=1.1), "importance"),
    ("commit", ("k", 1), dict(importance=float("nan")), "importance"),
    ("commit", ("k", 1), dict(importance=True), "importance"),
    ("commit", ("k", 1), dict(metadata=[]), "metadata"),
    ("commit", ("k", 1), dict(source=" "), "source"),
    ("commit", ("k", 1), dict(canonical=1), "canonical"),
    ("commit", ("k", 1), dict(ttl=0), "ttl"),
    ("commit", ("k", 1), dict(idempotency_key="é"), "idempotency_key"),
    ("commit", ("k", 1), dict(idempotency_key="a\nb"), "idempotency_key"),
    ("commit", ("k", 1), dict(idempotency_key="k" * 257), "idempotency_key"),
    ("commit", ("k", float("nan")), {}, "body"),
    ("commit", ("k", "\ud800"), {}, "body"),
    ("commit", ("k", object()), {}, "body"),
    ("commit", ("k", Decimal("NaN")), {}, "body"),
    ("recall", ("",), {}, "query"),
    ("recall", ("q",), dict(profile="x"), "profile"),
    ("recall", ("q",), dict(limit=101), "limit"),
    ("recall", ("q",), dict(query_timestamp="x" * 65), "query_timestamp"),
    ("revise", ("k", 1), dict(strategy="x"), "strategy"),
    ("forget", ("k",), dict(reason=""), "reason"),
    ("forget", ("k",), dict(reason="r" * 513), "reason"),
    ("history", ("k",), dict(values="x"), "values"),
    ("list_memories", (), dict(limit=0), "limit"),
    ("list_memories", (), dict(limit=True), "limit"),
    ("list_memories", (), dict(prefix=""), "prefix"),
    ("list_memories", (), dict(sources=[]), "sources"),
    ("list_memories", (), dict(sources="a"), "sources"),
    ("list_memories", (), dict(sources=["x" * 257]), "sources"),
    ("list_memories", (), dict(order="x"), "order"),
    ("snapshot", ("x",), {}, "action"),
    ("diff", ("",), {}, "from_snapshot_id"),
    ("diff", ("a",), dict(limit=501), "limit"),
    ("rollback", ("s",), dict(confirmation_token="", reason="r"), "confirmation_token"),
    ("undo", (), {}, "selection"),
    ("undo", (), dict(from_seq=0), "from_seq"),
    ("log", (), dict(limit=1001), "limit"),
    ("get", ("k",), dict(as_of=0), "as_of"),
    ("get", ("k",), dict(as_of=True), "as_of"),
    ("dream_start", (201,), {}, "limit"),
    ("dream_show", ("",), {}, "dream_id"),
]


@pytest.mark.parametrize(("name", "args", "options", "field"), REFUSED)
def test_a_mistake_is_refused_by_name_and_not_sent(client_of, name, args, options, field):
    wire = Wire()
    with pytest.raises(BilincValidationError) as refused:
        getattr(client_of(wire), name)(*args, **options)
    assert (refused.value.code, refused.value.status) == ("invalid_request", 400)
    assert refused.value.details["field"] == field
    assert wire.sent == []


def test_times_mean_the_same_on_every_machine(client_of):
    wire = Wire()
    east = timezone(timedelta(hours=3))
    client = client_of(wire)
    client.list_memories(updated_after=datetime(2026, 1, 2, 3), updated_before=datetime(2026, 1, 2, 3, tzinfo=east))
    assert wire.last.body["updatedAfter"] == "2026-01-02T03:00:00Z"
    assert wire.last.body["updatedBefore"] == "2026-01-02T00:00:00Z"


def test_an_unapplied_order_or_source_is_not_passed_off_as_the_asked_for_page(client_of):
    page = {"entries": [], "nextCursor": None, "order": "key", "sources": []}
    for options in (dict(order="newest"), dict(sources=["a"])):
        with pytest.raises(BilincError) as failed:
            client_of(Wire(page)).list_memories(**options)
        assert failed.value.code == "capability_unavailable"
    assert client_of(Wire(page)).list_memories(order="key") == page


def test_a_purge_that_is_not_confirmed_is_not_passed_off_as_one(client_of):
    wire = Wire({"removed": True})
    with pytest.raises(BilincError) as failed:
        client_of(wire).forget("k", reason="r", purge=True)
    assert failed.value.code == "purge_not_supported"
    assert wire.last.body == {"key": "k", "reason": "r", "purge": True}


def test_a_client_says_who_writes_wherever_that_can_be_said(client_of):
    wire = Wire(*[{"results": [], "purged": {}}] * 20)
    client = client_of(wire, source="planner", session_id="run-1")
    client.commit("k", 1), client.revise("k", 1), client.forget("k", reason="r", purge=True), client.confirm("k")
    client.flag("k", reason="r"), client.unflag("k"), client.create_snapshot(), client.dream_start()
    client.rollback("s", confirmation_token="t", reason="r"), client.dream_apply("d", []), client.dream_undo("d")
    assert {(sent.body["source"], sent.body["sessionId"]) for sent in wire.sent} == {("planner", "run-1")}
    client.import_([])
    assert wire.last.query == {"source": "planner", "sessionId": "run-1"}
    client.commit("k", 1, source="editor")
    assert (wire.last.body["source"], wire.last.body["sessionId"]) == ("editor", "run-1")
    client.undo(seqs=[1])
    assert wire.last.body == {"seqs": [1]}, "there, a source says what to take back"
    client.recall("q")
    assert "source" not in wire.last.body


def test_a_closed_client_sends_nothing(client_of):
    wire = Wire()
    with client_of(wire) as client:
        client.status()
    with pytest.raises(BilincError, match="closed"):
        client.status()
    assert len(wire.sent) == 1


def test_a_key_is_never_printed():
    client = CloudClient("bil_live_secret", "http://server.test")
    assert "secret" not in repr(client) and "secret" not in str(client)
