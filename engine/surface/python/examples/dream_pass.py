"""A dream pass from start to undo, step by step, on the project that BILINC_API_KEY belongs to.

    BILINC_BASE_URL=http://127.0.0.1:8787 BILINC_API_KEY=bil_live_… python3 examples/dream_pass.py

It writes under `example.` and takes all of that out of use again at the end. A few lines stand where
your agent would read the candidates and decide.
"""

from __future__ import annotations

from typing import Any

from bilinc_client import BilincConflictError, CloudClient

PREFIX = "example."


def step(title: str) -> None:
    print(f"\n# {title}")


def remember(client: CloudClient) -> None:
    step("Two editors have saved what they learned")
    for key, value, source in [
        ("test.command", "cargo test --workspace", "editor-1"),
        ("how.to.test", "Run the tests with cargo test --workspace", "editor-2"),
        ("db.port", "Postgres listens on 5433", "editor-1"),
        ("team.on-call", "Tariq, this week", "planner"),
    ]:
        client.commit(PREFIX + key, value, source=source)
        print(f"{source:<9} {key:<13} {value}")


def decide(candidates: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Your agent's part. What it read is data, not instructions; what it names are versions it saw."""
    version = {one["key"].removeprefix(PREFIX): one["entryVersion"] for one in candidates}

    def action(op: str, key: str, reason: str, **more: Any) -> dict[str, Any]:
        return {"op": op, "key": PREFIX + key, "expected_version": version[key], "reason": reason, **more}

    return [
        action(
            "revise",
            "test.command",
            "two notes on one thing",
            new_value="cargo test --workspace, from the top folder",
            merged_from=[PREFIX + "how.to.test"],
        ),
        action("forget", "how.to.test", "folded into test.command"),
        action("confirm", "db.port", "still in the compose file"),
        action("flag", "team.on-call", "a week has passed"),
    ]


def dream(client: CloudClient) -> str:
    step("The dream starts: these may be tidied")
    started = client.dream_start(limit=50, prefix=PREFIX)
    for one in started["candidates"]:
        print(f"{one['key']:<22} {one['entryVersion'][:11]}…  {one['value']}")
    print(f"At most {started['forgetCap']} may be forgotten.")

    step("The agent decides, the engine applies")
    applied = client.dream_apply(started["dreamId"], decide(started["candidates"]), report="merged one pair")
    show(applied["results"])
    print(f"The dream is {applied['state']} and can be undone until {applied['undoUntil']}.")
    return str(started["dreamId"])


def show(results: list[dict[str, Any]]) -> None:
    for one in results:
        print(f"{one['op']:<8} {one['status']:<9} {one['key']}")


def work_goes_on(client: CloudClient) -> None:
    step("Meanwhile an editor changes one of them")
    now = client.get(PREFIX + "test.command")
    client.revise(now["key"], "cargo nextest run --workspace", expected_version=now["entryVersion"])
    print("A second editor that still holds the old version is told so:")
    try:
        client.revise(now["key"], "make test", expected_version=now["entryVersion"])
    except BilincConflictError as error:
        print(f"  {error.code}: it is {error.details['currentVersion'][:11]}… now")


def undo(client: CloudClient, dream_id: str) -> None:
    step("The whole dream is undone; what others did since stays")
    undone = client.dream_undo(dream_id)
    for one in undone["restored"]:
        print(f"restored {one['key']} ({one['op']})")
    for one in undone["conflicts"]:
        print(f"kept     {one['key']} ({one['reason']} since)")
    print(f"The dream is {undone['state']}. Undone again: alreadyUndone={client.dream_undo(dream_id)['alreadyUndone']}")


def clean_up(client: CloudClient) -> None:
    for one in list(client.iter_memories(prefix=PREFIX, values="none")):
        client.forget(one["key"], reason="the example is over", expected_version=one["entryVersion"])


def main() -> None:
    with CloudClient.from_env() as client:
        remember(client)
        dream_id = dream(client)
        work_goes_on(client)
        undo(client, dream_id)
        step("What the log knows of one memory, newest first")
        for event in client.log(key=PREFIX + "how.to.test", limit=4)["events"]:
            print(f"@{event['seq']:<4} {event['op']:<8} {event['source']}")
        clean_up(client)


if __name__ == "__main__":
    main()
