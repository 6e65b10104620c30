"""``nettests conformance``: check a vendor's claims against a run and write a report; ``verify`` recomputes a report.

Arguments and output only: ``conformance`` reads and checks claims, ``session`` reads files and journals.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import assert_never

import click

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.options import own_options, report_dir_option
from nettests.cli.output_options import json_option
from nettests.conformance.conformance_report import ConformanceReport, Result
from nettests.conformance.report_page import NAME, PAGE, document
from nettests.conformance.report_text import (
    SYMBOL,
    WORKS,
    cluster_line,
    counted,
    feature_lines,
    headline,
    implementation_line,
    level_line,
    scope_lines,
)
from nettests.conformance.vendor_files import VendorFiles, carried, read_vendor_files
from nettests.conformance.verification import Mismatch, profile_in
from nettests.errors import ManifestError, NettestsError, PathError, PlanError
from nettests.model.exit_code import ExitCode
from nettests.model.visible import plural
from nettests.session.conformance_run import compared, publish, published, report_of
from nettests.session.recorded_runs import folder_of

VENDOR_PROFILE = "--vendor-profile"
SHOWN = 4
"""Lines about one feature on the terminal."""
DIFFERENCES = 40
"""Differences that are shown one by one."""


@click.group(invoke_without_command=True)
@own_options("conformance")
@report_dir_option("Where `latest` and `latest~1` are looked for.")
@json_option()
@click.pass_context
def conformance(
    ctx: click.Context,
    *,
    vendor_profile: Path | None,
    run: str,
    report_dir: Path,
    to: Path | None,
    as_json: bool,
) -> None:
    """Check a vendor's claims about a network plugin against a run.

    The run is judged again from its journal, with the shipped limitation manifests and the vendor's own. Every claimed
    feature gets a result: success, partial (not all of it was shown), or failure. The report is written as YAML, HTML,
    Markdown and a badge; it names no node and no address.

    Exit code: 0 success; 1 failure; 6 partial; 7 no claimed check was judged.

    Example: nettests conformance --vendor-profile vendor.yaml
    """
    if ctx.invoked_subcommand is not None:
        if vendor_profile is not None:
            raise click.UsageError(f"put {VENDOR_PROFILE} after {ctx.invoked_subcommand}")
        return
    if vendor_profile is None:
        raise click.UsageError(f"say what is claimed: {VENDOR_PROFILE} FILE")
    directory = folder_of(run, report_dir)
    report = report_of(directory, read_vendor_files(vendor_profile))
    folder = publish(report, to or directory / NAME)
    if as_json:
        terminal.document(document(report))
    else:
        terminal.lines(_report_lines(report))
        terminal.line(f"report: {folder / PAGE}")
    sys.exit(_exit_code(report))


@conformance.command(
    cls=Command, example="nettests conformance verify conformance.yaml reports/latest"
)
@click.argument("report", type=click.Path(path_type=Path, dir_okay=False), metavar="REPORT")
@click.argument("run", metavar="RUN")
@own_options("conformance-verify")
@report_dir_option("Where `latest` and `latest~1` are looked for.")
@json_option()
def verify(
    *,
    report: Path,
    run: str,
    vendor_profile: Path | None,
    report_dir: Path,
    as_json: bool,
) -> None:
    """Recompute a report from a run's journal.

    Prints every difference. REPORT is the YAML document; the page, Markdown and badge beside it are compared too. RUN's
    answers are read and judged again: nothing in the report is trusted.

    Exit code: 0 no difference; 1 differences; 4 wrong input.
    """
    directory, files = folder_of(run, report_dir), _files(report, vendor_profile)
    try:
        recomputed = report_of(directory, files)
    except (ManifestError, PathError, PlanError):
        raise
    except NettestsError as error:  # a journal that cannot be judged is wrong input here
        message = f"the run {directory} cannot be judged: {error.message}"
        raise PathError(message, hint=error.hint) from error
    mismatches = compared(report, recomputed)
    if as_json:
        differences = [asdict(mismatch) for mismatch in mismatches]
        terminal.document({"verified": not mismatches, "differences": differences})
    else:
        terminal.lines(_differences(mismatches, recomputed))
    sys.exit(ExitCode.TESTS_FAILED if mismatches else ExitCode.OK)


def _files(report: Path, vendor_profile: Path | None) -> VendorFiles:
    """Return the profile with its files, or the one that a report carries."""
    if vendor_profile is not None:
        return read_vendor_files(vendor_profile)
    stated = published(report)
    digests = stated.get("digests")
    named = digests.get("profile") if isinstance(digests, dict) else None
    file = named.get("file") if isinstance(named, dict) else None
    return carried(profile_in(stated, str(report)), str(file or ""))


def _exit_code(report: ConformanceReport) -> ExitCode:
    match report.result:
        case Result.FAILURE:
            return ExitCode.TESTS_FAILED
        case Result.PARTIAL:
            return ExitCode.UNKNOWN if report.judged else ExitCode.NOTHING_JUDGED
        case Result.SUCCESS:
            return ExitCode.OK
        case _:
            assert_never(report.result)


def _report_lines(report: ConformanceReport) -> Iterator[str]:
    yield implementation_line(report)
    yield cluster_line(report)
    for warning in scope_lines(report):
        yield f"warning: {warning}"
    for level in report.levels.values():
        yield level_line(level)
        for feature in level.features:
            yield f"  {SYMBOL[feature.result]} {feature.result.value:8}{feature.name}: {counted(feature.statistics)}"
            lines = [*feature_lines(feature)]
            yield from (f"      {line}" for line in lines[:SHOWN])
            if len(lines) > SHOWN:
                yield f"      … and {len(lines) - SHOWN} more; the report has all"
    for other in report.unsupported:
        yield f"not supported: {other.name} ({WORKS[other.works]}): {other.reason}"
    rest = report.unclaimed
    yield f"not claimed: {plural(len(rest.flows), 'flow')}: {counted(rest.statistics)}"
    yield headline(report)


def _differences(mismatches: Sequence[Mismatch], recomputed: ConformanceReport) -> Iterator[str]:
    for mismatch in mismatches[:DIFFERENCES]:
        yield f"differs: {mismatch}"
    if len(mismatches) > DIFFERENCES:
        yield f"… and {len(mismatches) - DIFFERENCES} more; --json has all"
    if mismatches:
        yield f"{plural(len(mismatches), 'difference')}: this report is not what the journal, the profile and nettests {recomputed.nettests} give"
    else:
        yield f"verified: {headline(recomputed)}"
