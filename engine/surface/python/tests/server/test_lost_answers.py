"""Answers are lost and servers restarted; every write happens once."""

from __future__ import annotations

import io
from typing import Any

import pytest
from server_process import start, stop

from bilinc_client import BilincConnectionError, BilincDreamApplyError, CloudClient


def lost() -> BilincConnectionError:
    return BilincConnectionError("the answer is lost", code="connection_failed", retryable=True)


class Losing:
    """Carries every request to the server and loses the first answer to each write."""

    def __init__(self, client: CloudClient) -> None:
        self.client, self.seen = client, set[str]()

    def lose(self, headers: dict[str, str]) -> None:
        key = headers.get("Idempotency-Key")
        if key is not None and key not in self.seen:
            self.seen.add(key)
            raise lost()

    def __call__(self, method: str, url: str, *, headers: dict[str, str], body: Any, timeout: float) -> dict[str, Any]:
        answer = self.client.transport(method, url, headers=headers, body=body, timeout=timeout)
        self.lose(headers)
        return answer

    def stream(self, method: str, url: str, *, headers: dict[str, str], body: Any, timeout: float) -> Any:
        with self.client.stream(method, url, headers=headers, body=body, timeout=timeout) as answer:
            raw = answer.read()
        self.lose(headers)
        return io.BytesIO(raw)


@pytest.fixture
def pair(server: Any) -> tuple[CloudClient, CloudClient]:
    """A client that loses answers, and one that sees what the server holds."""
    sure = server.client()
    losing = Losing(sure)
    client = CloudClient(sure.api_key, sure.base_url, transport=losing, stream=losing.stream, sleep=lambda _: None)
    return client, sure


def test_no_write_happens_twice(pair):
    client, sure = pair
    writes = 0

    def wrote(answer: dict[str, Any]) -> dict[str, Any]:
        nonlocal writes
        writes += 1
        assert len({event["operationId"] for event in sure.iter_log()}) == writes, answer
        assert answer["replayed"] is True
        return answer

    first = wrote(client.commit("k", 1))
    wrote(client.revise("k", 2, expected_version=first["entryVersion"]))
    wrote(client.confirm("k"))
    wrote(client.flag("k", reason="look"))
    wrote(client.unflag("k"))
    made = wrote(client.create_snapshot())["snapshot"]["id"]
    wrote(client.import_([{"key": "l", "value": 1}, {"key": "m", "value": 1}]))
    token = client.rollback_preview(made, reason="bad run")["confirmationToken"]
    assert wrote(client.rollback(made, confirmation_token=token, reason="bad run"))["counts"]["deleted"] == 2
    assert wrote(client.forget("k", reason="old"))["removed"] is True
    forgotten = sure.log(key="k", limit=1)["events"][0]["seq"]
    assert [one["key"] for one in wrote(client.undo(seqs=[forgotten]))["restored"]] == ["k"]
    assert sure.get("k")["value"] == 2


def test_a_dream_acts_once_although_every_answer_is_lost(pair):
    client, sure = pair
    for at in range(30):
        sure.commit(f"k{at:02}", at)
    dream = client.dream_start()
    assert len(dream["candidates"]) == 30 and len(sure.dream_list()["dreams"]) == 1
    actions = [
        {"op": "confirm", "key": one["key"], "expected_version": one["entryVersion"], "reason": "right"}
        for one in dream["candidates"]
    ]
    applied = client.dream_apply(dream["dreamId"], actions, "all right")
    assert applied["replayed"] is True and applied["pages"] == 2
    assert [one["status"] for one in applied["results"]] == ["applied"] * 30
    assert all(len(sure.history(f"k{at:02}")["entries"]) == 2 for at in range(30))
    undone = client.dream_undo(dream["dreamId"])
    assert len(undone["restored"]) == 30 and sure.dream_show(dream["dreamId"])["state"] == "undone"


def test_a_call_that_gave_up_is_settled_by_its_key(server):
    sure = server.client()
    for at in range(30):
        sure.commit(f"k{at:02}", at)
    dream = sure.dream_start()
    actions = [
        {"op": "confirm", "key": one["key"], "expected_version": one["entryVersion"], "reason": "right"}
        for one in dream["candidates"]
    ]

    def second_page_is_never_answered(method: str, url: str, *, headers: Any, body: Any, timeout: float) -> Any:
        answer = sure.transport(method, url, headers=headers, body=body, timeout=timeout)
        if headers.get("Idempotency-Key", "").endswith("#2"):
            raise lost()
        return answer

    client = CloudClient(
        sure.api_key, sure.base_url, transport=second_page_is_never_answered, sleep=lambda _seconds: None
    )
    with pytest.raises(BilincDreamApplyError) as failed:
        client.dream_apply(dream["dreamId"], actions, "all right")
    error = failed.value
    assert error.outcome_unknown and error.page == 2 and len(error.results) == 25 and len(error.not_tried) == 5
    settled = sure.dream_apply(dream["dreamId"], actions, "all right", idempotency_key=error.idempotency_key)
    assert settled["replayed"] is True and settled["state"] == "finished" and len(settled["results"]) == 30
    assert len(sure.dream_show(dream["dreamId"])["actions"]) == 30


def test_a_restart_is_not_noticed_by_writers_and_followers(program, tmp_path):
    """The waits between attempts are where the server comes back."""
    running = start(program, tmp_path / "data")
    address = running.url.removeprefix("http://")
    restarts: list[str] = []

    def come_back(_seconds: float) -> None:
        nonlocal running
        if running.process.poll() is not None:
            restarts.append(address)
            running = start(program, tmp_path / "data", address)
            CloudClient(client.api_key, running.url).commit("other", len(restarts))

    client = running.client(running.key("notes"), sleep=come_back)
    try:
        client.commit("k", 1)
        events = client.follow_log(from_seq=1)
        assert next(events)["key"] == "k"
        # A stream without end does not keep a server from stopping.
        stop(running)
        assert next(events)["key"] == "other"
        stop(running)
        assert client.commit("l", 1)["operation"] == "create"
        assert [next(events)["key"], next(events)["key"]] == ["other", "l"]
        assert len(restarts) == 2
        events.close()
    finally:
        if running.process.poll() is None:
            stop(running)
