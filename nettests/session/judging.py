"""Read and judge a run's answers: once, in the process that observed them, as soon as a check is done.

Between the probes, which write to the journal through it, and everything that needs a verdict: waiting tests take it
from the check's ``done`` record, diagnostics from ``failing``, documents use the observations. So all agree, and
failures are known while the run's objects still exist.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Protocol

from nettests.judge import judge, judge_members
from nettests.judge.checks import skipped
from nettests.model.check import Check, Plan
from nettests.model.check_id import parent_of
from nettests.model.expectation import Expectation
from nettests.model.journal_records import Done
from nettests.model.observation import Observation, Raw
from nettests.model.verdict import ATTENTION, Judgement
from nettests.model.words import Question, Verdict
from nettests.parse import observation_of
from nettests.parse.doubts import NO_DOUBTS, Doubts
from nettests.parse.late_answers import resent, slow
from nettests.parse.lost_packets import loses, lost_alone
from nettests.parse.overload import Carried, carried, overloaded, overloaded_before, too_busy
from nettests.parse.read import read_raw
from nettests.probes.sending import STOPPED
from nettests.session.node_monitor import NodeMonitor
from nettests.session.pod_monitor import PodMonitor


class Writes(Protocol):
    """Where records go: the journal of a run, or the sheet of one round of a watch."""

    def raw(self, raw: Raw) -> Raw:
        """Record a request and its answer; return it without secrets."""

    def finish(self, done: Done) -> None:
        """Record that a check has no further raw answers."""

    def without_secrets(self, done: Done) -> Done:
        """Return a ``done`` record as it would be written."""

    def event(self, text: str) -> None:
        """Record something that happened to the run as a whole."""

    def convergence(self, *, service: str, probe: str, seconds: float, converged: bool) -> None:
        """Record how long a Service took to converge."""


@dataclass(slots=True)
class LostDatagrams:
    """Whether a check lost datagrams yet: the first loss of a run is no finding. Thread-safe."""

    _lost: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def first(self) -> bool:
        """Note that a check lost a datagram; return whether it is the first one to do so."""
        with self._lock:
            before, self._lost = self._lost, True
        return not before


@dataclass(slots=True, kw_only=True)
class Judging:
    """Writes to the journal for the probes, and judges each check when it is done. Thread-safe."""

    journal: Writes
    plan: Plan
    expectations: Mapping[str, Expectation]
    nodes_of: Callable[[Check], Collection[str]] = lambda _check: ()
    """The nodes that a check depends on."""
    doubts_about: Callable[[Check], Doubts] = lambda _check: NO_DOUBTS
    """Returns the doubts that calibrations raised about the instruments of a check."""
    nodes: NodeMonitor | None = None
    pods: PodMonitor | None = None
    began: float = 0.0
    """When the run, or this round of a watch, began, on the run's own clock."""
    lost_datagrams: LostDatagrams = field(default_factory=LostDatagrams)
    observations: dict[str, Observation] = field(default_factory=dict)
    """The observations that were judged, by check."""
    skipped: set[str] = field(default_factory=set)
    """Checks that turned out not to apply while they were running."""
    _raws: defaultdict[str, list[Raw]] = field(default_factory=lambda: defaultdict(list))
    _carried: defaultdict[tuple[str, str], list[Carried]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Busy times by probe and channel: a request slow while others are not was lost on its way."""
    _verdicts: dict[str, Verdict] = field(default_factory=dict)
    """Of checks that were not stopped: a stopped check is no failure."""
    _checks: dict[str, Check] = field(default_factory=dict)
    """Including the members of checks."""
    _member_judgements: dict[str, dict[str, Judgement]] = field(default_factory=dict)
    """Of checks with members: the members' judgements so far."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """Guards the answers: several threads may run parts of the same check."""

    def __post_init__(self) -> None:
        for check in self.plan.checks:
            self._checks[check.id] = check
            if check.members:
                self._checks |= {member.id: member for member in check.each}
                self._member_judgements[check.id] = {}

    def raw(self, raw: Raw) -> None:
        """Write one request and its answer."""
        redacted = self.journal.raw(raw)
        with self._lock:
            self._raws[raw.check].append(redacted)

    def carried(self, raw: Raw) -> None:
        """Remember when a probe was busy with a request, even if its answer is still held back."""
        if raw.error is not None or raw.tool == "train":  # a train is many questions in a row
            return
        seen = carried(raw, self._checks.get(raw.check))
        with self._lock:
            self._carried[raw.probe, raw.channel].append(seen)

    def done(
        self,
        check: str,
        *,
        distrust: str | None = None,
        skip: str | None = None,
        late: str | None = None,
    ) -> None:
        """Judge a check that has been run, or will not be, and write its record.

        A check with members is done when its last member is, or when the others will not be run.
        """
        if check in self._member_judgements:
            parent = self._checks[check]
            left = [
                member.id
                for member in parent.each
                if member.id not in self._member_judgements[parent.id]
            ]
            for member in left:
                self.done(member, distrust=distrust)
            return
        with self._lock:
            raws = tuple(self._raws.pop(check, ()))
        record = self.journal.without_secrets(
            self._with_delays(Done(check=check, distrust=distrust, skip=skip, late=late), raws)
        )
        if skip is None:
            record = self._with_verdict(record, raws)
        if parent_of(check) != check:
            self._end_member(record)
            return
        if skip is not None:
            self.skipped.add(check)
        self.journal.finish(record)

    def _end_member(self, done: Done) -> None:
        """Write that a member is done, and after the last one its check, with all verdicts."""
        self.journal.finish(replace(done, judgement=None))
        parent = self._checks[parent_of(done.check)]
        judgement = done.judgement or skipped(done.check, done.skip or "")
        with self._lock:
            judgements = self._member_judgements[parent.id]
            judgements[done.check] = judgement
            last = len(judgements) == len(parent.members)
        if last:
            self._end_whole(parent)

    def _end_whole(self, parent: Check) -> None:
        judgement = judge_members(parent, self._member_judgements[parent.id])
        if judgement.verdict is Verdict.SKIPPED:
            self.skipped.add(parent.id)
            self.journal.finish(Done(check=parent.id, skip=judgement.message))
            return
        self.journal.finish(Done(check=parent.id, judgement=judgement))

    def event(self, text: str) -> None:
        """Write what happened to the run as a whole."""
        self.journal.event(text)

    def convergence(self, *, service: str, probe: str, seconds: float, converged: bool) -> None:
        """Write how long a Service took to answer ``probe``."""
        self.journal.convergence(service=service, probe=probe, seconds=seconds, converged=converged)

    def verdicts(self) -> dict[str, Verdict]:
        """Return the verdicts so far, by id."""
        return dict(self._verdicts)

    def failing(self) -> list[tuple[Check, Verdict]]:
        """Return the checks, or members, that leave the run red or unknown, in the plan's order."""
        verdicts = dict(self._verdicts)
        return [
            (check, verdicts[check.id])
            for check in self._checks.values()
            if verdicts.get(check.id) in ATTENTION
        ]

    def _with_verdict(self, done: Done, raws: Sequence[Raw]) -> Done:
        """Return the record with its verdict: ``unknown`` if a node was not Ready or a Pod left."""
        judgement = self._judge(done, raws)
        if not (done.distrust or "").startswith(STOPPED):
            if why := self._why_unready(done, raws, judgement.verdict) or self._why_pod_gone(
                done, raws, judgement.verdict
            ):
                distrust = f"{why}; {done.distrust}" if done.distrust else why
                done = self.journal.without_secrets(replace(done, distrust=distrust))
                judgement = self._judge(done, raws)
            self._verdicts[done.check] = judgement.verdict
        return replace(done, judgement=judgement)

    def _judge(self, done: Done, raws: Sequence[Raw]) -> Judgement:
        check = self._checks[done.check]
        doubts = self.doubts_about(check) if raws and not done.distrust else NO_DOUBTS
        seen = observation_of(check, done, raws, doubts)
        self.observations[check.id] = seen
        return judge(check, self.expectations[check.id], seen)

    def _with_delays(self, done: Done, raws: Sequence[Raw]) -> Done:
        """Record which answers were retransmitted, and what overload of probes explains.

        Other requests on the same channel tell a slow path from a slow connection to the probe.
        """
        answers = [raw for raw in raws if raw.purpose == "check"]
        if not answers or done.check not in self._checks:
            return done
        with self._lock:
            others = tuple(self._carried[answers[-1].probe, answers[-1].channel])
            everybody = tuple(self._carried.values())
        done = self._without_overload(done, min(raw.started for raw in answers))
        of = self._checks[done.check]
        busy = overloaded(answers, others, chain.from_iterable(everybody))
        alone = self._lone_loss(of, [raw for raw in answers if raw.attempt not in busy])
        excused = alone is not None and of.action.question is Question.DURING
        return replace(
            done,
            distrust=done.distrust or too_busy(of, answers, others, chain.from_iterable(everybody)),
            resent=None if excused else resent(of, raws, others),
            slow=slow(of, raws, others),
            overloaded=busy,
            alone=alone,
        )

    def _lone_loss(self, check: Check, answers: Sequence[Raw]) -> int | None:
        """Return the attempt that lost the run's first datagram, if the check lost only that."""
        attempts = [read_raw(raw) for raw in answers if raw.error is None]
        first = loses(check, attempts) and self.lost_datagrams.first()
        return lost_alone(check, attempts) if first else None

    def _without_overload(self, done: Done, began: float) -> Done:
        """Return the record without a missed deadline if every probe answered late at that time."""
        if not done.late:
            return done
        with self._lock:
            everybody = [request for each in self._carried.values() for request in each]
        if not overloaded_before(began, everybody):
            return done
        self.journal.event(f"{done.late}: probes were overloaded, and nothing is said of the rules")
        return replace(done, late=None)

    def _why_pod_gone(self, done: Done, raws: Sequence[Raw], verdict: Verdict) -> str:
        """Return which Pod of a failed check is gone, if that may be why it failed, or nothing."""
        if self.pods is None or verdict not in ATTENTION:
            return ""
        return self.pods.why_gone(self._checks[done.check], self._since(done, raws))

    def _since(self, done: Done, raws: Sequence[Raw]) -> float:
        """Return when a check began, or the run or round if it was still waiting for a Service."""
        return min((raw.started for raw in (() if done.late else raws)), default=self.began)

    def _why_unready(self, done: Done, raws: Sequence[Raw], verdict: Verdict) -> str:
        """Return which node was not Ready while a check ran that did not pass, or nothing.

        A check that passed needs no excuse, whatever the API says of the node.
        """
        if self.nodes is None or verdict is Verdict.PASS:
            return ""
        concerned = self.nodes_of(self._checks[done.check])
        since = self._since(done, raws)
        return self.nodes.why_unready(concerned, since, fresh=verdict in ATTENTION)
