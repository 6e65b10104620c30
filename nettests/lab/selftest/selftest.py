"""The selftest: profile after profile a healthy run, then fault after fault, as far as the budget reaches.

It decides what is next and reports progress; ``running`` acts, ``store`` saves, and ``judging`` judges at the end.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from nettests.lab.folders.state import LabFolder
from nettests.lab.selftest import running
from nettests.lab.selftest.declared import NamedFault
from nettests.lab.selftest.judging import Judged, judge, not_run
from nettests.lab.selftest.matrix import Matrix, Profile, summaries
from nettests.lab.selftest.named_faults import placed
from nettests.lab.selftest.runs import Run, open_flows
from nettests.lab.selftest.store import Kept, Store

Tell = Callable[[str], None]

ALWAYS = ("pod-to-pod-ip", "pod-to-service-clusterip", "pod-to-external-dns")
"""Flows that a quick run tests beside those that must turn."""
_VERIFIED = 4
"""How many flows are retried after a fault was cleared."""
_HEALTHY = "healthy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to do: faults by profile, within ``budget`` seconds; each run within ``limit`` seconds.

    ``quick`` runs only flows that must turn and a few others: unrelated red checks are not looked for then.
    """

    profiles: tuple[str, ...]
    faults: tuple[NamedFault, ...]
    budget: float
    limit: float = 900
    quick: bool = False
    seed: int | None = None
    """Faults are put at nodes that it chooses, and not where they are declared."""

    def of(self, profile: str) -> Iterator[NamedFault]:
        """Yield the faults of a profile."""
        for fault in self.faults:
            if profile in fault.profiles:
                yield fault if self.seed is None else placed(fault.name, profile, self.seed)


