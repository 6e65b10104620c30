"""Repeat checks in rounds on deployed probes: finds intermittent failures and when they began.

For ``nettests watch``. For each check, the journal gets the answers of the first round in which it
deviates, else of the last round; the first round with a deviation is diagnosed. A round in which
the API server is unreachable is lost, and the next one begins on time.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from nettests import probes
from nettests.errors import ClusterError, NettestsError
from nettests.model.check import Check, Plan
from nettests.model.expectation import Expectation
from nettests.model.journal_records import Round
from nettests.model.verdict import ATTENTION, DEVIATING
from nettests.model.words import Verdict
from nettests.session.deploying import Standing
from nettests.session.journal import Journal
from nettests.session.judging import Judging
from nettests.session.observing import Diagnose, Observing
from nettests.session.round_sheet import RoundSheet, RoundTally


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """In seconds: rounds begin every ``every``, or after a longer one; none after ``seconds``."""

    every: float
    seconds: float


@dataclass(slots=True)
class _Kept:
    """The sheets that may still be written: for each check, of the last round that judged it."""

    last: dict[str, RoundSheet] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    """By check: of the first round in which it was red, else with a known bug, else of the last
    round, even if ``unknown``: a check that stopped answering must not end as documented."""
    members: set[Verdict] = field(default_factory=set)
    """Verdicts of members, as written: an ``unknown`` check may have ``flaky`` members."""
    _tally: RoundTally = field(default_factory=RoundTally)
    _written: set[str] = field(default_factory=set)

    def take(self, checks: Collection[Check], sheet: RoundSheet) -> list[Check]:
        """Keep a round's sheet for the checks that it judged; write those that are red for the first time."""
        red: list[Check] = []
        for check in checks:
            if check.id in self._written or not sheet.over(check):
                continue
            judgement = sheet.judgement(check)
            verdict = judgement.verdict if judgement else Verdict.SKIPPED
            deviates = judgement is not None and judgement.deviation is not None
            if judgement is not None:
                self._tally.take(check, judgement)
            known_bug = self.verdicts.get(check.id) is Verdict.KNOWN_BUG
            if known_bug and not deviates:
                continue  # a known bug that shows once has shown
            self.last[check.id], self.verdicts[check.id] = sheet, verdict
            if deviates:
                self._write(check)
                red.append(check)
        return red

    def write_rest(
        self, checks: Collection[Check], expectations: Mapping[str, Expectation]
    ) -> None:
        """Write the last sheet of every check that was never red.

        A check that was ``unknown`` in more rounds than it was judged in, or has such a member,
        ends ``unknown``.
        """
        for check in checks:
            if check.id in self._written or check.id not in self.last:
                continue
            sheet, why = self.last[check.id], self._tally.mostly_unknown(check)
            if why and sheet.judgement(check) is not None:
                self.verdicts[check.id] = sheet.distrust(check, why, expectations).verdict
            self._write(check)

    def _write(self, check: Check) -> None:
        sheet = self.last[check.id]
        sheet.write(check)
        self._written.add(check.id)
        if judgement := sheet.judgement(check):
            self.members |= judgement.shown


