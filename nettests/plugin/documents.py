"""Write a run's documents beside its journal: JSON, JUnit, HTML, Markdown.

The only place where reports meet the file system. What they say is decided by ``report``.
"""

import json
from pathlib import Path

from nettests.report import (
    Results,
    build_results,
    render_html,
    render_json,
    render_junit,
    render_markdown,
)
from nettests.session.run import JOURNAL

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
    results = build_results(json.loads(line) for line in lines)
    for name, render in _RENDERERS.items():
        (directory / name).write_text(render(results), encoding="utf-8")
    return results
