"""Judge whether the harness detected a fault, turned nothing unrelated red, and named the cause. Pure.

It compares the fault's declaration, the healthy run of the same profile, and the run under the fault.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import permutations
from typing import Any

from nettests.lab.selftest.named_faults import SEED, Checks, NamedFault
from nettests.lab.selftest.runs import Check, Incident, Run


class Problem(StrEnum):
    """What was wrong with a run under a fault."""

    UNDETECTED = "undetected"
    UNRELATED = "unrelated red"
    WRONG_CAUSE = "wrong cause"
    ECHOED = "echoes"
    CONTRADICTED = "contradicted"
    UNTOLD = "not told"
    NOT_MENDED = "not mended"
    BROKEN = "no results"
    MISDECLARED = "misdeclared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One fault on one profile.

    ``missed`` are the declarations without a red check, ``unrelated`` ids of undeclared red checks, ``cause``
    the causes of as many leading incidents as there are faults, ``left`` ids that are red after the fault was cleared.
    """

    fault: str
    profile: str
    ran: bool = True
    problems: tuple[Problem, ...] = ()
    blind: str = ""
    recovered: str = ""
    """Words that an event of the run must contain if the run recovers from the fault."""
    harmless: str = ""
    turned: tuple[tuple[str, int, int], ...] = ()
    """Flows with the numbers of their red checks and of all their checks."""
    missed: tuple[str, ...] = ()
    unrelated: tuple[str, ...] = ()
    cause: str = ""
    named: bool = False
    parts: int = 1
    """How many faults were in force at once."""
    parts_named: int = 0
    """How many of these faults the same number of leading incidents name."""
    echoes: int = 0
    """How many more incidents there were than faults."""
    contradicted: tuple[str, ...] = ()
    """Causes that are contradicted by a passing pair of nodes, with the pair."""
    left: tuple[str, ...] = ()
    seconds: float = 0
    exit_code: int | None = None
    detail: str = ""
    selected: bool = False
    rejudged: bool | None = False
    """Whether the run's journal was judged again; ``None`` if that was not recorded."""
    beside: float = 0
    """Duration in seconds of the healthy run that it was compared with."""

    @property
    def detected(self) -> bool:
        """Whether all declared checks turned red."""
        return self.ran and not self.missed and not {*_MUTE} & {*self.problems}

    @property
    def word(self) -> str:
        """The outcome, in a word or two."""
        if not self.ran:
            return "not run"
        if self.blind:
            return "blind, and detected" if self.turned else "blind"
        if self.problems:
            return ", ".join(self.problems)
        if self.harmless:
            return "harmless"
        return "recovered" if self.recovered else "detected"

    @property
    def need_not_turn(self) -> bool:
        """Whether no check had to turn red."""
        return bool(self.blind or self.recovered or self.harmless)


_MUTE = (Problem.UNDETECTED, Problem.BROKEN, Problem.MISDECLARED)


def _row(fault: NamedFault, profile: str, **values: Any) -> Judged:
    return Judged(
        fault=fault.name,
        profile=profile,
        blind=fault.blind,
        recovered=fault.recovered,
        harmless=fault.harmless,
        **values,
    )


def not_run(fault: NamedFault, profile: str) -> Judged:
    """Return the row of a fault that was not run."""
    return _row(fault, profile, ran=False)


