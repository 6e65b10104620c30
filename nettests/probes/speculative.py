"""Run a check while a Service that it waits for is still silent, and hold back its answers.

Used by ``observer``: a Service that never converges would otherwise cost its deadline, and then its
checks' time-outs. Such answers count if nothing that the check waits for has converged since,
or if the first answer was positive, because then the Service already worked. Otherwise they are
dropped and the check runs again. Nothing is judged here.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import assert_never

from nettests.model.check import Action, Check
from nettests.model.observation import OVERLOADED, Raw
from nettests.model.question import Trait
from nettests.model.target_kinds import Owner, descriptor
from nettests.model.words import Protocol, Question
from nettests.parse.read import positive, read_raw
from nettests.probes.addresses import Directory
from nettests.probes.convergence import PROTOCOLS
from nettests.probes.seams import Recorder
from nettests.probes.service_pairs import Pair, pairs_of

_POLLED = frozenset(protocol for protocol, _ in PROTOCOLS)


@dataclass(slots=True)
class Lateness:
    """Which pairs missed their deadlines; ``awaited`` holds each check's pairs by its id."""

    directory: Directory
    awaited: Mapping[str, frozenset[Pair]]
    targeted: Mapping[str, frozenset[Pair]]
    """The subset of pairs that show the rules for a check's own packets."""
    probed: frozenset[Pair]
    """All pairs that show the rules for any check's own packets."""
    questions: Mapping[str, Action]
    """The action of each check, by id."""
    _late: dict[Pair, tuple[frozenset[Protocol], float, str]] = field(default_factory=dict)
    _answered: set[Pair] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def missed(
        self, pair: Pair, protocols: frozenset[Protocol], seconds: float, *, overloaded: str
    ) -> None:
        """Note that a pair missed its deadline; ``overloaded`` says that its probe was."""
        if not _is_pod(pair):
            with self._lock:
                self._late[pair] = protocols, seconds, overloaded

    def answered(self, pair: Pair) -> None:
        """Note that a pair answered in time."""
        with self._lock:
            self._answered.add(pair)

    def of(self, check: str) -> str | None:
        """Name the Service that had not answered when the check ran, with probe, node and seconds.

        If the probe was overloaded, the text begins with that: it shows nothing about rules.
        """
        action = self.questions[check]
        with self._lock:
            late = {
                pair: (overloaded, seconds)
                for pair in self.awaited[check]
                if pair in self._late
                for protocols, seconds, overloaded in (self._late[pair],)
                if _met(action, protocols)
            }
        targeted = [pair for pair in sorted(late) if pair in self.targeted[check]]
        reported = targeted or [pair for pair in sorted(late) if self._is_unreported(pair)]
        if not reported:
            return None
        pair = min(
            reported, key=lambda pair: bool(late[pair][0])
        )  # preferably one that shows something about rules
        overloaded, seconds = late[pair]
        if overloaded:
            return (
                f"{OVERLOADED}: {pair.probe} {overloaded} while Service {pair.name} was waited for"
            )
        node = self.directory.pod(pair.probe).node
        return f"Service {pair.name} did not answer {pair.probe} on {node} within {seconds:.0f} s"

    def _is_unreported(self, pair: Pair) -> bool:
        """Whether no check targets the Service from this probe, whose other Services answer."""
        with self._lock:
            silent = self.probed - self._answered
        return pair not in self.probed and not any(
            other.probe == pair.probe and not _is_pod(other) for other in silent
        )


def _is_pod(pair: Pair) -> bool:
    """Whether it is a Pod: then its container listens late, and no Service proxy is involved."""
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
    """Return the pairs that show the rules for a check's own packets: of one node's proxy."""
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
    """Return a run's lateness before anything has converged."""
    targeted = {check.id: _targeted_pairs(check, probe_on) for check in checks}
    return Lateness(
        directory=directory,
        awaited={check: frozenset(pairs) for check, pairs in awaited.items()},
        targeted=targeted,
        probed=frozenset(pair for pairs in targeted.values() for pair in pairs),
        questions={check.id: check.action for check in checks},
    )


CONTROL = "control:"
"""Prefix of a control's purpose."""


