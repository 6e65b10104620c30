"""Wait for what a run created: Ready Pods, Services with addresses, endpoints of Services.

For each Pod that does not become Ready, the reason is found (``model.pod_problem``), also from its
events: a Pod without a sandbox looks like one that is being created. A failed Pod is a result here,
never an exception. Whether kube-proxy has programmed endpoints only shows on the node.
"""

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from nettests.cluster.connection import Connection
from nettests.cluster.list_watch import PAUSE_SECONDS, states
from nettests.errors import ClusterError
from nettests.model.json_text import Object
from nettests.model.labels import NEVER_READY, READINESS_LABEL, SERVICE_NAME_LABEL
from nettests.model.pod_problem import (
    PULLS,
    condition,
    is_hopeless,
    is_unacknowledged,
    problem_of,
    reason_of,
)

STUCK = frozenset(
    {
        *("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"),
        *("CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError"),
        *("RunContainerError", "Unschedulable"),
    }
)
"""States that seldom heal; a failing image pull alternates between the first two."""
SEVERAL = 3
"""If this many Pods of a node all lack their image, the node is the cause."""
TOGETHER = 0.6
"""The part of ``stuck`` after which such Pods are given up: each pull was tried twice by then (a
kubelet retries after 10 s), and all together more often than one Pod's in the whole time."""


@dataclass(slots=True)
class PodWait:
    """The awaited Pods: Ready ones, and the problems of others."""

    names: frozenset[str]
    ready: dict[str, Object] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    acknowledged: float = math.inf
    """Seconds after which a Pod is given up that its kubelet has not acted on."""
    _latest: dict[str, Object] = field(default_factory=dict)
    _stuck_since: dict[str, float] = field(default_factory=dict)

    @property
    def pending(self) -> frozenset[str]:
        """Pods that are neither Ready nor given up."""
        return self.names - self.ready.keys() - self.problems.keys()

    def look(self, pods: Mapping[str, Object], *, now: float) -> None:
        """Process the current Pods by name; all were created, so a missing one was deleted."""
        for name in self.pending:
            if name not in pods:
                self.problems[name] = "was deleted while it was waited for"
            elif pods[name] is not self._latest.get(name):  # skip unchanged Pods
                self.see(pods[name], now=now)

    def see(self, pod: Object, *, now: float) -> None:
        """Process a Pod's newest state."""
        name = pod["metadata"]["name"]
        if name not in self.pending:
            return
        self._latest[name] = pod
        if is_standing(pod):
            self.ready[name] = pod
        elif pod.get("status", {}).get("phase") in {"Failed", "Succeeded"}:
            self.problems[name] = problem_of(pod)
        elif reason_of(pod) in STUCK or is_unacknowledged(pod):
            self._stuck_since.setdefault(name, now)
        else:
            self._stuck_since.pop(name, None)

    def stuck(self, *, longer_than: float, now: float) -> list[str]:
        """Return Pods stuck for too long; on nodes without images the limit is shorter."""
        if not self._stuck_since and longer_than > 0:
            return []
        without = self._without_images()
        return [
            name
            for name in self.pending
            if now - self._stuck_since.get(name, now)
            >= self._tolerance(
                name, longer_than * (TOGETHER if _node_of(self._latest.get(name)) in without else 1)
            )
        ]

    def _without_images(self) -> set[str]:
        """Return the nodes with several starting Pods, none of which got its image."""
        pulls: dict[str, list[bool]] = {}
        for name, pod in self._latest.items():
            node = _node_of(pod)
            if node:
                no_image = name not in self.ready and reason_of(pod) in PULLS
                pulls.setdefault(node, []).append(no_image)
        return {node for node, failed in pulls.items() if len(failed) >= SEVERAL and all(failed)}

    def _tolerance(self, name: str, longest: float) -> float:
        """Return how long a Pod may stay stuck: a live kubelet acts at once, then pulls images."""
        unseen = name in self._latest and is_unacknowledged(self._latest[name])
        return min(longest, self.acknowledged) if unseen else longest

    def give_up(self, names: Iterable[str], events: Callable[[str], Sequence[Object]]) -> None:
        """Turn pending pods into problems, with their events."""
        for name in list(names):
            pod = self._latest.get(name)
            self.problems[name] = (
                problem_of(pod, events(name)) if pod else "never appeared in the API"
            )


def wait_for_pods(
    connection: Connection,
    namespace: str,
    names: Iterable[str],
    *,
    ready: float,
    stuck: float,
    on_change: Callable[[int, int], None],
) -> tuple[dict[str, Object], dict[str, str]]:
    """Return Ready Pods, and the problems of those that are not Ready after ``ready`` seconds.

    ``on_change`` gets the numbers of settled and of all Pods. A Pod is given up earlier if it stays
    in a state such as ImagePullBackOff for ``stuck`` seconds, if its kubelet does not act on it, or
    if its events repeatedly say that it gets no sandbox or no image.
    """
    waited = PodWait(names=frozenset(names), acknowledged=connection.timing.acknowledged)
    events = partial(events_of, connection, namespace)
    hopeless = Hopeless(connection, namespace)
    if waited.pending:
        for pods in states(connection, f"/api/v1/namespaces/{namespace}/pods", seconds=ready):
            now = time.monotonic()
            waited.look(pods, now=now)
            on_change(len(waited.names) - len(waited.pending), len(waited.names))
            starting = [pods[name] for name in waited.pending if name in pods]
            waited.give_up(
                {*waited.stuck(longer_than=stuck, now=now), *hopeless.among(starting, now=now)},
                events,
            )
            if not waited.pending:
                break
    waited.give_up(waited.pending, events)
    on_change(len(waited.names), len(waited.names))
    return waited.ready, waited.problems


