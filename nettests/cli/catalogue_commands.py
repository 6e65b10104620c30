"""``nettests catalogue`` and ``nettests lint``: documented facts, which of them are tested, and mistakes in manifests.

Both work without a cluster. ``expect`` finds the mistakes; this module turns them into lines and exit codes.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.options import own_options, shared
from nettests.cli.output_options import json_option
from nettests.errors import ManifestError, PathError
from nettests.expect import Coverage
from nettests.model.codec import to_data
from nettests.model.exit_code import ExitCode
from nettests.report.catalogue_page import (
    render_catalogue,
    render_open_questions,
    render_seeds,
    totals,
    why,
)
from nettests.session.without_cluster import Survey, survey

_FILE = click.Path(path_type=Path)


@click.command(cls=Command, example="nettests catalogue --json")
@shared("--suite", "--limitations")
@json_option("Facts, sources and what exercises them.")
@own_options("catalogue")
def catalogue(
    *,
    suite: tuple[Path, ...],
    limitations: tuple[Path, ...],
    as_json: bool,
    write: Path | None,
    write_open: Path | None,
    write_seeds: Path | None,
) -> None:
    """List the documented facts, and the checks that exercise them.

    Each fact is listed with its flows and limitation entries, or with the reason why it has none.
    """
    surveyed = survey(suite, limitations)
    if surveyed.mistakes:
        raise ManifestError("\n".join(surveyed.mistakes))
    if write is not None:
        _write(write, render_catalogue(surveyed.catalogue, surveyed.coverages, surveyed.flows))
    if write_open is not None:
        _write(write_open, render_open_questions(surveyed.entries))
    if write_seeds is not None:
        _write(write_seeds, render_seeds(surveyed.seeds, surveyed.by_fact))
    if any(page is not None for page in (write, write_open, write_seeds)):
        return
    if as_json:
        terminal.document([_as_data(coverage) for coverage in surveyed.coverages])
    else:
        for line in _listed(surveyed):
            terminal.line(line)


_PROFILES = "vendor profiles"
_ALONE = {_PROFILES: "vendor profile"}
"""The singular of a word that may be counted as one."""


@click.command(cls=Command, example="nettests lint site.yaml")
@click.argument("paths", nargs=-1, type=_FILE, metavar="[PATH]...")
@shared("--suite")
@json_option()
def lint(*, paths: tuple[Path, ...], suite: tuple[Path, ...], as_json: bool) -> None:
    """Check limitation manifests and vendor profiles for mistakes.

    The shipped manifests, and the documents at PATH.

    Reads them together with suites and catalogue: contradictions that can be proven without a
    cluster, flows that no suite declares, facts without a document, facts without check or reason. A vendor profile
    is read with the suites and limitations that it brings.
    Exit code: 0 nothing to repair; 1 findings; 4 a file that cannot be read.
    """
    surveyed = survey(suite, paths)
    read = {
        "manifests": len(surveyed.manifests),
        "entries": sum(not entry.part for entry in surveyed.entries),
        "flows": len(surveyed.flows),
        "facts": len(surveyed.coverages),
        **({_PROFILES: surveyed.profiles} if surveyed.profiles else {}),
    }
    if as_json:
        terminal.document({"findings": list(surveyed.findings), "read": read})
    else:
        for finding in surveyed.findings:
            terminal.paragraph(finding)
        counted = ", ".join(
            f"{number} {_ALONE.get(name, name) if number == 1 else name}"
            for name, number in read.items()
        )
        terminal.line(f"{counted}: {len(surveyed.findings) or 'nothing'} to repair")
    sys.exit(ExitCode.TESTS_FAILED if surveyed.findings else ExitCode.OK)


def _listed(surveyed: Survey) -> Iterator[str]:
    coverages = {coverage.fact.id: coverage for coverage in surveyed.coverages}
    for section in surveyed.catalogue.sections:
        yield f"{section.letter}. {section.title}"
        for fact in section.facts:
            yield f"  {fact.id}: {fact.statement}"
            yield f"      {why(coverages[fact.id])}"
        yield ""
    yield totals(surveyed.coverages)


def _as_data(coverage: Coverage) -> dict[str, object]:
    fact = to_data(coverage.fact)
    return {**fact, "flows": list(coverage.flows), "limitations": list(coverage.entries)}


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PathError(
            f"{file} cannot be written: {error.strerror}", hint="name a file in a folder of yours"
        ) from error
