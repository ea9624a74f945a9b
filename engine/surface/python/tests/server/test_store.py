"""The store as a whole through our client on a real server."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from bilinc_client import (
    BilincAuthError,
    BilincConflictError,
    BilincEntitlementError,
    BilincNotFoundError,
    BilincValidationError,
    CloudClient,
)


def test_status_and_health(client):
    status = client.status()
    assert status["plan"] == "self-hosted" and status["workspace"]
    for name in ("capabilities", "limits", "usage", "store"):
        assert isinstance(status[name], dict)
    assert client.health()["status"] == "ok"


def test_the_log_is_filtered_and_paged_both_ways(client):
    for at in range(7):
        client.commit(f"k{at % 2}", at, source="a" if at % 3 else "b", session_id="s")
    everything = list(client.iter_log(page_size=2))
    seqs = [event["seq"] for event in everything]
    assert seqs == sorted(seqs, reverse=True) and len(set(seqs)) == len(seqs) >= 7
    assert [event["seq"] for event in client.iter_log(page_size=3, oldest_first=True)] == seqs[::-1]
    event = client.log(key="k1", limit=1)["events"][0]
    assert {"seq", "at", "op", "key", "source", "sessionId", "operationId", "entryVersion"} <= set(event)
    assert "value" not in event
    assert client.log(key="k1", limit=1, include_values=True)["events"][0]["value"] == 5
    assert {one["source"] for one in client.iter_log(source="b")} == {"b"}
    assert [one["seq"] for one in client.iter_log(from_seq=seqs[3], to_seq=seqs[2])] == seqs[2:4]
    assert client.log(session_id="none")["events"] == []
    assert client.log(after=event["at"], before=event["at"])["events"] == []
    operation = client.log(operation_id=event["operationId"])["events"]
    assert [one["seq"] for one in operation] == [event["seq"]]


def test_a_follower_sees_what_comes(client):
    client.commit("k", 0)
    first = client.log(limit=1)["events"][0]["seq"]
    seen: list[Any] = []
    begun = threading.Event()

    def follow() -> None:
        for event in islice(client.follow_log(from_seq=first, key="k"), 4):
            seen.append((event["seq"], event["key"]))
            begun.set()

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(follow)
        assert begun.wait(30)
        for at in range(1, 4):
            client.commit("other", at)
            client.commit("k", at)
        done.result(timeout=30)
    assert [key for _, key in seen] == ["k"] * 4
    assert [seq for seq, _ in seen] == sorted({seq for seq, _ in seen})


def test_the_proof_is_given(client):
    client.commit("k", 1)
    proof = client.verify()
    assert proof["stateEqual"] is True and proof["rootHash"]
    client.commit("k", 2)
    assert client.verify(since_head=proof["head"])["since"]["eventsSince"] >= 1


def test_an_export_can_be_imported_with_every_digit(fresh, tmp_path):
    one, other = fresh(), fresh()
    path = tmp_path / "memories.jsonl"
    lines = (
        '{"key":"a.1","value":1.10,"memoryType":"working","importance":0.5,"metadata":{"m":12345678901234567890}}\n'
        '{"key":"b","value":{"n":1e400,"z":[0.1234567890123456789]},"source":"me","ttl":99999999}\n'
    )
    path.write_text(lines)
    imported = one.import_(path)
    assert (imported["lines"], imported["created"], imported["replaced"]) == (2, 2, 0)
    assert one.export(to=path)["count"] == 2
    text = path.read_text()
    for number in ("1.10", "12345678901234567890", "1e400", "0.1234567890123456789"):
        assert number in text
    assert other.import_(path)["created"] == 2
    second = tmp_path / "second.jsonl"
    other.export(to=second)
    assert sorted(second.read_text().splitlines()) == sorted(text.splitlines())
    assert one.export(to=path, prefix="a.", memory_type="working")["count"] == 1
    again = other.import_(second, if_absent=True)
    assert (again["created"], again["skippedExisting"], again["importId"]) == (0, 2, None)


def test_an_import_is_undone_as_one(fresh):
    one, other = fresh(), fresh()
    for at in range(5):
        one.commit(f"k{at}", at)
    imported = other.import_(one.export()["entries"])
    assert imported["created"] == 5
    undone = other.undo(import_id=imported["importId"])
    assert len(undone["restored"]) == 5 and other.export()["count"] == 0


def test_a_bad_line_refuses_the_whole_import(client):
    with pytest.raises(BilincValidationError) as refused:
        client.import_([{"key": "a", "value": 1}, {"key": "b", "value": 1, "nope": 2}])
    assert refused.value.details["line"] == 2
    assert client.export()["count"] == 0


def test_a_walk_while_others_write_skips_and_repeats_nothing(client):
    keys = {f"k{at:02}" for at in range(40)}
    for key in sorted(keys):
        client.commit(key, 1)
    seen = []
    for number, entry in enumerate(client.iter_memories(page_size=7, values="none")):
        seen.append(entry["key"])
        client.commit(f"a{number:02}", 1)
        client.commit(f"z{number:02}", 1)
        if number > 60:
            break
    assert len(seen) == len(set(seen)) and keys <= set(seen)


def test_writers_at_once_lose_nothing(client):
    with ThreadPoolExecutor(8) as pool:
        versions = list(pool.map(lambda at: client.commit(f"k{at % 5}", at)["entryVersion"], range(40)))
    assert len(set(versions)) == 40
    assert sum(len(client.history(f"k{at}", limit=100)["entries"]) for at in range(5)) == 40


def test_a_key_reaches_its_own_project_and_no_other(server):
    one, other = server.client(), server.client()
    for at in range(3):
        one.commit(f"k{at}", "private")
    dream = one.dream_start()
    snapshot = one.create_snapshot()["snapshot"]["id"]
    token = one.rollback_preview(snapshot, reason="r")["confirmationToken"]
    cursor = one.list_memories(limit=1)["nextCursor"]
    other.commit("mine", 1)
    for ask in (
        lambda: other.get("k0"),
        lambda: other.dream_show(dream["dreamId"]),
        lambda: other.dream_undo(dream["dreamId"]),
        lambda: other.diff(snapshot),
        lambda: other.rollback_preview(snapshot, reason="r"),
        lambda: other.rollback(snapshot, confirmation_token=token, reason="r"),
        lambda: other.list_memories(cursor=cursor),
    ):
        with pytest.raises((BilincNotFoundError, BilincValidationError, BilincConflictError)) as refused:
            ask()
        assert "private" not in str(vars(refused.value))
    assert [entry["key"] for entry in other.iter_memories()] == ["mine"]
    assert other.recall("private")["results"] == [] and other.dream_list()["dreams"] == []


def test_a_read_only_or_wrong_key_is_told_apart(server):
    reader = server.client(server.key("read-only-python", "--read-only"))
    for write in (lambda: reader.commit("k", 1), reader.dream_start, lambda: reader.import_([])):
        with pytest.raises(BilincEntitlementError) as refused:
            write()
        assert refused.value.code == "read_only"
    assert reader.export()["count"] == 0
    with pytest.raises(BilincAuthError) as wrong:
        CloudClient("bil_live_wrong", server.url).status()
    assert wrong.value.code == "invalid_api_key"
    assert CloudClient("bil_live_wrong", server.url).health()["status"] == "ok"


def test_every_route_of_the_server_has_a_method():
    """Whoever adds a route adds its method: the catalogue of operations is the list of both."""
    folder = Path(__file__).resolve().parents[3]
    catalogue = (folder / "src" / "catalogue.rs").read_text()
    routes = set(re.findall(r'"(GET|POST)", "(/api/cloud/[^"]+)"', catalogue))
    assert len(routes) >= 20
    reached: set[tuple[str, str]] = set()

    def transport(method: str, url: str, **_rest: Any) -> dict[str, Any]:
        reached.add((method, re.sub("/the-id", "/{id}", urlsplit(url).path)))
        return {"purged": {}}

    client = CloudClient("bil_live_k", "http://server.test", transport=transport)
    client.commit("k", 1), client.revise("k", 1), client.confirm("k"), client.forget("k", reason="r")
    client.flag("k", reason="r"), client.unflag("k"), client.recall("q"), client.get("k"), client.history("k")
    client.list_memories(), client.create_snapshot(), client.list_snapshots(), client.diff("s")
    client.rollback_preview("s", reason="r"), client.rollback("s", confirmation_token="t", reason="r")
    client.dream_start(), client.dream_apply("the-id", []), client.dream_undo("the-id"), client.dream_show("the-id")
    client.dream_list(), client.undo(seqs=[1]), client.log(), client.status(), client.verify()
    streamed = {("GET", "/api/cloud/memory/export"), ("POST", "/api/cloud/memory/import")}
    assert routes - reached - streamed == set()


def test_the_description_of_the_server_names_no_route_without_a_method(server, client):
    """The same of what the running server says about itself, but for MCP and its own description."""
    answer = client.transport(
        "GET",
        f"{server.url}/api/openapi.json",
        headers={"Authorization": f"Bearer {client.api_key}"},
        body=None,
        timeout=30,
    )
    folder = Path(__file__).resolve().parents[3]
    catalogue = (folder / "src" / "catalogue.rs").read_text()
    known = {path for _, path in re.findall(r'"(GET|POST)", "(/api/cloud/[^"]+)"', catalogue)}
    described = {path for path in answer["paths"] if path.startswith("/api/cloud/")}
    assert described - known <= {"/api/cloud/health"} and known <= described
