"""``Forecast`` in words for people, each chosen once; and the document for machines. Pure.

The document is published as ``forecast.schema.json``; ``nettests diff --forecast`` reads it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nettests.compare.difference import OnlyCheck
from nettests.compare.reading import Readable, read_value
from nettests.compare.sections import Item, Overview, Section, alike, facts_section, filled, named
from nettests.forecast.forecast import Coming, Entry, ExpectedChange, Forecast, Undecided
from nettests.model.codec import to_data
from nettests.model.labels import document_version
from nettests.model.visible import plural
from nettests.model.words import Verdict

KINDS = {
    Coming.APPEARS: ("Limitations that appear", "a limitation appears"),
    Coming.LIFTS: ("Limitations that lift", "a limitation lifts"),
    Coming.OPENS: ("Outcomes that become open", "the outcome becomes open"),
    Coming.SETTLES: ("Outcomes that are no longer open", "the outcome is no longer open"),
    Coming.CHANGES: ("Another outcome or limitation", "another outcome or limitation"),
    Coming.MEMBERS: ("Some nodes or pairs of nodes", "some nodes or pairs of nodes"),
    Coming.DECIDED: ("Undecided today", "undecided today"),
}
"""The title and words of each kind, in reading order: what an upgrade breaks comes first."""
NO_CHECK = "Nothing is forecast: with the enabled classes, no check of the chosen flows is planned"
SHOWN_ENTRIES = 3
"""How many manifest entries an item names with sources; the document for machines has all."""
API_VERSION = document_version("v1alpha1")
FORECAST = Readable(
    kind="Forecast",
    version=API_VERSION,
    holds="forecast",
    writers="forecasts",
    hint="name what `nettests forecast --output json` printed",
    again="make it again: nettests forecast RUN --to … --output json",
)


def document(forecast: Forecast) -> dict[str, Any]:
    """Return the document as plain data; checks with the same expectation are only counted."""
    return {
        "apiVersion": API_VERSION,
        "kind": FORECAST.kind,
        "headline": headline(forecast),
        **to_data(forecast),
    }


def read_forecast(text: str | bytes, name: str) -> Forecast:
    """Return the forecast in a document's text; ``PathError`` for anything else."""
    return read_value(text, name, FORECAST, Forecast)


def overview(forecast: Forecast) -> Overview:
    """Return a forecast as an overview."""
    return Overview(
        headline=headline(forecast),
        lines=(f"{forecast.of or 'cluster'}: {', '.join(forecast.to)}",),
        notes=forecast.notes,
        note_word="note",
        sections=sections(forecast),
    )


def headline(forecast: Forecast) -> str:
    """Return in one sentence what is expected to change."""
    kinds = Counter(change.kind for change in forecast.changes)
    counts = ", ".join(
        f"{kinds[kind]} × {words}" for kind, (_, words) in KINDS.items() if kinds[kind]
    )
    lacking = {name for undecided in forecast.undecided for name in undecided.checks}
    verb = "are" if len(forecast.changes) > 1 else "is"
    parts = [
        f"{plural(number, 'check')} {what}"
        for number, what in (
            (len(forecast.changes), f"{verb} expected to change: {counts}"),
            (len(lacking), "cannot be forecast"),
            (len(forecast.comes), "would be added to the plan"),
            (len(forecast.goes), "would leave the plan"),
        )
        if number
    ]
    return "; ".join(parts) or ("No check is expected to change" if forecast.same else NO_CHECK)


def sections(forecast: Forecast) -> tuple[Section, ...]:
    """Return the non-empty sections."""
    entries = {entry.id: entry for entry in forecast.entries}
    undecided = tuple(_undecided(each, entries, forecast.to) for each in forecast.undecided)
    changes = [
        Section(
            title, alike(_change(each, entries) for each in forecast.changes if each.kind is kind)
        )
        for kind, (title, _) in KINDS.items()
    ]
    return filled(
        [
            *changes,
            Section("Cannot be forecast", undecided),
            Section("Added to the plan", _planned(forecast.comes, "left out today")),
            Section("No longer in the plan", _planned(forecast.goes, "left out then")),
            facts_section("Changed facts", forecast.facts),
        ]
    )


def words_of(change: ExpectedChange) -> str:
    """Return the old and new expectation; if the outcome stays, the limitations that decide it."""
    was, now = change.before.expected, change.after.expected
    if was != now:
        return f"{was} → {now}"
    limitations = (change.before.limitation or "claimed", change.after.limitation or "claimed")
    return now if limitations[0] == limitations[1] else f"{now}, {' → '.join(limitations)}"


def _planned(only: Iterable[OnlyCheck], where: str) -> tuple[Item, ...]:
    """Return checks by why one plan skips them, with their expectation."""
    return alike(
        Item(head=check.message, names=(check.id,), lines=(f"{where}: {check.reason}",))
        for check in only
    )


def _change(change: ExpectedChange, entries: Mapping[str, Entry]) -> Item:
    lines = []
    if change.kind is Coming.MEMBERS:
        labels = (member.label for member in change.members)
        lines.append(f"at {named(labels, 'place')}")
    for word, names in (("ends", change.ends), ("applies", change.applies)):
        for name in names[:SHOWN_ENTRIES]:
            lines += _entry(word, name, entries, settled=change.kind is Coming.OPENS)
    if change.settled_by:
        lines.append(f"settled by {_keys(change.settled_by)}")
    if change.causes:
        lines.append(f"because {named(map(str, change.causes), 'fact')}")
    return Item(
        head=words_of(change), names=(change.id,), lines=tuple(lines), verdict=change.after.verdict
    )


def _entry(word: str, name: str, entries: Mapping[str, Entry], *, settled: bool) -> Iterator[str]:
    entry = entries.get(name)
    if entry is None:
        yield f"{word}: {name}"
        return
    yield f"{word}: {name}: {entry.summary} ({entry.place})"
    yield f"source: {'; '.join(map(str, entry.sources))}"
    if settled and entry.settled_by:
        yield f"settled by: {entry.settled_by}"


def _undecided(undecided: Undecided, entries: Mapping[str, Entry], to: Iterable[str]) -> Item:
    lines = [undecided.why]
    for name in undecided.entries[:SHOWN_ENTRIES]:
        lines += _entry("may decide", name, entries, settled=False)
    if undecided.already:
        lines.append("today's facts do not decide it either")
    head = (
        f"settled by {_keys(undecided.settled_by, to)}"
        if undecided.settled_by
        else "settled by no fact that a forecast can change"
    )
    return Item(head=head, names=undecided.checks, lines=tuple(lines), verdict=Verdict.UNKNOWN)


def _keys(names: Iterable[str], to: Iterable[str] = ()) -> str:
    """Return the options to write; a value that was already stated lacks its patch release."""
    stated = {
        key: value.removesuffix(".x") for key, _, value in (word.partition("=") for word in to)
    }
    values = {name: f"{stated[name]}.PATCH" if name in stated else "VALUE" for name in names}
    return " or ".join(f"--to {name}={value}" for name, value in values.items())
