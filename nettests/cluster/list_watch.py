"""Follow the objects of one collection: list, watch, and start over when the watch ends.

The only place that knows how a watch ends. What an object means, and when to stop, is up to the caller (``wait``,
``follow``, ``endpoints``).
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.failures import ClosedError
from nettests.errors import ClusterError

Object = dict[str, Any]

LOOK_SECONDS = 5.0
"""Length of one watch: states that do not change are handed out again so often."""
PAUSE_SECONDS = 0.5
"""Before the next request where the last one told nothing: it failed, or ended at once."""
GONE_SECONDS = 120.0
"""An API server of which nothing good is heard for so long is waited for no longer: one that restarts is back by then."""
FINAL = frozenset({401, 403, 404})
"""Answers that do not heal by waiting."""
EXPIRED = 410


def states(
    connection: Connection,
    path: str,
    *,
    seconds: float,
    look: float = LOOK_SECONDS,
    listed: bool = True,
    **query: str,
) -> Iterator[Mapping[str, Object]]:
    """Yield the collection by name: as listed, after each change, and at least every ``look`` seconds.

    Where it need not be ``listed``, a watch without a version begins with what is there, one object after another:
    a request less for who follows one object that was just made.

    Ends after ``seconds``, whatever the API does in between; ``ApiError`` for an answer in ``FINAL``, ``ClosedError``
    once the connection is closed, ``ClusterError`` where the API server is gone for ``GONE_SECONDS``.
    A watch that ended in order is resumed where it was. After one that was cut, was refused or has
    expired (410) the collection is listed again: behind a gateway that lets no watch live the lists still tell.
    """
    heard = time.monotonic()
    deadline = heard + seconds
    held: dict[str, Object] = {}
    version = ""
    while (left := deadline - time.monotonic()) > 0:
        begun = time.monotonic()
        told = False
        try:
            if not version and listed:
                held, version = _listed(connection, path, query)
                heard = time.monotonic()
            if listed:
                yield held
            listed = True  # from now on it is known what was there
            options = {**query, **({"resourceVersion": version} if version else {})}
            with closing(connection.watch(path, seconds=min(look, left), **options)) as events:
                for event in events:
                    if event["type"] == "ERROR":
                        version = ""
                        break
                    version = _taken(held, event) or version
                    told = True
                    yield held
            heard = time.monotonic()
        except ApiError as error:
            if error.status in FINAL:
                raise
            told = error.status == EXPIRED
            version = _lost(error, heard)
        except ClosedError:
            raise
        except ClusterError as error:
            version = _lost(error, heard)
        if not told and time.monotonic() - begun < PAUSE_SECONDS:
            time.sleep(max(0.0, min(PAUSE_SECONDS, deadline - time.monotonic())))


def _lost(error: ClusterError, heard: float) -> str:
    """Return no version: the collection is to be listed again; raise where it has long been so."""
    if time.monotonic() - heard >= GONE_SECONDS:
        raise error
    return ""


def _listed(
    connection: Connection, path: str, query: Mapping[str, str]
) -> tuple[dict[str, Object], str]:
    """Return the objects by name, and the version at which to begin to watch."""
    listed = connection.get(path, **query)
    held = {item["metadata"]["name"]: item for item in listed.get("items") or ()}
    return held, listed["metadata"]["resourceVersion"]


def _taken(held: dict[str, Object], event: Object) -> str | None:
    """Take a change in; return the version that it brings, if it says one."""
    item = event["object"]
    meta = item.get("metadata") or {}
    if event["type"] == "DELETED":
        held.pop(meta["name"], None)
    elif event["type"] != "BOOKMARK":
        held[meta["name"]] = item
    return meta.get("resourceVersion")
