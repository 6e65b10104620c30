"""``Difference`` → Markdown for a job's summary or a comment: headline, warnings, sections as tables, bounded."""

from collections.abc import Iterator

from nettests.compare.difference import Difference
from nettests.compare.sections import NAMED, Item, Section, headline, run_line, sections
from nettests.model.markdown import code, inert
from nettests.report.summary import SYMBOL
from nettests.report.text import plural

SHOWN = 30
"""Items of one section; the page and the document for machines have all."""


def render_markdown(found: Difference) -> str:
    """Return the text; it ends with a line feed."""
    lines = [f"## {inert(headline(found))}", ""]
    lines += [f"- {inert(run_line(one))}" for one in (found.before, found.after)]
    lines += [f"- ⚠ {inert(one)}" for one in found.warnings]
    for section in sections(found):
        lines += ["", *_section(section)]
    return "\n".join(lines) + "\n"


def _section(section: Section) -> Iterator[str]:
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
