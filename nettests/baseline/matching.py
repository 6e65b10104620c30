"""A run and a baseline → new results, entries that hold, and entries that are stale. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

from nettests.baseline.accepting import accepted_on, covers, deviating_checks, fact_of, held
from nettests.baseline.entries import SEEN, Baseline, Entry, short
from nettests.compare.changes import NOT_JUDGED
from nettests.compare.reading import is_former, successors
from nettests.compare.recorded import RecordedCheck, RecordedRun
from nettests.model.verdict import DEVIATING
from nettests.model.visible import plural
from nettests.model.words import Verdict

_ALLOWED = frozenset({Verdict.RECORDED, Verdict.LIMITED})
"""Not deviations: if a newer manifest judges such a check differently, the cluster is the same."""
SHOWN = 20
"""How many checks are named; the documents have all."""
NAMED = 3
"""How many clusters are named."""


class Fit(StrEnum):
    """How an entry fits a run."""

    HOLDS = "holds"
    EXPIRED = "expired"
    GONE = "gone"
    """The run did not plan the check."""
    NOT_JUDGED = "not-judged"
    """The check was skipped or is unknown."""
    OTHER_FACTS = "other-facts"
    """It was accepted on facts that have changed."""
    OTHERWISE = "otherwise"
    """The check has another verdict, outcome or deviating member."""


STALE = frozenset({Fit.EXPIRED, Fit.GONE, Fit.OTHER_FACTS, Fit.OTHERWISE})
"""Entries to remove from the file, or to accept again."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """One entry, how it fits the run, and why."""

    entry: Entry
    fit: Fit
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineComparison:
    """A run compared with a baseline: entries that hold, checks that are new or changed.

    ``elsewhere`` says if the entries were accepted for another cluster.
    """

    file: str
    holding: tuple[Entry, ...]
    new: tuple[str, ...]
    otherwise: tuple[str, ...]
    expired: tuple[Entry, ...]
    elsewhere: str = ""

    @property
    def known(self) -> tuple[str, ...]:
        """The ids of checks that deviate as accepted."""
        return tuple(entry.check for entry in self.holding)

    @property
    def red(self) -> bool:
        """Whether anything is not covered."""
        return bool(self.new or self.otherwise or self.expired)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the summary, with the counts first."""
        yield (
            f"baseline {self.file}: {plural(len(self.known), 'known failure')}, {len(self.new)} new,"
            f" {len(self.otherwise)} not as accepted, {len(self.expired)} expired"
        )
        if self.elsewhere:
            yield self.elsewhere
        for word, ids in (("new", self.new), ("not as accepted", self.otherwise)):
            yield from (f"{word}: {check}" for check in ids[:SHOWN])
            if len(ids) > SHOWN:
                yield f"… and {len(ids) - SHOWN} more"
        for entry in self.expired[:SHOWN]:
            yield f"expired: {entry.subject} was accepted until {entry.expires}: {entry.reason}"


def fittings(run: RecordedRun, baseline: Baseline, today: date) -> tuple[Fitting, ...]:
    """Return how each entry fits a run."""
    checks = run.by_id
    return tuple(
        Fitting(entry, *_fit(entry, checks.get(entry.check), run, today))
        for entry in _current(baseline.entries, checks)
    )


def compared(run: RecordedRun, baseline: Baseline, today: date) -> BaselineComparison:
    """Return a run compared with a baseline."""
    checks = run.by_id
    fits = {fitting.entry.subject: fitting for fitting in fittings(run, baseline, today)}
    holding = {check: fitting.entry for check, fitting in fits.items() if fitting.fit is Fit.HOLDS}
    deviating = [check.id for check in deviating_checks(run)]
    for entry in baseline.entries:
        if not entry.check and not entry.expired(today):
            for check in deviating:
                if check not in holding and covers(entry, checks[check]):
                    holding[check] = replace(entry, check=check)
    return BaselineComparison(
        file=baseline.file,
        holding=tuple(holding[check] for check in deviating if check in holding),
        new=tuple(check for check in deviating if check not in holding),
        otherwise=tuple(
            check
            for check, fitting in fits.items()
            if fitting.fit is Fit.OTHERWISE
            and fitting.entry.verdict in _ALLOWED
            and checks[check].standing is fitting.entry.verdict
        ),
        expired=tuple(fitting.entry for fitting in fits.values() if fitting.fit is Fit.EXPIRED),
        elsewhere=elsewhere(run, baseline),
    )