class Selftest:
    """Carries a plan out. ``clock`` returns seconds."""

    def __init__(
        self, plan: Plan, store: Store, tell: Tell, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._plan = plan
        self._store = store
        self._tell = tell
        self._clock = clock
        self._until = clock() + plan.budget
        self._longest = 0.0

    def carry_out(self) -> None:
        """Make the missing runs, until all are made or the budget is spent."""
        self._store.make()
        for profile in self._plan.profiles:
            if not self._carry_out(profile):
                return

    def _carry_out(self, profile: str) -> bool:
        """Return whether there is time for the next profile."""
        faults = list(self._plan.of(profile))
        pending = [fault for fault in faults if self._store.fault(profile, fault) is None]
        healthy = self._store.healthy(profile)
        if healthy is not None and (healthy.red or healthy.problem):
            healthy = None  # the machine may have been busy
        if healthy is not None and not pending:
            return True
        with ExitStack() as stack:
            shared = _Shared(profile, stack)
            if healthy is None:
                healthy = self._healthy(profile, shared.lab())
            if healthy.red or healthy.problem:
                self._tell(f"{profile}: not healthy without a fault; nothing is judged on it")
                return True
            for number, fault in enumerate(pending, 1):
                if self._spent():
                    return False
                kept = self._broken(profile, fault, shared)
                self._store.keep(profile, fault, kept)
                verdict = judge(fault, profile, healthy, kept.run, kept.left)
                self._tell(
                    f"{profile} {number}/{len(pending)} {fault.name}: {verdict.word} "
                    f"({kept.run.seconds:.0f} s){f' · {verdict.cause}' if verdict.cause else ''}"
                )
                if kept.left:
                    shared.renew()
        return True

    def _spent(self) -> bool:
        """Whether a run as long as the longest so far would not end in time."""
        return self._clock() + self._longest > self._until

    def _healthy(self, profile: str, lab: LabFolder) -> Run:
        healthy = self._timed(
            lambda: running.run(lab, self._store.reports(profile, _HEALTHY), limit=self._plan.limit)
        )
        self._store.keep_healthy(profile, healthy)
        self._tell(f"{profile}: healthy, {len(healthy.red)} red of {len(healthy.checks)} checks")
        return healthy

    def _broken(self, profile: str, fault: NamedFault, shared: "_Shared") -> Kept:
        reports = self._store.reports(profile, fault.name)
        flows = _quick_flows(fault) if self._plan.quick or fault.enable else ()
        if fault.mechanisms:
            with running.lab(profile, fault.mechanisms) as changed_lab:
                return Kept(run=self._run(changed_lab, reports, fault, flows))
        lab = shared.lab()
        with running.broken(lab, fault.injections):
            finished = self._run(lab, reports, fault, flows)
        return Kept(run=finished, left=self._verify(lab, reports, fault))

    def _run(self, lab: LabFolder, reports: Path, fault: NamedFault, flows: Sequence[str]) -> Run:
        finished = self._timed(
            lambda: running.run(
                lab,
                reports,
                limit=self._plan.limit,
                flows=flows,
                enable=fault.enable,
                later=fault.injections,
            )
        )
        return replace(finished, selected=bool(flows))

    def _verify(self, lab: LabFolder, reports: Path, fault: NamedFault) -> tuple[str, ...]:
        """Return the checks of a few affected flows that are still red after the fault was cleared."""
        flows = _quick_flows(fault)[:_VERIFIED]
        again = running.run(
            lab, reports / "mended", limit=self._plan.limit, flows=flows, enable=fault.enable
        )
        return tuple(check.id for check in again.red) or ((again.problem,) if again.problem else ())

    def _timed(self, work: Callable[[], Run]) -> Run:
        began = self._clock()
        finished = work()
        self._longest = max(self._longest, self._clock() - began)
        return finished


class _Shared:
    """The lab that faults of a profile share; started when first needed, and replaced after a fault left it broken."""

    def __init__(self, profile: str, stack: ExitStack) -> None:
        self._profile = profile
        self._stack = stack
        self._lab: LabFolder | None = None

    def lab(self) -> LabFolder:
        """Return the lab."""
        if self._lab is None:
            self._lab = self._stack.enter_context(running.lab(self._profile))
        return self._lab

    def renew(self) -> None:
        """Take the lab down; the next one is another."""
        self._stack.close()
        self._lab = None


def _quick_flows(fault: NamedFault) -> tuple[str, ...]:
    """Return names of flows that a fault must turn, as far as they are no patterns, and those of ``ALWAYS``."""
    named = (checks.flow for checks in fault.must if not set("*?[") & set(checks.flow))
    return tuple(dict.fromkeys((*named, *ALWAYS)))


def judge_again(plan: Plan, store: Store, tell: Tell) -> None:
    """Let the harness judge the journals of all stored runs again: its rules may have changed."""
    for profile in plan.profiles:
        healthy = store.healthy(profile)
        if healthy is not None:
            reports = store.reports(profile, _HEALTHY)
            store.keep_healthy(profile, running.judged_again(reports, healthy))
        for fault in plan.of(profile):
            kept = store.fault(profile, fault)
            if kept is not None:
                rejudged = running.judged_again(store.reports(profile, fault.name), kept.run)
                store.keep(profile, fault, replace(kept, run=rejudged))
                tell(f"{profile} {fault.name}: judged again")


def judged(plan: Plan, store: Store) -> Matrix:
    """Judge all stored runs by the current declarations."""
    profiles: list[Profile] = []
    flows: dict[str, None] = {}
    rows: list[Judged] = []
    healthy_runs: list[Run] = []
    for name in plan.profiles:
        healthy = store.healthy(name)
        if healthy is None:
            rows += (not_run(fault, name) for fault in plan.of(name))
            continue
        healthy_runs.append(healthy)
        profiles.append(_profile(name, healthy))
        flows |= dict.fromkeys(_flows(healthy))
        rows += (_judged(fault, name, healthy, store) for fault in plan.of(name))
    return Matrix(
        profiles=tuple(profiles),
        flows=tuple(sorted(flows)),
        judged=tuple(rows),
        summaries=summaries([fault for name in plan.profiles for fault in plan.of(name)]),
        open=open_flows(healthy_runs),
    )


def _judged(fault: NamedFault, profile: str, healthy: Run, store: Store) -> Judged:
    kept = store.fault(profile, fault)
    if kept is None:
        return not_run(fault, profile)
    return judge(fault, profile, healthy, kept.run, kept.left)


def _profile(name: str, healthy: Run) -> Profile:
    red = tuple(check.id for check in healthy.red)
    return Profile(name=name, seconds=healthy.seconds, red=red, problem=healthy.problem)


def _flows(run: Run) -> Iterable[str]:
    return (check.flow for check in run.checks)
