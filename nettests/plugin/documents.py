"""Write a run's documents beside its journal: JSON, JUnit, HTML, Markdown.

The only place where reports access the file system. ``report`` decides their content, ``compare``
that of the comparison with the previous run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

from markupsafe import Markup

from nettests.compare.difference import difference
from nettests.compare.difference_text import render_since
from nettests.compare.reading import read_results
from nettests.errors import NettestsError, PathError
from nettests.model.exit_code import ExitCode
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
from nettests.session.journal import Journal, read_journal, understood
from nettests.session.recorded_runs import previous_run

_NONE: Mapping[str, Observation] = MappingProxyType({})


class UnwrittenError(PathError):
    """Documents could not be written; ``results`` is their content."""

    def __init__(self, directory: Path, why: str, results: Results) -> None:
        super().__init__(
            f"no report could be written to {directory}: {why}",
            hint=f"make room there: nettests rejudge {directory} writes its documents from the journal",
        )
        self.results = results


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The content of a run's documents, ``None`` without a journal; ``problem`` is what failed."""

    results: Results | None
    problem: str

    def exit_code(self, code: int) -> int:
        """Return the exit code of the run: not a good one if its report is unreadable."""
        good = code in {ExitCode.OK, ExitCode.KNOWN_BUGS}
        return ExitCode.USAGE_ERROR if good and self.problem else code


def end_documents(
    journal: Journal, observations: Mapping[str, Observation] = _NONE, *, compared: bool = False
) -> Ended:
    """Write the documents of a run that has just ended; its disk may be full, or its folder gone.

    If interrupted, write them all the same, unless interrupted again.
    """
    try:
        return _ended(journal, observations, compared=compared)
    except KeyboardInterrupt:
        return _ended(journal, observations, compared=compared)


def _ended(journal: Journal, observations: Mapping[str, Observation], *, compared: bool) -> Ended:
    results: Results | None = None
    problems = [f"{journal.broken}\n  → make room there, and run again"] if journal.broken else []
    try:
        results = write_documents(journal.path.parent, observations, compared=compared)
    except UnwrittenError as error:
        results = error.results
        problems.append(str(error))
    except NettestsError as error:
        problems.append(str(error))
    return Ended(results=results, problem="\n".join(problems))


def write_documents(
    directory: Path,
    observations: Mapping[str, Observation] = _NONE,
    *,
    compared: bool = False,
) -> Results:
    """Render the journal in ``directory``, and return the results.

    ``observations`` are those judged in this process; the answers of other checks are read here.
    With ``compared`` the page says what changed since the previous run in the same folder.
    ``UnwrittenError`` if a document cannot be written.
    """
    records = read_journal(directory / JOURNAL)
    with understood(directory / JOURNAL):
        results = build_results(records, observations)
    document = render_json(results)
    try:
        write_text(directory / RESULTS, document)
        write_text(directory / JUNIT, render_junit(results))
        write_text(directory / SUMMARY, render_markdown(results))
        # Last: only this reads another run's files.
        since = _since(directory, document) if compared else NOTHING
        write_text(directory / HTML, render_html(results, since=since))
    except OSError as error:
        raise UnwrittenError(directory, error.strerror or str(error), results) from error
    return results


def _since(directory: Path, document: str) -> Markup:
    """Return the page's part about changes since the previous run, or nothing."""
    previous = previous_run(directory)
    if previous is None:
        return NOTHING
    folder, before = previous
    names = (folder.name, directory.name)
    page = f"../{quote(folder.name)}/{HTML}" if (folder / HTML).is_file() else ""
    after = read_results(document, RESULTS)
    return render_since(difference(before, after, names), names, page)
