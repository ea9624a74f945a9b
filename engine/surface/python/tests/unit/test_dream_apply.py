"""The actions of a dream go in pages; what a failure leaves behind is known."""

from __future__ import annotations

from typing import Any

import pytest
from wire import Sent, Wire

from bilinc_client import BilincConnectionError, BilincDreamApplyError, BilincValidationError, error_for_response


def actions(number: int, op: str = "confirm") -> list[dict[str, Any]]:
    return [{"op": op, "key": f"k{at}", "expected_version": "v", "reason": "r"} for at in range(number)]


def page(sent: Sent) -> dict[str, Any]:
    """The answer of a server: results with indexes within their page."""
    asked = sent.body["actions"]
    results = [{"index": at, "op": one["op"], "key": one["key"], "status": "applied"} for at, one in enumerate(asked)]
    forgets = sum(one["op"] == "forget" for one in asked)
    state = "finished" if sent.body.get("final") else "open"
    return {"dreamId": "d", "state": state, "forgetCap": 20, "forgetsReserved": forgets, "results": results}


def test_the_last_page_alone_finishes_with_the_report(client_of):
    wire = Wire(page, page, page)
    answer = client_of(wire).dream_apply("d", actions(60), {"said": "done"}, idempotency_key="key")
    assert [sent.path for sent in wire.sent] == ["/api/cloud/memory/dreams/d/apply"] * 3
    assert [len(sent.body["actions"]) for sent in wire.sent] == [25, 25, 10]
    assert [sent.body.get("final") for sent in wire.sent] == [None, None, True]
    assert [sent.body.get("report") for sent in wire.sent] == [None, None, {"said": "done"}]
    assert [sent.key for sent in wire.sent] == ["key#1", "key#2", "key#3"]
    assert [result["index"] for result in answer["results"]] == list(range(60))
    assert (answer["pages"], answer["state"]) == (3, "finished")


@pytest.mark.parametrize(("number", "pages"), [(0, 1), (1, 1), (25, 1), (26, 2), (50, 2), (1000, 40)])
def test_no_page_is_empty_and_none_too_large(client_of, number, pages):
    wire = Wire(*[page] * pages)
    assert len(client_of(wire).dream_apply("d", actions(number), "r")["results"]) == number
    assert len(wire.sent) == pages
    assert wire.last.body["final"] is True


def test_a_call_without_a_key_has_one_of_its_own_for_all_pages(client_of):
    wire = Wire(page, page, page, page)
    client_of(wire).dream_apply("d", actions(30))
    client_of(wire).dream_apply("d", actions(30))
    stems = [sent.key.rpartition("#") for sent in wire.sent]
    assert stems[0][0] == stems[1][0] != stems[2][0] == stems[3][0]
    assert [stem[2] for stem in stems] == ["1", "2", "1", "2"]


def test_a_refused_page_says_what_happened_and_what_did_not(client_of):
    details = {"cap": 5, "applied": 5, "asked": 1}
    refusal = error_for_response(
        422, {"error": "forget_cap_exceeded", "message": "m", "details": details, "requestId": "q"}
    )
    sent = actions(60)
    with pytest.raises(BilincDreamApplyError) as failed:
        client_of(Wire(page, refusal)).dream_apply("d", sent, "report", idempotency_key="key")
    error = failed.value
    assert (error.code, error.status, error.request_id) == ("forget_cap_exceeded", 422, "q")
    assert (error.page, error.pages, error.idempotency_key) == (2, 3, "key")
    assert [result["index"] for result in error.results] == list(range(25))
    assert error.not_tried == sent[25:]
    assert error.details == {**details, "page": 2, "results": error.results, "notTried": list(range(25, 60))}
    assert error.__cause__ is refusal and not error.outcome_unknown


def test_the_index_of_a_refused_action_is_that_of_the_call(client_of):
    refusal = error_for_response(400, {"error": "invalid_request", "details": {"field": "actions[3].newValue"}})
    with pytest.raises(BilincDreamApplyError) as failed:
        client_of(Wire(page, refusal)).dream_apply("d", actions(30))
    assert failed.value.details["field"] == "actions[28].newValue"


