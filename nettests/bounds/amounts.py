"""Every concurrency limit, with its unit and its reason.

A cluster profile can set three of them (``timing.perProbe``, ``execLinux``, ``execWindows``); the others are the same
for all clusters. Durations are not here: see ``Timing``.
"""

from dataclasses import dataclass

from nettests.model.cluster_profile import Timing
from nettests.model.words import OS

SET = Timing()
"""What a cluster profile says that says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much may happen at once; each field says of what."""

    requests: int = 8
    """API requests that begin at the same time, over one connection: as many as kube-controller-manager's workers of one
    kind. One that has had no answer for ``request_patience`` only waits, and makes room for the next."""
    request_patience: float = 0.25
    """Seconds: an API server that has nothing else to do answers in milliseconds."""
    requests_open: int = 48
    """API requests of one connection that are under way, those included that only wait: a slow API server has these
    to work on and no more."""
    pulls: int = 16
    """Images that are pulled at the same time, over all nodes; a node pulls them one by one by itself."""
    starts_per_node: int = 4
    """Pods of checks' own on one node: Windows nodes make sandboxes slowly."""
    openings: int = 8
    """Probes whose channels are opened at the same time: each costs handshakes with the API server and a kubelet."""
    host_readings: int = 8
    """Nodes whose own settings are read at the same time, by a process each."""
    calibrations: int = 32
    """Vantages that answer known questions at the same time, by one process each: most of its time each waits for an answer
    that must not come."""
    waiting_checks: int = 512
    """Checks that are waited for at the same time, each by a thread: the other bounds say how many of them run."""
    waiting_services: int = 512
    """Services and names that are waited for at the same time, each by a thread."""
    disruptive: int = 8
    """Services that come and go at the same time: each change makes the proxy of every node work."""
    watchers: int = 16
    """Nodes of a node pool that watch one Service that changes, each by a thread: each dials some 20 times after every
    change. Of more nodes, others watch in every run."""
    pods_at_once: int = 30
    """Pods that one check makes on a node at the same time, each followed by a thread."""
    service_requests: int = 8
    """Services of many that one check makes or removes at the same time; the connection bounds all requests besides."""
    service_dials: int = 4
    """Of many Services so many are dialled by one probe at the same time, beside others of its node."""
    dials_beside: int = 2
    """Connections of one probe while a Service changes: one to it, and one to its backend, which shows what is the Service's."""
    diagnostic_readings: int = 12
    """Readings for diagnostics, of the API and of nodes, at the same time."""
    questions_open: int = 192
    """Questions over all HTTP channels of a run, those included that only wait: in a fleet of 200 nodes each is polled for
    5 s at a time while nothing answers, and others have to pass. Eight share a forwarding, whose four file descriptors count against `ulimit -n`."""
    connections_per_check: int = 8
    """Connections of one check of distribution or affinity that are waited for at the same time."""
    polls_per_service: int = 2
    """Polls of one Service from one probe: where packets are lost, the second may be answered before the first gives up."""
    processes_per_answer: int = 7
    """Processes for one answer, beside those that hang: Windows leaks these. If one of three hangs, all of seven do once in
    2,187 times."""
    checks: int = 32
    """Checks that begin at the same time, over all probes: there are as many as nodes and pairs of nodes, and Services
    converge meanwhile. One that has had no answer for ``question_patience`` only waits."""
    question_patience: float = 0.5
    """Seconds after which a question that has no answer yet only waits: two nodes need milliseconds."""
    question_forbearance: float = 3.0
    """Seconds to which that grows where a probe answers late: on an overloaded one, more questions make all of them later."""
    per_probe: int = SET.per_probe
    """Questions that begin at the same time over one probe's HTTP channel (``timing.perProbe``)."""
    exec_linux: int = SET.exec_linux
    """Processes on one Linux node (``timing.execLinux``)."""
    exec_windows: int = SET.exec_windows
    """Processes on one Windows node, where they leak and deadlock (k/k #98102, #124700; ``timing.execWindows``)."""
    process_patience: float = 2.0
    """Seconds after which a process that has not ended only waits: Windows takes a second or two to start one."""
    silent_processes: int = 7
    """Of a node's processes, so many times as many as may be started at once may be waiting for a time-out."""
    handshake_patience: float = 0.25
    """Seconds after which an exec that is not open yet waits for the API server: a kubelet runs no process before."""
    handshakes: float = 1.5
    """A node's processes and those whose exec is not open yet are together so many times as many as may be started at
    once, and no more, however slow the API server is."""

    @classmethod
    def of(cls, timing: Timing) -> "Bounds":
        """Return the bounds of one cluster: what its profile sets, and the others as they are."""
        return cls(
            per_probe=timing.per_probe,
            exec_linux=timing.exec_linux,
            exec_windows=timing.exec_windows,
        )

    def processes(self, os: OS) -> int:
        """Return how many processes may be started at once on a node of this system."""
        return self.exec_windows if os is OS.WINDOWS else self.exec_linux

    def questions(self, probes: int) -> int:
        """Return how many questions may begin at once at each of so many probes that are reached over HTTP."""
        return max(1, min(self.per_probe, self.questions_open // max(1, probes)))
