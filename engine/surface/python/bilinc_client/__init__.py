"""Client of a Bilinc server: memory for AI agents, with dream passes that can be undone."""

from ._base import DEFAULT_BASE_URL
from ._http import Stream, Transport
from ._version import __version__
from .client import Bilinc, CloudClient
from .errors import (
    CANONICAL_ERROR_CODES,
    RETRYABLE_ERROR_CODES,
    BilincApiKeyRequired,
    BilincAuthError,
    BilincCloudError,
    BilincConfirmationExpiredError,
    BilincConflictError,
    BilincConnectionError,
    BilincDreamApplyError,
    BilincEntitlementError,
    BilincError,
    BilincNotFoundError,
    BilincPaymentRequiredError,
    BilincRateLimitError,
    BilincRuntimeUnavailableError,
    BilincValidationError,
    error_for_response,
)

__all__ = [
    "CANONICAL_ERROR_CODES",
    "DEFAULT_BASE_URL",
    "RETRYABLE_ERROR_CODES",
    "Bilinc",
    "BilincApiKeyRequired",
    "BilincAuthError",
    "BilincCloudError",
    "BilincConfirmationExpiredError",
    "BilincConflictError",
    "BilincConnectionError",
    "BilincDreamApplyError",
    "BilincEntitlementError",
    "BilincError",
    "BilincNotFoundError",
    "BilincPaymentRequiredError",
    "BilincRateLimitError",
    "BilincRuntimeUnavailableError",
    "BilincValidationError",
    "CloudClient",
    "Stream",
    "Transport",
    "__version__",
    "error_for_response",
]
