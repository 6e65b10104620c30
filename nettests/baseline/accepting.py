"""A run → the entries that accept what deviates in it, or was recorded, under the facts that it ran on. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from fnmatch import fnmatchcase

from nettests.baseline.entries import Baseline, Entry
from nettests.compare import RecordedRun
from nettests.compare.dependencies import Dependency, dependencies, value_of
from nettests.compare.known_facts import KUBERNETES, PLUGIN
from nettests.compare.recorded import RecordedCheck
from nettests.model.verdict import DEVIATING, MERGE_ORDER
from nettests.model.words import Outcome, Verdict

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
            check=one.id,
            verdict=standing_of(one),
            outcome=outcome_of(one),
            members=deviating_members(one),
            facts=dict(_facts(run, one)),
            run=run.run.run_id,
            reason=reason,
            expires=expires,
        )
        for one in run.checks
        if standing_of(one) in {*DEVIATING, Verdict.RECORDED}
        and (not wanted or any(fnmatchcase(one.id, pattern) for pattern in wanted))
    )


def merged(old: Baseline, new: Iterable[Entry]) -> Baseline:
    """Return a baseline with new entries in the place of those of the same checks."""
    entries = {one.check: one for one in (*old.entries, *new)}
    return Baseline(file=old.file, entries=tuple(entries.values()))


def standing_of(check: RecordedCheck) -> Verdict:
    """Return what a check is accepted as: one that could not be judged hides no member that deviates."""
    if check.verdict in DEVIATING:
        return check.verdict
    of_members = set(deviating_members(check).values())
    return next((one for one in MERGE_ORDER if one in of_members), check.verdict)


def outcome_of(check: RecordedCheck) -> Outcome | None:
    """Return the outcome that an entry holds a check to: none where attempts disagreed."""
    seen = check.observed.outcome
    return Outcome(seen) if seen and standing_of(check) is not Verdict.FLAKY else None


def deviating_members(check: RecordedCheck) -> Mapping[str, Verdict]:
    """Return the members that deviate, with their verdicts."""
    return {one.member: one.verdict for one in check.members.deviating if one.verdict in DEVIATING}


def fact_of(fact: Dependency, run: RecordedRun, check: RecordedCheck) -> str | None:
    """Return the value of a fact for a check in its run; ``None`` where the run has no facts."""
    return value_of(fact, (check.source, check.target), run.facts) if run.facts else None


def _facts(run: RecordedRun, check: RecordedCheck) -> Iterator[tuple[Dependency, str]]:
    """Yield the facts that the check's ends have at all."""
    for fact in dict.fromkeys((*ALWAYS, *dependencies(check))):
        value = fact_of(fact, run, check)
        if value is not None and value not in _NOTHING:
            yield fact, value
