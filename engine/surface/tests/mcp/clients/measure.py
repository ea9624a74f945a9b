"""How long calls take, and whether a server grows with them, over standard input and output and over HTTP.

    python3 measure.py PROGRAM [CALLS]    PROGRAM is the built `bilinc` (release, for numbers that mean something).

Needs nothing but Python. One client, one call after the other: a fifth each of commit_mem, recall, list_memories,
history, and a get that fails, over fifty keys. A fourth as many calls come first, uncounted.
"""

import http.client
import json
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
CALLS = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000


def message(number, method, params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


def arguments(number):
    key = f"k{number % 50}"
    return (
        ("commit_mem", {"key": key, "value": f"value {number}"}),
        ("recall", {"query": "value"}),
        ("list_memories", {}),
        ("history", {"key": key}),
        ("get", {"key": "not there"}),
    )[number % 5]


class Lines:
    def __init__(self):
        words = [PROGRAM, "mcp", "--store", tempfile.mkdtemp() + "/store"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "measure", "version": "0"}}
        self.ask(message(0, "initialize", hello))
        self.process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def ask(self, text):
        self.process.stdin.write(text + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()


class Http:
    def __init__(self):
        data = tempfile.mkdtemp()
        make = [PROGRAM, "keys", "create", "--project", "p", "--data", data, "--json"]
        key = json.loads(subprocess.check_output(make))["key"]
        words = [PROGRAM, "serve", "--data", data, "--listen", "127.0.0.1:0", "--log", "off", "--json"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        url = json.loads(self.process.stdout.readline())["listening"]
        self.connection = http.client.HTTPConnection(url.removeprefix("http://"))
        self.headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-11-25",
        }

    def ask(self, text):
        self.connection.request("POST", "/mcp", text, self.headers)
        return self.connection.getresponse().read()


def resident(process):
    """KiB of memory that a process holds."""
    with open(f"/proc/{process.pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS:")).split()[1])


def measure(name, server):
    def call(number):
        tool, given = arguments(number)
        answer = json.loads(server.ask(message(number, "tools/call", {"name": tool, "arguments": given})))
        if answer["result"]["isError"] != (tool == "get"):
            raise SystemExit(f"{tool}: {answer}")

    try:
        for number in range(CALLS // 4):
            call(number)
        before, took = resident(server.process), []
        for number in range(CALLS):
            begun = time.perf_counter()
            call(number)
            took.append((time.perf_counter() - begun) * 1000)
        after = resident(server.process)
    finally:
        server.process.kill()
        server.process.wait()
    took.sort()
    p50, p99 = (took[(len(took) - 1) * share // 100] for share in (50, 99))
    memory = f"memory {before / 1024:.1f} MiB before, {after / 1024:.1f} MiB after"
    print(f"{name}: {CALLS} calls, p50 {p50:.2f} ms, p99 {p99:.2f} ms, longest {took[-1]:.1f} ms; {memory}")


measure("stdio", Lines())
measure("HTTP", Http())
