"""Lists, idempotency and refusals through the published client, against our server."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

TYPES = ("episodic", "procedural", "semantic", "working", "spatial")
SOURCES = ("a", "b", "c d")


@pytest.fixture(scope="module")
def stocked(server: Any) -> Any:
    """A project with memories of every type and source, some changed after others were made."""
    bilinc = pytest.importorskip("bilinc", reason="the published client is not installed: ./run-tests installs it")
    client = bilinc.CloudClient(server.key("stocked"), server.url)
    for at in range(25):
        key = ("note " if at % 3 else "note.") + f"{at * 7 % 25:02}"
        client.commit(key, {"at": at}, memory_type=TYPES[at % 5], source=SOURCES[at % 3] if at % 4 else None)
    for at in range(0, 25, 6):
        client.confirm(f"{'note ' if at % 3 else 'note.'}{at * 7 % 25:02}")
    entries = list(client.iter_memories(values="full"))
    assert len(entries) == 25
    return client, entries


@pytest.mark.parametrize("size", [2, 7, 100])
@pytest.mark.parametrize("order", [None, "key", "newest", "oldest"])
@pytest.mark.parametrize(
    ("filters", "keeps"),
    [
        ({}, lambda entry, cut: True),
        ({"prefix": "note "}, lambda entry, cut: entry["key"].startswith("note ")),
        ({"prefix": "none"}, lambda entry, cut: False),
        ({"memory_type": "working"}, lambda entry, cut: entry["memoryType"] == "working"),
        ({"sources": ["a"]}, lambda entry, cut: entry["source"] == "a"),
        ({"sources": ["c d", "bilinc_cloud"]}, lambda entry, cut: entry["source"] in ("c d", "bilinc_cloud")),
        ({"updated_after": "cut"}, lambda entry, cut: entry["updatedAt"] > cut),
        ({"updated_before": "cut"}, lambda entry, cut: entry["updatedAt"] < cut),
        (
            {"prefix": "note.", "memory_type": "semantic", "sources": ["a", "bilinc_cloud"], "updated_before": "cut"},
            lambda entry, cut: (
                entry["key"].startswith("note.")
                and entry["memoryType"] == "semantic"
                and entry["source"] in ("a", "bilinc_cloud")
                and entry["updatedAt"] < cut
            ),
        ),
    ],
    ids=["all", "prefix", "no-match", "type", "source", "sources", "after", "before", "together"],
)
def test_pages_under_every_filter_and_order_give_each_match_once(stocked, filters, keeps, order, size):
    client, entries = stocked
    cut = sorted(entry["updatedAt"] for entry in entries)[14]
    filters = {name: cut if value == "cut" else value for name, value in filters.items()}
    wanted = [entry for entry in entries if keeps(entry, cut)]
    pages, cursor = [], None
    while True:
        page = client.list_memories(limit=size, values="none", cursor=cursor, order=order, **filters)
        assert page["total"] == len(wanted) and page["order"] == (order or "key")
        pages.append(page["entries"])
        cursor = page["nextCursor"]
        if cursor is None:
            break
        assert len(page["entries"]) == size
    got = [entry for page in pages for entry in page]
    assert sorted(entry["key"] for entry in got) == sorted(entry["key"] for entry in wanted)
    times = [entry["updatedAt"] for entry in got]
    if order in (None, "key"):
        assert [entry["key"] for entry in got] == sorted(entry["key"] for entry in wanted)
    else:
        assert times == sorted(times, reverse=order == "newest")
    walked = client.iter_memories(page_size=size, values="none", order=order, **filters)
    assert [entry["key"] for entry in walked] == [entry["key"] for entry in got]


def test_a_time_with_any_zone_is_that_time(stocked):
    client, entries = stocked
    cut = sorted(entry["updatedAt"] for entry in entries)[14]
    moment = datetime.fromisoformat(cut.replace("Z", "+00:00"))
    # Microseconds are written out: without them, a time means its whole millisecond.
    wanted = client.list_memories(updated_after=cut.replace("Z", "000Z"))["total"]
    assert 0 < wanted < 25
    east = moment.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert client.list_memories(updated_after=moment)["total"] == wanted
    assert client.list_memories(updated_after=east)["total"] == wanted
    assert client.list_memories(updated_after=moment.replace(tzinfo=None))["total"] == wanted
    assert client.list_memories(updated_after=east.isoformat(timespec="microseconds"))["total"] == wanted


def test_a_cursor_of_another_order_or_project_is_refused(stocked, theirs, bilinc):
    client, _ = stocked
    cursor = client.list_memories(limit=1)["nextCursor"]
    theirs.commit("k", 1)
    for asks in (
        lambda: client.list_memories(cursor=cursor, order="newest"),
        lambda: theirs.list_memories(cursor=cursor),
    ):
        with pytest.raises(bilinc.BilincValidationError) as refused:
            asks()
        assert refused.value.details["reason"] == "invalid_cursor"


def test_one_idempotency_key_is_one_write(theirs, bilinc):
    first = theirs.commit("k", 1, idempotency_key="once")
    again = theirs.commit("k", 1, idempotency_key="once")
    assert again["entryVersion"] == first["entryVersion"]
    assert len(theirs.history("k")["entries"]) == 1
    with pytest.raises(bilinc.BilincConflictError) as refused:
        theirs.commit("k", 2, idempotency_key="once")
    assert refused.value.code == "idempotency_conflict"


ERRORS = [
    ("missing_or_unknown_key", "BilincAuthError", 401, "invalid_api_key"),
    ("read_only_key", "BilincEntitlementError", 403, "read_only"),
    ("secret", "BilincValidationError", 422, "secret_detected"),
    ("reserved", "BilincValidationError", 400, "invalid_request"),
    ("too_large_a_value", "BilincValidationError", 400, "invalid_request"),
]


@pytest.mark.parametrize(("case", "name", "status", "code"), ERRORS, ids=[error[0] for error in ERRORS])
def test_a_refusal_is_the_right_class(bilinc, server, theirs, key, case, name, status, code):
    reader = bilinc.CloudClient(server.key("read-only", "--read-only"), server.url)
    asks = {
        "missing_or_unknown_key": lambda: bilinc.CloudClient("bil_live_unknown", server.url).status(),
        "read_only_key": lambda: reader.commit("k", 1),
        "secret": lambda: theirs.commit("k", {"token": "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"}),
        "reserved": lambda: theirs.commit("bilinc:dream:x", 1),
        "too_large_a_value": lambda: theirs.commit("k", "x" * (1024 * 1024 + 1)),
    }
    with pytest.raises(getattr(bilinc, name)) as refused:
        asks[case]()
    error = refused.value
    assert (type(error).__name__, error.status, error.code) == (name, status, code)
    assert error.request_id and error.retryable is False and isinstance(error.details, dict)
    assert "aB3dE6" not in str(error) + str(error.details)


def test_a_read_only_key_reads(bilinc, server):
    project = f"project-{next(server.projects)}"
    writer = bilinc.CloudClient(server.key(project), server.url)
    reader = bilinc.CloudClient(server.key(project, "--read-only"), server.url)
    writer.commit("k", 1)
    assert reader.export()["count"] == reader.list_memories()["total"] == 1
    assert reader.recall("k")["results"] and reader.status()["success"]
