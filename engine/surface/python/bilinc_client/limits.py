"""The names and limits that a request is checked against before it is sent.

They are those of the server. A client that knows them refuses a mistake without a round trip; the
server judges every request anew.
"""

RECALL_PROFILES = ("fast", "balanced", "verified", "deep")
MEMORY_TYPES = ("episodic", "procedural", "semantic", "working", "spatial")
REVISION_STRATEGIES = ("entrenchment", "recency", "verification", "importance")
#: How much of each value a list or a history gives.
VALUE_MODES = ("full", "preview", "none")
LIST_ORDERS = ("key", "newest", "oldest")
ACTION_OPS = ("revise", "forget", "confirm", "flag")

MAX_KEY_LENGTH = 512
MAX_QUERY_LENGTH = 4096
MAX_TIME_LENGTH = 64
MAX_REASON_LENGTH = 512
MAX_SOURCE_LENGTH = 256
MAX_IDEMPOTENCY_KEY_LENGTH = 256

MAX_RECALL_LIMIT = 100
MAX_SNAPSHOT_LIST_LIMIT = 100
MAX_DIFF_LIMIT = 500
MAX_HISTORY_LIMIT = 100
MAX_LIST_LIMIT = 100
MAX_LIST_SOURCES = 20
MAX_LOG_LIMIT = 1000
MAX_DREAM_LIST_LIMIT = 100

#: Most candidates of a dream, actions of one call, and actions of one page.
MAX_DREAM_CANDIDATES = 200
MAX_DREAM_ACTIONS = 1000
DREAM_PAGE_ACTIONS = 25
