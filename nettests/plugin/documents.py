"""Write a run's documents beside its journal: JSON, JUnit, HTML, Markdown.

The only place where reports meet the file system. What they say is decided by ``report``.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from nettests.model.observation import Observation
from nettests.model.run_folder import HTML, JOURNAL, JUNIT, RESULTS, SUMMARY
from nettests.private import write_text
from nettests.report import (
    Results,
    build_results,
    render_html,
    render_json,
    render_junit,
    render_markdown,
)
from nettests.session.journal import read_journal, understood

_NONE: Mapping[str, Observation] = MappingProxyType({})

_RENDERERS = {
    RESULTS: render_json,
    JUNIT: render_junit,
    HTML: render_html,
    SUMMARY: render_markdown,
}


def write_documents(directory: Path, observations: Mapping[str, Observation] = _NONE) -> Results:
    """Render the journal in ``directory``, and return what the documents say.

    ``observations`` are those that were judged in this process; of other checks the answers are read here.
    """
    records = read_journal(directory / JOURNAL)
    with understood(directory / JOURNAL):
        results = build_results(records, observations)
    for name, render in _RENDERERS.items():
        write_text(directory / name, render(results))
    return results
