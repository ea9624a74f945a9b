"""The client."""

from __future__ import annotations

from ._checkpoints import Checkpoints
from ._dreams import Dreams
from ._memories import Memories
from ._store import Store


class CloudClient(Memories, Store, Checkpoints, Dreams):
    """Speaks to one project of a Bilinc server.

    Every call may be made from several threads. Reads and writes are tried again when an answer is
    lost; a write goes under an idempotency key, so that it happens once however often it is tried.
    """


#: The same by a shorter name.
Bilinc = CloudClient
