"""What probes need of a cluster, in one object: create, wait, open channels.

Joins ``apply``, ``wait`` and ``channels`` over one connection; ``probes`` meets it as a protocol.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nettests.cluster.apply import create, dry_run
from nettests.cluster.channels import ExecCurl, PodProxy, PortForward, open_channels
from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.execute import Exec
from nettests.cluster.wait import wait_for_pods
from nettests.errors import ClusterError
from nettests.model.channel import ChannelError, ExecChannel, HttpChannel

Object = dict[str, Any]


@dataclass(slots=True)
class Access:
    """One cluster as a run uses it; safe for threads."""

    connection: Connection
    _slots: dict[str, threading.Semaphore] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def create(self, item: Object) -> Object:
        """Create an object and return it as stored."""
        return create(self.connection, item)

    def dry_run(self, item: Object) -> tuple[int, str]:
        """Ask for an object to be created without being stored; return status and body as they come."""
        try:
            answer = dry_run(self.connection, item)
        except ClusterError as error:
            raise ChannelError(error.message) from error
        return answer.status, answer.text

    def read(self, path: str, query: Mapping[str, str]) -> tuple[int, str]:
        """Read an object, a list or a log; return status and body, also of a refusal."""
        try:
            return 200, self.connection.request("GET", path, query=query).text
        except ApiError as error:
            return error.status, error.message
        except ClusterError as error:
            raise ChannelError(error.message) from error

    def wait_for_pods(
        self,
        namespace: str,
        names: Iterable[str],
        *,
        ready: float,
        stuck: float,
        on_change: Callable[[int, int], None],
    ) -> tuple[dict[str, Object], dict[str, str]]:
        """Return Ready pods, and for the others why they are not."""
        return wait_for_pods(
            self.connection, namespace, names, ready=ready, stuck=stuck, on_change=on_change
        )

    def open_exec(
        self, namespace: str, pod: str, container: str, *, node: str, at_once: int
    ) -> Exec:
        """Return a channel that runs processes, at most ``at_once`` on the same ``node``."""
        with self._lock:
            slots = self._slots.setdefault(node, threading.Semaphore(at_once))
        return Exec(self.connection, namespace, pod, container, slots)

    def open_http(
        self, namespace: str, pod: str, port: int, execute: ExecChannel, *, timeout: float
    ) -> tuple[tuple[HttpChannel, ...], tuple[str, ...]]:
        """Return the probe's channels, the first that passed its self-check in front."""
        candidates: list[HttpChannel] = [
            # A forwarding that stays open carries any number of questions for one API request.
            PortForward(self.connection, namespace, pod, port),
            PodProxy(self.connection, namespace, pod, port),
            ExecCurl(execute, port, pod),
        ]
        opened = open_channels(candidates, pod, deadline=time.monotonic() + timeout)
        return opened.channels, opened.notes
