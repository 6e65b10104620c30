"""A forecast compared with the runs before and after: changes observed, not observed, and not forecast. Pure.

A change is ``predicted`` if the forecast named the check, and the later run expects and shows what was forecast.
Every other change is classified by ``compare``. The exit code is that of the difference: a forecast excuses nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import assert_never

from nettests.compare import absent
from nettests.compare.difference import Difference
from nettests.compare.explanation import Explained
from nettests.compare.fact_changes import FactChange
from nettests.compare.items import named
from nettests.compare.members import MemberChange
from nettests.compare.recorded import RecordedCheck, RecordedRun
from nettests.forecast.as_documented import text_of
from nettests.forecast.forecast import ExpectedChange, Forecast
from nettests.forecast.forecast_sections import words_of
from nettests.forecast.keys import KEYS
from nettests.forecast.notes import other_manifests
from nettests.model.verdict import ACCEPTED
from nettests.model.words import Verdict
from nettests.report.summary import UNKNOWN

STAYED = "stayed as it was"
ON_SOME = "changed on some nodes alone"
Place = tuple[str, str]
"""A node pool, empty for the cluster, and the name of a fact."""
_NOT_JUDGED = frozenset({Verdict.UNKNOWN, Verdict.SKIPPED})


class Attribution(StrEnum):
    """How a change of a check is accounted for."""

    PREDICTED = "predicted"
    EXPLAINED = "explained"
    UNEXPLAINED = "unexplained"
    NOT_JUDGED = "not-judged"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributedChange:
    """A check that changed, or that only one run has."""

    id: str
    attribution: Attribution


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A forecast of a check that was not observed: what was forecast, what the later run says, and why not."""

    id: str
    forecast: str
    seen: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fulfilment:
    """What became of a forecast; ``facts`` are those that changed otherwise than forecast."""

    of: str
    to: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    observed: int = 0
    changes: tuple[AttributedChange, ...] = ()
    missed: tuple[Missed, ...] = ()
    facts: tuple[FactChange, ...] = ()

    def ids(self, which: Attribution) -> tuple[str, ...]:
        """Return the ids of the changes with this attribution."""
        return tuple(change.id for change in self.changes if change.attribution is which)


def fulfilment(forecast: Forecast, difference: Difference, after: RecordedRun) -> Fulfilment:
    """Return what the run ``after`` shows of a forecast; ``difference`` is that from the run before."""
    checks = {check.id: check for check in after.checks}
    missed = tuple(_missed(forecast, checks))
    named = {change.id for change in forecast.changes}
    named |= {only.id for only in (*forecast.comes, *forecast.goes)}
    fulfilled = named - {missed_change.id for missed_change in missed}
    return Fulfilment(
        of=forecast.of,
        to=forecast.to,
        warnings=(
            *_warnings(forecast, difference),
            *other_manifests(
                forecast.manifests, after.run.manifests, of="the forecast", by="the later run"
            ),
        ),
        observed=len(fulfilled),
        changes=tuple(_changes(difference, fulfilled)),
        missed=missed,
        facts=tuple(_facts(forecast, difference)),
    )


def _warnings(forecast: Forecast, difference: Difference) -> Iterator[str]:
    named = {difference.before.run.run_id, difference.before.run.context}
    if forecast.of and forecast.of not in named:
        yield f"the forecast is of {forecast.of}, and the first run is of {' or '.join(sorted(named))}"
    then, now = _by_place(forecast.facts), _by_place(difference.facts)
    for place in then.keys() & now.keys():
        was, is_ = ({fact.before for fact in facts[place]} for facts in (then, now))
        if was != is_:
            yield (
                f"{then[place][0].subject} was {' or '.join(sorted(was))} when the forecast was made, and is"
                f" {' or '.join(sorted(is_))} in the first run"
            )


def _missed(forecast: Forecast, checks: dict[str, RecordedCheck]) -> Iterator[Missed]:
    for change in forecast.changes:
        seen = checks.get(change.id)
        why = _why_missed(seen, change)
        if why:
            yield Missed(id=change.id, forecast=words_of(change), seen=_seen(seen), why=why)
    for comes in forecast.comes:
        seen = checks.get(comes.id)
        if seen is None or seen.verdict is Verdict.SKIPPED:
            why = seen.message if seen else "the later run did not plan it"
            yield Missed(id=comes.id, forecast="added to the plan", seen=_seen(seen), why=why)
    for goes in forecast.goes:
        seen = checks.get(goes.id)
        if seen is not None and seen.verdict is not Verdict.SKIPPED:
            why = "the later run planned it"
            yield Missed(id=goes.id, forecast="no longer in the plan", seen=_seen(seen), why=why)


