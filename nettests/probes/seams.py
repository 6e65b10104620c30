"""Protocols of what probes need: a cluster that holds objects, and a journal that takes records.

``cluster`` and ``session`` implement them, and tests use small real stand-ins.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from nettests.model.channel import Conversation, ExecChannel, HttpChannel
from nettests.model.observation import Raw
from nettests.model.words import OS

Object = dict[str, Any]


class Creates(Protocol):
    """What stores objects of a run."""

    def create(self, item: Object) -> Object:
        """Create an object and return it as stored; ``ClusterError`` when it is refused."""


class Reads(Protocol):
    """What reads objects."""

    def read(self, path: str, query: Mapping[str, str]) -> tuple[int, str]:
        """Read an object, a list or a log; return status and body. ``ChannelError`` without an answer."""


class ShowsPods(Protocol):
    """What lists a run's Pods as they are now."""

    def standing_pods(
        self, namespace: str, names: Collection[str], *, selector: str
    ) -> tuple[dict[str, Object], dict[str, str]]:
        """Return those of these Pods that are Ready now, and why the others are not; ``ClusterError`` without an answer."""


class Executes(Protocol):
    """What starts processes in containers."""

    def open_exec(
        self, namespace: str, pod: str, container: str, *, node: str, os: OS
    ) -> ExecChannel:
        """Return a channel that runs processes; those on the same ``node`` share its limit."""


class Cluster(Creates, Executes, Protocol):
    """The cluster as far as probes need it."""

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

    def wait_for_endpoints(
        self, namespace: str, ready: Mapping[str, frozenset[str]], *, seconds: float
    ) -> dict[str, frozenset[str]]:
        """Return by Service the pods that are not ready endpoints of it after ``seconds``.

        ``ClusterError`` where endpoints cannot be read.
        """

    def wait_for_addresses(
        self,
        namespace: str,
        names: Collection[str],
        *,
        seconds: float,
        on_poll: Callable[[], None],
    ) -> dict[str, Object]:
        """Return Services as soon as each has a load balancer, or as they are after ``seconds``."""

    def open_http(
        self, namespace: str, pod: str, port: int, execute: ExecChannel, *, timeout: float
    ) -> tuple[tuple[HttpChannel, ...], tuple[str, ...]]:
        """Return the probe's channels, the working one first, and what the self-check found.

        ``ChannelError`` when none works within ``timeout`` seconds.
        """


class ApiServer(Reads, Protocol):
    """The API server's operations on objects."""

    def dry_run(self, item: Object) -> tuple[int, str]:
        """Request an object to be created without being stored; return status and body.

        ``ChannelError`` when no answer comes.
        """


class Services(Creates, Reads, Protocol):
    """The cluster as far as a check changes its own Service."""

    def delete(self, path: str) -> None:
        """Delete an object of the run's; ``ClusterError`` when it is refused."""

    def update(self, path: str, item: Object) -> None:
        """Replace an object of the run's by this state of it; ``ClusterError`` when it is refused."""


class Replaces(Protocol):
    """What replaces a Pod by another one."""

    def replace(
        self, gone: str, comes: str, group: str, *, beside: str, keeping_address: bool = False
    ) -> None:
        """Delete a Pod, and start another one, at its address if wanted; either may be none.

        ``ClusterError`` when it does not start, ``NotOfferedError`` when it never gets that address.
        """


class Pods(Creates, Executes, Reads, Protocol):
    """The cluster as far as a check creates its own Pod; failures are ``ChannelError``."""

    def follow_pod(
        self,
        namespace: str,
        name: str,
        *,
        settled: Callable[[Object], bool],
        seconds: float,
        stuck: float,
        new: bool = False,
    ) -> Object:
        """Return a pod as soon as it is ``settled``, or as it is when the wait ends.

        The wait ends after ``seconds``, and after ``stuck`` in a state that does not heal by itself.
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
        """Return the pods of a selector as soon as they are ``settled``, or as they are when the wait ends.

        The wait ends if there is none after ``appear`` seconds, after ``seconds``, and when all of them have been
        for ``stuck`` in a state that does not heal by itself.
        """

    def attach(self, namespace: str, pod: str, container: str, *, until: str) -> str:
        """Return what a container writes from now on, until it contains ``until`` or the time of a process is over."""

    def update(self, path: str, item: Object) -> None:
        """Replace an object of the run's by this state of it; ``ClusterError`` when it is refused."""

    def events_of(self, namespace: str, pod: str) -> list[Object]:
        """Return the events of a pod, or of its controller; none if they cannot be read."""

    def log_of(self, namespace: str, pod: str, container: str, *, timed: bool = False) -> str:
        """Return a container's log; ``timed`` begins each line with its node's time."""

    def delete_pod(self, namespace: str, name: str) -> None:
        """Delete a pod by its own grace period; what fails is left to the end of the run."""

    def delete(self, path: str) -> None:
        """Delete an object of the run's, and what belongs to it; ``ClusterError`` when it is refused."""

    def read_port(self, namespace: str, pod: str, port: int, *, timeout: float) -> str:
        """Return what a pod's server sends by itself over a port-forward."""

    def wait_gone(self, namespace: str, name: str, *, seconds: float, uid: str = "") -> bool:
        """Wait until a pod is gone, or the one with ``uid`` if another may replace it; return whether it is."""

    def follow_end(
        self, namespace: str, name: str, *, seconds: float
    ) -> tuple[Object | None, bool]:
        """Return a pod as it was last seen, which may be never, and whether it is gone after ``seconds``."""

    def pod_proxy(self, namespace: str, pod: str, port: int) -> HttpChannel:
        """Return the API server's proxy to a pod."""

    def port_forward(self, namespace: str, pod: str, port: int) -> HttpChannel:
        """Return a port-forward to a pod."""


class Converses(Protocol):
    """What starts interactive processes."""

    def converse(
        self, namespace: str, pod: str, container: str, argv: Sequence[str]
    ) -> Conversation:
        """Start a process; ``ChannelError`` when it cannot be started."""


class Examined(ApiServer, Pods, Converses, Services, Protocol):
    """The cluster as far as questions without a path need it."""


class Recorder(Protocol):
    """The journal as far as probes write to it."""

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
        """Write that a check was run to the end, or why not; ``late`` names a Service that did not converge."""

    def event(self, text: str) -> None:
        """Write what happened to the run as a whole."""

    def convergence(self, *, service: str, probe: str, seconds: float, converged: bool) -> None:
        """Write how long a Service took to answer ``probe``."""
