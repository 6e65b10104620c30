"""Search a server's log for an unanswered datagram, to tell which direction is broken.

Used by ``attempts`` if a Pod on another node is silent over UDP and all positive controls were
answered: a client cannot tell a lost request from a lost answer. agnhost's UDP server logs what it
echoes, so one more echo is sent, of a size that no other request has, and the log is read through
the API server. Nothing is judged here.
"""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol as Interface

from nettests.model.channel import ChannelError
from nettests.model.check import Action, Check
from nettests.model.observation import Raw
from nettests.model.payload import ECHO, filler
from nettests.model.words import Outcome, Placement, Protocol, Question, TargetKind, VantageKind
from nettests.parse.arrival import ARRIVAL, SERVER_LOG, echoed
from nettests.parse.read import read_raw
from nettests.probes.sending import Sender

CONTAINER = "hostname"
"""The container of a server Pod that answers over UDP (``manifests/probes/server.yaml``)."""
SMALLEST = 64
"""Bytes of the first node's echo; each further node's is one byte longer, and payloads are far longer."""


class Logs(Interface):
    """Reads containers' logs; failures raise ``ChannelError``."""

    def log_of(self, namespace: str, pod: str, container: str) -> str:
        """Return a container's log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """Searches servers' logs for datagrams; thread-safe."""

    logs: Logs
    namespace: str

    def look(self, sender: Sender, check: Check) -> None:
        """Send one more echo and record the log lines about it, or why the log is unreadable."""
        nodes = [node.name for node in sender.directory.facts.nodes]
        size = SMALLEST + nodes.index(check.source.node or "")
        sender.send(check.id, ARRIVAL, 1, replace(check.action, size=size))
        started = time.monotonic()
        error, lines = None, ""
        try:
            log = self.logs.log_of(self.namespace, check.target.pod or "", CONTAINER)
            lines = echoed(log, filler(size - len(ECHO)))
        except ChannelError as failure:
            error = failure.message
        sender.recorder.raw(
            Raw(
                check=check.id,
                purpose=ARRIVAL,
                attempt=2,
                tool=SERVER_LOG,
                client_os=str(check.source.os or ""),
                probe=check.source.probe,
                channel="api",
                command=("log", check.target.pod or "", CONTAINER),
                started=round(started - sender.began, 3),
                elapsed=round(time.monotonic() - started, 3),
                stdout=lines,
                error=error,
            )
        )


def in_question(check: Check, raws: Sequence[Raw]) -> bool:
    """Whether all of a check's packets timed out, over UDP between Pods of two nodes."""
    action = check.action
    return (
        _between_pods(action, check.placement)
        and bool(raws)
        and {read_raw(raw).outcome for raw in raws} == {Outcome.TIMED_OUT}
    )


def _between_pods(action: Action, placement: Placement) -> bool:
    kinds: Collection[object] = (action.source.kind, action.target.kind)
    between = tuple(kinds) == (VantageKind.POD, TargetKind.POD_IP)
    alone = action.question is Question.REACH and action.size is None
    return (
        between and alone and placement is Placement.OTHER_NODE and action.protocol is Protocol.UDP
    )
