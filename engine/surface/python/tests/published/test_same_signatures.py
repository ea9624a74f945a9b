"""Whoever moves from the published client finds every method with every parameter."""

from __future__ import annotations

import inspect

import pytest

import bilinc_client

bilinc = pytest.importorskip("bilinc", reason="the published client is not installed: ./run-tests installs it")

METHODS = [
    name for name, member in inspect.getmembers(bilinc.CloudClient, inspect.isfunction) if not name.startswith("_")
]

#: What ours takes beside; all of it is optional and by name.
MORE = {
    "commit": ["if_absent", "expected_version"],
    "export": ["to"],
    "list_memories": ["flagged"],
    "iter_memories": ["flagged"],
}


def test_there_are_methods_to_compare():
    assert len(METHODS) >= 17, METHODS


@pytest.mark.parametrize("name", METHODS)
def test_a_method_takes_the_same_parameters(name):
    theirs = inspect.signature(getattr(bilinc.CloudClient, name))
    ours = inspect.signature(getattr(bilinc_client.CloudClient, name))
    shared = list(ours.parameters.values())[: len(theirs.parameters)]
    assert shared == list(theirs.parameters.values()), "names, order, kinds, defaults and types"
    assert ours.return_annotation == theirs.return_annotation
    added = list(ours.parameters.values())[len(theirs.parameters) :]
    assert [parameter.name for parameter in added] == MORE.get(name, [])
    assert all(
        parameter.kind is parameter.KEYWORD_ONLY and parameter.default is not parameter.empty for parameter in added
    )


def test_the_constructor_takes_the_same_parameters():
    theirs = inspect.signature(bilinc.CloudClient).parameters
    ours = inspect.signature(bilinc_client.CloudClient).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    # The address differs on purpose: a key never goes to a service that was not named.
    for name in set(theirs) - {"base_url", "transport"}:
        assert (ours[name].kind, ours[name].default) == (theirs[name].kind, theirs[name].default)


def test_the_error_classes_have_the_same_names_and_attributes():
    names = [name for name in bilinc.__all__ if name.startswith("Bilinc") and name != "Bilinc"]
    assert len(names) >= 12
    for name in names:
        theirs, ours = getattr(bilinc, name), getattr(bilinc_client, name)
        assert [base.__name__ for base in theirs.__mro__] == [base.__name__ for base in ours.__mro__], name
    attributes = vars(bilinc.BilincCloudError("m"))
    assert set(attributes) <= set(vars(bilinc_client.BilincCloudError("m")))


@pytest.mark.parametrize("status", range(400, 600))
@pytest.mark.parametrize("body", [{}, {"error": "rate_limited"}, {"retryable": True}, {"retryable": False}, None])
def test_an_answer_becomes_the_same_error(status, body):
    theirs, ours = bilinc.client.error_for_response(status, body), bilinc_client.error_for_response(status, body)
    assert type(ours).__name__ == type(theirs).__name__
    for name in ("code", "status", "request_id", "retryable", "details"):
        assert getattr(ours, name) == getattr(theirs, name), name
