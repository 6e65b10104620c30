"""``nettests preflight``: what would block a run, found before anything is created.

Prints the findings of ``preflight``: a table for people, or one JSON object with ``--json``.
"""

import sys
from collections.abc import Sequence

import click
from rich.table import Table
from rich.text import Text

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.options import (
    STARTS_PODS,
    CommonOptions,
    cluster_options,
    own_options,
)
from nettests.cli.output_options import json_option
from nettests.model.exit_code import ExitCode
from nettests.model.labels import document_version
from nettests.model.permission import Permission
from nettests.model.visible import as_line
from nettests.model.yaml_text import write_compact_yaml
from nettests.preflight import Finding, Level
from nettests.preflight.rights import roles
from nettests.redaction import Redactor
from nettests.session.preflight_evidence import Preflight
from nettests.session.preflight_evidence import preflight as look
from nettests.terminal.drawing import console

PIPED = 120
"""Columns if the output is not a terminal."""
_STYLES = {
    Level.OK: "green",
    Level.NOTE: "cyan",
    Level.WARNING: "yellow",
    Level.BLOCKER: "bold red",
}


@click.command(cls=Command, example="nettests preflight --kubeconfig ~/.kube/config")
@cluster_options(*STARTS_PODS)
@json_option("All findings, and missing rules, as JSON.")
@own_options("preflight")
def preflight(*, common: CommonOptions, as_json: bool, quiet: bool) -> None:
    """Check whether a run can start on a cluster.

    Checks permissions, nodes, images, quota, leftovers of earlier runs, and what a run would expose. It reads,
    reviews its own permissions and uses dry runs; it creates nothing.

    Exit code: 0 the run can start; 1 something blocks it.
    """
    flows = common.registry().flows
    with common.cluster() as options:
        result = look(options, flows)
    if as_json:
        terminal.document(_as_data(result, common))
    else:
        _tell(result, common, quiet=quiet)
    sys.exit(ExitCode.TESTS_FAILED if _blocked(result.findings) else ExitCode.OK)


def _blocked(findings: Sequence[Finding]) -> bool:
    return any(finding.level is Level.BLOCKER for finding in findings)


def _as_data(result: Preflight, common: CommonOptions) -> dict[str, object]:
    return {
        "apiVersion": document_version("v1alpha1"),
        "kind": "Preflight",
        "blocked": _blocked(result.findings),
        "findings": [
            {
                "topic": finding.topic,
                "level": finding.level.value,
                "summary": finding.summary,
                "details": list(finding.details),
                "nextStep": finding.next_step,
            }
            for finding in result.findings
        ],
        "missing": roles(_placed(result, common)),
    }


def _placed(result: Preflight, common: CommonOptions) -> list[Permission]:
    """Return the missing permissions with their namespaces; a run's own namespace may be any."""
    return [permission.within(common.options.namespace or "") for permission in result.missing]


def _tell(result: Preflight, common: CommonOptions, *, quiet: bool) -> None:
    drawn = console()
    if not drawn.is_terminal:
        drawn.width = PIPED
    shown = [finding for finding in result.findings if not quiet or finding.level in _LOUD]
    table = Table.grid(padding=(0, 2))
    for finding in shown:
        level = Text(finding.level.value, style=_STYLES[finding.level])
        table.add_row(level, as_line(finding.topic), as_line(Redactor().text(finding.summary)))
        for line in finding.details:
            table.add_row("", "", Text(as_line(Redactor().text(line)), style="dim"))
        if finding.next_step and finding.level is not Level.OK:
            table.add_row("", "", as_line(f"→ {finding.next_step}"))
    if shown:
        drawn.print(table)
    missing = roles(_placed(result, common))
    if missing and not quiet:
        drawn.print("\nThe rules that are missing:\n")
        terminal.block(write_compact_yaml(missing))
    if not quiet:
        drawn.print(_last_line(result.findings))


_LOUD = (Level.WARNING, Level.BLOCKER)


def _last_line(findings: Sequence[Finding]) -> Text:
    blockers = [finding.topic for finding in findings if finding.level is Level.BLOCKER]
    warnings = sum(finding.level is Level.WARNING for finding in findings)
    if blockers:
        return Text(f"A run is blocked by: {as_line(', '.join(blockers))}.", style="bold red")
    suffix = f", with {warnings} warning{'s' if warnings > 1 else ''}" if warnings else ""
    return Text(f"Nothing blocks a run{suffix}.", style="green")
