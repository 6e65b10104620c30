"""Read the events of Pods, and which Pods of a namespace get no sandbox or no image by what their events say.

A Pod without a sandbox looks like one that is being created, so that its status is no reason to stop waiting. Used by
``wait`` and ``follow``; ``model.pod_problem`` reads the events.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from nettests.cluster.connection import Connection
from nettests.errors import ClusterError
from nettests.model.pod_problem import is_hopeless, is_unacknowledged

Object = dict[str, Any]

LOOK_SECONDS = 10.0
"""How often events of Pods that do not start are read: a kubelet makes a sandbox, or pulls an image, again after 10 s
(``backOffPeriod`` of pkg/kubelet/kubelet.go, ``MaxContainerBackOff`` begins with it), and most Pods start within that."""


@dataclass(slots=True)
class Hopeless:
    """Finds the Pods of a namespace that are not worth waiting for."""

    connection: Connection
    namespace: str
    _names: frozenset[str] = frozenset()
    _next: float | None = field(default=None)

    def among(self, pods: Iterable[Object], *, now: float) -> frozenset[str]:
        """Return by name those of these pods that were hopeless when events were last read; ``now`` is in seconds."""
        starting = {
            pod["metadata"]["name"]: pod["metadata"].get("uid") for pod in pods if _is_starting(pod)
        }
        if self._next is None or not starting:
            self._next, self._names = now + LOOK_SECONDS, frozenset()
        elif now >= self._next:
            self._next, self._names = now + LOOK_SECONDS, self._read(starting)
        return self._names

    def _read(self, starting: dict[str, str]) -> frozenset[str]:
        suspects: Collection[str] = starting
        if (
            len(starting) > 1
        ):  # one request for all of them shows the few that are worth one of their own
            warnings = _events(self.connection, self.namespace, "type=Warning")
            suspects = [name for name, uid in starting.items() if is_hopeless(_about(warnings, name, uid))]  # fmt: skip
        return frozenset(
            name
            for name in suspects
            if is_hopeless(
                _about(events_of(self.connection, self.namespace, name), name, starting[name])
            )
        )


def events_of(connection: Connection, namespace: str, pod: str) -> list[Object]:
    """Return the events about a pod; none if they cannot be read."""
    return _events(connection, namespace, f"involvedObject.name={pod}")


def _events(connection: Connection, namespace: str, selector: str) -> list[Object]:
    try:
        return connection.items(f"/api/v1/namespaces/{namespace}/events", fieldSelector=selector)
    except ClusterError:
        return []


def _is_starting(pod: Object) -> bool:
    """Whether a kubelet has taken the pod up, and a container of it has not run, or not passed its startup probe."""
    status = pod.get("status", {})
    bound = bool(pod.get("spec", {}).get("nodeName")) and not is_unacknowledged(pod)
    unproven = any(
        container.get("started") is False for container in status.get("containerStatuses") or ()
    )
    waits = status.get("phase") == "Pending" or (status.get("phase") == "Running" and unproven)
    return bound and waits and "deletionTimestamp" not in pod["metadata"]


def _about(events: Iterable[Object], name: str, uid: str | None) -> list[Object]:
    """Return the events about one pod, not about one that had its name before."""
    return [
        event
        for event in events
        if (about := event.get("involvedObject") or {}).get("name") == name
        and about.get("uid") in {uid, None, ""}
    ]
