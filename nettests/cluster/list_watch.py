"""Follow the objects of one collection: list, watch, and start over when the watch ends.

The only place that knows how a watch ends. Callers decide what an object means and when to stop
(``wait``, ``follow``).
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import closing

from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.failures import ClosedError
from nettests.errors import ClusterError
from nettests.model.json_text import Object

LOOK_SECONDS = 5.0
"""The length of one watch: unchanged states are yielded again at this interval."""
PAUSE_SECONDS = 0.5
"""The pause before the next request if the last one failed or ended at once."""
GONE_SECONDS = 120.0
"""How long an API server may answer nothing but server errors: a restart takes less."""
FINAL = frozenset({401, 403, 404})
"""Statuses that do not change with waiting."""
EXPIRED = 410


def states(
    connection: Connection,
    path: str,
    *,
    seconds: float,
    look: float = LOOK_SECONDS,
    **query: str,
) -> Iterator[Mapping[str, Object]]:
    """Yield the collection by name: as listed, after each change, and every ``look`` seconds.

    Ends after ``seconds``, whatever the API does; ``ApiError`` for an answer in ``FINAL``, ``ClosedError`` once the connection is
    closed, ``ClusterError`` if the API server is gone for ``GONE_SECONDS``. A watch that ended in
    order is resumed. If it broke, was refused or has expired (410), the collection is listed again:
    behind a gateway that cuts every watch, lists still work.
    """
    heard = time.monotonic()
    deadline = heard + seconds
    held: dict[str, Object] = {}
    version = ""
    while (left := deadline - time.monotonic()) > 0:
        started = time.monotonic()
        answered = False
        try:
            if not version:
                held, version = _listed(connection, path, query)
                heard = time.monotonic()
            yield held
            options = {**query, **({"resourceVersion": version} if version else {})}
            with closing(connection.watch(path, seconds=min(look, left), **options)) as events:
                for event in events:
                    if event["type"] == "ERROR":
                        version = ""
                        break
                    version = _taken(held, event) or version
                    answered = True
                    yield held
            heard = time.monotonic()
        except ApiError as error:
            if error.status in FINAL:
                raise
            answered = error.status == EXPIRED
            version = _lost(error, heard)
        except ClosedError:
            raise
        except ClusterError as error:
            version = _lost(error, heard)
        if not answered and time.monotonic() - started < PAUSE_SECONDS:
            time.sleep(max(0.0, min(PAUSE_SECONDS, deadline - time.monotonic())))


def _lost(error: ClusterError, heard: float) -> str:
    """Return no version, so that the collection is listed again; raise after ``GONE_SECONDS``."""
    if time.monotonic() - heard >= GONE_SECONDS:
        raise error
    return ""


def _listed(
    connection: Connection, path: str, query: Mapping[str, str]
) -> tuple[dict[str, Object], str]:
    """Return the objects by name, and the version that the watch starts from."""
    listed = connection.get(path, **query)
    held = {item["metadata"]["name"]: item for item in listed.get("items") or ()}
    return held, listed["metadata"]["resourceVersion"]


def _taken(held: dict[str, Object], event: Object) -> str | None:
    """Apply a change; return its version, if any."""
    item = event["object"]
    meta = item.get("metadata") or {}
    if event["type"] == "DELETED":
        held.pop(meta["name"], None)
    elif event["type"] != "BOOKMARK":
        held[meta["name"]] = item
    return meta.get("resourceVersion")