def _current(entries: Iterable[Entry], checks: Mapping[str, RecordedCheck]) -> Iterator[Entry]:
    """Yield the entries; for a former id each deviating check that replaces it, or the first."""
    for entry in entries:
        replacing = list(successors(entry.check, checks)) if is_former(entry.check) else []
        deviating = [check for check in replacing if checks[check].standing in DEVIATING]
        for check in deviating or replacing[:1]:
            yield replace(entry, check=check, seen=held(checks[check]))
        if not replacing:
            yield entry


def elsewhere(run: RecordedRun, baseline: Baseline) -> str:
    """Return a sentence if the baseline was accepted for other clusters than the run's, or "".

    Updates change a cluster's facts, so the name decides; the digest shows if facts are equal.
    """
    here = accepted_on(run)
    if not baseline.clusters or here.name in {cluster.name for cluster in baseline.clusters}:
        return ""
    named = ", ".join(map(str, baseline.clusters[:NAMED]))
    more = len(baseline.clusters) - NAMED
    rest = f", … and {plural(more, 'more cluster')}" if more > 0 else ""
    like = here.facts_digest and here.facts_digest in {
        cluster.facts_digest for cluster in baseline.clusters
    }
    facts = "the same facts" if like else f"other facts ({short(here.facts_digest) or 'none'})"
    return f"accepted for {named}{rest}, and this run is of {here.name}, with {facts}"


def counted(
    comparison: BaselineComparison, verdicts: Mapping[str, Verdict], members: Collection[Verdict]
) -> tuple[dict[str, Verdict], set[Verdict]]:
    """Return the verdicts for ``--fail-on new``: known failures as accepted, others as failed."""
    accepted = set(comparison.known)
    kept = {
        check: Verdict.PASS if check in accepted and verdict in DEVIATING else verdict
        for check, verdict in verdicts.items()
    }
    rest = set(members) - DEVIATING
    return kept, {*rest, Verdict.FAIL} if comparison.red else rest


def _fit(
    entry: Entry, check: RecordedCheck | None, run: RecordedRun, today: date
) -> tuple[Fit, str]:
    if entry.expired(today):
        return Fit.EXPIRED, f"accepted until {entry.expires}"
    if run.run.error:
        return Fit.NOT_JUDGED, f"the run could not start: {run.run.why_not_started}"
    if not entry.check:
        covered = sum(covers(entry, each) for each in deviating_checks(run))
        if not covered:
            return Fit.OTHERWISE, "nothing of it deviates any more"
        return Fit.HOLDS, f"{plural(covered, 'check')} as accepted"
    if check is None:
        return Fit.GONE, "the run did not plan it"
    if check.standing in NOT_JUDGED:
        return Fit.NOT_JUDGED, f"{check.standing.value}: {check.message or 'no reason is given'}"
    for fact, values in entry.facts.items():
        now = fact_of(fact, run, check)
        if now not in values:
            return Fit.OTHER_FACTS, f"{fact}: {' or '.join(values)} → {now or 'not known'}"
    if (difference := _difference(entry, check)) is not None:
        return Fit.OTHERWISE, difference
    return Fit.HOLDS, "as accepted"


def _difference(entry: Entry, check: RecordedCheck) -> str | None:
    """Return how a check differs from what was accepted, if it does; fewer members do not count."""
    if check.standing is not entry.verdict:
        return f"{entry.verdict} → {check.standing}"
    for key in SEEN:
        before, now = getattr(entry.seen, key), getattr(held(check), key)
        if before != now:
            return f"{key}: {before or 'none'} → {now or 'none'}"
    for member, verdict in check.deviating_members.items():
        if entry.members.get(member) is not verdict:
            return f"{member}: {verdict.value}"
    return None
