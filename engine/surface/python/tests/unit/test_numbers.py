"""No number changes without being asked to, on the way out or in."""

from __future__ import annotations

from decimal import Decimal
from types import MappingProxyType

import pytest
from wire import Wire

from bilinc_client import BilincCloudError, BilincValidationError, _json


@pytest.mark.parametrize("text", ["1.10", "12345678901234567890", "0.1234567890123456789", "-0.0", "1E+400", "0E-7"])
def test_a_decimal_goes_out_digit_for_digit(client_of, text):
    wire = Wire()
    client_of(wire).commit("k", {"n": [Decimal(text)]})
    assert f'"value":{{"n":[{text}]}}'.encode() in wire.last.raw


def test_text_that_looks_like_a_number_stays_text():
    assert _json.encode(["1.10", Decimal("1.10")]) == b'["1.10",1.10]'


def test_text_is_sent_as_it_is_and_not_escaped():
    assert _json.encode({"k": "Girişimci 漢"}) == '{"k":"Girişimci 漢"}'.encode()


def test_any_mapping_is_an_object():
    assert _json.encode(MappingProxyType({"a": MappingProxyType({})})) == b'{"a":{}}'


def test_by_default_a_fraction_is_a_float_and_never_infinite():
    read = _json.decode("[1.10, 1e400, -1e400, 12345678901234567890]", _json.fraction)
    assert read == [1.1, Decimal("1e400"), Decimal("-1e400"), 12345678901234567890]
    assert [type(number) for number in read] == [float, Decimal, Decimal, int]


def test_with_decimal_every_digit_comes_back():
    read = _json.decode("[1.10, 0.1234567890123456789]", Decimal)
    assert [str(number) for number in read] == ["1.10", "0.1234567890123456789"]


def test_a_whole_number_of_any_length_is_read():
    digits = "9" * 5000
    assert str(_json.decode(digits, float)) == digits


@pytest.mark.parametrize("raw", ["", "{", "[1,]", "\x00", "[" * 200_000])
def test_an_answer_that_is_no_json_is_an_error_of_this_package(raw):
    with pytest.raises(BilincCloudError) as failed:
        _json.decode(raw, float)
    assert failed.value.code == "invalid_response"


def test_a_value_that_holds_itself_is_refused():
    value: list[object] = []
    value.append(value)
    with pytest.raises(BilincValidationError):
        _json.encode(value)
