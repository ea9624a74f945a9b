"""A server over HTTP with a key, and how each line of the package `mcp` reaches it."""

import json
import os
import signal
import subprocess
import tempfile
from contextlib import asynccontextmanager

from mcp.client import streamable_http


class Server:
    """`bilinc serve` on a data folder of its own, with one project."""

    def __init__(self, program):
        self.program = program
        self.data = tempfile.mkdtemp()
        self.store = os.path.join(self.data, "projects", "p")
        self.key = self.new_key()
        self.process, self.url = None, None
        self.start("127.0.0.1:0")

    def new_key(self, *options):
        words = [self.program, "keys", "create", "--project", "p", "--data", self.data, "--json", *options]
        return json.loads(subprocess.check_output(words))["key"]

    def start(self, address):
        words = [self.program, "serve", "--data", self.data, "--listen", address, "--log", "off", "--json"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.url = json.loads(self.process.stdout.readline())["listening"]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def start_again(self):
        """At the address that it had, on the data that it left."""
        self.start(self.url.removeprefix("http://"))


def transport(url, key):
    """The transport of this line of the package, with the key in the head of each request."""
    headers = {"Authorization": f"Bearer {key}"}
    if not hasattr(streamable_http, "streamable_http_client"):
        return streamable_http.streamablehttp_client(url, headers=headers)
    library = getattr(streamable_http, "httpx2", None) or streamable_http.httpx
    return streamable_http.streamable_http_client(url, http_client=library.AsyncClient(headers=headers, timeout=30))


@asynccontextmanager
async def streams(url, key):
    async with transport(url, key) as all_of_them:
        yield all_of_them[:2]
