"""A lost answer is asked for again, and no write happens twice because of that."""

from __future__ import annotations

import pytest
from wire import Wire

from bilinc_client import BilincCloudError, BilincConflictError, BilincConnectionError, error_for_response

ANSWER = {"success": True}


def lost() -> BilincConnectionError:
    return BilincConnectionError("cut", code="connection_failed", retryable=True)


def refused(status: int, code: str | None = None, retryable: bool | None = None, **details: object) -> BilincCloudError:
    body: dict[str, object] = {"details": details}
    if code:
        body["error"] = code
    if retryable is not None:
        body["retryable"] = retryable
    return error_for_response(status, body)


@pytest.mark.parametrize("name", ["status", "write"])
def test_three_attempts_with_growing_waits(client_of, waits, name):
    wire = Wire(lost(), refused(503), ANSWER)
    client = client_of(wire, retry_delay=0.5)
    assert (client.status() if name == "status" else client.commit("k", 1)) == ANSWER
    assert waits == [0.5, 1.0]
    assert len(wire.sent) == 3


def test_every_attempt_of_a_write_is_the_same_under_the_same_key(client_of):
    wire = Wire(lost(), lost(), ANSWER)
    client_of(wire).commit("k", 1)
    assert len({sent.key for sent in wire.sent}) == 1 and wire.last.key
    assert len({sent.raw for sent in wire.sent}) == 1


def test_the_number_of_attempts_is_bounded_and_can_be_chosen(client_of, waits):
    wire = Wire(*[lost() for _ in range(9)])
    with pytest.raises(BilincConnectionError):
        client_of(wire).status()
    assert len(wire.sent) == 3
    with pytest.raises(BilincConnectionError):
        client_of(wire, attempts=1).status()
    assert len(wire.sent) == 4 and len(waits) == 2


@pytest.mark.parametrize("error", [refused(409, "version_conflict"), refused(503, "cloud_runtime_unavailable", False)])
def test_what_cannot_pass_is_not_tried_again(client_of, waits, error):
    wire = Wire(error)
    with pytest.raises(BilincCloudError) as failed:
        client_of(wire).commit("k", 1)
    assert failed.value is error and len(wire.sent) == 1 and waits == []


def test_a_server_that_asks_for_patience_gets_it_within_bounds(client_of, waits):
    patient, absurd = refused(429), refused(429)
    patient.retry_after, absurd.retry_after = 7.0, 86400.0
    client_of(Wire(patient, absurd, ANSWER)).status()
    assert waits == [7.0, 30.0]


def test_a_write_that_failed_names_the_key_that_settles_it(client_of):
    with pytest.raises(BilincConnectionError) as failed:
        client_of(Wire(lost(), lost(), lost())).commit("k", 1)
    assert failed.value.idempotency_key and failed.value.outcome_unknown
    wire = Wire(ANSWER)
    client_of(wire).commit("k", 1, idempotency_key=failed.value.idempotency_key)
    assert wire.last.key == failed.value.idempotency_key


@pytest.mark.parametrize(
    ("answers", "unknown"),
    [
        ([refused(503, "cloud_runtime_unavailable", False, outcome="unknown")], True),
        ([refused(500, "internal_error", False)], True),
        ([lost(), refused(429), refused(429)], True),
        ([refused(502), refused(502), refused(502)], True),
        ([refused(429), refused(429), refused(429)], False),
        # Its key was looked at before its version: the first attempt did nothing.
        ([lost(), refused(409, "version_conflict")], False),
        ([refused(422, "secret_detected")], False),
    ],
)
def test_whether_a_failed_write_may_have_happened_is_said(client_of, answers, unknown):
    with pytest.raises(BilincCloudError) as failed:
        client_of(Wire(*answers)).commit("k", 1)
    assert failed.value.outcome_unknown is unknown


def test_a_read_leaves_nothing_open(client_of):
    with pytest.raises(BilincCloudError) as failed:
        client_of(Wire(lost(), lost(), lost())).recall("q")
    assert not failed.value.outcome_unknown and failed.value.idempotency_key is None


def test_a_conflict_keeps_its_class_after_a_retry(client_of):
    with pytest.raises(BilincConflictError):
        client_of(Wire(lost(), refused(409, "version_conflict"))).revise("k", 1)
