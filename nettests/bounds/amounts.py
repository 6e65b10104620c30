"""Every concurrency limit, with its unit and its reason.

A cluster profile can set three of them (``timing.perProbe``, ``execLinux``, ``execWindows``).
Durations are in ``Timing``.
"""

from dataclasses import dataclass

from nettests.model.cluster_profile import Timing
from nettests.model.words import OS

SET = Timing()
"""The timing of an empty cluster profile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much may happen at once, by field."""

    requests: int = 8
    """API requests that start at once on one connection, like the workers of one kind in
    kube-controller-manager. After ``request_patience`` an unanswered one no longer counts."""
    request_patience: float = 0.25
    """Seconds: an idle API server answers in milliseconds."""
    requests_open: int = 48
    """API requests under way on one connection, waiting ones included: the most that a slow API
    server gets."""
    pulls: int = 16
    """Images pulled at once on all nodes; each node pulls them one by one."""
    starts_per_node: int = 4
    """Pods of checks' own on one node: Windows nodes create sandboxes slowly."""
    openings: int = 8
    """Probes whose channels are opened at once: each costs API server and kubelet handshakes."""
    host_readings: int = 8
    """Nodes whose settings are read at once, by one process each."""
    calibrations: int = 32
    """Vantages that answer known questions at once, by one process each, mostly waiting for answers
    that must not come."""
    waiting_checks: int = 512
    """Checks that are waited for at once, by one thread each; other limits say how many run."""
    waiting_services: int = 512
    """Services and names that are waited for at once, by one thread each."""
    disruptive: int = 8
    """Services that change at once: every node's proxy processes each change."""
    watchers: int = 16
    """Nodes of a pool that watch one changing Service, by one thread each, with some 20 connections
    after each change. In larger pools the run's seed chooses them."""
    pods_at_once: int = 30
    """Pods that one check starts on a node at once, each followed by a thread."""
    service_requests: int = 8
    """Services that one check creates or removes at once, within the connection's limit."""
    service_dials: int = 4
    """Of a check's many Services, those that one probe dials at once."""
    dials_beside: int = 2
    """A probe's connections while a Service changes: to the Service, and to its backend."""
    captures: int = 4
    """Connections captured at once, on different nodes: each waits for its tools most of the time."""
    diagnostic_readings: int = 12
    """Concurrent reads of API and nodes for diagnostics."""
    questions_open: int = 192
    """Requests on all HTTP channels of a run, waiting ones included: with 200 nodes each is polled
    for 5 s while silent, and others must pass. Eight share four file descriptors (``ulimit``)."""
    connections_per_check: int = 8
    """Connections of one distribution or affinity check that are waited for at once."""
    polls_per_service: int = 2
    """Polls of a Service from one probe: with packet loss, the second may be answered first."""
    processes_per_answer: int = 7
    """Processes started for one answer, as some hang on Windows, which leaks them: if one in three
    hangs, all seven do once in 2,187 times."""
    checks: int = 32
    """Checks that start at once on all probes: there are as many as nodes and pairs, while Services
    converge. A check without an answer after ``question_patience`` no longer counts."""
    question_patience: float = 0.5
    """Seconds after which an unanswered request no longer counts: most take milliseconds."""
    question_forbearance: float = 3.0
    """Its maximum if a probe answers late: more requests would delay an overloaded one."""
    per_probe: int = SET.per_probe
    """Requests that start at once on one probe's HTTP channel (``timing.perProbe``)."""
    exec_linux: int = SET.exec_linux
    """Processes on one Linux node (``timing.execLinux``)."""
    exec_windows: int = SET.exec_windows
    """Processes on one Windows node, where they leak and deadlock (k/k #98102, #124700; ``timing.execWindows``)."""
    process_patience: float = 2.0
    """Seconds after which a process no longer counts: Windows takes one or two to start it."""
    silent_processes: int = 7
    """How many times the limit of starting processes may be waiting for a time-out on a node."""
    handshake_patience: float = 0.25
    """Seconds after which an unopened exec is the API server's delay: nothing runs yet."""
    handshakes: float = 1.5
    """How many times the limit of starting processes a node's processes and unopened execs may
    reach together, however slow the API server is."""

    @classmethod
    def of(cls, timing: Timing) -> "Bounds":
        """Return the bounds of one cluster, with those that its profile sets."""
        return cls(
            per_probe=timing.per_probe,
            exec_linux=timing.exec_linux,
            exec_windows=timing.exec_windows,
        )

    def processes(self, os: OS) -> int:
        """Return how many processes may start at once on a node of this OS."""
        return self.exec_windows if os is OS.WINDOWS else self.exec_linux

    def questions(self, probes: int) -> int:
        """Return how many requests may start at once at each of ``probes`` probes over HTTP."""
        return max(1, min(self.per_probe, self.questions_open // max(1, probes)))
