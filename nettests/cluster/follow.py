"""Follow one Pod from its creation until it has settled or the wait is over; read its events.

``wait`` waits for many Pods to be Ready. Here the caller decides when to stop, and a Pod that never
starts is a normal result.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.list_watch import LOOK_SECONDS, states
from nettests.cluster.shared_watch import SharedWatch
from nettests.cluster.wait import STUCK, Hopeless
from nettests.errors import ClusterError
from nettests.model.json_text import Object
from nettests.model.pod_problem import reason_of

LOOK_OF_MANY_SECONDS = 2.0
"""How often a controller's Pods are read without any change, to notice that none appears."""


def follow_pod(
    connection: Connection,
    namespace: str,
    name: str,
    *,
    settled: Callable[[Object], bool],
    seconds: float,
    stuck: float,
) -> Object:
    """Return the Pod once it is ``settled``, after ``seconds``, or once stuck for ``stuck``.

    A Pod that repeatedly gets no sandbox or no image, by its events, is returned at once.
    ``ClusterError`` if the Pod does not appear within ``stuck`` (its controller may be refused it),
    or is deleted (by an interrupted run).
    """
    began, hopeless = time.monotonic(), Hopeless(connection, namespace)
    stuck_since: float | None = None
    last: Object | None = None
    look = min(LOOK_SECONDS, max(1.0, stuck))
    shared = _shared(connection, namespace)
    before = shared.last.get(name)
    for pod in shared.follow(name, seconds=seconds, look=look):
        if pod is None:
            if last or shared.has_gone(name, before):  # it may come and go between two looks
                raise ClusterError(f"pod {name} was deleted while it was followed")
            if time.monotonic() - began >= stuck:
                break
            continue
        last = pod
        if settled(pod) or hopeless.among([pod], now=time.monotonic()):
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


def _shared(connection: Connection, namespace: str) -> SharedWatch:
    path = f"/api/v1/namespaces/{namespace}/pods"
    return connection.shared.setdefault(
        path, SharedWatch(lambda: states(connection, path, seconds=threading.TIMEOUT_MAX))
    )


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
    """Return the Pods of a label selector once they are ``settled``; there may be none.

    The wait for a first Pod ends after ``appear``; the whole wait ends after ``seconds``, and once
    all Pods have been stuck for ``stuck``, or get no sandbox or no image by their events.
    """
    began, stuck_since, hopeless = time.monotonic(), 0.0, Hopeless(connection, namespace)
    latest: list[Object] = []
    listed = states(
        connection,
        f"/api/v1/namespaces/{namespace}/pods",
        seconds=seconds,
        look=LOOK_OF_MANY_SECONDS,
        labelSelector=selector,
    )
    for pods in listed:
        latest, now = list(pods.values()), time.monotonic()
        if settled(latest) or (not latest and now - began >= appear):
            break
        stalled = bool(latest) and all(map(_stalls, latest))
        stuck_since = (stuck_since or now) if stalled else 0.0
        if stalled and now - stuck_since >= stuck:
            break
        if latest and len(hopeless.among(latest, now=now)) == len(latest):
            break
    return latest


def _stalls(pod: Object) -> bool:
    """Whether the Pod is in a state that seldom heals, or Running but not yet Ready."""
    return reason_of(pod) in STUCK or pod.get("status", {}).get("phase") == "Running"


def wait_gone(
    connection: Connection, namespace: str, name: str, *, seconds: float, uid: str = ""
) -> bool:
    """Wait until the Pod, or the one with ``uid``, is gone; return whether it is in time.

    A controller may replace it by another Pod of the same name.
    """
    pod_states = _until_gone(connection, namespace, name, seconds=seconds)
    return any(pod is None or (uid and pod["metadata"]["uid"] != uid) for pod in pod_states)


def follow_end(
    connection: Connection, namespace: str, name: str, *, seconds: float
) -> tuple[Object | None, bool]:
    """Return a Pod's last state, if it was ever seen, and whether it is gone within ``seconds``.

    A kubelet writes how containers ended before it removes the Pod, so the last state has it.
    """
    last: Object | None = None
    for pod in _until_gone(connection, namespace, name, seconds=seconds):
        if pod is None:
            return _shared(connection, namespace).last.get(name, last), True
        last = pod
    return last, False


def _until_gone(
    connection: Connection, namespace: str, name: str, *, seconds: float
) -> Iterator[Object | None]:
    """Yield the states of a Pod that exists, and ``None`` once it is gone.

    That the watch has never shown it is confirmed: it may be late.
    """
    seen = False
    for latest in _shared(connection, namespace).follow(name, seconds=seconds, look=LOOK_SECONDS):
        pod = latest
        if pod is None and not seen:
            try:
                pod = connection.get(f"/api/v1/namespaces/{namespace}/pods/{name}")
            except ApiError as error:
                if error.status != 404:
                    raise
        seen = pod is not None
        yield pod


def log_of(
    connection: Connection, namespace: str, pod: str, container: str, *, timed: bool = False
) -> str:
    """Return a container's log so far; ``timed`` puts the node's time before each line."""
    query = {"container": container, **({"timestamps": "true"} if timed else {})}
    return connection.text(f"/api/v1/namespaces/{namespace}/pods/{pod}/log", **query)


def delete_pod(connection: Connection, namespace: str, name: str) -> None:
    """Delete a Pod; if that fails, the run's clean-up removes it."""
    with suppress(ClusterError):
        connection.delete(f"/api/v1/namespaces/{namespace}/pods/{name}")