def test_a_lost_page_is_tried_again_under_its_key(client_of):
    lost = BilincConnectionError("cut", code="connection_failed", retryable=True)
    wire = Wire(page, lost, page)
    assert client_of(wire).dream_apply("d", actions(26), idempotency_key="key")["pages"] == 2
    assert [sent.key for sent in wire.sent] == ["key#1", "key#2", "key#2"]


def test_a_page_that_stays_lost_can_be_settled_by_the_same_call(client_of):
    def lost() -> BilincConnectionError:
        return BilincConnectionError("cut", code="connection_failed", retryable=True)

    with pytest.raises(BilincDreamApplyError) as failed:
        client_of(Wire(page, lost(), lost(), lost())).dream_apply("d", actions(26))
    assert failed.value.outcome_unknown and failed.value.retryable
    wire = Wire(page, page)
    client_of(wire).dream_apply("d", actions(26), idempotency_key=failed.value.idempotency_key)
    assert [sent.key for sent in wire.sent] == [f"{failed.value.idempotency_key}#{number}" for number in (1, 2)]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"op": "delete"}, "actions[27].op"),
        ({"reason": " "}, "actions[27].reason"),
        ({"reason": "r" * 513}, "actions[27].reason"),
        ({"key": 7}, "actions[27].key"),
        ({"nope": 1}, "actions[27].nope"),
    ],
)
def test_what_is_no_action_refuses_the_call_before_a_page_is_sent(client_of, change, field):
    wire, wrong = Wire(), actions(30)
    wrong[27].update(change)
    with pytest.raises(BilincValidationError) as refused:
        client_of(wire).dream_apply("d", wrong)
    assert refused.value.details["field"] == field and wire.sent == []


@pytest.mark.parametrize("wrong", [actions(1001), "text", {"op": "flag"}, ["text"], [float("nan")]])
def test_what_is_no_list_of_actions_is_not_sent(client_of, wrong):
    wire = Wire()
    with pytest.raises(BilincValidationError):
        client_of(wire).dream_apply("d", wrong)
    assert wire.sent == []


def test_a_value_that_cannot_be_sent_is_found_before_the_first_page(client_of):
    wire, wrong = Wire(), actions(30, "revise")
    wrong[29]["new_value"] = {1, 2}
    with pytest.raises(BilincValidationError):
        client_of(wire).dream_apply("d", wrong)
    assert wire.sent == []


def test_both_spellings_of_a_field_are_sent_as_they_are(client_of):
    wire = Wire(page)
    one = {"op": "revise", "key": "k", "expectedVersion": "v", "newValue": 1, "mergedFrom": ["b"], "reason": "r"}
    client_of(wire).dream_apply("d", [one])
    assert wire.last.body["actions"] == [one]


def test_a_dry_run_counts_the_forgets_of_all_pages(client_of):
    wire = Wire(page, page)
    answer = client_of(wire).dream_apply("d", actions(10, "forget") + actions(20), dry_run=True)
    assert answer["forgetsReserved"] == 10 and wire.last.body["dryRun"] is True
    with pytest.raises(BilincDreamApplyError) as failed:
        client_of(Wire(page, page)).dream_apply(
            "d", actions(15, "forget") + actions(10) + actions(6, "forget"), dry_run=True
        )
    assert failed.value.code == "forget_cap_exceeded" and failed.value.page == 2
    assert {name: failed.value.details[name] for name in ("cap", "applied", "asked")} == {
        "cap": 20,
        "applied": 15,
        "asked": 6,
    }


@pytest.mark.parametrize("pages", [[True, True], [True, False], [False, True], [False, False]])
def test_a_call_is_a_repetition_when_every_page_is(client_of, pages):
    answers = [lambda sent, again=again: {**page(sent), **({"replayed": True} if again else {})} for again in pages]
    answer = client_of(Wire(*answers)).dream_apply("d", actions(26))
    assert answer.get("replayed", False) is all(pages)


def test_the_key_of_a_call_leaves_room_for_its_pages(client_of):
    wire = Wire(page)
    with pytest.raises(BilincValidationError):
        client_of(wire).dream_apply("d", [], "r", idempotency_key="k" * 254)
    client_of(wire).dream_apply("d", [], "r", idempotency_key="k" * 252)
    assert len(wire.last.key) <= 256
