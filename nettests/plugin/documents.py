"""Write a run's documents beside its journal: JSON, JUnit, HTML, Markdown.

The only place where reports touch the file system. ``report`` decides their content, ``compare`` that of the
comparison with the previous run.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

from markupsafe import Markup

from nettests.compare import difference, read_results, render_since
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
from nettests.report.html_report import NOTHING
from nettests.session.journal import read_journal, understood
from nettests.session.previous_run import previous_run

_NONE: Mapping[str, Observation] = MappingProxyType({})


def write_documents(
    directory: Path,
    observations: Mapping[str, Observation] = _NONE,
    *,
    beside: bool = False,
) -> Results:
    """Render the journal in ``directory``, and return what the documents say.

    ``observations`` are those that were judged in this process; of other checks the answers are read here. With ``beside``
    the page says what changed since the run before, if there is one in the folder's own folder.
    """
    records = read_journal(directory / JOURNAL)
    with understood(directory / JOURNAL):
        results = build_results(records, observations)
    document = render_json(results)
    write_text(directory / RESULTS, document)
    write_text(directory / JUNIT, render_junit(results))
    write_text(directory / SUMMARY, render_markdown(results))
    # Last: it alone looks at what another run left.
    since = _since(directory, document) if beside else NOTHING
    write_text(directory / HTML, render_html(results, since=since))
    return results


def _since(directory: Path, document: str) -> Markup:
    """Return what changed since the run before, as a part of the page; nothing where there is none."""
    previous = previous_run(directory)
    if previous is None:
        return NOTHING
    folder, before = previous
    names = (folder.name, directory.name)
    page = f"../{quote(folder.name)}/{HTML}" if (folder / HTML).is_file() else ""
    after = read_results(document, RESULTS)
    return render_since(difference(before, after, names), names, page)
