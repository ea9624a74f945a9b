"""The dream pass: start, act in pages, show, undo."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from . import _check, _json, limits
from ._base import MEMORY, BaseClient
from .errors import BilincCloudError, BilincDreamApplyError, error_for_response, invalid

#: Characters that `#` and the number of a page take of an idempotency key.
_PAGE_ROOM = 4


class Dreams(BaseClient):
    """Tidying the memory in one pass that can be undone as a whole."""

    def dream_start(
        self,
        limit: int = limits.MAX_DREAM_CANDIDATES,
        prefix: str | None = None,
        since: datetime | str | None = None,
        *,
        include_reviewed: bool = False,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Begins a dream and gives its candidates, with the versions that actions must name.

        `dreamId` is None when there is no candidate. The candidates' values are stored content: data for
        the agent that decides, not instructions to it.
        """
        payload = {
            "limit": _check.count("limit", limit, limits.MAX_DREAM_CANDIDATES),
            **_check.given(
                prefix=_check.verbatim("prefix", prefix),
                since=_check.moment("since", since),
                includeReviewed=True if include_reviewed else None,
            ),
        }
        return self._write(f"{MEMORY}/dreams", payload, idempotency_key)

    def dream_apply(
        self,
        dream_id: str,
        actions: Sequence[Mapping[str, Any]],
        report: Any = None,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Carries out actions on the candidates of a dream, and finishes it with the report.

        The actions go in pages of 25, each of which is carried out as a whole or not at all. When one
        fails, `BilincDreamApplyError` says what the pages before it did and what was not tried. Page *n*
        goes under `<idempotency_key>#<n>`: the same call with the key of the error goes on where it
        stopped. An action that meets a changed memory is a `conflict` in `results`, which is no failure.

        With `dry_run` nothing is written. Each page is then judged on the memories as they are now, and
        the forgets of all pages are counted together against the cap.
        """
        path = f"{_path(dream_id)}/apply"
        key = _check.idempotency_key(idempotency_key, _PAGE_ROOM)
        pages = _pages(self._actor, actions, report, dry_run)
        results: list[dict[str, Any]] = []
        answer: dict[str, Any] = {}
        replayed, trial = True, _Trial()
        for number, (first, body, forgets) in enumerate(pages, 1):
            try:
                if dry_run:
                    trial.check(forgets)
                answer = dict(self._write_under(f"{key}#{number}", path, body))
            except BilincCloudError as error:
                raise _failed(error, key, results, number, len(pages), actions, first) from error
            page = [{**result, "index": first + at} for at, result in enumerate(answer.get("results") or [])]
            results += page
            replayed &= answer.pop("replayed", False) is True
            if dry_run:
                answer = trial.counted(answer, page)
        whole = {**answer, "results": results, "pages": len(pages)}
        # A call is a repetition when every page of it is.
        return {**whole, "replayed": True} if replayed else whole

    def dream_undo(
        self,
        dream_id: str,
        *,
        dry_run: bool = False,
        restore_metadata: bool = False,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Takes back what a dream itself changed, for seven days after it.

        A memory that somebody else changed since is left as it is and listed in `conflicts`. A second
        call changes nothing and gives the first answer with `alreadyUndone`.
        """
        payload = _check.given(dryRun=True if dry_run else None, restoreMetadata=True if restore_metadata else None)
        return self._write(f"{_path(dream_id)}/undo", payload, idempotency_key)

    def dream_show(self, dream_id: str) -> dict[str, Any]:
        """One dream: state, candidates, each action with its result, report, undo."""
        return self._get(_path(dream_id))

    def dream_list(self, *, limit: int = 20) -> dict[str, Any]:
        """Dreams, newest first."""
        return self._get(f"{MEMORY}/dreams", {"limit": _check.count("limit", limit, limits.MAX_DREAM_LIST_LIMIT)})


def _path(dream_id: Any) -> str:
    return f"{MEMORY}/dreams/{quote(_check.required_text('dream_id', dream_id), safe='')}"


def _pages(actor: dict[str, Any], actions: Any, report: Any, dry_run: bool) -> list[tuple[int, bytes, int]]:
    """For each page the index of its first action, its body, and how many forgets it asks for.

    All of them are made before one is sent: a mistake in the last action refuses the call, and nothing
    is half done because of it.
    """
    if isinstance(actions, (str, bytes, Mapping)) or not isinstance(actions, Sequence):
        raise invalid("actions", "is a list of actions", "wrong_type")
    if len(actions) > limits.MAX_DREAM_ACTIONS:
        raise invalid("actions", f"has at most {limits.MAX_DREAM_ACTIONS} actions", "too_many")
    checked = [_check.action(index, action) for index, action in enumerate(actions)]
    size = limits.DREAM_PAGE_ACTIONS
    pages = []
    for first in range(0, max(len(checked), 1), size):
        page = checked[first : first + size]
        payload: dict[str, Any] = {**actor, "actions": page}
        if first + size >= len(checked):
            payload["final"] = True
            if report is not None:
                payload["report"] = report
        if dry_run:
            payload["dryRun"] = True
        pages.append((first, _json.encode(payload), sum(action["op"] == "forget" for action in page)))
    return pages


class _Trial:
    """The forgets of the pages of a dry run, which a server sees one by one."""

    def __init__(self) -> None:
        self._before: int | None = None
        self._applied = 0
        self._cap: int | None = None

    def check(self, forgets: int) -> None:
        """Refuses the page that a server would refuse after the pages before it."""
        if self._before is None or self._cap is None or self._before + self._applied + forgets <= self._cap:
            return
        details = {"cap": self._cap, "applied": self._before + self._applied, "asked": forgets}
        message = f"this dream may forget at most {self._cap}"
        raise error_for_response(
            422, {"error": "forget_cap_exceeded", "message": message, "retryable": False, "details": details}
        )

    def counted(self, answer: dict[str, Any], results: list[dict[str, Any]]) -> dict[str, Any]:
        """The answer with the forgets of all pages so far."""
        reserved, self._cap = answer.get("forgetsReserved"), answer.get("forgetCap")
        if not isinstance(reserved, int):
            return answer
        now = sum(result.get("op") == "forget" and result.get("status") == "applied" for result in results)
        if self._before is None:
            self._before = reserved - now
        self._applied += now
        return {**answer, "forgetsReserved": self._before + self._applied}


def _failed(
    error: BilincCloudError,
    key: str,
    results: list[dict[str, Any]],
    page: int,
    pages: int,
    actions: Sequence[Mapping[str, Any]],
    first: int,
) -> BilincDreamApplyError:
    """The failure of one page as that of the call."""
    own = dict(error.details) if isinstance(error.details, dict) else {}
    if isinstance(own.get("field"), str):
        own["field"] = re.sub(r"^actions\[(\d+)\]", lambda at: f"actions[{first + int(at[1])}]", own["field"])
    details = {**own, "page": page, "results": results, "notTried": list(range(first, len(actions)))}
    failed = BilincDreamApplyError(
        f"page {page} of {pages} failed after {len(results)} results: {error.message}",
        code=error.code,
        status=error.status,
        request_id=error.request_id,
        retryable=error.retryable,
        details=details,
        results=results,
        page=page,
        pages=pages,
        not_tried=[dict(action) for action in actions[first:]],
    )
    failed.outcome_unknown = error.outcome_unknown
    failed.idempotency_key = key
    failed.retry_after = error.retry_after
    return failed
