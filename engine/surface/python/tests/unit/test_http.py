"""The transport over real sockets: what a server or a network may do to an answer."""

from __future__ import annotations

import io
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from bilinc_client import (
    BilincAuthError,
    BilincCloudError,
    BilincConnectionError,
    BilincRateLimitError,
    CloudClient,
)

Serve = Callable[..., str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Answers each connection with the next of these bytes, then closes it."""
    listeners: list[socket.socket] = []

    def begin(*answers: bytes, asked: list[bytes] | None = None) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def run() -> None:
            for answer in answers:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with closing(connection):
                    request = b""
                    # Who begins with a secure greeting waits for an answer to that.
                    while b"\r\n\r\n" not in request and not request.startswith(b"\x16"):
                        request += connection.recv(65536)
                    head, _, body = request.partition(b"\r\n\r\n")
                    length = next(
                        (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")),
                        0,
                    )
                    while len(body) < length:
                        body += connection.recv(65536)
                    if asked is not None:
                        asked.append(head + b"\r\n\r\n" + body)
                    connection.sendall(answer)

        threading.Thread(target=run, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield begin
    for listener in listeners:
        listener.close()


def response(status: str, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def client(url: str, **options: object) -> CloudClient:
    return CloudClient("bil_live_test", url, timeout=20, sleep=lambda _: None, **options)  # type: ignore[arg-type]


OK = response("200 OK", b'{"success":true}')


def test_a_request_arrives_whole(serve):
    asked: list[bytes] = []
    assert client(serve(OK, asked=asked)).commit("k", "ö", idempotency_key="i") == {"success": True}
    head, _, body = asked[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /api/cloud/memory/commit HTTP/1.1")
    assert b"Authorization: Bearer bil_live_test" in head and b"Idempotency-Key: i" in head
    assert '"value":"ö"'.encode() in body


def test_an_error_keeps_what_its_body_and_headers_say(serve):
    refusal = response("429 Too Many", b'{"error":"rate_limited","message":"slow","requestId":"r"}', "Retry-After: 9")
    with pytest.raises(BilincRateLimitError) as failed:
        client(serve(refusal), attempts=1).status()
    assert (failed.value.retry_after, failed.value.request_id, failed.value.status) == (9.0, "r", 429)


@pytest.mark.parametrize("body", [b"<html>bad gateway</html>", b"", b"[]", b"\xff\xfe"])
def test_an_error_page_of_a_proxy_is_an_error_with_a_status(serve, body):
    with pytest.raises(BilincCloudError) as failed:
        client(serve(response("502 Bad Gateway", body)), attempts=1).status()
    assert failed.value.status == 502 and failed.value.retryable


CUT = [
    b"",
    b"HTTP/1.1 200 OK\r\nContent-Le",
    b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"success":true}',
    b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"suc',
    b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{"success":true}\r\n',
]


@pytest.mark.parametrize("half", CUT)
def test_half_an_answer_is_a_lost_answer_and_asked_for_again(serve, half):
    asked: list[bytes] = []
    assert client(serve(half, OK, asked=asked)).confirm("k") == {"success": True}
    assert asked[0] == asked[1], "the same request under the same key"
    with pytest.raises(BilincConnectionError) as failed:
        client(serve(half), attempts=1).confirm("k")
    assert failed.value.outcome_unknown and failed.value.retryable


@pytest.mark.parametrize("half", CUT[2:])
def test_a_cut_export_never_takes_the_place_of_a_whole_one(serve, half, tmp_path):
    path = tmp_path / "memories.jsonl"
    path.write_bytes(b"before\n")
    with pytest.raises(BilincConnectionError):
        client(serve(half), attempts=1).export(to=path)
    assert path.read_bytes() == b"before\n" and list(tmp_path.iterdir()) == [path]
    client(serve(half, response("200 OK", b'{"key":"k"}\n'))).export(to=path)
    assert path.read_bytes() == b'{"key":"k"}\n'


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
def test_a_key_does_not_follow_a_redirect(serve, status):
    elsewhere: list[bytes] = []
    other = serve(OK, asked=elsewhere)
    with pytest.raises(BilincCloudError) as failed:
        client(serve(response(status, b"", f"Location: {other}/"))).status()
    assert failed.value.status == int(status[:3]) and elsewhere == []


def test_an_address_where_nobody_listens_is_a_connection_error():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(BilincConnectionError) as failed:
        client(url).status()
    assert failed.value.code == "connection_failed" and failed.value.status is None


def test_a_server_that_says_nothing_is_not_waited_for_without_end():
    # The connection is taken by the system, and nobody ever answers it.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(BilincConnectionError):
            CloudClient("bil_live_test", url, timeout=0.05, attempts=1).status()


def test_an_answer_that_is_no_json_object_is_an_error(serve):
    for body in (b"[1]", b"not json", b"\xff"):
        with pytest.raises(BilincCloudError) as failed:
            client(serve(response("200 OK", body))).status()
        assert failed.value.code == "invalid_response"


def test_a_plain_server_behind_a_secure_address_is_a_connection_error(serve):
    with pytest.raises(BilincConnectionError):
        client(serve(OK).replace("http:", "https:"), attempts=1).status()


def test_errors_do_not_hold_the_key(serve):
    refusal = response("401 Unauthorized", b'{"error":"invalid_api_key","message":"no"}')
    with pytest.raises(BilincAuthError) as failed:
        client(serve(refusal)).status()
    assert "bil_live_test" not in str(failed.value) + repr(vars(failed.value))


def test_an_import_sends_its_bytes_again_from_the_start(serve):
    asked: list[bytes] = []
    lines = b'{"key":"a","value":1.10}\n' * 3
    client(serve(b"", OK, asked=asked)).import_(io.BytesIO(lines))
    assert [request.partition(b"\r\n\r\n")[2] for request in asked] == [lines, lines]
    assert (
        asked[0].lower().count(b"content-length: %d\r\n" % len(lines)) == asked[0].lower().count(b"content-length") == 1
    )
