"""Watches over chunked HTTP: initial events, resume, selectors, bookmarks, expiry.

After ``k8s.io/apiserver/pkg/storage/cacher``: an object that starts or stops matching a selector is
ADDED or DELETED for that watch. A watch reads the store's history from its last version whenever the
store wakes it, so that watches cost nothing while nothing changes.
"""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from aiohttp import web

from nettests.lab.apiserver import views
from nettests.lab.apiserver.call import Call
from nettests.lab.apiserver.channels import not_accepted
from nettests.lab.apiserver.object_selectors import (
    matches_labels,
    parse_fields,
    parse_labels,
    stated_field,
)
from nettests.lab.apiserver.request import flag
from nettests.lab.apiserver.responses import JSON, api_headers
from nettests.lab.apiserver.status import ApiError, bad_request, expired, forbidden_value, invalid
from nettests.lab.apiserver.store import PINNED, Change, HistoryGoneError, Pinned, Record, Selects
from nettests.lab.interfaces import Json

Send = Callable[[list[str]], Awaitable[None]]

_LEAST_SECONDS = 1800
_GATHER_A_WATCH = 0.00025
_GATHER_FROM = 40
"""If a collection has this many watches, writes are gathered for ``_GATHER_A_WATCH`` seconds for each: with hundreds
of nodes, changes of Services are sent together every tenth of a second."""
_BOOKMARKS_A_SECOND = 50.0
"""Upper limit of bookmarks: hundreds of nodes have thousands of watches, most of them without events.
kube-apiserver sends each watch about one a minute."""


def selection(call: Call) -> Selects:
    """Return the predicate of the request's namespace, name and selectors."""
    query = call.http.query
    labels = parse_labels(query.get("labelSelector", ""))
    fields = parse_fields(query.get("fieldSelector", ""), call.resource.key)
    namespace, name = call.namespace, call.name

    def selects(record: Record) -> bool:
        where, named = record.name
        if (namespace and where != namespace) or (name and named != name):
            return False
        body = record.body
        return matches_labels(labels, body) and (fields is None or fields(body))

    return selects


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watch:
    """The parameters of one watch."""

    call: Call
    form: views.Form
    selects: Selects
    pinned: Pinned | None
    bookmarks: bool
    seconds: float
    since: int | None
    initial_end: bool


def _read(call: Call) -> _Watch:
    query = call.http.query
    version = query.get("resourceVersion", "")
    initial = flag(query, "sendInitialEvents")
    if initial and query.get("resourceVersionMatch", "") != "NotOlderThan":
        detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        raise invalid(call.resource, "", [forbidden_value("resourceVersionMatch", detail)])
    try:
        since = int(version) if version else 0
        seconds = float(query.get("timeoutSeconds") or 0)
    except ValueError as error:
        raise bad_request(f"invalid resource version or timeout: {error}") from error
    return _Watch(
        call=call,
        form=views.negotiate(call.accept),
        selects=selection(call),
        pinned=stated_field(query.get("fieldSelector", ""), call.resource.key, PINNED),
        bookmarks=flag(query, "allowWatchBookmarks"),
        seconds=seconds or random.uniform(_LEAST_SECONDS, 2 * _LEAST_SECONDS),  # noqa: S311
        since=None if initial or since == 0 else since,
        initial_end=initial,
    )


async def watch(call: Call) -> web.StreamResponse:
    """Serve a watch until it times out or the client disconnects."""
    wanted = _read(call)
    if call.http.headers.get("Upgrade", "").lower() == "websocket":
        return not_accepted()
    response = web.StreamResponse(headers={**api_headers(), "Content-Type": JSON})
    response.enable_chunked_encoding()
    await response.prepare(call.http)

    async def send(lines: list[str]) -> None:
        await response.write("".join(lines).encode())

    try:
        async with asyncio.timeout(wanted.seconds):
            await _follow(wanted, send)
    except TimeoutError:
        pass  # the client watches again
    except ApiError as error:
        await send([_event("ERROR", error.body())])
    await response.write_eof()
    return response


def _event(kind: str, item: Json) -> str:
    return json.dumps({"type": kind, "object": item}, separators=(",", ":")) + "\n"


async def _follow(wanted: _Watch, send: Send) -> None:
    store, key = wanted.call.server.store, wanted.call.resource.key
    server = wanted.call.server
    subscribed = store.subscribe(key, wanted.selects, wanted.pinned)
    with _counted(wanted), subscribed as subscription:
        cursor = store.version if wanted.since is None else wanted.since
        if wanted.since is None and (lines := _initial(wanted)):
            await send(lines)
        while True:
            changes = _changes(wanted, cursor)
            if changes:
                cursor = changes[-1].version
                if lines := _lines(wanted, changes):
                    await send(lines)
                continue
            every = len(server.watches) / _BOOKMARKS_A_SECOND
            woken = await subscription.wait(max(server.settings.bookmark_seconds, every))
            if woken:
                # Earlier writes are not selected, and may have been trimmed from the history.
                cursor = max(cursor, subscription.first - 1)
                if subscription.company >= _GATHER_FROM:
                    await asyncio.sleep(subscription.company * _GATHER_A_WATCH)
            elif not subscription.pending:
                # no selected write up to this version: the watch may resume from it
                cursor = max(cursor, store.version)
                if wanted.bookmarks:
                    await send([_bookmark(wanted, cursor, initial_end=False)])


@contextmanager
def _counted(wanted: _Watch) -> Iterator[None]:
    watches = wanted.call.server.watches
    watches.add(id(wanted))
    try:
        yield
    finally:
        watches.discard(id(wanted))


def _changes(wanted: _Watch, since: int) -> list[Change]:
    try:
        return wanted.call.server.store.changes(wanted.call.resource.key, since)
    except HistoryGoneError as gone:
        raise expired(since, gone.oldest) from gone


def _initial(wanted: _Watch) -> list[str]:
    call, store = wanted.call, wanted.call.server.store
    records = store.records(call.resource.key, call.namespace)
    lines = [_line(wanted, "ADDED", record) for record in records if wanted.selects(record)]
    if wanted.initial_end and wanted.bookmarks:
        lines.append(_bookmark(wanted, store.version, initial_end=True))
    return lines


def _lines(wanted: _Watch, changes: Iterable[Change]) -> list[str]:
    lines = []
    for change in changes:
        after = change.type != "DELETED" and wanted.selects(change.record)
        before = change.previous is not None and wanted.selects(change.previous)
        if after:
            lines.append(_line(wanted, "MODIFIED" if before else "ADDED", change.record))
        elif before:
            lines.append(_line(wanted, "DELETED", change.record))
    return lines


def _line(wanted: _Watch, kind: str, record: Record) -> str:
    call = wanted.call
    return views.render_event(wanted.form, call.resource, kind, record, call.include_object)


def _bookmark(wanted: _Watch, version: int, *, initial_end: bool) -> str:
    item = views.bookmark(wanted.call.resource, version, initial_end=initial_end)
    return _event("BOOKMARK", item)
