"""What probes need of a cluster, in one object: create, wait, open channels.

Joins ``apply``, ``wait`` and ``channels`` over one connection; ``probes`` uses it through a
protocol. ``standing_pods`` is for Pods that were Ready before: a reboot, a drain or a person may
have removed them since.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Concatenate, ParamSpec, TypeVar

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
from nettests.cluster.owner_marks import Ownership
from nettests.cluster.port_forward import PortForward
from nettests.cluster.wait import (
    events_of,
    is_standing,
    wait_for_addresses,
    wait_for_endpoints,
    wait_for_pods,
)
from nettests.errors import ClusterError
from nettests.model.channel import ChannelError, ExecChannel, HttpChannel
from nettests.model.json_text import Object
from nettests.model.labels import POD_LABEL, RUN_LABEL
from nettests.model.pod_problem import problem_of
from nettests.model.words import OS


@contextmanager
def _as_channel() -> Iterator[None]:
    """Turn a ``ClusterError`` into the ``ChannelError`` of the channel that uses the API server."""
    try:
        yield
    except ClusterError as error:
        raise ChannelError(error.message) from error


def standing_pods(
    connection: Connection, namespace: str, names: Collection[str], *, selector: str
) -> tuple[dict[str, Object], dict[str, str]]:
    """Return the Pods of ``names`` that are Ready, and why others are not; or ``ClusterError``."""
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


Given = ParamSpec("Given")
Read = TypeVar("Read")


def _sent(
    call: Callable[Concatenate[Connection, Given], Read],
    guard: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Callable[Concatenate["Access", Given], Read]:
    """Return a function of a connection as a method of ``Access``, called within ``guard``."""

    def method(access: "Access", /, *arguments: Given.args, **named: Given.kwargs) -> Read:
        with guard():
            return call(access.connection, *arguments, **named)

    return method


@dataclass(slots=True)
class Access:
    """The cluster of one run. Thread-safe."""

    connection: Connection
    ownership: Ownership | None = None
    """The owner of created objects; without it nothing can be created."""
    created: CreatedObjects = field(default_factory=CreatedObjects)
    """The created objects, to remove at the end of the run."""
    ended: threading.Event = field(default_factory=threading.Event)
    """Set when clean-up begins: objects created later would be left in an existing namespace."""
    _one_by_one: threading.Event = field(default_factory=threading.Event)
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
        """Send a dry-run creation; return status and body unchanged."""
        with _as_channel():
            answer = dry_run(self.connection, item)
        return answer.status, answer.text

    def read(self, path: str, query: Mapping[str, str]) -> tuple[int, str]:
        """Read an object, list or log; return status and body, or the message of a refusal."""
        try:
            return 200, self.connection.request("GET", path, query=query).text
        except ApiError as error:
            return error.status, error.message
        except ClusterError as error:
            raise ChannelError(error.message) from error

    def delete(self, path: str) -> None:
        """Delete an object and its dependents; no error if it is gone."""
        self.connection.delete(path, propagation=BACKGROUND)

    def delete_pods(self, namespace: str, names: Sequence[str]) -> None:
        """Delete Pods of the run by one request, or by one each once that was refused."""
        assert self.ownership is not None, "a run has created them"
        selector = f"{RUN_LABEL}={self.ownership.run},{POD_LABEL} in ({','.join(names)})"
        path = f"/api/v1/namespaces/{namespace}/pods"
        if len(names) > 1 and not self._one_by_one.is_set():
            try:
                self.connection.request("DELETE", path, query={"labelSelector": selector})
            except ApiError as error:
                if error.status == 403:  # the verb deletecollection is one of its own
                    self._one_by_one.set()
            except ClusterError:
                pass  # lost on its way: one by one, this time
            else:
                return
        for name in names:
            self.delete_pod(namespace, name)

    def update(self, path: str, item: Object) -> None:
        """Replace an object."""
        self.connection.request("PUT", path, body=item)

    wait_for_pods = _sent(wait_for_pods)
    wait_for_endpoints = _sent(wait_for_endpoints)
    wait_for_addresses = _sent(wait_for_addresses)
    standing_pods = _sent(standing_pods)
    attach = _sent(attach)
    events_of = _sent(events_of)
    delete_pod = _sent(delete_pod)
    converse = _sent(converse)
    follow_pod = _sent(follow_pod, _as_channel)
    follow_pods = _sent(follow_pods, _as_channel)
    follow_end = _sent(follow_end, _as_channel)
    log_of = _sent(log_of, _as_channel)
    wait_gone = _sent(wait_gone, _as_channel)

    def read_port(self, namespace: str, pod: str, port: int, *, timeout: float) -> str:
        """Return what a Pod's server sends unprompted over a port-forward."""
        return PortForward(self.connection, namespace, pod, port).read(timeout=timeout)

    def pod_proxy(self, namespace: str, pod: str, port: int) -> HttpChannel:
        """Return the API server's proxy to a pod."""
        return PodProxy(self.connection, namespace, pod, port)

    def port_forward(self, namespace: str, pod: str, port: int) -> HttpChannel:
        """Return a port-forward to a pod."""
        return PortForward(self.connection, namespace, pod, port)

    def open_exec(self, namespace: str, pod: str, container: str, *, node: str, os: OS) -> Exec:
        """Return a channel that runs processes; channels to the same ``node`` share its limit."""
        with self._lock:
            bounds = self.connection.bounds
            slots = self._slots.setdefault(node, for_processes(bounds.processes(os), bounds))
        return Exec(self.connection, namespace, pod, container, slots)

    def open_http(
        self, namespace: str, pod: str, port: int, execute: ExecChannel, *, timeout: float
    ) -> tuple[tuple[HttpChannel, ...], tuple[str, ...]]:
        """Return the probe's channels, the first that passed its self-check in front, and notes."""
        candidates: list[HttpChannel] = [
            # A port-forward that stays open carries any number of requests for one API request.
            PortForward(self.connection, namespace, pod, port),
            PodProxy(self.connection, namespace, pod, port),
            ExecCurl(execute, port, pod),
        ]
        return open_channels(candidates, pod, deadline=time.monotonic() + timeout)
