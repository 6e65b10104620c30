"""What probes need of a cluster, in one object: create, wait, open channels.

Joins ``apply``, ``wait`` and ``channels`` over one connection; ``probes`` meets it as a protocol.

List once which of a run's Pods exist, by the run's label; the caller decides what it means. ``wait`` is for Pods that
are not Ready yet. Here they were Ready before, and a reboot, a drain or a person may have removed them since.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from nettests.bounds import Slots, for_processes
from nettests.cluster.apply import CreatedObjects, create, dry_run
from nettests.cluster.channels import ExecCurl, PodProxy, open_channels
from nettests.cluster.connection import BACKGROUND, ApiError, Connection
from nettests.cluster.execute import Exec, attach, converse
from nettests.cluster.failures import ClosedError
from nettests.cluster.follow import (
    delete_pod,
    follow_end,
    follow_pod,
    follow_pods,
    log_of,
    wait_gone,
)
from nettests.cluster.ownership import Ownership
from nettests.cluster.port_forward import PortForward
from nettests.cluster.wait import (
    events_of,
    is_standing,
    wait_for_addresses,
    wait_for_endpoints,
    wait_for_pods,
)
from nettests.errors import ClusterError
from nettests.model.channel import ChannelError, Conversation, ExecChannel, HttpChannel
from nettests.model.pod_problem import problem_of
from nettests.model.words import OS

Object = dict[str, Any]


@contextmanager
def _as_channel() -> Iterator[None]:
    """Turn a failure of the API server into one of the channel that uses it."""
    try:
        yield
    except ClusterError as error:
        raise ChannelError(error.message) from error


@dataclass(slots=True)
class Access:
    """The cluster of one run; safe for threads."""

    connection: Connection
    ownership: Ownership | None = None
    """The owner of created objects; without it nothing can be created."""
    created: CreatedObjects = field(default_factory=CreatedObjects)
    """The created objects, to remove at the end of the run."""
    ended: threading.Event = field(default_factory=threading.Event)
    """Its clean-up has begun: what checks still want to create would be left, in a namespace of others."""
    _slots: dict[str, Slots] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def create(self, item: Object) -> Object:
        """Create an object with the run's marks and return it as stored."""
        if self.ownership is None:
            raise ValueError("objects are created by a run, which marks them")
        if self.ended.is_set():
            raise ClosedError("the run is over: nothing is created any more")
        self.created.call(item)
        stored = create(self.connection, self.ownership.marked(item))
        self.created.take(stored, item)
        return stored

    def dry_run(self, item: Object) -> tuple[int, str]:
        """Request an object to be created without being stored; return status and body unchanged."""
        with _as_channel():
            answer = dry_run(self.connection, item)
        return answer.status, answer.text

    def read(self, path: str, query: Mapping[str, str]) -> tuple[int, str]:
        """Read an object, a list or a log; return status and body, also of a refusal."""
        try:
            return 200, self.connection.request("GET", path, query=query).text
        except ApiError as error:
            return error.status, error.message
        except ClusterError as error:
            raise ChannelError(error.message) from error

    def delete(self, path: str) -> None:
        """Delete an object, and what belongs to it; one that is gone already is no error."""
        self.connection.delete(path, propagation=BACKGROUND)

    def update(self, path: str, item: Object) -> None:
        """Replace an object by this state of it."""
        self.connection.request("PUT", path, body=item)

    def wait_for_pods(
        self,
        namespace: str,
        names: Iterable[str],
        *,
        ready: float,
        stuck: float,
        on_change: Callable[[int, int], None],
    ) -> tuple[dict[str, Object], dict[str, str]]:
        """Return Ready pods, and for the others the reason."""
        return wait_for_pods(
            self.connection, namespace, names, ready=ready, stuck=stuck, on_change=on_change
        )

    def standing_pods(
        self, namespace: str, names: Collection[str], *, selector: str
    ) -> tuple[dict[str, Object], dict[str, str]]:
        """Return those of these Pods that are Ready now, and why the others are not."""
        return standing_pods(self.connection, namespace, names, selector=selector)

    def wait_for_endpoints(
        self, namespace: str, ready: Mapping[str, frozenset[str]], *, seconds: float
    ) -> dict[str, frozenset[str]]:
        """Return by Service the pods that are not ready endpoints of it after ``seconds``."""
        return wait_for_endpoints(self.connection, namespace, ready, seconds=seconds)

    def wait_for_addresses(
        self,
        namespace: str,
        names: Collection[str],
        *,
        seconds: float,
        on_poll: Callable[[], None],
    ) -> dict[str, Object]:
        """Return Services as soon as each has a load balancer, or as they are after ``seconds``."""
        return wait_for_addresses(
            self.connection, namespace, names, seconds=seconds, on_poll=on_poll
        )

    def follow_pod(
        self,
        namespace: str,
        name: str,
        *,
        settled: Callable[[Object], bool],
        new: bool = False,
        **times: float,
    ) -> Object:
        """Return a pod as soon as it is ``settled``, or as it is when the wait ends."""
        with _as_channel():
            return follow_pod(self.connection, namespace, name, settled=settled, new=new, **times)

    def follow_pods(
        self,
        namespace: str,
        selector: str,
        *,
        settled: Callable[[Sequence[Object]], bool],
        appear: float,
        seconds: float,
        stuck: float,
    ) -> list[Object]:
        """Return the pods of a selector as soon as they are ``settled``, or as they are when the wait ends."""
        times = {"appear": appear, "seconds": seconds, "stuck": stuck}
        with _as_channel():
            return follow_pods(self.connection, namespace, selector, settled=settled, **times)

    def attach(self, namespace: str, pod: str, container: str, *, until: str) -> str:
        """Return what a container writes from now on, until it contains ``until`` or the time of a process is over."""
        return attach(self.connection, namespace, pod, container, until=until)

    def events_of(self, namespace: str, pod: str) -> list[Object]:
        """Return the events of a pod, or of its controller; none if they cannot be read."""
        return events_of(self.connection, namespace, pod)

    def log_of(self, namespace: str, pod: str, container: str, *, timed: bool = False) -> str:
        """Return a container's log; ``timed`` begins each line with its node's time."""
        with _as_channel():
            return log_of(self.connection, namespace, pod, container, timed=timed)

    def delete_pod(self, namespace: str, name: str) -> None:
        """Delete a pod by its own grace period; what fails is left to the end of the run."""
        delete_pod(self.connection, namespace, name)

    def read_port(self, namespace: str, pod: str, port: int, *, timeout: float) -> str:
        """Return what a pod's server sends by itself over a port-forward."""
        return PortForward(self.connection, namespace, pod, port).read(timeout=timeout)

    def wait_gone(self, namespace: str, name: str, *, seconds: float, uid: str = "") -> bool:
        """Wait until a pod is gone, or the one with ``uid``; return whether it is."""
        with _as_channel():
            return wait_gone(self.connection, namespace, name, seconds=seconds, uid=uid)

    def follow_end(
        self, namespace: str, name: str, *, seconds: float
    ) -> tuple[Object | None, bool]:
        """Return a pod as it was last seen, which may be never, and whether it is gone."""
        with _as_channel():
            return follow_end(self.connection, namespace, name, seconds=seconds)

    def pod_proxy(self, namespace: str, pod: str, port: int) -> HttpChannel:
        """Return the API server's proxy to a pod."""
        return PodProxy(self.connection, namespace, pod, port)

    def port_forward(self, namespace: str, pod: str, port: int) -> HttpChannel:
        """Return a port-forward to a pod."""
        return PortForward(self.connection, namespace, pod, port)

    def open_exec(self, namespace: str, pod: str, container: str, *, node: str, os: OS) -> Exec:
        """Return a channel that runs processes; those on the same ``node`` share its limit."""
        with self._lock:
            bounds = self.connection.bounds
            slots = self._slots.setdefault(node, for_processes(bounds.processes(os), bounds))
        return Exec(self.connection, namespace, pod, container, slots)

    def converse(
        self, namespace: str, pod: str, container: str, argv: Sequence[str]
    ) -> Conversation:
        """Start an interactive process; ``ChannelError`` if it cannot be started."""
        return converse(self.connection, namespace, pod, container, argv)

    def open_http(
        self, namespace: str, pod: str, port: int, execute: ExecChannel, *, timeout: float
    ) -> tuple[tuple[HttpChannel, ...], tuple[str, ...]]:
        """Return the probe's channels, the first that passed its self-check in front."""
        candidates: list[HttpChannel] = [
            # A forwarding that stays open carries any number of requests for one API request.
            PortForward(self.connection, namespace, pod, port),
            PodProxy(self.connection, namespace, pod, port),
            ExecCurl(execute, port, pod),
        ]
        opened = open_channels(candidates, pod, deadline=time.monotonic() + timeout)
        return opened.channels, opened.notes


def standing_pods(
    connection: Connection, namespace: str, names: Collection[str], *, selector: str
) -> tuple[dict[str, Object], dict[str, str]]:
    """Return the Pods of ``names`` that are Ready now, and why the others are not; ``ClusterError`` without an answer."""
    listed = connection.items(f"/api/v1/namespaces/{namespace}/pods", labelSelector=selector)
    pods = {pod["metadata"]["name"]: pod for pod in listed}
    why = {name: _why_not(pods.get(name)) for name in names}
    return (
        {name: pods[name] for name in names if not why[name]},
        {name: reason for name, reason in why.items() if reason},
    )


def _why_not(pod: Object | None) -> str:
    if pod is None:
        return "it is no longer in the API"
    if "deletionTimestamp" in pod["metadata"]:
        return "it is being deleted"
    if is_standing(pod):
        return ""
    return f"it is not Ready ({problem_of(pod)})"
