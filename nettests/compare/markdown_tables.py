"""Sections of items → Markdown tables for a job summary or a comment, bounded; texts of a cluster are escaped."""

from collections.abc import Iterator

from nettests.compare.items import NAMED, Item, Section
from nettests.model.markdown import code, inert
from nettests.report.summary import SYMBOL
from nettests.report.text import plural

SHOWN = 30
"""Items of one section; the page and the document for machines have all."""


def table_of(section: Section) -> Iterator[str]:
    """Yield the lines of a section."""
    yield f"### {inert(section.title)} ({section.size})"
    yield ""
    if section.lead:
        yield inert(section.lead)
        yield ""
    yield "| what | of | more |"
    yield "| --- | --- | --- |"
    for item in section.items[:SHOWN]:
        yield _row(item)
    more = len(section.items) - SHOWN
    if more > 0:
        yield ""
        yield f"… and {plural(more, 'more item')}."


def _row(item: Item) -> str:
    mark = f"{SYMBOL[item.verdict]} " if item.verdict else ""
    more = "<br>".join(inert(line) for line in item.lines if line)
    names = "<br>".join(map(code, item.names[:NAMED]))
    rest = len(item.names) - NAMED
    tail = f"<br>… and {rest} more" if rest > 0 else ""
    return f"| {mark}{inert(item.head)} | {names}{tail} | {more} |"
