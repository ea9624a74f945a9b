"""Every method of the published client, against our server: each answer has the fields it reads."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
VERSION = re.compile(r"v1_[0-9a-f]{32}")

Check = Callable[[Any, Any], None]
METHODS: dict[str, Check] = {}


def method(check: Check) -> Check:
    METHODS[check.__name__.removesuffix("_")] = check
    return check


def has(answer: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Each field is there with this value, of this type, or as this pattern says."""
    for name, wanted in fields.items():
        assert name in answer, f"{name} is missing in {answer}"
        value = answer[name]
        if isinstance(wanted, re.Pattern):
            assert isinstance(value, str) and wanted.fullmatch(value), (name, value)
        elif isinstance(wanted, type):
            assert isinstance(value, wanted) and not (wanted is int and isinstance(value, bool)), (name, value)
        else:
            assert value == wanted, (name, value)
    return answer


def done(answer: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return has(answer, success=True, stateVersion=str, **fields)


@method
def commit(client: Any, bilinc: Any) -> None:
    options = dict(
        memory_type="episodic",
        importance=0.5,
        metadata={"m": [1]},
        source="me",
        session_id="s",
        canonical=True,
        priority=0.25,
        ttl=3600,
    )
    made = done(
        client.commit("k", {"a": [1, "ö", None]}, **options),
        operation="create",
        affectedKeys=["k"],
        removedKeys=[],
        entryVersion=VERSION,
    )
    again = done(client.commit("k", "plain"), operation="update", entryVersion=VERSION)
    assert again["entryVersion"] != made["entryVersion"]


@method
def recall(client: Any, bilinc: Any) -> None:
    client.commit("girişimci", "Girişimci ekosistemi", importance=0.5, source="me")
    client.commit("other", {"text": "something else"})
    client.confirm("girişimci")
    answer = done(client.recall("girisimci", limit=3), results=list)
    has(
        answer["results"][0],
        key="girişimci",
        value="Girişimci ekosistemi",
        memoryType="semantic",
        importance=0.5,
        source="me",
        createdAt=TIME,
        updatedAt=TIME,
        confirmedAt=TIME,
        entryVersion=VERSION,
        score=float,
    )
    assert done(client.recall("girisimci", memory_types=["working"]))["results"] == []
    assert done(client.recall("girisimci", explain=True))["results"][0]["key"] == "girişimci"
    assert done(client.recall("girisimci", query_timestamp="2020-01-01T00:00:00Z"))["results"] == []


@method
def revise(client: Any, bilinc: Any) -> None:
    made = client.commit("k", 1)
    answer = done(
        client.revise(
            "k", 2, importance=1.0, strategy="recency", reason="better", expected_version=made["entryVersion"]
        ),
        key="k",
        strategy="recency",
        affectedKeys=["k"],
        entryVersion=VERSION,
    )
    with pytest.raises(bilinc.BilincConflictError) as refused:
        client.revise("k", 3, expected_version=made["entryVersion"])
    assert refused.value.code == "version_conflict"
    assert refused.value.details["currentVersion"] == answer["entryVersion"]
    with pytest.raises(bilinc.BilincNotFoundError) as refused:
        client.revise("none", 1)
    assert refused.value.code == "memory_not_found"
    client.commit("truth", 1, canonical=True)
    with pytest.raises(bilinc.BilincConflictError) as refused:
        client.revise("truth", 2, importance=0.1)
    assert refused.value.code == "revision_rejected"


@method
def forget(client: Any, bilinc: Any) -> None:
    client.commit("k", "secret of the house")
    done(client.forget("k", reason="old"), key="k", removed=True, reasonRecorded=True)
    assert "house" not in str(client.history("k"))
    purged = done(client.forget("k", reason="gone", purge=True), key="k", removed=True, purged=dict)["purged"]
    assert all(isinstance(purged[name], int) for name in ("bodies", "bytes", "events"))
    client.commit("l", 1)
    done(client.forget("l", reason="gone", purge=True), purged=dict)
    with pytest.raises(bilinc.BilincNotFoundError):
        client.forget("never", reason="old")


@method
def confirm(client: Any, bilinc: Any) -> None:
    made = client.commit("k", 1)
    answer = done(
        client.confirm("k", expected_version=made["entryVersion"], reason="checked"),
        key="k",
        confirmed=True,
        updatedAt=TIME,
        entryVersion=VERSION,
    )
    assert answer["entryVersion"] != made["entryVersion"]


@method
def history(client: Any, bilinc: Any) -> None:
    client.commit("k", {"n": 1}, source="me")
    client.revise("k", {"n": 2}, reason="better")
    client.confirm("k")
    answer = done(client.history("k", limit=2), key="k", exists=True, entries=list, truncated=True, values="full")
    assert [entry["op"] for entry in answer["entries"]] == ["confirm", "update"]
    has(answer["entries"][1], at=TIME, reason="better", before={"n": 1}, after={"n": 2})
    assert client.history("k", values="none")["entries"][0].keys().isdisjoint({"before", "after"})
    assert isinstance(client.history("k", values="preview")["entries"][1]["after"], str)
    client.forget("k", reason="old")
    gone = client.history("k")
    assert gone["exists"] is False and gone["entries"][0]["op"] == "forget"
    assert gone["entries"][1]["valuesRedacted"] is True
    done(client.history("never"), exists=False, entries=[], truncated=False)


@method
def list_memories(client: Any, bilinc: Any) -> None:
    client.commit("k", {"a": "x" * 300}, source="me")
    page = done(client.list_memories(), entries=list, nextCursor=None, total=1, values="preview", order="key")
    entry = has(
        page["entries"][0],
        key="k",
        memoryType="semantic",
        importance=1.0,
        source="me",
        createdAt=TIME,
        updatedAt=TIME,
        entryVersion=VERSION,
        value=str,
    )
    assert len(entry["value"]) == 201 and entry["value"].endswith("…")
    assert client.list_memories(values="full")["entries"][0]["value"] == {"a": "x" * 300}
    assert "value" not in client.list_memories(values="none")["entries"][0]
    assert client.list_memories(sources=["me", ""])["sources"] == ["me", ""]


@method
def iter_memories(client: Any, bilinc: Any) -> None:
    keys = [f"k{at:02}" for at in range(12)]
    for key in keys:
        client.commit(key, "x" * 400_000)
    assert [entry["key"] for entry in client.iter_memories(page_size=5)] == keys
    # Three of these values are more than an answer may hold.
    whole = list(client.iter_memories(values="full"))
    assert [entry["key"] for entry in whole] == keys
    assert all(entry["value"] == "x" * 400_000 for entry in whole)
    first = client.list_memories(limit=7)
    assert [entry["key"] for entry in client.iter_memories(cursor=first["nextCursor"])] == keys[7:]


@method
def export(client: Any, bilinc: Any) -> None:
    for key in ("a.1", "a.2", "b"):
        client.commit(key, {"key": key}, memory_type="working" if key == "a.2" else "semantic")
    answer = has(client.export(), exported_at=str, count=3, entries=list)
    assert [entry["value"] for entry in answer["entries"]] == [{"key": "a.1"}, {"key": "a.2"}, {"key": "b"}]
    assert [entry["key"] for entry in client.export(prefix="a.", memory_type="working")["entries"]] == ["a.2"]


@method
def snapshot(client: Any, bilinc: Any) -> None:
    made = done(client.snapshot("create", label="l", metadata={"m": 1}))["snapshot"]
    assert made["id"] in [one["id"] for one in done(client.snapshot("list", limit=5))["snapshots"]]


@method
def create_snapshot(client: Any, bilinc: Any) -> None:
    client.commit("k", 1)
    client.commit("w", 1, memory_type="working")
    made = done(client.create_snapshot(label="before", metadata={"m": 1}))["snapshot"]
    has(made, id=str, createdAt=TIME, totalEntries=2, byType=dict, rootHash=str, label="before", metadata={"m": 1})
    assert made["byType"]["semantic"] == made["byType"]["working"] == 1
    has(done(client.create_snapshot())["snapshot"], label=None, metadata={})


@method
def list_snapshots(client: Any, bilinc: Any) -> None:
    ids = [client.create_snapshot(label=str(at))["snapshot"]["id"] for at in range(3)]
    listed = done(client.list_snapshots(limit=2))["snapshots"]
    assert [one["id"] for one in listed] == [ids[2], ids[1]]
    has(listed[0], createdAt=TIME, totalEntries=0, rootHash=str, label="2")


@method
def diff(client: Any, bilinc: Any) -> None:
    client.commit("changed", 1)
    client.commit("removed", 1)
    start = client.create_snapshot()["snapshot"]["id"]
    client.commit("changed", 2)
    client.forget("removed", reason="old")
    client.commit("added", 3)
    counts = {"added": 1, "modified": 1, "removed": 1}
    answer = done(client.diff(start), target=str, counts=counts, valuesIncluded=False, truncated=False)
    assert [len(answer[name]) for name in counts] == [1, 1, 1]
    assert client.diff(start, include_values=True)["valuesIncluded"] is True
    end = client.create_snapshot()["snapshot"]["id"]
    done(client.diff(start, to_snapshot_id=end), counts=counts)
    done(client.diff(start, limit=1), counts=counts)
    with pytest.raises(bilinc.BilincNotFoundError) as refused:
        client.diff("0" * len(start) if start.isalnum() else re.sub("[0-9a-f]", "0", start))
    assert refused.value.code == "snapshot_not_found"


@method
def rollback_preview(client: Any, bilinc: Any) -> None:
    client.commit("changed", 1)
    client.commit("removed", 1)
    start = client.create_snapshot()["snapshot"]["id"]
    client.commit("changed", 2)
    client.forget("removed", reason="old")
    client.commit("added", 3)
    done(
        client.rollback_preview(start, reason="bad run"),
        counts={"create": 1, "update": 1, "remove": 1},
        createKeys=["removed"],
        updateKeys=["changed"],
        removeKeys=["added"],
        truncated=False,
        destructive=True,
        confirmationToken=str,
        expiresAt=TIME,
    )


@method
def rollback(client: Any, bilinc: Any) -> None:
    client.commit("k", {"n": 1})
    start = client.create_snapshot()["snapshot"]["id"]
    client.commit("k", {"n": 2})
    client.commit("l", 1)
    token = client.rollback_preview(start, reason="bad run")["confirmationToken"]
    with pytest.raises(bilinc.BilincCloudError):
        client.rollback(start, confirmation_token=token, reason="another reason")
    client.commit("m", 1)
    with pytest.raises(bilinc.BilincConflictError) as refused:
        client.rollback(start, confirmation_token=token, reason="bad run")
    assert refused.value.code == "state_changed_since_preview"
    token = client.rollback_preview(start, reason="bad run")["confirmationToken"]
    answer = done(
        client.rollback(start, confirmation_token=token, reason="bad run", idempotency_key="once"),
        counts={"created": 0, "updated": 1, "deleted": 2},
        skippedKeys=[],
    )
    again = client.rollback(start, confirmation_token=token, reason="bad run", idempotency_key="once")
    assert again["counts"] == answer["counts"]
    assert client.history("k")["entries"][0]["rollbackSnapshotId"] == start
    assert client.export()["entries"][0]["value"] == {"n": 1}


@method
def status(client: Any, bilinc: Any) -> None:
    done(client.status(), workspace=dict, plan="self-hosted", capabilities=dict, limits=dict, usage=dict)


@method
def health(client: Any, bilinc: Any) -> None:
    assert client.health()["status"] == "ok"


@pytest.mark.parametrize("name", list(METHODS))
def test_method(name: str, theirs: Any, bilinc: Any) -> None:
    METHODS[name](theirs, bilinc)


@pytest.mark.parametrize("profile", ["fast", "balanced", "verified", "deep"])
def test_recall_takes_every_profile(profile: str, theirs: Any) -> None:
    theirs.commit("deploy.target", "production")
    found = theirs.recall("production", profile=profile, explain=True)["results"]
    assert [one["key"] for one in found] == ["deploy.target"]


def test_no_method_is_left_out(bilinc: Any) -> None:
    public = [name for name, _ in inspect.getmembers(bilinc.CloudClient, inspect.isfunction) if name[0] != "_"]
    assert sorted(METHODS) == sorted(public)
