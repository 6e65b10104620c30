"""``Difference`` → Markdown for a job's summary or a comment: headline, warnings, sections as tables, bounded."""

from nettests.compare.difference import Difference
from nettests.compare.items import NO_MORE, More
from nettests.compare.markdown_tables import table_of
from nettests.compare.sections import headline, run_line, sections
from nettests.model.markdown import inert


def render_markdown(difference: Difference, more: More = NO_MORE) -> str:
    """Return the text, with ``more`` before the difference itself; it ends with a line feed."""
    lines = [f"## {inert(headline(difference))}", ""]
    lines += [f"- {inert(run_line(run))}" for run in (difference.before, difference.after)]
    lines += [f"- {inert(line)}" for line in more.lines]
    lines += [f"- ⚠ {inert(warning)}" for warning in (*difference.warnings, *more.warnings)]
    for section in (*more.sections, *sections(difference)):
        lines += ["", *table_of(section)]
    return "\n".join(lines) + "\n"
