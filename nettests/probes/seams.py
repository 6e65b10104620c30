"""Protocols that probes depend on: a cluster that holds objects, and a journal that takes records.

``cluster`` and ``session`` implement them, and tests use small real stand-ins.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from nettests.model.channel import Conversation, ExecChannel, HttpChannel
from nettests.model.json_text import Object
from nettests.model.observation import Raw
from nettests.model.words import OS


class Creates(Protocol):
    """Creates objects of a run."""

    def create(self, item: Object) -> Object:
        """Create an object and return it as stored; raises ``ClusterError`` if it is rejected."""


class Reads(Protocol):
    """Reads objects."""

    def read(self, path: str, query: Mapping[str, str]) -> tuple[int, str]:
        """Read an object, list or log; return status and body, or raise ``ChannelError``."""


class ShowsPods(Protocol):
    """Lists a run's Pods with their current state."""

    def standing_pods(
        self, namespace: str, names: Collection[str], *, selector: str
    ) -> tuple[dict[str, Object], dict[str, str]]:
        """Return which of these Pods are Ready, and why others are not; ``ClusterError``."""


class Executes(Protocol):
    """Starts processes in containers."""

    def open_exec(
        self, namespace: str, pod: str, container: str, *, node: str, os: OS
    ) -> ExecChannel:
        """Return a channel that runs processes; channels to one ``node`` share its limit."""


class Cluster(Creates, Executes, Protocol):
    """The cluster operations that deployment and probes need."""

    def wait_for_pods(
        self,
        namespace: str,
        names: Iterable[str],
        *,
        ready: float,
        stuck: float,
        on_change: Callable[[int, int], None],
    ) -> tuple[dict[str, Object], dict[str, str]]:
        """Return the Ready pods, and for each other pod the reason."""

    def wait_for_endpoints(
        self, namespace: str, ready: Mapping[str, frozenset[str]], *, seconds: float
    ) -> dict[str, frozenset[str]]:
        """Return, by Service, the pods that are still no ready endpoints after ``seconds``.

        Raises ``ClusterError`` if endpoints cannot be read.
        """

    def wait_for_addresses(
        self,
        namespace: str,
        names: Collection[str],
        *,
        seconds: float,
        on_poll: Callable[[], None],
    ) -> dict[str, Object]:
        """Return Services once each has a load balancer address, or as they end up."""

    def open_http(
        self, namespace: str, pod: str, port: int, execute: ExecChannel, *, timeout: float
    ) -> tuple[tuple[HttpChannel, ...], tuple[str, ...]]:
        """Return the probe's channels, the working one first, and notes of the self-check.

        Raises ``ChannelError`` if none works within ``timeout`` seconds.
        """


class ApiServer(Reads, Protocol):
    """The API server's operations on objects."""

    def dry_run(self, item: Object) -> tuple[int, str]:
        """Create an object by dry run, without storing it; return status and body.

        Raises ``ChannelError`` without an answer.
        """


class Services(Creates, Reads, Protocol):
    """The cluster operations with which a check changes its own Service."""

    def delete(self, path: str) -> None:
        """Delete an object of the run; raises ``ClusterError`` if that is rejected."""

    def update(self, path: str, item: Object) -> None:
        """Replace an object of the run; raises ``ClusterError`` if that is rejected."""


class Replaces(Protocol):
    """Replaces a Pod by another one."""

    def replace(
        self, gone: str, comes: str, group: str, *, beside: str, keeping_address: bool = False
    ) -> None:
        """Delete Pod ``gone`` and start ``comes``, perhaps at its address; either may be empty.

        ``ClusterError`` if it does not start, ``NotOfferedError`` if it never gets that address.
        """


class Pods(Creates, Executes, Reads, Protocol):
    """The cluster operations of checks that create Pods; failures raise ``ChannelError``."""

    def follow_pod(
        self,
        namespace: str,
        name: str,
        *,
        settled: Callable[[Object], bool],
        seconds: float,
        stuck: float,
    ) -> Object:
        """Return a pod as soon as it is ``settled``, or as it is when the wait ends.

        The wait ends after ``seconds``, or after ``stuck`` in a state that does not heal by itself.
        """

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
        """Return a selector's pods once they are ``settled``, or as they are when the wait ends.

        It ends if there is none after ``appear`` seconds, after ``seconds``, or when all of them
        have been for ``stuck`` in a state that does not heal by itself.
        """

    def attach(self, namespace: str, pod: str, container: str, *, until: str) -> str:
        """Return what a container writes until it contains ``until`` or the time limit is over."""

    def update(self, path: str, item: Object) -> None:
        """Replace an object of the run; raises ``ClusterError`` if that is rejected."""

    def events_of(self, namespace: str, pod: str) -> list[Object]:
        """Return the events of a pod or of its controller; empty if they cannot be read."""

    def log_of(self, namespace: str, pod: str, container: str, *, timed: bool = False) -> str:
        """Return a container's log; with ``timed``, each line begins with its node's time."""

    def delete_pod(self, namespace: str, name: str) -> None:
        """Delete a pod with its own grace period; failures are left to the final clean-up."""

    def delete_pods(self, namespace: str, names: Sequence[str]) -> None:
        """Delete several pods by their ``POD_LABEL``, likewise."""

    def delete(self, path: str) -> None:
        """Delete an object of the run and its dependents; ``ClusterError`` if that is rejected."""

    def read_port(self, namespace: str, pod: str, port: int, *, timeout: float) -> str:
        """Return what a pod's server sends unprompted over a port-forward."""

    def wait_gone(self, namespace: str, name: str, *, seconds: float, uid: str = "") -> bool:
        """Wait until a pod is gone (by ``uid`` if the name may be reused); return whether it is."""

    def follow_end(
        self, namespace: str, name: str, *, seconds: float
    ) -> tuple[Object | None, bool]:
        """Return a pod's last seen state, if any, and whether it is gone within ``seconds``."""

    def pod_proxy(self, namespace: str, pod: str, port: int) -> HttpChannel:
        """Return a channel to a pod through the API server's proxy."""

    def port_forward(self, namespace: str, pod: str, port: int) -> HttpChannel:
        """Return a channel to a pod through a port-forward."""


class Converses(Protocol):
    """Starts interactive processes."""

    def converse(
        self, namespace: str, pod: str, container: str, argv: Sequence[str]
    ) -> Conversation:
        """Start a process; raises ``ChannelError`` if it cannot be started."""


class Examined(ApiServer, Pods, Converses, Services, Protocol):
    """The cluster operations of checks without a path."""


class Recorder(Protocol):
    """The journal operations that probes use."""

    def raw(self, raw: Raw) -> object:
        """Write one request and its answer."""

    def done(
        self,
        check: str,
        *,
        distrust: str | None = None,
        skip: str | None = None,
        late: str | None = None,
    ) -> None:
        """Write that a check ended, or why not; ``late`` is a Service that had not converged."""

    def event(self, text: str) -> None:
        """Write an event of the run as a whole."""

    def convergence(self, *, service: str, probe: str, seconds: float, converged: bool) -> None:
        """Write how long a Service took to answer ``probe``."""
