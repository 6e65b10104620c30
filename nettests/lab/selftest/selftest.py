"""The selftest: for each profile a healthy run, then one run per fault, within the budget.

It decides what runs next and reports progress; ``running`` has the side effects, ``Store`` stores runs, ``judging`` judges them. A folder
has one file for each healthy run and each fault, written as soon as the run ends, so that an interrupted selftest can be resumed.
Judgements are not stored, because declarations may change.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nettests.lab.errors import LabError
from nettests.lab.folders.state import LabFolder
from nettests.lab.selftest import running
from nettests.lab.selftest.combining import combined
from nettests.lab.selftest.judging import Judged, judge, not_run
from nettests.lab.selftest.matrix import Matrix, Profile
from nettests.lab.selftest.named_faults import NamedFault, placeable, placed
from nettests.lab.selftest.runs import Run, from_json, open_flows

_HEALTHY = "healthy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A run under a fault; ``left`` are checks that were still red after it was cleared."""

    run: Run
    left: tuple[str, ...] = ()


class Store:
    """The folder of one selftest."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def make(self) -> None:
        """Create the folder; ``LabError`` if that fails."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LabError(f"{self.path} cannot be made: {error.strerror}") from error

    def reports(self, profile: str, name: str) -> Path:
        """Return the folder for the harness' documents of a run."""
        return self.path / profile / name

    def healthy(self, profile: str) -> Run | None:
        """Return the stored healthy run of a profile, if any."""
        data = self._read(profile, _HEALTHY)
        return None if data is None else from_json(data["run"])

    def keep_healthy(self, profile: str, run: Run) -> None:
        """Store the healthy run of a profile."""
        self._write(profile, _HEALTHY, {"run": asdict(run)})

    def fault(self, profile: str, fault: NamedFault) -> Kept | None:
        """Return the stored run under a fault, if any, unless the fault's injections have changed since."""
        data = self._read(profile, fault.name)
        if data is None or data["inject"] != _injected(fault):
            return None
        return Kept(run=from_json(data["run"]), left=tuple(data["left"]))

    def keep(self, profile: str, fault: NamedFault, kept: Kept) -> None:
        """Store the run under a fault."""
        data = {"inject": _injected(fault), "run": asdict(kept.run), "left": list(kept.left)}
        self._write(profile, fault.name, data)

    def write(self, name: str, text: str) -> Path:
        """Write a document into the folder; return its path."""
        path = self.path / name
        path.write_text(text, encoding="utf-8")
        return path

    def _file(self, profile: str, name: str) -> Path:
        return self.path / profile / f"{name}.json"

    def _read(self, profile: str, name: str) -> Any:
        try:
            return json.loads(self._file(profile, name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise LabError(
                f"{self._file(profile, name)} is not what a selftest wrote: {error}",
                hint="Remove it: that fault is then tried again.",
            ) from error

    def _write(self, profile: str, name: str, data: Any) -> None:
        file = self._file(profile, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".draft")
        draft.write_text(json.dumps(data, indent=1), encoding="utf-8")
        os.replace(draft, file)  # noqa: PTH105  # readers see the old or the new file


def _injected(fault: NamedFault) -> Any:
    means = {
        "injections": [
            {**asdict(injection), "options": dict(injection.options)}
            for injection in fault.injections
        ],
        "mechanisms": list(fault.mechanisms),
    }
    return means | ({"enable": list(fault.enable)} if fault.enable else {})


Tell = Callable[[str], None]

ALWAYS = (
    *("pod-to-pod-ip", "pod-to-service-clusterip", "pod-to-external-dns", "dns-via-service"),
    *("icmp-pod-to-pod", "node-to-pod", "nodeport-from-pod-other-node"),
)
"""Flows that a quick run tests besides those that must turn."""
_VERIFIED = 4
"""How many flows are retried after a fault was cleared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The profiles and faults to run, within ``budget`` seconds; each run within ``limit`` seconds.

    ``quick`` runs only flows that must turn and a few others, and does not verify after clearing a fault.
    """

    profiles: tuple[str, ...]
    faults: tuple[NamedFault, ...]
    budget: float
    limit: float = 900
    quick: bool = False
    seeds: tuple[int, ...] = ()
    """Each seed places all faults at other nodes than declared."""
    combine: bool = False
    """Each seed selects a combination of faults instead."""

    def of(self, profile: str) -> Iterator[NamedFault]:
        """Yield the faults of a profile."""
        if not self.seeds:
            yield from (fault for fault in self.faults if profile in fault.profiles)
        for seed in self.seeds:
            if self.combine:
                yield combined(profile, seed)
                continue
            for fault in self.faults:
                if placeable(fault, profile):
                    yield placed(fault.name, profile, seed)


class Selftest:
    """Executes a plan. ``clock`` returns seconds."""

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
        """Make the missing runs, until there are none or the budget is spent."""
        self._store.make()
        for profile in self._plan.profiles:
            if not self._carry_out(profile):
                return

    def _carry_out(self, profile: str) -> bool:
        faults = list(self._plan.of(profile))
        pending = [fault for fault in faults if self._store.fault(profile, fault) is None]
        healthy = self._store.healthy(profile)
        if healthy is not None and healthy.spoiled:
            healthy = None  # the machine may have been busy
        if healthy is not None and not pending:
            return True
        with ExitStack() as stack:
            shared = _Shared(profile, stack)
            if healthy is None:
                healthy = self._healthy(profile, shared.lab(), faults)
            if healthy.spoiled:
                self._tell(f"{profile}: not healthy without a fault; nothing is judged on it")
                return True
            for number, fault in enumerate(pending, 1):
                if self._clock() + self._longest > self._until:
                    return False  # a run as long as the longest so far would not end in time
                try:
                    kept = self._broken(profile, fault, shared)
                except LabError as error:
                    self._tell(f"{profile} {number}/{len(pending)} {fault.name}: not run: {error}")
                    shared.renew()
                    continue
                self._store.keep(profile, fault, kept)
                verdict = judge(fault, profile, healthy, kept.run, kept.left)
                self._tell(
                    f"{profile} {number}/{len(pending)} {fault.name}: {verdict.word} "
                    f"({kept.run.seconds:.0f} s){f' · {verdict.cause}' if verdict.cause else ''}"
                )
                if kept.left:
                    shared.renew()
        return True

    def _healthy(self, profile: str, lab: LabFolder, faults: Sequence[NamedFault]) -> Run:
        quick = faults if self._plan.quick else ()
        flows = tuple(dict.fromkeys(flow for fault in quick for flow in _quick_flows(fault)))
        reports = self._store.reports(profile, _HEALTHY)
        healthy = self._timed(
            lambda: running.run(lab, reports, limit=self._plan.limit, flows=flows)
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
        quick = self._plan.quick  # only the full selftest verifies that clearing works
        return Kept(run=finished, left=() if quick else self._verify(lab, reports, fault))

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
    """The lab that faults of a profile share, started when needed, and replaced if a fault left it broken."""

    def __init__(self, profile: str, stack: ExitStack) -> None:
        self._profile = profile
        self._stack = stack
        self._lab: LabFolder | None = None

    def lab(self) -> LabFolder:
        if self._lab is None:
            self._lab = self._stack.enter_context(running.lab(self._profile))
        return self._lab

    def renew(self) -> None:
        """Stop the lab; the next call of ``lab`` starts a new one."""
        self._stack.close()
        self._lab = None


def _quick_flows(fault: NamedFault) -> tuple[str, ...]:
    """Return the flows that a fault must turn, except patterns of any beginning, and those of ``ALWAYS``."""
    named = (checks.flow for checks in fault.must if not checks.flow.startswith("*"))
    return tuple(dict.fromkeys((*named, *ALWAYS)))


def judge_again(plan: Plan, store: Store, tell: Tell) -> None:
    """Let the harness judge the journals of all stored runs again, as its rules may have changed."""
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
    healthy_runs = {name: run for name in plan.profiles if (run := store.healthy(name))}
    rows: list[Judged] = []
    for name in plan.profiles:
        for fault in plan.of(name):
            kept = store.fault(name, fault) if name in healthy_runs else None
            if kept is None:
                rows.append(not_run(fault, name))
            else:
                rows.append(judge(fault, name, healthy_runs[name], kept.run, kept.left))
    return Matrix(
        profiles=tuple(
            Profile(
                name=name,
                seconds=run.seconds,
                red=tuple(check.id for check in run.red),
                problem=run.problem,
            )
            for name, run in healthy_runs.items()
        ),
        flows=tuple(sorted({check.flow for run in healthy_runs.values() for check in run.checks})),
        judged=tuple(rows),
        summaries={fault.name: fault.summary for name in plan.profiles for fault in plan.of(name)},
        open=open_flows(healthy_runs.values()),
    )
