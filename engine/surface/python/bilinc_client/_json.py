"""JSON out and in, with numbers as they are."""

from __future__ import annotations

import json
import math
import re
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from .errors import BilincCloudError, invalid

#: Python refuses to read whole numbers with many more digits than this into an `int`.
_INT_DIGITS = 4000


def encode(value: Any) -> bytes:
    """Compact JSON in UTF-8. Takes `Decimal` beside what `json` takes; refuses what JSON cannot say."""
    numbers: list[str] = []
    # Stands in for a number that `json` cannot write; nobody else's text can hold it.
    mark = uuid.uuid4().hex

    def other(item: Any) -> Any:
        if isinstance(item, Decimal):
            if not item.is_finite():
                raise ValueError(f"{item} is no number of JSON")
            numbers.append(str(item))
            return f"{mark}:{len(numbers) - 1}"
        if isinstance(item, Mapping):
            return dict(item)
        raise TypeError(f"a {type(item).__name__} is none of its kinds")

    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=other)
        if numbers:
            text = re.sub(f'"{mark}:([0-9]+)"', lambda match: numbers[int(match[1])], text)
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise invalid("body", "holds a lone surrogate, which is no text", "lone_surrogate") from None
    except (TypeError, ValueError) as error:
        raise invalid("body", f"cannot be JSON: {error}", "invalid_json") from None
    except RecursionError:
        raise invalid("body", "is nested too deeply", "too_deep") from None


def decode(raw: bytes | str, parse_float: Callable[[str], Any]) -> Any:
    """What a server said. `parse_float` reads numbers with a fraction or an exponent."""
    try:
        return json.loads(raw, parse_float=parse_float, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise BilincCloudError(f"the server's answer is not JSON: {error}", code="invalid_response") from error


def fraction(text: str) -> Any:
    """A `float`, but a `Decimal` where a `float` could only say "infinite"."""
    number = float(text)
    return number if math.isfinite(number) else Decimal(text)


def _whole(text: str) -> Any:
    return int(text) if len(text) <= _INT_DIGITS else Decimal(text)
