"""Drives the server with the Python package `mcp`, of the 1.x line or newer."""

import asyncio
import json
import os
import signal
import sys
import tempfile
from contextlib import asynccontextmanager
from importlib.metadata import version

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

import over_http

PROGRAM = sys.argv[1]
NAMES = (
    "commit_mem recall get revise forget status snapshot diff rollback list_memories history confirm "
    "dream_start dream_apply dream_undo dream_show dream_list undo"
).split()
passed = []


def check(name, holds, shown=None):
    if not holds:
        raise SystemExit(f"FAILED {name}: {shown}")
    passed.append(name)


def attribute(thing, *names):
    """The 1.x line calls in camel case what the newer one calls in snake case."""
    for name in names:
        if hasattr(thing, name):
            return getattr(thing, name)
    return None


def is_error(result):
    return bool(attribute(result, "isError", "is_error"))


def body(result):
    """The text of an answer, and the same as structured content where the client knows that."""
    found = json.loads(result.content[0].text)
    structured = attribute(result, "structuredContent", "structured_content")
    if structured is not None and not is_error(result):
        check("text and structured content are the same", structured == found, found)
    return found


def server(store, *options):
    return StdioServerParameters(command=PROGRAM, args=["mcp", "--store", store, *options])


@asynccontextmanager
async def session_over(transport):
    async with transport as (read, write):
        async with ClientSession(read, write) as session:
            yield session, await session.initialize()


def handshake(store, *options):
    return session_over(stdio_client(server(store, *options)))


def http_handshake(http, key=None, path="/mcp"):
    return session_over(over_http.streams(http.url + path, key or http.key))


async def drive(session):
    """Every tool, errors, many calls at once."""

    async def call(tool, **arguments):
        result = await session.call_tool(tool, arguments)
        check(f"{tool} succeeds", not is_error(result), result)
        return body(result)

    async def fails(code, tool, **arguments):
        result = await session.call_tool(tool, arguments)
        check(f"{tool} fails with {code}", is_error(result) and body(result)["error"] == code, result)

    tools = (await session.list_tools()).tools
    check("tools in their order", [tool.name for tool in tools] == NAMES, tools)
    await call("status")
    for key in "abcdefgh":
        await call("commit_mem", key=key, value={"said": f"the value of {key}", "n": 1.5}, session_id="run")
    check("a value comes back", (await call("get", key="a"))["value"] == {"said": "the value of a", "n": 1.5})
    check("recall finds", (await call("recall", query="value of c", limit=1.0))["results"][0]["key"] == "c")
    await call("revise", key="a", value="new", reason="r")
    await call("confirm", key="b")
    await call("forget", key="c", reason="gone")
    check("history is there", len((await call("history", key="a"))["entries"]) == 2)
    check("lists count", (await call("list_memories", limit="3"))["total"] == 7)
    snapshot = (await call("snapshot", label="before"))["snapshot"]["id"]
    await call("commit_mem", key="later", value=None)
    await call("snapshot", action="list")
    check("diff counts", (await call("diff", from_snapshot_id=snapshot))["counts"]["added"] == 1)
    preview = await call("rollback", snapshot_id=snapshot, reason="back")
    await call("rollback", snapshot_id=snapshot, reason="back", mode="execute", confirmation_token=preview["confirmationToken"])
    dream = await call("dream_start")
    actions = [
        {"op": "confirm", "key": it["key"], "expected_version": it["entryVersion"], "reason": "right"}
        for it in dream["candidates"]
    ]
    applied = await call("dream_apply", dream_id=dream["dreamId"], actions=actions, report="looked")
    check("actions are applied", all(it["status"] == "applied" for it in applied["results"]), applied)
    await call("dream_show", dream_id=dream["dreamId"])
    await call("dream_list")
    check("a dream is undone", len((await call("dream_undo", dream_id=dream["dreamId"]))["restored"]) == len(actions))
    await call("undo", session_id="run", dry_run=True)

    await fails("memory_not_found", "get", key="none")
    await fails("invalid_request", "get", key="a", nonsense=1)
    await fails("invalid_request", "commit_mem", key="bilinc:dream:x", value=1)
    await fails("invalid_request", "commit_mem", key="big", value=10**40 + 1)
    try:
        result = await session.call_tool("nothing", {})
        check("an unknown tool is an error of the protocol", False, result)
    except Exception as error:  # each line of the package has its own type
        check("an unknown tool is an error of the protocol", "unknown tool" in str(error), error)

    many = [session.call_tool("commit_mem", {"key": f"many.{n}", "value": n}) for n in range(100)]
    check("many calls at once", not any(is_error(result) for result in await asyncio.gather(*many)))
    task = asyncio.ensure_future(session.call_tool("recall", {"query": "value"}))
    await asyncio.sleep(0)
    task.cancel()
    check("the session goes on after a cancelled call", (await call("list_memories", prefix="many."))["total"] == 100)

    prompts = await session.list_prompts()
    check("the prompt is there", [prompt.name for prompt in prompts.prompts] == ["dream_pass"])
    await session.get_prompt("dream_pass", {"limit": "10"})
    templates = await session.list_resource_templates()
    templates = attribute(templates, "resourceTemplates", "resource_templates")
    check("the template is there", attribute(templates[0], "uriTemplate", "uri_template") == "memory://{key}")
    read = await session.read_resource("memory://a")
    check("a resource is read", json.loads(read.contents[0].text)["key"] == "a", read)


