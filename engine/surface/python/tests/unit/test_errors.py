"""Each answer that is an error becomes the error that its caller can tell apart."""

from __future__ import annotations

import pickle

import pytest

import bilinc_client
from bilinc_client import CANONICAL_ERROR_CODES, BilincCloudError, BilincDreamApplyError, error_for_response

CLASSES = {
    400: "BilincValidationError",
    401: "BilincAuthError",
    402: "BilincPaymentRequiredError",
    403: "BilincEntitlementError",
    404: "BilincNotFoundError",
    405: "BilincCloudError",
    409: "BilincConflictError",
    410: "BilincConfirmationExpiredError",
    413: "BilincCloudError",
    422: "BilincValidationError",
    429: "BilincRateLimitError",
    500: "BilincCloudError",
    503: "BilincRuntimeUnavailableError",
}


@pytest.mark.parametrize(("code", "status"), sorted(CANONICAL_ERROR_CODES.items()))
def test_a_code_has_its_class_and_keeps_all_that_was_said(code, status):
    body = {"error": code, "message": "m", "requestId": "r", "retryable": False, "details": {"field": "f"}}
    error = error_for_response(status, body)
    assert type(error) is getattr(bilinc_client, CLASSES[status])
    assert (error.code, error.status, error.request_id, error.retryable) == (code, status, "r", False)
    assert error.details == {"field": "f"}
    assert str(error) == error.message == f"m [{code}]"


@pytest.mark.parametrize(
    ("status", "body", "retryable"),
    [
        (429, {}, True),
        (502, None, True),
        (500, "<html>", True),
        (400, {}, False),
        (503, {"retryable": False}, False),
        (409, {"retryable": True}, True),
        (503, {"error": "capability_unavailable", "retryable": True}, False),
        (400, {"error": "rate_limited"}, True),
        (503, {"error": 7, "message": [], "requestId": {}, "retryable": "yes"}, True),
    ],
)
def test_whether_to_try_again_is_known_whatever_the_body_holds(status, body, retryable):
    error = error_for_response(status, body)
    assert isinstance(error, BilincCloudError)
    assert error.retryable is retryable
    assert str(status) in str(error) or error.code


def test_errors_survive_being_handed_between_processes():
    error = BilincDreamApplyError("m", code="c", results=[{"index": 0}], page=2, pages=3, not_tried=[{"op": "flag"}])
    error.idempotency_key = "k"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is BilincDreamApplyError
    assert vars(again) == vars(error)
