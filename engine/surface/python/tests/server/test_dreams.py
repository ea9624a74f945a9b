"""Dreams through our client on a real server."""

from __future__ import annotations

from typing import Any

import pytest

from bilinc_client import BilincConflictError, BilincDreamApplyError, BilincNotFoundError, CloudClient


def stock(client: CloudClient, number: int) -> dict[str, Any]:
    for at in range(number):
        client.commit(f"k{at:03}", {"at": at}, source="editor")
    return client.dream_start()


def confirms(dream: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"op": "confirm", "key": one["key"], "expected_version": one["entryVersion"], "reason": "still right"}
        for one in dream["candidates"]
    ]


def test_a_dream_from_start_to_undo(client):
    dream = stock(client, 10)
    assert dream["forgetCap"] == 3 and dream["undoWindowDays"] == 7 and dream["moreCandidates"] == 0
    first, second, third = dream["candidates"][:3]
    actions = [
        {
            "op": "revise",
            "key": first["key"],
            "expected_version": first["entryVersion"],
            "new_value": "new",
            "merged_from": [second["key"]],
            "reason": "one thing",
        },
        {"op": "forget", "key": second["key"], "expectedVersion": second["entryVersion"], "reason": "folded in"},
        {"op": "flag", "key": third["key"], "reason": "look", "evidence_keys": [first["key"]]},
        {"op": "confirm", "key": third["key"], "expected_version": "v1_" + "0" * 32, "reason": "stale"},
        {"op": "confirm", "key": "no candidate", "expected_version": "v1_" + "0" * 32, "reason": "unknown"},
    ]
    tried = client.dream_apply(dream["dreamId"], actions, dry_run=True)
    assert tried["dryRun"] is True and client.get(first["key"])["value"] == first["value"]
    applied = client.dream_apply(dream["dreamId"], actions, {"said": "merged one pair"})
    assert [one["status"] for one in applied["results"]] == ["applied", "applied", "applied", "conflict", "error"]
    assert [one["index"] for one in applied["results"]] == [0, 1, 2, 3, 4]
    assert applied["results"][3]["current"]["entryVersion"] == third["entryVersion"]
    assert applied["state"] == "finished" and applied["forgetsReserved"] == 1 and applied["undoUntil"]

    shown = client.dream_show(dream["dreamId"])
    assert shown["state"] == "finished" and len(shown["candidates"]) == 10 and len(shown["actions"]) == 5
    assert shown["report"] == {"said": "merged one pair"} and "new" not in str(shown["actions"])
    assert client.dream_list()["dreams"][0]["dreamId"] == dream["dreamId"]

    client.revise(first["key"], "by another", importance=1.0)
    trial = client.dream_undo(dream["dreamId"], dry_run=True)
    undone = client.dream_undo(dream["dreamId"])
    for answer in (trial, undone):
        back = {one["key"]: one["op"] for one in answer["restored"]}
        assert back == {second["key"]: "forget", third["key"]: "flag"}
        assert answer["conflicts"][0]["key"] == first["key"] and answer["conflicts"][0]["reason"] == "changed"
    assert undone["state"] == "partly_undone" and undone["metadataRestored"] is False
    assert client.get(first["key"])["value"] == "by another" and client.get(second["key"])["value"] == second["value"]
    assert client.get(third["key"])["flags"] == []
    again = client.dream_undo(dream["dreamId"])
    assert again["alreadyUndone"] is True and again["restored"] == undone["restored"]


def test_many_actions_go_in_pages_and_finish_once(client):
    dream = stock(client, 60)
    applied = client.dream_apply(dream["dreamId"], confirms(dream), "all right")
    assert applied["pages"] == 3 and applied["state"] == "finished"
    assert [one["index"] for one in applied["results"]] == list(range(60))
    assert all(one["status"] == "applied" for one in applied["results"])
    assert len(client.dream_show(dream["dreamId"])["actions"]) == 60
    assert client.dream_start()["dreamId"] is None, "nothing has changed since but by the dream"


