"""Following a log gives each event once, whatever becomes of the connection."""

from __future__ import annotations

import io
from itertools import islice

import pytest
from wire import Wire

from bilinc_client import BilincCloudError, BilincConnectionError, _events


def stream(*seqs: int) -> bytes:
    return b"".join(b'id: %d\nevent: event\ndata: {"seq":%d}\n\n' % (seq, seq) for seq in seqs)


class Cut(io.BytesIO):
    """Ends as a broken connection does."""

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        if not line:
            raise BilincConnectionError("cut", code="connection_failed", retryable=True)
        return line

    def __next__(self) -> bytes:
        return self.readline()


def test_events_are_read_whatever_keeps_the_connection_alive():
    raw = b": hello\n\ndata: a\r\n\r\nevent: x\ndata:b\ndata: c\n\nretry: 5\n\ndata: never ended"
    assert list(_events.read(io.BytesIO(raw))) == ["a", "b\nc"]


def test_a_broken_connection_is_taken_up_after_the_last_event(client_of, waits):
    wire = Wire(Cut(stream(4, 5)), Cut(stream(6)), stream(7))
    events = client_of(wire).follow_log(from_seq=4, source="a")
    assert [event["seq"] for event in islice(events, 4)] == [4, 5, 6, 7]
    assert [sent.query["fromSeq"] for sent in wire.sent] == ["4", "6", "7"]
    assert all(sent.query["follow"] == "true" and sent.query["source"] == "a" for sent in wire.sent)
    assert wire.last.headers["Accept"] == "text/event-stream"
    assert waits == [0.25, 0.25]


def test_a_server_that_is_gone_ends_the_following(client_of):
    gone = [BilincConnectionError("gone", code="connection_failed", retryable=True) for _ in range(5)]
    wire = Wire(Cut(stream(1)), *gone)
    events = client_of(wire).follow_log(from_seq=1)
    assert next(events)["seq"] == 1
    with pytest.raises(BilincConnectionError):
        next(events)
    assert len(wire.sent) == 3


def test_a_server_that_stops_in_order_is_asked_again_and_not_without_end(client_of):
    wire = Wire(stream(1), stream(2), b": nothing\n\n", b"", b"", stream(3))
    seen = []
    with pytest.raises(BilincConnectionError, match="ended the stream"):
        seen.extend(event["seq"] for event in client_of(wire).follow_log(from_seq=1))
    assert [sent.query["fromSeq"] for sent in wire.sent] == ["1", "2", "3", "3"]


@pytest.mark.parametrize(("events", "first"), [([{"seq": 41}], "42"), ([], "1")])
def test_what_comes_begins_at_a_position_from_the_first_request_on(client_of, events, first):
    wire = Wire({"events": events}, Cut(b""), stream(50))
    assert next(client_of(wire).follow_log(key="k"))["seq"] == 50
    assert wire.sent[0].query == {"limit": "1"}
    assert [sent.query["fromSeq"] for sent in wire.sent[1:]] == [first, first]


def test_an_error_in_the_stream_is_raised(client_of):
    wire = Wire(b'data: {"error":"store_corrupt","message":"damage"}\n\n')
    with pytest.raises(BilincCloudError) as failed:
        list(client_of(wire).follow_log(from_seq=1))
    assert failed.value.code == "store_corrupt"