@dataclass(slots=True)
class Held:
    """A recorder that holds back one check's records; records of the run pass through."""

    recorder: Recorder
    question: Question
    """What the check tests."""
    raws: list[Raw] = field(default_factory=list)
    """The answers so far, in order of arrival."""
    settled: threading.Event = field(default_factory=threading.Event)
    """Set when the first answer has arrived, or none will."""
    _done: Mapping[str, str | None] = field(default_factory=dict)

    def raw(self, raw: Raw) -> object:
        """Keep one request and its answer."""
        self.raws.append(raw)
        if raw.purpose == "check" and raw.attempt == 1:
            self.settled.set()
        return raw

    def done(
        self,
        check: str,  # noqa: ARG002 - there is only one
        *,
        distrust: str | None = None,
        skip: str | None = None,
        late: str | None = None,  # noqa: ARG002 - not known as long as a Service has time
    ) -> None:
        """Keep that the check ended, or why it did not run."""
        self._done = {"distrust": distrust, "skip": skip}

    def event(self, text: str) -> None:
        """Write an event of the run."""
        self.recorder.event(text)

    def convergence(self, *, service: str, probe: str, seconds: float, converged: bool) -> None:
        """Write how long a Service took to converge."""
        self.recorder.convergence(
            service=service, probe=probe, seconds=seconds, converged=converged
        )

    @property
    def refuted(self) -> bool:
        """Whether the answers already show that the Service had not converged.

        Checks of many connections count as such: only a converged Service reaches all backends.
        """
        first = self._first()
        lost = first is not None and not positive(first, self.question)
        return lost or Trait.MANY_ANSWERS in self.question.traits

    @property
    def proven(self) -> bool:
        """Whether the check ended, its controls were answered, and so was its first request."""
        first = self._first()
        finished = not any(self._done.values()) and first is not None
        controls = {raw.purpose for raw in self.raws if raw.purpose.startswith(CONTROL)}
        answered = {raw.purpose for raw in self.raws if read_raw(raw).outcome.positive}
        return finished and not self.refuted and controls <= answered

    def _first(self) -> Raw | None:
        first_attempts = (raw for raw in self.raws if raw.purpose == "check" and raw.attempt == 1)
        return next(first_attempts, None)

    def release(self, check: str, late: str | None) -> None:
        """Write all that was kept; ``late`` names a Service that did not converge."""
        for raw in self.raws:
            self.recorder.raw(raw)
        self.recorder.done(check, **self._done, late=late)


@dataclass(slots=True)
class SpeculativeRun:
    """One check that ran speculatively, while ``awaited`` were silent."""

    awaited: frozenset[Pair]
    held: Held
    probed: Future[None]
    void: threading.Event
    """Set when one of ``awaited`` has converged meanwhile and no answer shows that it worked before."""
    doubted: bool = False
    """Whether one of ``awaited`` has converged meanwhile: then only an answer shows that it worked before."""

    def __post_init__(self) -> None:
        self.probed.add_done_callback(lambda _: self.held.settled.set())

    def doubt(self) -> None:
        """Note that one of ``awaited`` has converged."""
        self.doubted = True
        if self.held.refuted:
            self.void.set()

    def counts(self) -> bool:
        """Wait until the speculative run counts or does not; return whether it does.

        A first answer that rules it out ends the wait: the rest may take a resolver's 40 s.
        """
        if self.doubted:
            self.held.settled.wait()
            if self.held.refuted:
                self.void.set()
                return False
        self.probed.result()
        return not self.doubted or self.held.proven


@dataclass(slots=True)
class Waiting:
    """What one check still waits for."""

    pairs: set[Pair]
    run: SpeculativeRun | None = None

    def settle(self, pair: Pair, *, converged: bool) -> None:
        """Note that ``pair`` answers, or that its deadline has passed."""
        self.pairs.discard(pair)
        if converged and self.run is not None and pair in self.run.awaited:
            self.run.doubt()

    def may_begin(self, stalled: set[Pair]) -> bool:
        """Whether all that it waits for has stalled, without a speculative run that is still valid."""
        begun = self.run is not None and not self.run.void.is_set()
        return bool(self.pairs) and self.pairs <= stalled and not begun

    def kept(self) -> SpeculativeRun | None:
        """Return the speculative run unless it is void."""
        return self.run if self.run is not None and not self.run.void.is_set() else None
