"""Follow one pod from its creation on, until it is settled or given up, and read what is said of it.

Beside ``wait``, which waits for many pods to be Ready: here the caller says what ends the waiting, and
a pod that never starts is an answer like any other.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.wait import PAUSE_SECONDS, SLICE_SECONDS, STUCK, reason_of
from nettests.errors import ClusterError

Object = dict[str, Any]


def follow_pod(
    connection: Connection,
    namespace: str,
    name: str,
    *,
    settled: Callable[[Object], bool],
    seconds: float,
    stuck: float,
) -> Object:
    """Return the pod once ``settled`` says so, or after ``seconds``, or ``stuck`` seconds in such a state.

    ``ClusterError`` when the pod was never seen, or when it goes: an interrupted run removes it.
    """
    deadline = time.monotonic() + seconds
    stuck_since: float | None = None
    last: Object | None = None
    while time.monotonic() < deadline:
        left = min(SLICE_SECONDS, stuck, deadline - time.monotonic())
        for pod in _states(connection, namespace, name, max(left, 1.0)):
            if pod is None:
                if last is None:
                    continue
                raise ClusterError(f"pod {name} was deleted while it was followed")
            last = pod
            if settled(pod):
                return pod
            if not _stalls(pod):
                stuck_since = None
            elif stuck_since is None:
                stuck_since = time.monotonic()
            if stuck_since is not None and time.monotonic() - stuck_since >= stuck:
                return pod
    if last is None:
        raise ClusterError(f"pod {name} never appeared in the API")
    return last


def _stalls(pod: Object) -> bool:
    """Whether the pod is where it seldom gets on by itself; one that runs has its probes to pass."""
    return reason_of(pod) in STUCK or pod.get("status", {}).get("phase") == "Running"


def _states(
    connection: Connection, namespace: str, name: str, seconds: float
) -> Iterator[Object | None]:
    """Yield the pod as it is, then its changes for ``seconds``; nothing where the API fails for now.

    ``None`` stands for a pod that is not there.
    """
    path = f"/api/v1/namespaces/{namespace}/pods"
    selector = f"metadata.name={name}"
    try:
        listed = connection.get(path, fieldSelector=selector)
        yield from listed["items"] or (None,)
        version = listed["metadata"]["resourceVersion"]
        events = connection.watch(
            path, seconds=seconds, resourceVersion=version, fieldSelector=selector
        )
        for event in events:
            if event["type"] == "ERROR":
                return  # expired: list again
            if event["type"] != "BOOKMARK":
                yield None if event["type"] == "DELETED" else event["object"]
    except ApiError as error:
        if error.status in {401, 403, 404}:
            raise
        time.sleep(PAUSE_SECONDS)
    except ClusterError:  # the watch was cut; the next list says whether the server is there
        time.sleep(PAUSE_SECONDS)


def wait_gone(connection: Connection, namespace: str, name: str, *, seconds: float) -> bool:
    """Wait until the pod is gone, and return whether it is."""
    path = f"/api/v1/namespaces/{namespace}/pods"
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        listed = connection.get(path, fieldSelector=f"metadata.name={name}")
        if not listed["items"]:
            return True
        try:
            for event in connection.watch(
                path,
                seconds=min(SLICE_SECONDS, left),
                resourceVersion=listed["metadata"]["resourceVersion"],
                fieldSelector=f"metadata.name={name}",
            ):
                if event["type"] == "DELETED":
                    return True
                if event["type"] == "ERROR":
                    break  # expired: list again
        except ClusterError:  # the watch was cut; the next list says whether the server is there
            time.sleep(PAUSE_SECONDS)
    return False


def log_of(connection: Connection, namespace: str, pod: str, container: str) -> str:
    """Return a container's log, as far as it is written."""
    return connection.text(f"/api/v1/namespaces/{namespace}/pods/{pod}/log", container=container)


def delete_pod(connection: Connection, namespace: str, name: str) -> None:
    """Delete a pod; the end of the run removes what cannot be deleted now."""
    with suppress(ClusterError):
        connection.delete(f"/api/v1/namespaces/{namespace}/pods/{name}")
