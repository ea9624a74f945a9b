"""Where key and address come from."""

from __future__ import annotations

import pytest
from wire import Wire

from bilinc_client import DEFAULT_BASE_URL, BilincApiKeyRequired, BilincValidationError, CloudClient


def test_the_environment_names_key_and_address(monkeypatch):
    monkeypatch.setenv("BILINC_API_KEY", "bil_live_env")
    monkeypatch.setenv("BILINC_BASE_URL", "https://memory.test/")
    for client in (CloudClient(), CloudClient.from_env(timeout=3.0)):
        assert (client.api_key, client.base_url) == ("bil_live_env", "https://memory.test")
    assert CloudClient.from_env(timeout=3.0).timeout == 3.0


def test_what_is_passed_wins_over_the_environment(monkeypatch):
    monkeypatch.setenv("BILINC_API_KEY", "bil_live_env")
    monkeypatch.setenv("BILINC_BASE_URL", "https://memory.test")
    client = CloudClient("bil_live_mine", "http://other.test")
    assert (client.api_key, client.base_url) == ("bil_live_mine", "http://other.test")


def test_without_an_address_it_is_the_server_of_this_machine():
    assert CloudClient("bil_live_a").base_url == DEFAULT_BASE_URL == "http://127.0.0.1:8787"


@pytest.mark.parametrize("key", [None, "", "  "])
def test_a_missing_key_is_said_before_anything_is_sent(key):
    with pytest.raises(BilincApiKeyRequired, match="BILINC_API_KEY"):
        CloudClient(key)


@pytest.mark.parametrize("key", ["a\r\nX-Other: 1", "é", "a\0b"])
def test_a_key_that_could_forge_a_header_is_refused(key):
    with pytest.raises(BilincValidationError):
        CloudClient(key)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://a", "server.test", "http://", "http://a?b=c", "http://a#b"]
)
def test_an_address_that_is_no_server_is_refused(url):
    with pytest.raises(BilincValidationError) as refused:
        CloudClient("bil_live_a", url)
    assert refused.value.details["field"] == "base_url"


def test_the_timeout_reaches_the_transport(client_of):
    wire = Wire()
    client_of(wire, timeout=1.5).status()
    assert wire.last.timeout == 1.5
