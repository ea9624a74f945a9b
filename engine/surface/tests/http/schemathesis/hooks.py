"""Gives requests that fit their schema what a schema cannot: keys, dreams and tokens that exist.

Every second one is left as it was made up. Requests that are meant to be refused stay as they are.
"""

import itertools
import os

import requests
import schemathesis
from schemathesis.generation import GenerationMode

KEY = {"Authorization": f"Bearer {os.environ['BILINC_TEST_KEY']}"}
numbers = itertools.count()


@schemathesis.serializer("application/x-ndjson")
def lines(_context, value):
    """Lines go out as they are."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


def ask(case, path, body):
    """Asks the server for something beside the run."""
    address = case.operation.schema.get_base_url().rstrip("/")
    answer = requests.post(f"{address}/api/cloud/memory/{path}", json=body, headers=KEY, timeout=30)
    answer.raise_for_status()
    return answer.json()


def made(case):
    """A memory that exists."""
    key = f"seed {next(numbers) % 8}"
    ask(case, "commit", {"key": key, "value": {"text": "a memory", "n": 1}})
    return key


def rollback(case, body):
    """A rollback that was previewed."""
    snapshot = ask(case, "snapshots", {})["snapshot"]["id"]
    named = {"snapshotId": snapshot, "reason": body["reason"]}
    body.update(named)
    if "confirmationToken" in body:
        body["confirmationToken"] = ask(case, "rollback/preview", named)["confirmationToken"]


@schemathesis.hook
def before_call(_context, case, _kwargs):
    """Called before each request."""
    # A log that is followed has no end.
    if str((case.query or {}).get("follow")).lower() == "true":
        case.query["follow"] = "false"
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE or next(numbers) % 2:
        return
    name, body = case.operation.definition.raw["operationId"], case.body
    if name in ("dream_show", "dream_apply", "dream_undo"):
        case.path_parameters["id"] = ask(case, "dreams", {})["dreamId"]
    if name == "get":
        case.query.update(key=made(case))
        case.query.pop("asOf", None)
    if name == "verify":
        case.query.pop("sinceHead", None)
    if name == "log":
        case.query = {name: case.query[name] for name in ("limit", "order", "fromSeq") if name in case.query}
    if name == "import":
        case.body = '{"key":"imported","value":1}\n'
    if not isinstance(body, dict):
        return
    # What these name exists as good as never.
    for field in ("expectedVersion", "after", "before", "since", "queryTimestamp", "cursor", "updatedAfter",
                  "updatedBefore", "sources", "evidenceKeys"):  # fmt: skip
        body.pop(field, None)
    if name in ("commit", "revise", "confirm", "forget", "flag", "unflag", "history"):
        body["key"] = made(case)
        body.pop("ifAbsent", None)
    if name == "unflag":
        ask(case, "flag", {"key": body["key"], "reason": "to be cleared"})
    if name == "commit":
        body["value"], body["ttl"] = {"text": "a memory"}, 3600
    if name == "diff":
        body.update(fromSnapshotId="@0")
        body.pop("toSnapshotId", None)
    if name == "dream_apply":
        body["final"] = True
        body.pop("actions", None)
    if name == "undo":
        made(case)
        for field in ("dreamId", "fromSeq", "importId", "sessionId", "source", "toSeq"):
            body.pop(field, None)
        body["seqs"] = [1]
    if name in ("rollback_preview", "rollback_execute"):
        rollback(case, body)
