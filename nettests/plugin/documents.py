"""Write a run's documents beside its journal: JSON, JUnit, HTML, Markdown.

The only place where reports meet the file system. What they say is decided by ``report``.
"""

from pathlib import Path

from nettests.private import write_text
from nettests.report import (
    Results,
    build_results,
    render_html,
    render_json,
    render_junit,
    render_markdown,
)
from nettests.session.head import JOURNAL
from nettests.session.journal import as_record, understood

HTML = "report.html"

_RENDERERS = {
    "results.json": render_json,
    "junit.xml": render_junit,
    HTML: render_html,
    "summary.md": render_markdown,
}


def write_documents(directory: Path) -> Results:
    """Render the journal in ``directory``, and return what the documents say."""
    # Bytes: text of a cluster may hold what Unicode calls an end of a line.
    lines = (directory / JOURNAL).read_bytes().splitlines()
    with understood(directory / JOURNAL):
        results = build_results(as_record(line, n) for n, line in enumerate(lines, start=1))
    for name, render in _RENDERERS.items():
        write_text(directory / name, render(results))
    return results