async def both_see_all(one, other, name):
    """Two connections write at the same time; nothing is lost and each sees the other."""
    calls = [each.call_tool("commit_mem", {"key": f"{n}.{who}", "value": n}) for n in range(50) for who, each in enumerate((one, other))]
    check(name, not any(is_error(result) for result in await asyncio.gather(*calls)))
    for each in (one, other):
        check("each sees the other", body(await each.call_tool("list_memories", {}))["total"] == 100)


async def killed(connection, kill):
    """Kills a server in the middle of many calls; gives those that were answered."""
    answered, enough = [], asyncio.Event()

    async def session():
        async def one(n):
            try:
                result = await session.call_tool("commit_mem", {"key": f"killed.{n}", "value": n})
            except Exception:  # each line of the package has its own types, and nobody answers here
                return
            if not is_error(result):
                answered.append(n)
                if len(answered) == 50:
                    enough.set()

        async with connection as (session, _):
            calls = [asyncio.ensure_future(one(n)) for n in range(200)]
            await enough.wait()
            kill()
            # Some lines of the package do not notice that a server of theirs is gone.
            _, waiting = await asyncio.wait(calls, timeout=2)
            for call in waiting:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    # How a line of the package ends a session whose server is gone is its own affair.
    task = asyncio.ensure_future(session())
    await asyncio.wait([task], timeout=60)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    check("some calls were answered before", len(answered) >= 50, answered)
    return answered


async def all_there(session, answered):
    for n in answered:
        result = await session.call_tool("get", {"key": f"killed.{n}"})
        check("what was answered survives", not is_error(result) and body(result)["value"] == n, n)


async def over_lines(line, folder):
    async with handshake(os.path.join(folder, "handshake")) as (session, told):
        check("instructions are told", "dream" in (told.instructions or ""))
        await drive(session)
        era = attribute(told, "protocolVersion", "protocol_version")
    print(f"mcp {line}, stdio, handshake {era}: {len(passed)} checks passed")

    before = len(passed)
    store = os.path.join(folder, "two")
    async with handshake(store) as (first, _), handshake(store) as (second, _):
        await both_see_all(first, second, "two servers on one store")
    async with handshake(store, "--read-only") as (session, _):
        names = [tool.name for tool in (await session.list_tools()).tools]
        check("a connection that reads lists the reads", len(names) == 8 and "commit_mem" not in names, names)
        check("and reads", body(await session.call_tool("get", {"key": "0.0"}))["value"] == 0)
    pid = os.path.join(folder, "pid")
    shell = StdioServerParameters(
        command="sh", args=["-c", 'echo $$ >"$1"; exec "$2" mcp --store "$3"', "sh", pid, PROGRAM, store]
    )
    answered = await killed(session_over(stdio_client(shell)), lambda: os.kill(int(open(pid).read()), signal.SIGKILL))
    async with handshake(store) as (session, _):
        await all_there(session, answered)
    print(f"mcp {line}, stdio, two servers, read-only, killed: {len(passed) - before} checks passed")


async def over_http_too(line):
    before = len(passed)
    http = over_http.Server(PROGRAM)
    try:
        async with http_handshake(http) as (session, told):
            check("instructions are told", "dream" in (told.instructions or ""))
            await drive(session)
            era = attribute(told, "protocolVersion", "protocol_version")
        print(f"mcp {line}, HTTP, handshake {era}: {len(passed) - before} checks passed")

        before = len(passed)
        async with http_handshake(http, http.new_key("--read-only")) as (session, _):
            names = [tool.name for tool in (await session.list_tools()).tools]
            check("a key that reads lists the reads", len(names) == 8 and "commit_mem" not in names, names)
        async with http_handshake(http, path="/mcp/knowledge-graph") as (session, _):
            names = [tool.name for tool in (await session.list_tools()).tools]
            check("the other tools are there", len(names) == 9 and "read_graph" in names, names)
        answered = await killed(http_handshake(http), http.kill)
        http.start_again()
        async with http_handshake(http) as (session, _):
            await all_there(session, answered)
    finally:
        http.kill()
    http = over_http.Server(PROGRAM)
    try:
        async with http_handshake(http) as (one, _), handshake(http.store) as (other, _):
            await both_see_all(one, other, "HTTP and stdio on one store")
    finally:
        http.kill()
    print(f"mcp {line}, HTTP, read-only, killed, beside stdio: {len(passed) - before} checks passed")


async def without_handshake(line, folder):
    try:
        from mcp.client import Client
    except ImportError:
        try:
            from mcp import Client
        except ImportError:
            print(f"mcp {line}: knows no era without a handshake")
            return
    for mode in ("auto", "2026-07-28"):
        http = over_http.Server(PROGRAM)
        try:
            for name, transport in (
                ("stdio", stdio_client(server(os.path.join(folder, f"client-{mode}")))),
                ("HTTP", over_http.transport(http.url + "/mcp", http.key)),
            ):
                before = len(passed)
                async with Client(transport, mode=mode) as client:
                    await drive(client)
                    era = attribute(client, "protocol_version")
                print(f"mcp {line}, {name}, Client, mode {mode}, {era}: {len(passed) - before} checks passed")
        finally:
            http.kill()


async def main():
    folder, line = tempfile.mkdtemp(), version("mcp")
    await over_lines(line, folder)
    await over_http_too(line)
    await without_handshake(line, folder)


asyncio.run(main())
