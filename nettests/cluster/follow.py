"""Follow one pod from its creation until it has settled or the wait is over; read its events.

``wait`` waits for many pods to be Ready. Here the caller says when to stop, and a pod that never starts is a result
like any other.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from nettests.cluster.connection import Connection
from nettests.cluster.list_watch import LOOK_SECONDS, states
from nettests.cluster.wait import STUCK, reason_of
from nettests.errors import ClusterError

Object = dict[str, Any]

LOOK_OF_MANY_SECONDS = 2.0
"""So often Pods that a controller makes are looked at while nothing changes: that none comes has to be noticed."""


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
    stuck_since: float | None = None
    last: Object | None = None
    found = _one(connection, namespace, name, seconds=seconds, look=max(1.0, stuck), listed=False)
    for pod in found:
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


def follow_pods(
    connection: Connection,
    namespace: str,
    selector: str,
    *,
    settled: Callable[[Sequence[Object]], bool],
    appear: float,
    seconds: float,
    stuck: float,
) -> list[Object]:
    """Return the pods that a selector of labels selects once ``settled`` says so; none is an answer, too.

    None is waited for longer than ``appear``; those that came are given up after ``seconds``, and once all of them have
    been for ``stuck`` where they seldom get on by themselves.
    """
    began, stuck_since = time.monotonic(), 0.0
    found: list[Object] = []
    listed = states(
        connection,
        f"/api/v1/namespaces/{namespace}/pods",
        seconds=seconds,
        look=LOOK_OF_MANY_SECONDS,
        labelSelector=selector,
    )
    for pods in listed:
        found, now = list(pods.values()), time.monotonic()
        if settled(found) or (not found and now - began >= appear):
            break
        stalled = bool(found) and all(map(_stalls, found))
        stuck_since = (stuck_since or now) if stalled else 0.0
        if stalled and now - stuck_since >= stuck:
            break
    return found


def _stalls(pod: Object) -> bool:
    """Whether the pod is where it seldom gets on by itself; one that runs has its probes to pass."""
    return reason_of(pod) in STUCK or pod.get("status", {}).get("phase") == "Running"


def wait_gone(
    connection: Connection, namespace: str, name: str, *, seconds: float, uid: str = ""
) -> bool:
    """Wait until the pod is gone, or the one with ``uid`` is; return whether it is after ``seconds``.

    A controller puts another one of the same name in its place, sooner perhaps than anybody looks.
    """
    found = _one(connection, namespace, name, seconds=seconds)
    return any(pod is None or (uid and pod["metadata"]["uid"] != uid) for pod in found)


def follow_end(
    connection: Connection, namespace: str, name: str, *, seconds: float
) -> tuple[Object | None, bool]:
    """Return a pod as it was last seen, which may be never, and whether it is gone after ``seconds``.

    A kubelet writes how the containers ended before it removes their pod, so that the last state tells it.
    """
    last: Object | None = None
    for pod in _one(connection, namespace, name, seconds=seconds):
        if pod is None:
            return last, True
        last = pod
    return last, False


def _one(
    connection: Connection,
    namespace: str,
    name: str,
    *,
    seconds: float,
    look: float = LOOK_SECONDS,
    listed: bool = True,
) -> Iterator[Object | None]:
    """Yield the states of one pod; ``None`` where it is not there."""
    found = states(
        connection,
        f"/api/v1/namespaces/{namespace}/pods",
        seconds=seconds,
        look=min(LOOK_SECONDS, look),
        listed=listed,
        fieldSelector=f"metadata.name={name}",
    )
    return (pods.get(name) for pods in found)


def log_of(
    connection: Connection, namespace: str, pod: str, container: str, *, timed: bool = False
) -> str:
    """Return a container's log, as far as it is written; ``timed`` begins each line with its node's time."""
    query = {"container": container, **({"timestamps": "true"} if timed else {})}
    return connection.text(f"/api/v1/namespaces/{namespace}/pods/{pod}/log", **query)


def delete_pod(connection: Connection, namespace: str, name: str) -> None:
    """Delete a pod; the end of the run removes what cannot be deleted now."""
    with suppress(ClusterError):
        connection.delete(f"/api/v1/namespaces/{namespace}/pods/{name}")
