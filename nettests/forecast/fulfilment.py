"""A forecast compared with the runs before and after: what was forecast, and observed. Pure.

A change is ``predicted`` if the forecast named the check, and the later run expects and shows what
was forecast. Others are classified by ``compare``, which gives the exit code: a forecast excuses
nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf
from typing import Any

from nettests.compare.changes import NOT_JUDGED, Explained
from nettests.compare.difference import UNTOLD, Difference
from nettests.compare.fact_changes import FactChange
from nettests.compare.recorded import RecordedCheck, RecordedRun
from nettests.compare.sections import Item, Overview, Section, alike, facts_section, filled, named
from nettests.forecast.expected_run import text_of
from nettests.forecast.facts_after import other_manifests
from nettests.forecast.forecast import ExpectedChange, Forecast
from nettests.forecast.forecast_text import words_of
from nettests.forecast.keys import KEYS
from nettests.model.codec import to_data
from nettests.model.grouping import grouped
from nettests.model.verdict import ACCEPTED
from nettests.model.words import Verdict
from nettests.report.summary import UNKNOWN

STAYED = "stayed as it was"
ON_SOME = "changed on some nodes only"
Place = tuple[str, str]
"""A node pool, or "" for the cluster, and the name of a fact."""


class Attribution(StrEnum):
    """How a check's change is accounted for."""

    PREDICTED = "predicted"
    EXPLAINED = "explained"
    UNEXPLAINED = "unexplained"
    NOT_JUDGED = "not-judged"