def test_a_page_over_the_cap_leaves_the_pages_before_it(client):
    dream = stock(client, 60)
    actions = confirms(dream)
    for action in actions[25:55]:
        action["op"] = "forget"
    with pytest.raises(BilincDreamApplyError) as failed:
        client.dream_apply(dream["dreamId"], actions, "too eager")
    error = failed.value
    assert (error.code, error.status, error.page, error.pages) == ("forget_cap_exceeded", 422, 2, 3)
    assert len(error.results) == 25 and all(one["status"] == "applied" for one in error.results)
    assert error.not_tried == actions[25:] and not error.outcome_unknown
    assert error.details["cap"] == 18
    shown = client.dream_show(dream["dreamId"])
    assert shown["state"] == "open" and len(shown["actions"]) == 25
    applied = client.dream_apply(dream["dreamId"], error.not_tried[-5:], "less eager")
    assert applied["state"] == "finished"


def test_a_repeated_call_with_its_key_acts_once(client):
    dream = stock(client, 30)
    first = client.dream_apply(dream["dreamId"], confirms(dream), "r", idempotency_key="dream-1")
    head = client.status()["store"]["seq"]
    again = client.dream_apply(dream["dreamId"], confirms(dream), "r", idempotency_key="dream-1")
    assert again["results"] == first["results"] and client.status()["store"]["seq"] == head


def test_a_report_alone_finishes(client):
    dream = stock(client, 1)
    applied = client.dream_apply(dream["dreamId"], [], "nothing to do")
    assert applied["state"] == "finished" and applied["results"] == []


def test_starts_take_their_options(client):
    stock(client, 3)
    client.commit("other", 1)
    assert [one["key"] for one in client.dream_start(prefix="oth")["candidates"]] == ["other"]
    limited = client.dream_start(limit=2)
    assert len(limited["candidates"]) == 2 and limited["moreCandidates"] == 2
    assert client.dream_start(since="2999-01-01T00:00:00Z")["dreamId"] is None
    assert len(client.dream_start(since="2020-01-01T00:00:00Z", include_reviewed=True)["candidates"]) == 4


def test_what_is_closed_or_unknown_says_so(client):
    dream = stock(client, 1)
    client.dream_undo(dream["dreamId"])
    with pytest.raises(BilincDreamApplyError) as failed:
        client.dream_apply(dream["dreamId"], confirms(dream))
    assert failed.value.code == "dream_closed" and isinstance(failed.value.__cause__, BilincConflictError)
    unknown = dream["dreamId"][:-4] + ("0000" if dream["dreamId"][-4:] != "0000" else "1111")
    with pytest.raises(BilincNotFoundError) as missing:
        client.dream_show(unknown)
    assert missing.value.code == "dream_not_found"


def test_anything_can_be_undone_and_redone(client):
    client.commit("k", 1, session_id="run-1", source="planner")
    client.commit("l", 1, source="planner")
    trial = client.undo(session_id="run-1", dry_run=True)
    assert [one["key"] for one in trial["restored"]] == ["k"] and client.get("k")["value"] == 1
    undone = client.undo(session_id="run-1")
    with pytest.raises(BilincNotFoundError):
        client.get("k")
    client.undo(seqs=[undone["seq"]])
    assert client.get("k")["value"] == 1
    seq = client.log(key="l")["events"][0]["seq"]
    assert [one["key"] for one in client.undo(from_seq=seq, to_seq=seq)["restored"]] == ["l"]
    assert "k" in [one["key"] for one in client.undo(source="planner", dry_run=True)["restored"]]


def test_what_a_writer_did_by_any_call_is_taken_back_together(fresh, server):
    key = server.key("writers")
    editor, agent = fresh(key, source="editor"), fresh(key, source="agent", session_id="run-7")
    for name in ("a", "b", "c"):
        editor.commit(name, "right")
    agent.revise("a", "wrong"), agent.forget("b", reason="wrong"), agent.confirm("c"), agent.commit("d", "wrong")
    assert {event["source"] for event in editor.iter_log(session_id="run-7")} == {"agent"}
    undone = editor.undo(session_id="run-7")
    assert sorted(one["key"] for one in undone["restored"]) == ["a", "b", "c", "d"]
    assert {entry["key"]: entry["value"] for entry in editor.iter_memories()} == dict.fromkeys("abc", "right")
