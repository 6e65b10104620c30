"""``Forecast`` → what people read of it: a headline and sections of items, the same for terminal and Markdown. Pure."""

from collections.abc import Iterable, Iterator, Mapping

from nettests.compare.items import Item, Section, alike, by_reason, named
from nettests.forecast.entries import Entry
from nettests.forecast.forecast import Coming, ExpectedChange, Forecast
from nettests.forecast.untold import Untold
from nettests.model.words import Verdict
from nettests.report.text import plural

TITLES = {
    Coming.LIFTS: "Limitations that lift",
    Coming.APPEARS: "Limitations that appear",
    Coming.OPENS: "Left open from then on",
    Coming.SETTLES: "No longer left open",
    Coming.CHANGES: "Other outcomes, other limitations",
    Coming.MEMBERS: "Of some members",
    Coming.DECIDED: "Could not be told before",
}
_COUNTED = {
    Coming.LIFTS: "a limitation lifts",
    Coming.APPEARS: "a limitation appears",
    Coming.OPENS: "the outcome becomes open",
    Coming.SETTLES: "the outcome is no longer open",
    Coming.CHANGES: "another outcome or limitation is expected",
    Coming.MEMBERS: "some members change",
    Coming.DECIDED: "it can be told now",
}
SHOWN_ENTRIES = 3
"""Manifest entries that one item names with their sources; the document for machines has all."""


def headline(found: Forecast) -> str:
    """Return what is expected to change, in one sentence."""
    kinds = [
        f"{count} × {words}"
        for kind, words in _COUNTED.items()
        if (count := sum(one.kind is kind for one in found.changes))
    ]
    parts = []
    if found.changes:
        parts.append(
            f"Something else is expected of {plural(len(found.changes), 'check')}: {', '.join(kinds)}"
        )
    lacking = {name for one in found.untold for name in one.checks}
    if lacking:
        parts.append(f"of {plural(len(lacking), 'check')} it cannot be told")
    if found.comes:
        parts.append(f"{plural(len(found.comes), 'check')} would be added to the plan")
    if found.goes:
        parts.append(f"{plural(len(found.goes), 'check')} would leave the plan")
    text = "; ".join(parts) or "Nothing else is expected"
    return text[0].upper() + text[1:]


def title_line(found: Forecast) -> str:
    """Return of which cluster it is, and what changes there."""
    return f"{found.of or 'cluster'}: {', '.join(found.to)}"


def sections(found: Forecast) -> tuple[Section, ...]:
    """Return the sections that have items."""
    return tuple(section for section in _all(found) if section.items)


def _all(found: Forecast) -> Iterator[Section]:
    entries = {one.id: one for one in found.entries}
    for kind, title in TITLES.items():
        those = (_change(one, entries) for one in found.changes if one.kind is kind)
        yield Section(title=title, items=alike(those))
    yield Section(
        title="Cannot be told", items=tuple(_untold(one, entries) for one in found.untold)
    )
    yield Section(title="Added to the plan", items=by_reason(found.comes))
    yield Section(title="No longer in the plan", items=by_reason(found.goes))
    facts = (Item(head=f"{one.before} → {one.after}", names=(one.subject,)) for one in found.facts)
    yield Section(title="Changed facts", items=tuple(facts))


def words_of(one: ExpectedChange) -> str:
    """Return what was expected and what is then, or by what where the outcome stays."""
    was, now = one.before.expected, one.after.expected
    if was != now:
        return f"{was} → {now}"
    limitations = (one.before.limitation or "claimed", one.after.limitation or "claimed")
    return now if limitations[0] == limitations[1] else f"{now}, {' → '.join(limitations)}"


def _change(one: ExpectedChange, entries: Mapping[str, Entry]) -> Item:
    lines = []
    if one.kind is Coming.MEMBERS:
        labels = (member.label for member in one.members)
        lines.append(f"members: {named(labels, 'member')}")
    for word, names in (("ends", one.ends), ("applies", one.applies)):
        for name in names[:SHOWN_ENTRIES]:
            lines += _entry(word, name, entries, settled=one.kind is Coming.OPENS)
    if one.settled_by:
        lines.append(f"settled by {_keys(one.settled_by)}")
    if one.causes:
        lines.append(f"because {named(map(str, one.causes), 'fact')}")
    return Item(head=words_of(one), names=(one.id,), lines=tuple(lines), verdict=one.after.verdict)


def _entry(word: str, name: str, entries: Mapping[str, Entry], *, settled: bool) -> Iterator[str]:
    entry = entries.get(name)
    if entry is None:
        yield f"{word}: {name}"
        return
    yield f"{word}: {name}: {entry.summary} ({entry.place})"
    yield f"source: {'; '.join(map(str, entry.sources))}"
    if settled and entry.settled_by:
        yield f"settled by: {entry.settled_by}"


def _untold(one: Untold, entries: Mapping[str, Entry]) -> Item:
    lines = [one.why]
    for name in one.entries[:SHOWN_ENTRIES]:
        lines += _entry("may decide", name, entries, settled=False)
    if one.already:
        lines.append("of the facts of before it cannot be told either")
    head = (
        f"settled by {_keys(one.settled_by)}"
        if one.settled_by
        else "settled by no fact that a forecast can change"
    )
    return Item(head=head, names=one.checks, lines=tuple(lines), verdict=Verdict.UNKNOWN)


def _keys(names: Iterable[str]) -> str:
    return " or ".join(f"--to {key}=" for key in names)
