"""``Forecast`` → what people read of it: a headline and sections of items, the same for terminal and Markdown. Pure."""

from collections.abc import Iterable, Iterator, Mapping

from nettests.compare.absent import OnlyCheck
from nettests.compare.items import Item, Section, alike, named
from nettests.forecast.entries import Entry
from nettests.forecast.forecast import Coming, ExpectedChange, Forecast
from nettests.forecast.undecided import Undecided
from nettests.model.words import Verdict
from nettests.report.text import plural

TITLES = {
    Coming.APPEARS: "Limitations that appear",
    Coming.LIFTS: "Limitations that lift",
    Coming.OPENS: "Outcomes that become open",
    Coming.SETTLES: "Outcomes that are no longer open",
    Coming.CHANGES: "Another outcome or limitation",
    Coming.MEMBERS: "Some nodes or pairs of nodes",
    Coming.DECIDED: "Undecided today",
}
"""In the order in which people read them: what an upgrade breaks goes first."""
_COUNTED = {
    Coming.APPEARS: "a limitation appears",
    Coming.LIFTS: "a limitation lifts",
    Coming.OPENS: "the outcome becomes open",
    Coming.SETTLES: "the outcome is no longer open",
    Coming.CHANGES: "another outcome or limitation",
    Coming.MEMBERS: "some nodes or pairs of nodes",
    Coming.DECIDED: "undecided today",
}
NO_CHECK = "Nothing is forecast: no check is planned of the chosen flows, with the classes that are enabled"
SHOWN_ENTRIES = 3
"""Manifest entries that one item names with their sources; the document for machines has all."""


def headline(forecast: Forecast) -> str:
    """Return what is expected to change, in one sentence."""
    kinds = [
        f"{count} × {words}"
        for kind, words in _COUNTED.items()
        if (count := sum(change.kind is kind for change in forecast.changes))
    ]
    parts = []
    if forecast.changes:
        verb = "are" if len(forecast.changes) > 1 else "is"
        parts.append(
            f"{plural(len(forecast.changes), 'check')} {verb} expected to change: {', '.join(kinds)}"
        )
    lacking = {name for undecided in forecast.undecided for name in undecided.checks}
    if lacking:
        parts.append(f"{plural(len(lacking), 'check')} cannot be forecast")
    if forecast.comes:
        parts.append(f"{plural(len(forecast.comes), 'check')} would be added to the plan")
    if forecast.goes:
        parts.append(f"{plural(len(forecast.goes), 'check')} would leave the plan")
    if parts:
        return "; ".join(parts)
    return "No check is expected to change" if forecast.same else NO_CHECK


def title_line(forecast: Forecast) -> str:
    """Return the cluster's name and what changes there."""
    return f"{forecast.of or 'cluster'}: {', '.join(forecast.to)}"


def sections(forecast: Forecast) -> tuple[Section, ...]:
    """Return the sections that have items."""
    return tuple(section for section in _all(forecast) if section.items)


def _all(forecast: Forecast) -> Iterator[Section]:
    entries = {entry.id: entry for entry in forecast.entries}
    for kind, title in TITLES.items():
        those = (_change(change, entries) for change in forecast.changes if change.kind is kind)
        yield Section(title=title, items=alike(those))
    yield Section(
        title="Cannot be forecast",
        items=tuple(
            _undecided(undecided, entries, forecast.to) for undecided in forecast.undecided
        ),
    )
    yield Section(title="Added to the plan", items=_planned(forecast.comes, "left out today"))
    yield Section(title="No longer in the plan", items=_planned(forecast.goes, "left out then"))
    facts = (
        Item(head=f"{fact.before} → {fact.after}", names=(fact.subject,)) for fact in forecast.facts
    )
    yield Section(title="Changed facts", items=tuple(facts))


def words_of(change: ExpectedChange) -> str:
    """Return the old and the new expectation; if the outcome stays, the limitations that decide it."""
    was, now = change.before.expected, change.after.expected
    if was != now:
        return f"{was} → {now}"
    limitations = (change.before.limitation or "claimed", change.after.limitation or "claimed")
    return now if limitations[0] == limitations[1] else f"{now}, {' → '.join(limitations)}"


def _planned(only: Iterable[OnlyCheck], where: str) -> tuple[Item, ...]:
    """Return checks by the reason why one plan leaves them out, with what is expected of them: none was run."""
    return alike(
        Item(head=check.message, names=(check.id,), lines=(f"{where}: {check.reason}",))
        for check in only
    )


def _change(change: ExpectedChange, entries: Mapping[str, Entry]) -> Item:
    lines = []
    if change.kind is Coming.MEMBERS:
        labels = (member.label for member in change.members)
        lines.append(f"members: {named(labels, 'member')}")
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
