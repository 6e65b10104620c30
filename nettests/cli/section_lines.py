"""Sections of items → lines of a terminal, bounded: for ``nettests diff`` and ``nettests forecast``."""

from collections.abc import Iterable, Iterator

from rich.text import Text

from nettests.compare.items import Section
from nettests.model.visible import as_line
from nettests.model.words import Verdict
from nettests.plugin.reporter import STYLE
from nettests.report.text import plural

SHOWN = 12
"""Items of a section on a terminal."""
NAMED = 4
"""Checks of one item."""


def section_lines(sections: Iterable[Section], elsewhere: str) -> Iterator[Text]:
    """Yield the lines of sections; ``elsewhere`` says where the rest can be read."""
    for section in sections:
        yield Text("")
        yield Text(as_line(f"{section.title} ({section.size})"), style="bold")
        yield from _items(section, elsewhere)
    yield Text("")


def _items(section: Section, elsewhere: str) -> Iterator[Text]:
    if section.lead:
        yield Text(as_line(f"  {section.lead}"), style="dim")
    for item in section.items[:SHOWN]:
        head = Text(as_line(f"  {item.head}"), style=_style(item.verdict))
        names = item.names if len(item.names) == 1 else (plural(len(item.names), "check"),)
        yield head.append(as_line(f"  {names[0]}"), style="default")
        for line in item.lines:
            if line:
                yield Text(as_line(f"      {line}"), style="dim")
        if len(item.names) > 1:
            yield from _names(item.names)
    more = len(section.items) - SHOWN
    if more > 0:
        yield Text(f"  … and {plural(more, 'more item')}: {elsewhere}")


def _names(names: tuple[str, ...]) -> Iterator[Text]:
    for name in names[:NAMED]:
        yield Text(as_line(f"      {name}"))
    if len(names) > NAMED:
        yield Text(f"      … and {len(names) - NAMED} more")


def _style(verdict: Verdict | None) -> str:
    return STYLE[verdict] if verdict else "default"
