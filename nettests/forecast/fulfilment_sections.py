"""``Fulfilment`` → the sections shown before those of the difference, and its part of that document. Pure."""

from collections.abc import Iterator
from typing import Any

from nettests.compare.items import Item, More, Section, alike
from nettests.forecast.fulfilment import Fulfilment, Missed, Told
from nettests.model.codec import to_data
from nettests.model.words import Verdict

_COLOUR = {
    Told.EXPLAINED: Verdict.RECORDED,
    Told.UNEXPLAINED: Verdict.FAIL,
    Told.NOT_JUDGED: Verdict.UNKNOWN,
}


def forecast_line(found: Fulfilment) -> str:
    """Return what became of the forecast, in one sentence."""
    counts = [f"{len(found.told(told))} {told.value}" for told in Told if found.told(told)]
    changes = ", ".join(counts) or "none"
    of = found.observed + len(found.missed)
    return f"Forecast {', '.join(found.to)}: {found.observed} of {of} expected changes observed; changes: {changes}"


def more_of(found: Fulfilment) -> More:
    """Return what Markdown, page and terminal say of the forecast before the difference."""
    return More(
        lines=(forecast_line(found),),
        warnings=found.warnings,
        sections=forecast_sections(found),
    )


def forecast_sections(found: Fulfilment) -> tuple[Section, ...]:
    """Return the sections that have items: what was not observed, and what was not forecast."""
    every = (
        Section(title="Forecast, but not observed", items=alike(map(_missed, found.missed))),
        Section(title="Not forecast", items=tuple(_others(found))),
        Section(
            title="Facts that differ from the forecast",
            items=tuple(
                Item(head=f"{fact.before} → {fact.after}", names=(fact.subject,))
                for fact in found.facts
            ),
        ),
        Section(title="As forecast", items=tuple(_predicted(found))),
    )
    return tuple(section for section in every if section.items)


def forecast_data(found: Fulfilment) -> dict[str, Any]:
    """Return the part ``forecast`` of the document of a difference."""
    return {
        "of": found.of,
        "to": list(found.to),
        "warnings": list(found.warnings),
        "observed": found.observed,
        "changes": {told.value: list(found.told(told)) for told in Told},
        "missed": to_data(found.missed),
        "facts": to_data(found.facts),
    }


def _missed(missed: Missed) -> Item:
    return Item(
        head=f"forecast {missed.forecast}",
        names=(missed.id,),
        lines=(f"is {missed.seen}", missed.why),
        verdict=Verdict.FAIL,
    )


def _others(fulfilment: Fulfilment) -> Iterator[Item]:
    for told, colour in _COLOUR.items():
        if names := fulfilment.told(told):
            yield Item(head=told.value, names=names, verdict=colour)


def _predicted(fulfilment: Fulfilment) -> Iterator[Item]:
    if names := fulfilment.told(Told.PREDICTED):
        yield Item(head=Told.PREDICTED.value, names=names, verdict=Verdict.PASS)
