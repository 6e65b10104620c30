"""A run → the entries that accept what deviates in it, or was recorded, under the facts that it ran on. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from fnmatch import fnmatchcase

from nettests.baseline.entries import Baseline, Entry
from nettests.compare import RecordedRun
from nettests.compare.checks import seen
from nettests.compare.dependencies import Dependency, dependencies, value_of
from nettests.compare.known_facts import KUBERNETES, PLUGIN
from nettests.compare.recorded import RecordedCheck, Seen
from nettests.model.verdict import DEVIATING
from nettests.model.words import Verdict

ALWAYS = (
    Dependency(KUBERNETES),
    Dependency(PLUGIN),
    *(Dependency("build", side) for side in ("source", "target")),
)
"""The facts that every entry depends on, beside those that the check's expectation depends on."""
_NOTHING = {"none", "no node"}


def accepted(
    run: RecordedRun, patterns: Iterable[str], *, reason: str, expires: date
) -> tuple[Entry, ...]:
    """Return an entry for each check that deviates or was recorded, and whose id a pattern matches, if there are any."""
    wanted = tuple(patterns)
    return tuple(
        Entry(
            check=check.id,
            verdict=check.standing,
            seen=held(check),
            members=deviating_members(check),
            facts=dict(_facts(run, check)),
            run=run.run.run_id,
            reason=reason,
            expires=expires,
        )
        for check in run.checks
        if check.standing in {*DEVIATING, Verdict.RECORDED}
        and (not wanted or any(fnmatchcase(check.id, pattern) for pattern in wanted))
    )


def merged(old: Baseline, new: Iterable[Entry]) -> Baseline:
    """Return a baseline with new entries in the place of those of the same checks."""
    entries = {entry.check: entry for entry in (*old.entries, *new)}
    return Baseline(file=old.file, entries=tuple(entries.values()))


def held(check: RecordedCheck) -> Seen:
    """Return what an entry holds a check to, as two runs are compared by it: nothing where attempts disagreed."""
    return Seen() if check.standing is Verdict.FLAKY else seen(check)


def deviating_members(check: RecordedCheck) -> Mapping[str, Verdict]:
    """Return the members that deviate, with their verdicts."""
    return {
        member.member: member.verdict
        for member in check.members.deviating
        if member.verdict in DEVIATING
    }


def fact_of(fact: Dependency, run: RecordedRun, check: RecordedCheck) -> str | None:
    """Return the value of a fact for a check in its run; ``None`` where the run has no facts."""
    return value_of(fact, (check.source, check.target), run.facts) if run.facts else None


def _facts(run: RecordedRun, check: RecordedCheck) -> Iterator[tuple[Dependency, str]]:
    """Yield the facts that the check's ends have at all."""
    for fact in dict.fromkeys((*ALWAYS, *dependencies(check))):
        value = fact_of(fact, run, check)
        if value is not None and value not in _NOTHING:
            yield fact, value
