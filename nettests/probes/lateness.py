"""Services that did not answer within their deadline, and the checks that report it.

Filled by ``observer`` while Services converge, read when a check is done. A check reports the Service that it tests.
For a Service that no check tests from there, such as a control's, all checks report that waited for it, unless tested
Services do not answer from there either: their own checks report it. Silence over UDP alone says nothing of TCP, and
a name is late if nothing behind it answered. Nothing is judged here.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from nettests.model.check import Action, Check
from nettests.model.target_kinds import Owner, descriptor
from nettests.model.words import Protocol, Question
from nettests.probes.addresses import Directory
from nettests.probes.convergence import PROTOCOLS
from nettests.probes.service_pairs import Pair, pairs_of

_POLLED = frozenset(protocol for protocol, _ in PROTOCOLS)


@dataclass(slots=True)
class Lateness:
    """``awaited`` are the pairs that each check waits for, by its id."""

    directory: Directory
    awaited: Mapping[str, frozenset[Pair]]
    targeted: Mapping[str, frozenset[Pair]]
    """Of these, the pairs that show the rules for a check's own packets."""
    probed: frozenset[Pair]
    """All pairs that show the rules for some check's own packets."""
    questions: Mapping[str, Action]
    """The action of each check, by id."""
    _late: dict[Pair, tuple[frozenset[Protocol], float]] = field(default_factory=dict)
    _answered: set[Pair] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def missed(self, pair: Pair, protocols: frozenset[Protocol], seconds: float) -> None:
        """Note that a pair did not answer in these protocols within ``seconds``."""
        if not _is_pod(pair):
            with self._lock:
                self._late[pair] = protocols, seconds

    def answered(self, pair: Pair) -> None:
        """Note that a pair answered in time."""
        with self._lock:
            self._answered.add(pair)

    def of(self, check: str) -> str | None:
        """Name the Service that did not answer before the check was run, with probe, node and seconds."""
        action = self.questions[check]
        with self._lock:
            late = {
                pair: seconds
                for pair in self.awaited[check]
                if pair in self._late
                for protocols, seconds in (self._late[pair],)
                if _met(action, protocols)
            }
        targeted = [pair for pair in sorted(late) if pair in self.targeted[check]]
        reported = targeted or [pair for pair in sorted(late) if self._is_unreported(pair)]
        if not reported:
            return None
        pair = reported[0]
        node = self.directory.pod(pair.probe).node
        return (
            f"Service {pair.name} did not answer {pair.probe} on {node} within {late[pair]:.0f} s"
        )

    def _is_unreported(self, pair: Pair) -> bool:
        """Whether no check targets the Service from this probe, and all Services targeted from it answer."""
        with self._lock:
            silent = self.probed - self._answered
        return pair not in self.probed and not any(
            other.probe == pair.probe and not _is_pod(other) for other in silent
        )


def _is_pod(pair: Pair) -> bool:
    """Whether it is a Pod: then its container listens late, and no proxy is involved."""
    return descriptor(pair.kind).owner is Owner.POD


def _met(action: Action, silent: frozenset[Protocol]) -> bool:
    """Whether an action uses one of the protocols without an answer."""
    match action.protocol:
        case Protocol.TCP | Protocol.UDP if action.question is not Question.RESOLVE:
            return action.protocol in silent
        case Protocol.TCP | Protocol.UDP | Protocol.ICMP:
            return silent >= _POLLED
        case _:
            assert_never(action.protocol)


def _targeted_pairs(check: Check, probe_on: dict[str, str]) -> frozenset[Pair]:
    """Return the pairs that show the rules for a check's own packets: those of one node's proxy."""
    action = check.action
    at_target = action.target.descriptor.owner is Owner.NODE_PORT
    proxy = action.target.node if at_target else action.source.node
    pairs = pairs_of(replace(check, controls=()), probe_on)
    return frozenset(pair for pair in pairs if pair.probe == probe_on.get(proxy or ""))


def lateness(
    directory: Directory,
    checks: Sequence[Check],
    awaited: Mapping[str, Iterable[Pair]],
    probe_on: dict[str, str],
) -> Lateness:
    """Return the lateness of a run before anything converged."""
    targeted = {check.id: _targeted_pairs(check, probe_on) for check in checks}
    return Lateness(
        directory=directory,
        awaited={check: frozenset(pairs) for check, pairs in awaited.items()},
        targeted=targeted,
        probed=frozenset(pair for pairs in targeted.values() for pair in pairs),
        questions={check.id: check.action for check in checks},
    )
