"""``nettests catalogue`` and ``nettests lint``: documented facts, which of them are tested, and mistakes in manifests.

Both work without a cluster. ``expect`` finds the mistakes; this module turns them into lines and exit codes.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.options import limitations_option, suite_option
from nettests.errors import ManifestError, PathError
from nettests.expect import Coverage
from nettests.model.codec import to_data
from nettests.model.exit_code import ExitCode
from nettests.report.catalogue_page import render_catalogue, totals, why
from nettests.report.open_questions import render_open_questions
from nettests.report.seeds_page import render_seeds
from nettests.session.without_cluster import Survey, survey

_FILE = click.Path(path_type=Path)


@click.command(cls=Command, example="nettests catalogue --json")
@suite_option()
@limitations_option()
@click.option("--json", "as_json", is_flag=True, help="Facts, sources and what exercises them.")
@click.option("--write", type=_FILE, metavar="FILE", help="Write the reference page instead.")
@click.option(
    "--write-open",
    type=_FILE,
    metavar="FILE",
    help="Write the page of open questions instead: unspecified entries, and what would settle them.",
)
@click.option(
    "--write-seeds",
    type=_FILE,
    metavar="FILE",
    help="Write the page of the seed documents instead: what each sentence states, and what exercises it.",
)
def catalogue(
    *,
    suites: tuple[Path, ...],
    limitations: tuple[Path, ...],
    as_json: bool,
    write: Path | None,
    write_open: Path | None,
    write_seeds: Path | None,
) -> None:
    """List the documented facts, and the checks that exercise them.

    Each fact is listed with its flows and limitation entries, or with the reason why it has none.
    """
    made = survey(suites, limitations)
    if made.mistakes:
        raise ManifestError("\n".join(made.mistakes))
    if write is not None:
        _write(write, render_catalogue(made.catalogue, made.coverages, made.flows))
    if write_open is not None:
        _write(write_open, render_open_questions(made.entries))
    if write_seeds is not None:
        _write(write_seeds, render_seeds(made.seeds, made.by_fact))
    if any(page is not None for page in (write, write_open, write_seeds)):
        return
    if as_json:
        terminal.document([_as_data(coverage) for coverage in made.coverages])
    else:
        for line in _listed(made):
            terminal.line(line)


@click.command(cls=Command, example="nettests lint site.yaml")
@click.argument("paths", nargs=-1, type=_FILE, metavar="[PATH]...")
@suite_option()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else.")
def lint(*, paths: tuple[Path, ...], suites: tuple[Path, ...], as_json: bool) -> None:
    """Check limitation manifests and vendor profiles for mistakes.

    The shipped manifests, and the documents at PATH.

    Reads them together with suites and catalogue: contradictions that can be proven without a
    cluster, flows that no suite declares, facts without a document, facts without check or reason. A vendor profile
    is read with the suites and limitations that it brings.
    Exit code: 0 nothing to repair; 1 findings; 4 a file that cannot be read.
    """
    made = survey(suites, paths)
    read = {
        "manifests": len(made.manifests),
        "entries": sum(not entry.part for entry in made.entries),
        "flows": len(made.flows),
        "facts": len(made.coverages),
        **({"vendor profiles": made.profiles} if made.profiles else {}),
    }
    if as_json:
        terminal.document({"findings": list(made.findings), "read": read})
    else:
        for finding in made.findings:
            terminal.paragraph(finding)
        counted = ", ".join(f"{number} {name}" for name, number in read.items())
        terminal.line(f"{counted}: {len(made.findings) or 'nothing'} to repair")
    sys.exit(ExitCode.TESTS_FAILED if made.findings else ExitCode.OK)


def _listed(made: Survey) -> Iterator[str]:
    found = {coverage.fact.id: coverage for coverage in made.coverages}
    for section in made.catalogue.sections:
        yield f"{section.letter}. {section.title}"
        for fact in section.facts:
            yield f"  {fact.id}: {fact.statement}"
            yield f"      {why(found[fact.id])}"
        yield ""
    yield totals(made.coverages)


def _as_data(one: Coverage) -> dict[str, object]:
    fact = to_data(one.fact)
    return {**fact, "flows": list(one.flows), "limitations": list(one.entries)}


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PathError(
            f"{file} cannot be written: {error.strerror}", hint="name a file in a folder of yours"
        ) from error
