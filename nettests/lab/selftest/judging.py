"""Whether the harness detected a fault, nothing unrelated turned red, and the cause was named. Pure.

Compared are what was declared of the fault, the healthy run of the same profile, and the run under the fault.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from nettests.lab.selftest.declared import Checks, NamedFault
from nettests.lab.selftest.runs import Check, Run


class Problem(StrEnum):
    """What the harness did wrong under a fault."""

    UNDETECTED = "undetected"
    UNRELATED = "unrelated red"
    WRONG_CAUSE = "wrong cause"
    UNTOLD = "not told"
    NOT_MENDED = "not mended"
    BROKEN = "no results"
    MISDECLARED = "misdeclared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One fault on one profile.

    ``missed`` are the declarations without a red check, ``unrelated`` ids of red checks that nothing declares,
    ``cause`` what the leading incident says, ``left`` ids that are red after the fault was taken out.
    """

    fault: str
    profile: str
    ran: bool = True
    problems: tuple[Problem, ...] = ()
    blind: str = ""
    recovered: str = ""
    """Words that an event of the run must have, where it recovers from the fault."""
    harmless: str = ""
    turned: tuple[tuple[str, int, int], ...] = ()
    """Flows with the number of their red checks, and of their checks."""
    missed: tuple[str, ...] = ()
    unrelated: tuple[str, ...] = ()
    cause: str = ""
    named: bool = False
    left: tuple[str, ...] = ()
    seconds: float = 0
    exit_code: int | None = None
    detail: str = ""
    selected: bool = False
    rejudged: bool | None = False
    """Whether the run's journal was judged again; ``None`` where that is not recorded."""
    beside: float = 0
    """Seconds of the healthy run beside which it was judged."""

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


def not_run(fault: NamedFault, profile: str, why: str = "") -> Judged:
    """Return the row of a fault that was not run."""
    return Judged(
        fault=fault.name,
        profile=profile,
        ran=False,
        blind=fault.blind,
        recovered=fault.recovered,
        harmless=fault.harmless,
        detail=why,
    )


def judge(
    fault: NamedFault, profile: str, healthy: Run, run: Run, left: tuple[str, ...] = ()
) -> Judged:
    """Judge a run under a fault; ``left`` are ids of checks that are still red without it."""
    if run.problem and not run.checks:
        return replace(_broken(fault, profile, run, left), beside=healthy.seconds)
    before = {check.id for check in healthy.red}
    red = [check for check in run.red if check.id not in before]
    by_id = {check.id: check for check in (*healthy.checks, *run.checks)}
    lacking = [
        checks for checks in fault.must if not any(_may_be(checks, each) for each in by_id.values())
    ]
    each_red = [member for check in red for member in (check, *check.members)]
    missed = [checks for checks in fault.must if not any(member in checks for member in each_red)]
    unrelated = [check.id for check in red if not _declared(fault, check)]
    cause = run.incidents[0].words if run.incidents else ""
    named = all(_mentions(cause, words) for words in fault.names)
    problems = (
        (bool(lacking), Problem.MISDECLARED),
        (bool(missed), Problem.UNDETECTED),
        (bool(unrelated) and not fault.blind, Problem.UNRELATED),
        (not named and not missed and not fault.blind, Problem.WRONG_CAUSE),
        (not _recovery_reported(fault, run), Problem.UNTOLD),
        (bool(left), Problem.NOT_MENDED),
    )
    return Judged(
        fault=fault.name,
        profile=profile,
        problems=tuple(problem for is_so, problem in problems if is_so),
        blind=fault.blind,
        recovered=fault.recovered,
        harmless=fault.harmless,
        turned=_turned(run, red),
        missed=tuple(map(str, missed)),
        unrelated=tuple(unrelated),
        cause=run.incidents[0].cause if run.incidents else "",
        named=named,
        left=left,
        seconds=run.seconds,
        exit_code=run.exit_code,
        detail=run.problem,
        selected=run.selected,
        rejudged=run.rejudged,
        beside=healthy.seconds,
    )


def _recovery_reported(fault: NamedFault, run: Run) -> bool:
    """Whether an event reports that the run recovered, where that is declared."""
    return not fault.recovered or any(fault.recovered in text for text in run.events)


def _broken(fault: NamedFault, profile: str, run: Run, left: tuple[str, ...]) -> Judged:
    problems = (Problem.BROKEN, *((Problem.NOT_MENDED,) if left else ()))
    return Judged(
        fault=fault.name,
        profile=profile,
        problems=problems,
        blind=fault.blind,
        recovered=fault.recovered,
        harmless=fault.harmless,
        missed=tuple(map(str, fault.must)),
        left=left,
        seconds=run.seconds,
        exit_code=run.exit_code,
        detail=run.problem,
    )


def _may_be(wanted: Checks, check: Check) -> bool:
    """Whether a check matches, or may have members that do: results do not list passing members."""
    return check in wanted or (not (check.source or check.target) and check in wanted.anywhere)


def _declared(fault: NamedFault, check: Check) -> bool:
    """Whether a red check is one of those that may turn; one of many nodes is where each of its red members is."""
    if any(check in checks for checks in (*fault.must, *fault.may)):
        return True
    return bool(check.members) and all(_declared(fault, member) for member in check.members)


def _mentions(cause: str, words: str) -> bool:
    """Whether a cause has one of several words, whatever their case."""
    return any(word.casefold() in cause.casefold() for word in words.split("|"))


def _turned(run: Run, red: list[Check]) -> tuple[tuple[str, int, int], ...]:
    flows = dict.fromkeys(check.flow for check in run.checks)
    counted = (
        (
            flow,
            sum(red_check.flow == flow for red_check in red),
            sum(check.flow == flow for check in run.checks),
        )
        for flow in flows
    )
    return tuple(row for row in counted if row[1])
