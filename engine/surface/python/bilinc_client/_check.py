"""Checks of single arguments. Each gives back what is to be sent, or refuses with the field's name."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from . import limits
from .errors import invalid


def required_text(field: str, value: Any, longest: int | None = None) -> str:
    """A string with something in it, trimmed."""
    if not isinstance(value, str) or not value.strip():
        raise invalid(field, "is required and is text")
    if longest is not None and len(value) > longest:
        raise invalid(field, f"has at most {longest} characters")
    return value.strip()


def optional_text(field: str, value: Any, longest: int | None = None) -> str | None:
    """The same, or nothing."""
    return None if value is None else required_text(field, value, longest)


def verbatim(field: str, value: Any) -> str | None:
    """Text that is not trimmed, because its white space counts; or nothing."""
    if value is not None and (not isinstance(value, str) or value == ""):
        raise invalid(field, "is text with at least one character when it is given")
    return value


def key(value: Any) -> str:
    return required_text("key", value, limits.MAX_KEY_LENGTH)


def reason(value: Any) -> str:
    return required_text("reason", value, limits.MAX_REASON_LENGTH)


def choice(field: str, value: Any, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise invalid(field, f"is one of {', '.join(allowed)}")
    return str(value)


def count(field: str, value: Any, most: int, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise invalid(field, f"is a whole number from {least} to {most}")
    return value


def position(field: str, value: Any) -> int | None:
    """A place in the log, from 1."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise invalid(field, "is a position: a whole number from 1")
    return value


def unit(field: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 <= value <= 1.0:
        raise invalid(field, "is a number from 0.0 to 1.0")
    return float(value)


def optional_unit(field: str, value: Any) -> float | None:
    return None if value is None else unit(field, value)


def optional_positive(field: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise invalid(field, "is a number above 0")
    return float(value)


def optional_bool(field: str, value: Any) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise invalid(field, "is True or False")
    return value


def json_object(field: str, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise invalid(field, "is an object")
    return value


def texts(field: str, value: Any, most: int, longest: int) -> list[str]:
    """A list of strings, kept as they are."""
    if not isinstance(value, (list, tuple)):
        raise invalid(field, "is a list of texts")
    wrong = [item for item in value if not isinstance(item, str) or len(item) > longest or "\0" in item]
    if not 1 <= len(value) <= most or wrong:
        raise invalid(field, f"is a list of 1 to {most} texts of at most {longest} characters")
    return list(value)


def moment(field: str, value: Any) -> str | None:
    """A time as RFC 3339. A `datetime` without a zone is UTC, so that a call means the same everywhere."""
    if isinstance(value, datetime):
        value = value.replace(tzinfo=value.tzinfo or timezone.utc)
        return str(value.astimezone(timezone.utc).isoformat()).replace("+00:00", "Z")
    return optional_text(field, value, limits.MAX_TIME_LENGTH)


def point(field: str, value: Any) -> str | None:
    """A position or a time."""
    if isinstance(value, int):
        place = position(field, value)
        return None if place is None else str(place)
    return moment(field, value)


def idempotency_key(value: Any, room: int = 0) -> str:
    """The caller's key, or one of its own for every call. It travels in a header, so it is ASCII."""
    if value is None:
        return str(uuid.uuid4())
    longest = limits.MAX_IDEMPOTENCY_KEY_LENGTH - room
    text = required_text("idempotency_key", value, longest)
    if not (text.isascii() and text.isprintable()):
        raise invalid("idempotency_key", "has printable ASCII characters only")
    return text


def given(**fields: Any) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def action(index: int, value: Any) -> Mapping[str, Any]:
    """An action of a dream, looked at as far as a server refuses the whole page for it."""
    at = f"actions[{index}]"
    if not isinstance(value, Mapping):
        raise invalid(at, "is an object", "wrong_type")
    for name in value:
        if name not in _ACTION_FIELDS:
            raise invalid(f"{at}.{name}", "is unknown", "unknown_field")
    choice(f"{at}.op", value.get("op"), limits.ACTION_OPS)
    required_text(f"{at}.key", value.get("key"), limits.MAX_KEY_LENGTH)
    required_text(f"{at}.reason", value.get("reason"), limits.MAX_REASON_LENGTH)
    return value


_ACTION_FIELDS = frozenset(
    [
        "op",
        "key",
        "reason",
        "expected_version",
        "expectedVersion",
        "new_value",
        "newValue",
        "merged_from",
        "mergedFrom",
        "evidence_keys",
        "evidenceKeys",
    ]
)