class Rounds:
    """Runs the checks in rounds; ``on_round`` is called from a background thread after each."""

    outlasts_outages = True
    """The watch goes on: rounds are lost until the API server is back."""

    def __init__(
        self, schedule: Schedule, on_round: Callable[[Round], None] = lambda _round: None
    ) -> None:
        self._schedule = schedule
        self._on_round = on_round
        self._kept = _Kept()
        self._latest: probes.Deployment | None = None
        """The deployment as it was at the beginning of the last round."""
        self._diagnosed = False
        self._rounds_lost = self._rounds_judged = 0
        self.completed = False
        """Whether the schedule ran to its end, without being stopped or failing."""

    def verdicts(self) -> Mapping[str, Verdict]:
        """Return the verdicts of the checks by id, as the journal holds them."""
        return dict(self._kept.verdicts)

    @property
    def of_members(self) -> Collection[Verdict]:
        """The verdicts of the members of checks."""
        return frozenset(self._kept.members)

    @property
    def mostly_lost(self) -> bool:
        """Whether more rounds were lost than judged: too few to describe the watched time."""
        return self._rounds_lost > self._rounds_judged

    def observe(
        self, plan: Plan, standing: Standing, observing: Observing, diagnose: Diagnose
    ) -> None:
        """Run the plan in one round after the other, and diagnose the first round that is red."""
        try:
            for number in self._due(observing.state.stopped):
                self._round(plan, standing, observing, diagnose, number)
        finally:
            self._kept.write_rest(plan.checks, observing.blueprint.expectations)

    def _due(self, stopped: threading.Event) -> Iterator[int]:
        began, number = time.monotonic(), 0
        while not stopped.is_set():
            number += 1
            yield number
            now = time.monotonic()
            next_at = max(now, began + number * self._schedule.every)
            if next_at >= began + self._schedule.seconds:
                self.completed = not stopped.is_set()
                return
            stopped.wait(next_at - now)

    def _round(
        self,
        plan: Plan,
        standing: Standing,
        observing: Observing,
        diagnose: Diagnose,
        number: int,
    ) -> None:
        began, started = time.monotonic(), datetime.now(UTC).isoformat()
        sheet = RoundSheet(observing.journal, first=number == 1)
        whole = observing.judging
        judging = Judging(
            journal=sheet,
            plan=plan,
            expectations=whole.expectations,
            nodes_of=whole.nodes_of,
            nodes=whole.nodes,
            began=began - observing.state.began,
            lost_datagrams=whole.lost_datagrams,
        )
        lost = ""
        try:
            now = self._still_standing(standing, observing.journal)
            observing.run(plan, now, judging)
            _excuse_restarted(plan, sheet, whole.expectations, now)
        except (NettestsError, OSError) as error:
            lost = str(error)
        if observing.state.stopped.is_set() and not all(map(sheet.over, plan.checks)):
            return  # stopped: an incomplete round is discarded
        lost = lost or sheet.lost(plan.checks)
        new = self._kept.take(plan.checks, sheet) if not lost else []
        self._rounds_lost += bool(lost)
        self._rounds_judged += not lost
        not_as_documented = {} if lost else _not_as_documented(plan, sheet)
        done = Round(
            number=number,
            started=started,
            seconds=round(time.monotonic() - began, 3),
            ran=sum(len(check.each) for check in plan.checks),
            red={
                name: verdict for name, verdict in not_as_documented.items() if verdict in DEVIATING
            },
            unknown=tuple(
                name for name, verdict in not_as_documented.items() if verdict not in DEVIATING
            ),
            lost=lost,
        )
        observing.journal.write(done)
        self._on_round(done)
        if new and not self._diagnosed:
            self._diagnosed = True
            diagnose(plan, [failing for failing in judging.failing() if failing[0].id in done.red])

    def _still_standing(self, standing: Standing, journal: Journal) -> Standing:
        """Return what still exists of the deployment; record what changed since the last round."""
        now = probes.still_standing(standing.access, standing.deployment, standing.blank.labels)
        for change in probes.changes(self._latest or standing.deployment, now):
            journal.event(change, notable=True)
        self._latest = now
        return replace(standing, deployment=now)


def _excuse_restarted(
    plan: Plan, sheet: RoundSheet, expectations: Mapping[str, Expectation], now: Standing
) -> None:
    """Distrust deviations that restarted Pods explain; do nothing without the API server."""
    if not any(
        judgement and judgement.deviation for judgement in map(sheet.judgement, plan.checks)
    ):
        return
    with suppress(ClusterError):
        after = probes.still_standing(now.access, now.deployment, now.blank.labels)
        _excuse(plan.checks, sheet, expectations, now.deployment, after)


def _excuse(
    checks: Iterable[Check],
    sheet: RoundSheet,
    expectations: Mapping[str, Expectation],
    before: probes.Deployment,
    after: probes.Deployment,
) -> None:
    """Distrust deviations of checks whose Pods restarted or disappeared during the round."""
    for check in checks:
        red = {name for name, verdict in sheet.verdicts_of(check).items() if verdict in DEVIATING}
        each = (member for member in check.each if member.id in red) if red else ()
        touched = {member.id: probes.touched(member, before, after) for member in each}
        if why := {name: reason for name, reason in touched.items() if reason}:
            sheet.distrust(check, why, expectations)


def _not_as_documented(plan: Plan, sheet: RoundSheet) -> dict[str, Verdict]:
    """Return the checks and members that were red or unknown in a round, by id.

    A check is red as soon as a member is, even if other members could not be judged.
    """
    verdicts: dict[str, Verdict] = {}
    for check in plan.checks:
        judgement = sheet.judgement(check)
        verdicts |= sheet.verdicts_of(check)
        if judgement is not None and judgement.deviation:
            verdicts[check.id] = judgement.deviation
    return {name: verdicts[name] for name in sorted(verdicts) if verdicts[name] in ATTENTION}
