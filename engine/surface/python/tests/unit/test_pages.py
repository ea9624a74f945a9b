"""Walks over many pages give everything once."""

from __future__ import annotations

from typing import Any

import pytest
from wire import Sent, Wire

from bilinc_client import BilincCloudError, BilincValidationError, error_for_response

TOO_LARGE = {"error": "invalid_request", "details": {"reason": "response_too_large"}}


def test_a_walk_follows_cursors_and_repeats_its_filters(client_of):
    page = {"order": "newest", "sources": ["a"]}
    wire = Wire(
        {**page, "entries": [{"key": "1"}], "nextCursor": "c"}, {**page, "entries": [{"key": "2"}], "nextCursor": None}
    )
    client = client_of(wire)
    walked = list(client.iter_memories(prefix="p", order="newest", sources=["a"], values="none", flagged=True))
    assert [entry["key"] for entry in walked] == ["1", "2"]
    assert wire.sent[1].body == {**wire.sent[0].body, "cursor": "c"}
    assert wire.sent[0].body["limit"] == 100 and wire.sent[0].body["flagged"] is True


def test_a_page_that_is_too_large_is_asked_for_in_parts(client_of):
    def server(sent: Sent) -> dict[str, Any]:
        first, limit = int(sent.body.get("cursor", 0)), sent.body["limit"]
        if limit > 3:
            raise error_for_response(400, TOO_LARGE)
        last = min(first + limit, 20)
        return {"entries": [{"key": at} for at in range(first, last)], "nextCursor": str(last) if last < 20 else None}

    wire = Wire(*[server] * 200)
    assert [entry["key"] for entry in client_of(wire).iter_memories(values="full")] == list(range(20))


def test_a_page_of_one_that_is_too_large_is_an_error_and_no_endless_walk(client_of):
    wire = Wire(*[error_for_response(400, TOO_LARGE) for _ in range(9)])
    with pytest.raises(BilincValidationError):
        list(client_of(wire).iter_memories())
    assert wire.last.body["limit"] == 1


def test_a_cursor_that_comes_back_ends_the_walk(client_of):
    pages = [{"entries": [], "nextCursor": cursor} for cursor in ("a", "b", "a")]
    with pytest.raises(BilincCloudError, match="twice"):
        list(client_of(Wire(*pages)).iter_memories())
    events = [{"events": [], "nextCursor": "a"}, {"events": [], "nextCursor": "a"}]
    with pytest.raises(BilincCloudError, match="twice"):
        list(client_of(Wire(*events)).iter_log())


def test_a_walk_over_the_log_repeats_its_filters(client_of):
    wire = Wire({"events": [{"seq": 2}], "nextCursor": "c"}, {"events": [{"seq": 1}], "nextCursor": None})
    assert [event["seq"] for event in client_of(wire).iter_log(source="a", page_size=1)] == [2, 1]
    assert wire.sent[1].query == {"source": "a", "limit": "1", "cursor": "c"}
