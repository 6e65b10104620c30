"""Checks that the newest runs no longer plan: red ones among them are neither red now nor repaired. Pure.

A missing check means something only if the run selected the same flows, classes and nodes as the last run that
planned it. A run of other flows says nothing, and neither does a run that could not start.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace

from nettests.compare.fact_changes import choice_of
from nettests.compare.recorded import RecordedRun
from nettests.history.levels import Course, State
from nettests.model.words import Verdict

_URGENT = frozenset({State.RED, State.FLAKY})
"""States that somebody has to look into: the others stay what they are."""


def departed(
    went: Course, verdicts: Sequence[Verdict | None], runs: Sequence[RecordedRun]
) -> Course:
    """Return the course of a check, as gone where runs no longer plan it."""
    planned = [at for at, verdict in enumerate(verdicts) if verdict is not None]
    if went.state not in _URGENT or not planned:
        return went
    since = gone_since(planned[-1], runs)
    return went if since is None else replace(went, state=State.GONE, gone_since=since)


def gone_since(last: int, runs: Sequence[RecordedRun]) -> int | None:
    """Return the first run after ``last`` that selected the same checks; ``None`` if there is none."""
    chosen = _choice(runs[last])
    later = range(last + 1, len(runs))
    return next((at for at in later if _started(runs[at]) and _choice(runs[at]) == chosen), None)


def _started(run: RecordedRun) -> bool:
    return run.facts is not None and bool(run.checks)


def _choice(run: RecordedRun) -> Hashable:
    return choice_of(run.run.argv, run.run.suites)
