"""A difference, forecast or history for people: sections of items, as Markdown and HTML.

``difference_text`` and its counterparts in ``forecast`` and ``history`` choose words and order;
each renderer decides how many items it shows. ``cli.section_lines`` renders for a terminal. The
HTML page needs no network and no script, and has the style of a run's report.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from jinja2 import Environment

from nettests.compare.difference import OnlyCheck
from nettests.compare.fact_changes import FactChange
from nettests.model.grouping import grouped
from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.visible import code, inert, plural
from nettests.model.words import Verdict
from nettests.report import harmless
from nettests.report.summary import SYMBOL

NAMED = 4
"""How many members, checks or facts a sentence names; the document for machines has all."""
SHOWN = 30
"""How many items of a section Markdown shows; page and document for machines have all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One entry of a section: ``head`` says what changed, ``names`` of what, ``lines`` say more.

    Several names share the same change. ``verdict`` gives the colour, if any.
    """

    head: str
    names: tuple[str, ...]
    lines: tuple[str, ...] = ()
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """Items of one kind under a title; ``lead`` applies to all of them."""

    title: str
    items: tuple[Item, ...]
    lead: str = ""

    @property
    def size(self) -> int:
        """The number of names in all items."""
        return sum(len(item.names) for item in self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Everything for people: ``lines`` name the subject, ``closing`` complements the headline.

    ``notes`` are reservations, each called a ``note_word``: a warning or a note.
    """

    headline: str
    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    note_word: str = "warning"
    sections: tuple[Section, ...] = ()
    closing: tuple[str, ...] = ()


def filled(sections: Iterable[Section]) -> tuple[Section, ...]:
    """Return the non-empty sections."""
    return tuple(section for section in sections if section.items)


def alike(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return items, merging those that differ only in their names, at the first one's place."""
    names_by_item: dict[Item, list[str]] = {}
    for item in items:
        names_by_item.setdefault(replace(item, names=()), []).extend(item.names)
    return tuple(replace(item, names=tuple(names)) for item, names in names_by_item.items())


def facts_section(title: str, facts: Iterable[FactChange]) -> Section:
    """Return the section of changed facts."""
    return Section(
        title,
        tuple(Item(head=f"{fact.before} → {fact.after}", names=(fact.subject,)) for fact in facts),
    )


def by_reason(title: str, only: Iterable[OnlyCheck]) -> Section:
    """Return the section of checks in one run only, counted by why the other lacks them."""
    reasons = grouped((check.reason, check) for check in only)
    items = []
    for reason, checks in reasons.items():
        seen = Counter(check.verdict for check in checks)
        counts = ", ".join(f"{seen[v]} {v.value}" for v in SUMMARY_ORDER if seen[v])
        lines = (counts, named((check.id for check in checks), "check"))
        items.append(Item(head=plural(len(checks), "check"), names=(reason,), lines=lines))
    return Section(title, tuple(items))


def named(words: Iterable[str], noun: str) -> str:
    """Return the first few of some words, and the number of others."""
    every_word = list(words)
    more = len(every_word) - NAMED
    shown = ", ".join(every_word[:NAMED])
    return f"{shown}, … and {plural(more, f'more {noun}')}" if more > 0 else shown


def render_markdown(overview: Overview) -> str:
    """Return bounded Markdown for a job's summary or a comment, ending with a line feed."""
    mark = "⚠ " if overview.note_word == "warning" else ""
    lines = [f"## {inert(overview.headline)}", ""]
    lines += [f"- {inert(line)}" for line in (*overview.lines, *overview.closing)]
    lines += [f"- {mark}{inert(note)}" for note in overview.notes]
    for section in overview.sections:
        lines += ["", *_table(section)]
    return "\n".join(lines) + "\n"


def _table(section: Section) -> Iterator[str]:
    yield from (f"### {inert(section.title)} ({section.size})", "")
    if section.lead:
        yield from (inert(section.lead), "")
    yield from ("| what | of | more |", "| --- | --- | --- |")
    for item in section.items[:SHOWN]:
        mark = f"{SYMBOL[item.verdict]} " if item.verdict else ""
        more = "<br>".join(inert(line) for line in item.lines if line)
        names = "<br>".join(map(code, item.names[:NAMED]))
        rest = len(item.names) - NAMED
        tail = f"<br>… and {rest} more" if rest > 0 else ""
        yield f"| {mark}{inert(item.head)} | {names}{tail} | {more} |"
    if (left := len(section.items) - SHOWN) > 0:
        yield from ("", f"… and {plural(left, 'more item')}.")


def render_page(overview: Overview) -> str:
    """Return the page of a difference; it lists every item."""
    return harmless.render_page(
        _environment(),
        "difference.html.j2",
        headline=overview.headline,
        runs=(*overview.lines, *overview.closing),
        warnings=overview.notes,
        sections=overview.sections,
    )


def render(template: str, **values: object) -> str:
    """Return what a template of this package makes of values."""
    return _environment().get_template(template).render(**values)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return harmless.environment("nettests.compare")
