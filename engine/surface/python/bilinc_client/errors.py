"""What can go wrong, by class, status and code."""

from __future__ import annotations

from typing import Any

#: Every code that a server answers with, and its HTTP status.
CANONICAL_ERROR_CODES: dict[str, int] = {
    "invalid_request": 400,
    "missing_api_key": 401,
    "invalid_api_key": 401,
    "read_only": 403,
    "memory_not_found": 404,
    "snapshot_not_found": 404,
    "dream_not_found": 404,
    "not_found": 404,
    "method_not_allowed": 405,
    "memory_exists": 409,
    "version_conflict": 409,
    "idempotency_conflict": 409,
    "state_changed_since_preview": 409,
    "revision_rejected": 409,
    "dream_closed": 409,
    "rollback_confirmation_expired": 410,
    "undo_window_expired": 410,
    "payload_too_large": 413,
    "forget_cap_exceeded": 422,
    "secret_detected": 422,
    "operation_too_large": 422,
    "rate_limited": 429,
    "store_corrupt": 500,
    "internal_error": 500,
    "cloud_runtime_unavailable": 503,
}

#: Codes that may pass when the same call is made again.
RETRYABLE_ERROR_CODES = frozenset({"rate_limited", "cloud_runtime_unavailable", "connection_failed"})
#: Codes for which no second call helps, whatever the status says.
NON_RETRYABLE_ERROR_CODES = frozenset({"capability_unavailable", "purge_unsupported"})


class BilincError(RuntimeError):
    """Any error of this package."""


class BilincApiKeyRequired(BilincError):
    """There is no key to speak to a server with."""


class BilincCloudError(BilincError):
    """A request failed or was refused. Every error of a request is one of these."""

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        request_id: str | None = None,
        retryable: bool = False,
        details: Any = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: What went wrong, in one word of `CANONICAL_ERROR_CODES` or of the client's own.
        self.code = code
        #: The HTTP status; none when there was no answer.
        self.status = status
        #: Names the answer, for the server's log.
        self.request_id = request_id
        #: Whether the same call may succeed later.
        self.retryable = retryable
        #: What the code leaves open: the field and the rule, the current version, …
        self.details = details
        #: The key that the write went under: the same call with it cannot act twice.
        self.idempotency_key: str | None = None
        #: Whether the write may have happened all the same, because its answer is lost.
        self.outcome_unknown = False
        #: Seconds that the server asks to wait.
        self.retry_after: float | None = None


class BilincValidationError(BilincCloudError):
    """The request is wrong as it stands, or the server will not store what it holds."""


class BilincAuthError(BilincCloudError):
    """The key is missing, unknown or revoked."""


class BilincPaymentRequiredError(BilincCloudError):
    """Only hosted services answer so."""


class BilincEntitlementError(BilincCloudError):
    """The key may not do this: it is read-only, or the store is."""


class BilincNotFoundError(BilincCloudError):
    """There is no such memory, snapshot, dream or route."""


class BilincConflictError(BilincCloudError):
    """Something else came first: another version, another use of an idempotency key, another state."""


class BilincConfirmationExpiredError(BilincCloudError):
    """A time has run out: that of a confirmation token, or the window in which a dream can be undone."""


class BilincRateLimitError(BilincCloudError):
    """Too many requests; `retry_after` says how long to wait."""


class BilincRuntimeUnavailableError(BilincCloudError):
    """The store cannot answer now."""


class BilincConnectionError(BilincCloudError):
    """There was no answer. A write may or may not have happened; `idempotency_key` settles it."""


class BilincDreamApplyError(BilincCloudError):
    """A page of a dream failed. The pages before it stay applied.

    `__cause__` is the error of the page itself; code, status and details are its own. With
    `outcome_unknown` the failed page may have been carried out: the same call with `idempotency_key`
    finds out and goes on.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        request_id: str | None = None,
        retryable: bool = False,
        details: Any = None,
        results: list[dict[str, Any]] | None = None,
        page: int = 1,
        pages: int = 1,
        not_tried: list[dict[str, Any]] | None = None,
    ) -> None:
        super().__init__(message, code=code, status=status, request_id=request_id, retryable=retryable, details=details)
        #: What became of the actions on the pages before, with their indexes in the call.
        self.results = results or []
        #: The page that failed, from 1.
        self.page = page
        #: How many there were to be.
        self.pages = pages
        #: The actions of the failed page and of those after it, as they were given.
        self.not_tried = not_tried or []


_BY_STATUS: dict[int, type[BilincCloudError]] = {
    400: BilincValidationError,
    401: BilincAuthError,
    402: BilincPaymentRequiredError,
    403: BilincEntitlementError,
    404: BilincNotFoundError,
    409: BilincConflictError,
    410: BilincConfirmationExpiredError,
    422: BilincValidationError,
    429: BilincRateLimitError,
    503: BilincRuntimeUnavailableError,
}


def error_for_response(status: int, payload: Any) -> BilincCloudError:
    """The error that an answer with this status and body stands for."""
    body = payload if isinstance(payload, dict) else {}

    def text(name: str) -> str | None:
        value = body.get(name)
        return value if isinstance(value, str) else None

    code = text("error")
    retryable = body.get("retryable")
    if code in NON_RETRYABLE_ERROR_CODES:
        retryable = False
    elif not isinstance(retryable, bool):
        # A proxy's answer says nothing of it.
        retryable = status == 429 or status >= 500 or code in RETRYABLE_ERROR_CODES
    said = text("message") or f"the server answered {status}"
    return _BY_STATUS.get(status, BilincCloudError)(
        f"{said} [{code}]" if code else said,
        code=code,
        status=status,
        request_id=text("requestId"),
        retryable=retryable,
        details=body.get("details"),
    )


def invalid(field: str, message: str, reason: str | None = None) -> BilincValidationError:
    """The refusal of a request that is not sent, in the words of a server's."""
    details = {"field": field} if reason is None else {"field": field, "reason": reason}
    return BilincValidationError(
        f"{field} {message} [invalid_request]", code="invalid_request", status=400, details=details
    )