def _node_of(pod: Object | None) -> str:
    return str((pod or {}).get("spec", {}).get("nodeName") or "")


def is_ready(pod: Object) -> bool:
    """Whether the pod's Ready condition is True."""
    return condition(pod, "Ready").get("status") == "True"


def is_standing(pod: Object) -> bool:
    """Whether the Pod is as intended: Ready, or running if it is never to become Ready."""
    return is_ready(pod) or _runs_unready(pod)


def _runs_unready(pod: Object) -> bool:
    """Whether the Pod is never to become Ready, and all its containers run."""
    if (pod["metadata"].get("labels") or {}).get(READINESS_LABEL) != NEVER_READY:
        return False
    states = [item.get("state", {}) for item in pod["status"].get("containerStatuses") or []]
    wanted = len(pod["spec"]["containers"])
    return len(states) == wanted and all("running" in state for state in states)


def wait_for_addresses(
    connection: Connection,
    namespace: str,
    names: Collection[str],
    *,
    seconds: float,
    on_poll: Callable[[], None],
) -> dict[str, Object]:
    """Return Services once each has a load balancer's address, or as they are after ``seconds``.

    ``on_poll`` is called before each read; an exception from it ends the wait.
    """
    deadline = time.monotonic() + seconds
    while True:
        on_poll()
        listed = connection.items(f"/api/v1/namespaces/{namespace}/services")
        services = {item["metadata"]["name"]: item for item in listed}
        latest = {name: services[name] for name in names if name in services}
        if all(map(_balanced, latest.values())) or time.monotonic() >= deadline:
            return latest
        time.sleep(PAUSE_SECONDS)


def _balanced(service: Object) -> bool:
    return bool(((service.get("status") or {}).get("loadBalancer") or {}).get("ingress"))


Wanted = Mapping[str, frozenset[str]]
"""By Service, the Pods that must be among its endpoints."""


def wait_for_endpoints(
    connection: Connection,
    namespace: str,
    ready: Wanted,
    *,
    seconds: float,
) -> dict[str, frozenset[str]]:
    """Return by Service the Pods that are not ready endpoints after ``seconds``; empty if all are.

    ``ClusterError`` if slices cannot be read: without permission, or before Kubernetes 1.21.
    """
    path = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
    lacking = dict(ready)
    if lacking:
        for slices in states(connection, path, seconds=seconds):
            lacking = missing(slices.values(), ready)
            if not lacking:
                break
    return lacking


def missing(slices: Iterable[Object], ready: Wanted) -> dict[str, frozenset[str]]:
    """Return, by Service, the wanted Pods that no slice lists as ready, if there are any."""
    held: dict[str, set[str]] = {}
    for item in slices:
        service = (item["metadata"].get("labels") or {}).get(SERVICE_NAME_LABEL, "")
        for endpoint in item.get("endpoints") or ():
            # An absent condition counts as ready (discovery.k8s.io/v1, EndpointConditions).
            if (endpoint.get("conditions") or {}).get("ready") is not False:
                held.setdefault(service, set()).add(
                    (endpoint.get("targetRef") or {}).get("name", "")
                )
    lacking = {service: pods - held.get(service, set()) for service, pods in ready.items()}
    return {service: frozenset(pods) for service, pods in lacking.items() if pods}


LOOK_SECONDS = 10.0
"""How often events of Pods that do not start are read: a kubelet retries after 10 s, and most Pods
start within that (pkg/kubelet/kubelet.go: ``backOffPeriod``, ``MaxContainerBackOff``)."""


@dataclass(slots=True)
class Hopeless:
    """Finds the Pods of a namespace that are not worth waiting for."""

    connection: Connection
    namespace: str
    _names: frozenset[str] = frozenset()
    _next: float | None = field(default=None)

    def among(self, pods: Iterable[Object], *, now: float) -> frozenset[str]:
        """Return the names of hopeless Pods, by the last read events; ``now`` is in seconds."""
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
        if len(starting) > 1:  # one request for all shows which ones need a separate request
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
    """Return the events about a Pod; none if they cannot be read."""
    return _events(connection, namespace, f"involvedObject.name={pod}")


def _events(connection: Connection, namespace: str, selector: str) -> list[Object]:
    try:
        return connection.items(f"/api/v1/namespaces/{namespace}/events", fieldSelector=selector)
    except ClusterError:
        return []


def _is_starting(pod: Object) -> bool:
    """Whether a kubelet has acted on the Pod, but a container has not run or not started up."""
    status = pod.get("status", {})
    bound = bool(pod.get("spec", {}).get("nodeName")) and not is_unacknowledged(pod)
    unproven = any(
        container.get("started") is False for container in status.get("containerStatuses") or ()
    )
    waits = status.get("phase") == "Pending" or (status.get("phase") == "Running" and unproven)
    return bound and waits and "deletionTimestamp" not in pod["metadata"]


def _about(events: Iterable[Object], name: str, uid: str | None) -> list[Object]:
    return [
        event
        for event in events
        if (about := event.get("involvedObject") or {}).get("name") == name
        and about.get("uid") in {uid, None, ""}
    ]
