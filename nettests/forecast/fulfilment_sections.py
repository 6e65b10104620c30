"""``Fulfilment`` → the sections shown before those of the difference, and its part of that document. Pure."""

from collections.abc import Iterator
from typing import Any

from nettests.compare.items import Item, More, Section, alike
from nettests.forecast.fulfilment import Attribution, Fulfilment, Missed
from nettests.model.codec import to_data
from nettests.model.words import Verdict

_COLOUR = {
    Attribution.EXPLAINED: Verdict.RECORDED,
    Attribution.UNEXPLAINED: Verdict.FAIL,
    Attribution.NOT_JUDGED: Verdict.UNKNOWN,
}


def forecast_line(fulfilment: Fulfilment) -> str:
    """Return what became of the forecast, in one sentence."""
    counts = [
        f"{len(fulfilment.ids(attribution))} {attribution.value}"
        for attribution in Attribution
        if fulfilment.ids(attribution)
    ]
    changes = ", ".join(counts) or "none"
    of = fulfilment.observed + len(fulfilment.missed)
    return f"Forecast {', '.join(fulfilment.to)}: {fulfilment.observed} of {of} expected changes observed; changes: {changes}"


def more_of(fulfilment: Fulfilment) -> More:
    """Return what Markdown, page and terminal say of the forecast before the difference."""
    return More(
        lines=(forecast_line(fulfilment),),
        warnings=fulfilment.warnings,
        sections=forecast_sections(fulfilment),
    )


def forecast_sections(fulfilment: Fulfilment) -> tuple[Section, ...]:
    """Return the sections that have items: what was not observed, and what was not forecast."""
    every = (
        Section(title="Forecast, but not observed", items=alike(map(_missed, fulfilment.missed))),
        Section(title="Not forecast", items=tuple(_others(fulfilment))),
        Section(
            title="Facts that differ from the forecast",
            items=tuple(
                Item(head=f"{fact.before} → {fact.after}", names=(fact.subject,))
                for fact in fulfilment.facts
            ),
        ),
        Section(title="As forecast", items=tuple(_predicted(fulfilment))),
    )
    return tuple(section for section in every if section.items)


def forecast_data(fulfilment: Fulfilment) -> dict[str, Any]:
    """Return the part ``forecast`` of the document of a difference."""
    return {
        "of": fulfilment.of,
        "to": list(fulfilment.to),
        "warnings": list(fulfilment.warnings),
        "observed": fulfilment.observed,
        "changes": {
            attribution.value: list(fulfilment.ids(attribution)) for attribution in Attribution
        },
        "missed": to_data(fulfilment.missed),
        "facts": to_data(fulfilment.facts),
    }


def _missed(missed: Missed) -> Item:
    return Item(
        head=f"forecast {missed.forecast}",
        names=(missed.id,),
        lines=(f"is {missed.seen}", missed.why),
        verdict=Verdict.FAIL,
    )


def _others(fulfilment: Fulfilment) -> Iterator[Item]:
    for attribution, colour in _COLOUR.items():
        if names := fulfilment.ids(attribution):
            yield Item(head=attribution.value, names=names, verdict=colour)


def _predicted(fulfilment: Fulfilment) -> Iterator[Item]:
    if names := fulfilment.ids(Attribution.PREDICTED):
        yield Item(head=Attribution.PREDICTED.value, names=names, verdict=Verdict.PASS)
