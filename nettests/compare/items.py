"""Sections of items: the form in which differences and forecasts are shown to people.

Values and shared words. Each renderer decides how many items it shows and how they look.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from nettests.compare.absent import OnlyCheck
from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.words import Verdict
from nettests.report.text import plural

NAMED = 4
"""Members, checks or facts that one sentence names; the document for machines has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One entry of a section: ``head`` says what changed, ``names`` what of, ``lines`` say more.

    It has several names where the same happened to several checks. ``verdict`` gives it its colour; ``None`` has none.
    """

    head: str
    names: tuple[str, ...]
    lines: tuple[str, ...] = ()
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Items of one kind under a title; ``lead`` is what holds of all of them."""

    title: str
    items: tuple[Item, ...]
    lead: str = ""

    @property
    def size(self) -> int:
        """How many things its items speak of."""
        return sum(len(item.names) for item in self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """What is shown before a difference itself, such as a forecast compared with it."""

    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()


NO_MORE = More()


def alike(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return items, with those merged that differ only in their names, at the place of the first."""
    names_by_item: dict[Item, list[str]] = {}
    for item in items:
        names_by_item.setdefault(replace(item, names=()), []).extend(item.names)
    return tuple(replace(item, names=tuple(names)) for item, names in names_by_item.items())


def by_reason(only: Iterable[OnlyCheck]) -> tuple[Item, ...]:
    """Return checks that one side alone has, counted by the reason why the other has not."""
    reasons: defaultdict[str, list[OnlyCheck]] = defaultdict(list)
    for check in only:
        reasons[check.reason].append(check)
    return tuple(_group(*each) for each in reasons.items())


def _group(reason: str, checks: list[OnlyCheck]) -> Item:
    seen = Counter(check.verdict for check in checks)
    counts = ", ".join(f"{seen[v]} {v.value}" for v in SUMMARY_ORDER if seen[v])
    return Item(
        head=plural(len(checks), "check"),
        names=(reason,),
        lines=(counts, named((check.id for check in checks), "check")),
    )


def counted(count: int, noun: str, many: str = "") -> str:
    """Return how many there are of something, empty for none."""
    if not count:
        return ""
    return f"{count} {many}" if many and count > 1 else plural(count, noun)


def named(words: Iterable[str], noun: str) -> str:
    """Return the first few of some words, and how many more there are."""
    every_word = list(words)
    more = len(every_word) - NAMED
    shown = ", ".join(every_word[:NAMED])
    return f"{shown}, … and {plural(more, f'more {noun}')}" if more > 0 else shown
