"""``nettests catalogue`` and ``nettests lint``: documented facts, which of them are tested, and mistakes in manifests.

Both work without a cluster. ``expect`` finds the mistakes; this module turns them into lines and exit codes.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.options import shared
from nettests.cli.output_options import json_option
from nettests.errors import ManifestError
from nettests.expect import Coverage, Fact
from nettests.model.codec import to_data
from nettests.model.exit_code import ExitCode
from nettests.model.visible import plural
from nettests.session.survey import Survey, survey

_FILE = click.Path(path_type=Path)


@click.command(cls=Command, example="nettests catalogue --json")
@shared("--suite", "--limitations")
@json_option("Facts, sources and what exercises them.")
def catalogue(
    *,
    suite: tuple[Path, ...],
    limitations: tuple[Path, ...],
    as_json: bool,
) -> None:
    """List the documented facts, and the checks that exercise them.

    Each fact is listed with its flows and limitation entries, or with the reason why it has none.
    """
    surveyed = survey(suite, limitations)
    if surveyed.mistakes:
        raise ManifestError("\n".join(surveyed.mistakes))
    if as_json:
        terminal.document([_as_data(coverage) for coverage in surveyed.coverages])
    else:
        terminal.lines(_listed(surveyed))


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


def totals(coverages: Iterable[Coverage]) -> str:
    """Return one sentence, without its full stop: how many facts there are, and how many are exercised."""
    listed = list(coverages)
    covered = sum(coverage.covered for coverage in listed)
    kinds = Counter(
        coverage.fact.reason.kind.value
        for coverage in listed
        if coverage.fact.reason and not coverage.covered
    )
    words = [f"{covered} exercised by checks"]
    words += [f"{count} {kind}" for kind, count in sorted(kinds.items())]
    without = len(listed) - covered - kinds.total()
    words += [f"{without} without check or reason"] if without else []
    return f"{plural(len(listed), 'fact')}: {', '.join(words)}"


def why(coverage: Coverage) -> str:
    """Return in plain words what exercises a fact, or why nothing does."""
    fact = coverage.fact
    parts = []
    if coverage.exercised_by:
        parts.append(f"flows {', '.join(coverage.exercised_by)}")
    if coverage.limitations:
        parts.append(f"limitations {', '.join(coverage.entries)}")
    parts += notes(fact)
    if not coverage.covered and fact.reason:
        of = f" of {fact.reason.of}" if fact.reason.of else ""
        parts.append(f"{fact.reason.kind.value}{of}: {fact.reason.text}")
    return "; ".join(parts) or "nothing, and no reason is given"


def notes(fact: Fact) -> list[str]:
    """Return what a fact leaves open, one sentence each."""
    return [
        *([fact.note] if fact.note else []),
        *([f"Not tested: {fact.untested}"] if fact.untested else []),
    ]