def judge(
    fault: NamedFault, profile: str, healthy: Run, run: Run, left: tuple[str, ...] = ()
) -> Judged:
    """Judge a run under a fault; ``left`` are ids of checks that were still red after it was cleared."""
    ran = {
        "seconds": run.seconds,
        "exit_code": run.exit_code,
        "detail": run.problem,
        "left": left,
        "beside": healthy.seconds,
    }
    if run.problem and not run.checks:
        problems = (Problem.BROKEN, *((Problem.NOT_MENDED,) if left else ()))
        return _row(fault, profile, problems=problems, missed=tuple(map(str, fault.must)), **ran)
    before = {check.id for check in healthy.red}
    red = [check for check in run.red if check.id not in before]
    by_id = {check.id: check for check in (*healthy.checks, *run.checks)}
    lacking = [
        checks for checks in fault.must if not any(_may_be(checks, each) for each in by_id.values())
    ]
    each_red = [member for check in red for member in (check, *check.members)]
    missed = [checks for checks in fault.must if not any(member in checks for member in each_red)]
    if SEED in fault.name:
        # Not every flow has a member for each pair of nodes, or is planned on every profile: one declaration suffices.
        every = [set(part.must) for part in fault.parts or (fault,)]
        missed = [checks for checks in missed if any(checks in must <= {*missed} for must in every)]
        lacking = [checks for checks in lacking if checks in missed]
    unrelated = [check.id for check in red if not _declared(fault, check)]
    parts = fault.parts or (fault,)
    incidents = _of_incidents(parts, run)
    recovery_reported = not fault.recovered or any(fault.recovered in text for text in run.events)
    found_problems = {
        Problem.MISDECLARED: lacking,
        Problem.UNDETECTED: missed,
        Problem.UNRELATED: unrelated and not fault.blind,
        Problem.WRONG_CAUSE: not (incidents["named"] or missed or fault.blind),
        Problem.ECHOED: fault.parts and incidents["echoes"] > len(parts),
        Problem.CONTRADICTED: incidents["contradicted"],
        Problem.UNTOLD: not recovery_reported,
        Problem.NOT_MENDED: left,
    }
    return _row(
        fault,
        profile,
        problems=tuple(problem for problem, is_so in found_problems.items() if is_so),
        turned=_turned(run, red),
        missed=tuple(map(str, missed)),
        unrelated=tuple(unrelated),
        selected=run.selected,
        rejudged=run.rejudged,
        **incidents,
        **ran,
    )


def _of_incidents(parts: Sequence[NamedFault], run: Run) -> dict[str, Any]:
    """Return the fields of a row that follow from the run's incidents."""
    leading, parts_named = run.incidents[: len(parts)], _named(parts, run.incidents)
    return {
        "cause": " · ".join(incident.cause for incident in leading),
        "named": parts_named == len(parts),
        "parts": len(parts),
        "parts_named": parts_named,
        "echoes": max(sum(each.explained for each in run.incidents) - len(parts), 0),
        "contradicted": tuple(
            f"{incident.cause}, and {path} passed" for incident, path in run.contradictions
        ),
    }


def _named(parts: Sequence[NamedFault], incidents: Sequence[Incident]) -> int:
    """Return how many faults are named by as many leading incidents, in the best assignment."""
    leading = [incident.words.casefold() for incident in incidents[: len(parts)]]
    leading += [""] * (len(parts) - len(leading))
    return max(
        sum(_names(part, words) for part, words in zip(order, leading, strict=True))
        for order in permutations(parts)
    )


def _names(fault: NamedFault, words: str) -> bool:
    return all(
        any(word.casefold() in words for word in alternatives.split("|"))
        for alternatives in fault.names
    )


def _may_be(wanted: Checks, check: Check) -> bool:
    """Whether a check, or perhaps a passing member of it, matches: results do not list passing members."""
    return check in wanted or (not (check.source or check.target) and check in wanted.anywhere)


def _declared(fault: NamedFault, check: Check) -> bool:
    """Whether a red check, or each of its red members, is declared."""
    if any(check in checks for checks in (*fault.must, *fault.may)):
        return True
    return bool(check.members) and all(_declared(fault, member) for member in check.members)


def _turned(run: Run, red: list[Check]) -> tuple[tuple[str, int, int], ...]:
    reds, every = Counter(check.flow for check in red), Counter(check.flow for check in run.checks)
    return tuple((flow, reds[flow], every[flow]) for flow in every if reds[flow])