_COLOUR = {
    Attribution.PREDICTED: Verdict.PASS,
    Attribution.EXPLAINED: Verdict.RECORDED,
    Attribution.UNEXPLAINED: Verdict.FAIL,
    Attribution.NOT_JUDGED: Verdict.UNKNOWN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A forecast that was not observed: the forecast, what the later run shows, and why not."""

    id: str
    forecast: str
    seen: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fulfilment:
    """The result of a forecast; ``facts`` are those that changed differently than forecast."""

    of: str
    to: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    observed: int = 0
    changes: Mapping[Attribution, tuple[str, ...]]
    """The ids of checks that changed, or are in one run only, by attribution."""
    missed: tuple[Missed, ...] = ()
    facts: tuple[FactChange, ...] = ()


def fulfilment(forecast: Forecast, difference: Difference, after: RecordedRun) -> Fulfilment:
    """Return what the run ``after`` shows of a forecast; ``difference`` is from the run before."""
    missed = tuple(_missed(forecast, after.by_id))
    named = {change.id for change in forecast.changes}
    named |= {only.id for only in (*forecast.comes, *forecast.goes)}
    fulfilled = named - {missed_change.id for missed_change in missed}
    manifests = other_manifests(
        forecast.manifests, after.run.manifests, of="the forecast", by="the later run"
    )
    by_attribution: dict[Attribution, list[str]] = {each: [] for each in Attribution}
    for check, attribution in _changes(difference):
        by_attribution[Attribution.PREDICTED if check in fulfilled else attribution].append(check)
    return Fulfilment(
        of=forecast.of,
        to=forecast.to,
        warnings=(*_warnings(forecast, difference), *manifests),
        observed=len(fulfilled),
        changes={attribution: tuple(ids) for attribution, ids in by_attribution.items()},
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


def _missed(forecast: Forecast, checks: Mapping[str, RecordedCheck]) -> Iterator[Missed]:
    expected = [(change.id, words_of(change), change) for change in forecast.changes]
    comes = [(check.id, "added to the plan", None) for check in forecast.comes]
    goes = [(check.id, "no longer in the plan", None) for check in forecast.goes]
    for name, words, change in (*expected, *comes, *goes):
        seen = checks.get(name)
        there = seen is not None and seen.verdict is not Verdict.SKIPPED
        if change is not None:
            why = _why_missed(seen, change)
        elif words == "added to the plan":
            why = "" if there else seen.message if seen else "the later run did not plan it"
        else:
            why = "the later run planned it" if there else ""
        if why:
            yield Missed(id=name, forecast=words, seen=_seen(seen), why=why)


def _why_missed(seen: RecordedCheck | None, change: ExpectedChange) -> str:
    """Return why a check does not show what was forecast, or nothing."""
    if seen is None:
        return "the later run did not plan it"
    if seen.verdict in NOT_JUDGED:
        return f"it was not judged: {seen.message or seen.verdict.value}"
    expected = text_of(seen.expected)
    if expected != change.after.expected:
        return f"expected on the facts of the later run: {expected}"
    if seen.verdict not in ACCEPTED:
        return "documents expect what was forecast, and it was not observed"
    if seen.verdict is not Verdict.KNOWN_BUG and seen.limitation_id != change.after.limitation:
        return f"decided by {seen.limitation_id or 'no limitation'}"
    # Members that are gone do not count.
    otherwise = [
        member.label
        for member in change.members
        if member.label in seen.members
        and seen.members[member.label].limitation != member.limitation_after
    ]
    return f"something else decides at {named(otherwise, 'place')}" if otherwise else ""


def _seen(seen: RecordedCheck | None) -> str:
    if seen is None:
        return "no such check"
    observed = seen.observed.outcome or seen.observed.text
    return f"{seen.verdict.value}: {observed}" if observed else seen.verdict.value


def _changes(difference: Difference) -> Iterator[tuple[str, Attribution]]:
    for change in difference.changed:
        explained = change.why.explained if change.why else Explained.UNEXPLAINED
        yield change.id, Attribution(explained.value)
    for only in (*difference.only_before, *difference.only_after):
        untold = only.reason == UNTOLD
        yield only.id, Attribution.UNEXPLAINED if untold else Attribution.EXPLAINED


def _facts(forecast: Forecast, difference: Difference) -> Iterator[FactChange]:
    """Yield facts that a forecast can change and that changed differently, or not everywhere."""
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
    return grouped(((fact.pool, fact.name), fact) for fact in facts if fact.name in about)


def _nodes(facts: Iterable[FactChange]) -> float:
    """Return how many nodes of a pool these facts concern; a fact without nodes concerns all."""
    return sum(len(fact.nodes) or inf for fact in facts)


def _same(forecast: str, seen: str) -> bool:
    """Whether a fact is as forecast: any patch matches a minor, anything matches ``unknown``."""
    return seen == forecast or seen.startswith(f"{forecast}.") or forecast == UNKNOWN


def with_forecast(overview: Overview, fulfilment: Fulfilment) -> Overview:
    """Return the overview of a difference, completed by the result of a forecast."""
    return replace(
        overview,
        notes=(*overview.notes, *fulfilment.warnings),
        sections=(*forecast_sections(fulfilment), *overview.sections),
        closing=(forecast_line(fulfilment),),
    )


def forecast_line(fulfilment: Fulfilment) -> str:
    """Return the result of the forecast in one sentence."""
    counts = [f"{len(ids)} {each.value}" for each, ids in fulfilment.changes.items() if ids]
    changes = ", ".join(counts) or "none"
    of = fulfilment.observed + len(fulfilment.missed)
    return f"Forecast {', '.join(fulfilment.to)}: {fulfilment.observed} of {of} expected changes observed; changes: {changes}"


def forecast_sections(fulfilment: Fulfilment) -> tuple[Section, ...]:
    """Return the non-empty sections: what was not observed, and what was not forecast."""
    missed = [
        Item(
            head=f"forecast {each.forecast}",
            names=(each.id,),
            lines=(f"is {each.seen}", each.why),
            verdict=Verdict.FAIL,
        )
        for each in fulfilment.missed
    ]
    by_attribution = {
        attribution: Item(head=attribution.value, names=ids, verdict=_COLOUR[attribution])
        for attribution, ids in fulfilment.changes.items()
        if ids
    }
    predicted = by_attribution.pop(Attribution.PREDICTED, None)
    return filled(
        [
            Section("Forecast, but not observed", alike(missed)),
            Section("Not forecast", tuple(by_attribution.values())),
            facts_section("Facts that differ from the forecast", fulfilment.facts),
            Section("As forecast", (predicted,) if predicted else ()),
        ]
    )


def forecast_data(fulfilment: Fulfilment) -> dict[str, Any]:
    """Return the part ``forecast`` of a difference's document."""
    data: dict[str, Any] = to_data(fulfilment)
    return data
