"""Single memories through our client on a real server."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bilinc_client import BilincConflictError, BilincNotFoundError, BilincValidationError

ENTRY = {
    "key",
    "value",
    "memoryType",
    "importance",
    "metadata",
    "source",
    "sessionId",
    "canonical",
    "priority",
    "ttl",
    "expiresAt",
    "createdAt",
    "updatedAt",
    "confirmedAt",
    "entryVersion",
    "flags",
}


def test_a_memory_comes_back_with_every_field(client):
    made = client.commit(
        "k",
        {"a": [1, "ö"]},
        memory_type="episodic",
        importance=0.5,
        metadata={"m": 1},
        source="me",
        session_id="s",
        canonical=True,
        priority=0.25,
        ttl=3600,
    )
    entry = client.get("k")
    assert set(entry) >= ENTRY
    assert entry["value"] == {"a": [1, "ö"]} and entry["metadata"] == {"m": 1} and entry["ttl"] == 3600
    assert (entry["memoryType"], entry["importance"], entry["source"]) == ("episodic", 0.5, "me")
    assert (entry["sessionId"], entry["canonical"], entry["priority"]) == ("s", True, 0.25)
    assert entry["entryVersion"] == made["entryVersion"] and entry["flags"] == []
    assert client.commit("l", 1)["operation"] == "create"
    assert client.get("l")["source"] == "bilinc_cloud"


def test_a_memory_is_read_as_it_was(client):
    client.commit("k", 1)
    seq = client.log(key="k")["events"][0]["seq"]
    client.revise("k", 2)
    assert client.get("k")["value"] == 2 and client.get("k", as_of=seq)["value"] == 1
    client.forget("k", reason="old")
    with pytest.raises(BilincNotFoundError):
        client.get("k")


def test_only_one_of_two_creates(client):
    client.commit("k", 1, if_absent=True)
    with pytest.raises(BilincConflictError) as refused:
        client.commit("k", 2, if_absent=True)
    assert refused.value.code == "memory_exists"
    with pytest.raises(BilincConflictError) as refused:
        client.commit("k", 2, expected_version="v1_" + "0" * 32)
    assert refused.value.code == "version_conflict" and refused.value.details["change"]["op"] == "create"


def test_flags_are_set_listed_and_cleared(client):
    made = client.commit("k", 1)
    client.commit("l", 1)
    flagged = client.flag("k", reason="contradicts l", evidence_keys=["l"])
    assert flagged["key"] == "k" and flagged["flags"][0]["reason"] == "contradicts l"
    assert flagged["flags"][0]["evidenceKeys"] == ["l"]
    assert [entry["key"] for entry in client.iter_memories(flagged=True)] == ["k"]
    assert client.get("k")["entryVersion"] == made["entryVersion"]
    assert client.unflag("k")["flags"] == [] and list(client.iter_memories(flagged=True)) == []


def test_every_digit_of_a_number_comes_back(fresh):
    client = fresh(parse_float=Decimal)
    numbers = [Decimal("1.10"), 12345678901234567890, Decimal("0.1234567890123456789"), Decimal("1E+400")]
    client.commit("k", numbers)
    back = client.get("k")["value"]
    assert [str(number) for number in back] == [str(number) for number in numbers]


def test_keys_of_any_script_travel_whole(client):
    for key in ("Girişimci/ılık", "漢 字", "a&b=c?d#e%20+", "🦀"):
        client.commit(key, key)
        assert client.get(key)["value"] == key
        assert client.history(key)["exists"] is True


def test_a_repeated_write_answers_as_the_first(client):
    first = client.commit("k", 1, idempotency_key="once")
    again = client.commit("k", 1, idempotency_key="once")
    assert again["entryVersion"] == first["entryVersion"] and again.get("replayed") is True
    assert len(client.history("k")["entries"]) == 1


def test_what_the_server_refuses_has_its_field_and_rule(client):
    with pytest.raises(BilincValidationError) as refused:
        client.commit("bilinc:dream:x", 1)
    assert refused.value.details["reason"] == "reserved_key"
    assert refused.value.request_id and refused.value.status == 400