def _why_missed(seen: RecordedCheck | None, change: ExpectedChange) -> str:
    """Return why a check does not show what was forecast; empty where it does."""
    if seen is None:
        return "the later run did not plan it"
    if seen.verdict in _NOT_JUDGED:
        return f"it was not judged: {seen.message or seen.verdict.value}"
    expected = text_of(seen.expected)
    if expected != change.after.expected:
        return f"expected on the facts of the later run: {expected}"
    if seen.verdict not in ACCEPTED:
        return "documents expect what was forecast, and it was not observed"
    if seen.verdict is not Verdict.KNOWN_BUG and seen.limitation_id != change.after.limitation:
        return f"decided by {seen.limitation_id or 'no limitation'}"
    other = named(_otherwise(seen.members.each, change.members), "member")
    return f"something else decides {other}" if other else ""


def _otherwise(
    seen: Mapping[str, tuple[Verdict, str | None]], members: Iterable[MemberChange]
) -> Iterator[str]:
    """Yield the members that another limitation decides than forecast; members that are gone are left out."""
    for member in members:
        if member.label in seen and seen[member.label][1] != member.limitation_after:
            yield member.label


def _seen(seen: RecordedCheck | None) -> str:
    if seen is None:
        return "no such check"
    observed = seen.observed.outcome or seen.observed.text
    return f"{seen.verdict.value}: {observed}" if observed else seen.verdict.value


def _changes(difference: Difference, fulfilled: set[str]) -> Iterator[AttributedChange]:
    """Yield every change of the difference with how it is accounted for."""
    for change in difference.changed:
        attribution = _attribution(change.why.explained) if change.why else Attribution.UNEXPLAINED
        yield AttributedChange(
            id=change.id,
            attribution=Attribution.PREDICTED if change.id in fulfilled else attribution,
        )
    for only in (*difference.only_before, *difference.only_after):
        attribution = (
            Attribution.UNEXPLAINED if only.reason == absent.UNTOLD else Attribution.EXPLAINED
        )
        yield AttributedChange(
            id=only.id, attribution=Attribution.PREDICTED if only.id in fulfilled else attribution
        )


def _attribution(explained: Explained) -> Attribution:
    match explained:
        case Explained.EXPLAINED:
            return Attribution.EXPLAINED
        case Explained.UNEXPLAINED:
            return Attribution.UNEXPLAINED
        case Explained.NOT_JUDGED:
            return Attribution.NOT_JUDGED
        case _:
            assert_never(explained)


def _facts(forecast: Forecast, difference: Difference) -> Iterator[FactChange]:
    """Yield facts that a forecast can change and that changed otherwise: not forecast, to another value, or not everywhere."""
    then, now = _by_place(forecast.facts), _by_place(difference.facts)
    for place, changes in now.items():
        stated = then.get(place, [])
        yield from (
            change
            for change in changes
            if not any(_same(fact.after, change.after) for fact in stated)
        )
    for place, stated in then.items():
        change = stated[0]
        if change.after == UNKNOWN:
            continue
        if place not in now:
            yield FactChange(name=change.name, before=change.before, after=STAYED, pool=change.pool)
        elif _nodes(now[place]) < _nodes(stated):
            yield FactChange(
                name=change.name, before=change.before, after=ON_SOME, pool=change.pool
            )


def _by_place(facts: Iterable[FactChange]) -> Mapping[Place, list[FactChange]]:
    """Return the facts that a forecast can change; nodes of a pool may have changed differently."""
    about = {name for key in KEYS.values() for name in key.facts}
    by_place: defaultdict[Place, list[FactChange]] = defaultdict(list)
    for fact in facts:
        if fact.name in about:
            by_place[fact.pool, fact.name].append(fact)
    return dict(by_place)


def _nodes(facts: Iterable[FactChange]) -> float:
    """Return how many nodes of a pool these facts are about; a fact without node names is about all."""
    return sum(len(fact.nodes) or inf for fact in facts)


def _same(forecast: str, seen: str) -> bool:
    """Whether a fact is as forecast; a version without a patch matches any patch, and ``unknown`` matches anything."""
    return seen == forecast or seen.startswith(f"{forecast}.") or forecast == UNKNOWN
