"""``nettests preflight``: what stands in the way of a run, before anything is created.

Prints what ``preflight`` found: a table for people, one JSON object with ``--json``.
"""

import io
import json
import sys
from collections.abc import Sequence

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from ruamel.yaml import YAML

from nettests.cli.options import Asked, cluster_options
from nettests.model.permission import Permission
from nettests.plan import load
from nettests.preflight import Finding, Level
from nettests.preflight.rules import roles
from nettests.session.preflight import Preflight
from nettests.session.preflight import preflight as look

PIPED = 120
"""Columns where no terminal says how many there are."""
BLOCKED = 1
"""Exit code when something blocks a run."""
_STYLES = {
    Level.OK: "green",
    Level.NOTE: "cyan",
    Level.WARNING: "yellow",
    Level.BLOCKER: "bold red",
}


@click.command
@cluster_options
@click.option("--json", "as_json", is_flag=True, help="All findings, and missing rules, as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Say only what is not well.")
def preflight(*, asked: Asked, as_json: bool, quiet: bool) -> None:
    """Look for what stands in the way of a run.

    Rights, nodes, images, quota, leftovers of earlier runs, and what would be exposed.

    Reads, reviews its own rights and asks by dry run; creates nothing. Exit code: 0 nothing blocks a run;
    1 something does.
    """
    flows = load(asked.suites).select(asked.flows).flows
    with asked.cluster() as options:
        found = look(options, flows)
    if as_json:
        click.echo(json.dumps(_as_data(found, asked), indent=2, ensure_ascii=False))
    else:
        _tell(found, asked, quiet=quiet)
    sys.exit(BLOCKED if _blocked(found.findings) else 0)


def _blocked(findings: Sequence[Finding]) -> bool:
    return any(one.level is Level.BLOCKER for one in findings)


def _as_data(found: Preflight, asked: Asked) -> dict[str, object]:
    return {
        "apiVersion": "nettests.dev/v1alpha1",
        "kind": "Preflight",
        "blocked": _blocked(found.findings),
        "findings": [
            {
                "topic": one.topic,
                "level": one.level.value,
                "summary": one.summary,
                "details": list(one.details),
                "nextStep": one.next_step,
            }
            for one in found.findings
        ],
        "missing": roles(_placed(found, asked)),
    }


def _placed(found: Preflight, asked: Asked) -> list[Permission]:
    """Return the missing permissions in their places: a run's own namespace is any namespace."""
    return [one.within(asked.options.namespace or "") for one in found.missing]


def _tell(found: Preflight, asked: Asked, *, quiet: bool) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPED
    shown = [one for one in found.findings if not quiet or one.level in _LOUD]
    table = Table.grid(padding=(0, 2))
    for one in shown:
        style = _STYLES[one.level]
        table.add_row(f"[{style}]{one.level.value}[/]", one.topic, escape(one.summary))
        for line in one.details:
            table.add_row("", "", f"[dim]{escape(line)}[/]")
        if one.next_step and one.level is not Level.OK:
            table.add_row("", "", escape(f"→ {one.next_step}"))
    if shown:
        console.print(table)
    missing = roles(_placed(found, asked))
    if missing and not quiet:
        console.print("\nThe rules that are missing:\n")
        click.echo(_yaml(missing), nl=False)
    if not quiet:
        console.print(_last_line(found.findings))


_LOUD = (Level.WARNING, Level.BLOCKER)


def _last_line(findings: Sequence[Finding]) -> str:
    blockers = [one.topic for one in findings if one.level is Level.BLOCKER]
    warnings = sum(one.level is Level.WARNING for one in findings)
    if blockers:
        return f"[bold red]A run is blocked by: {', '.join(blockers)}.[/]"
    told = f", with {warnings} warning{'s' if warnings > 1 else ''}" if warnings else ""
    return f"[green]Nothing blocks a run{told}.[/]"


def _yaml(documents: list[dict[str, object]]) -> str:
    text = io.StringIO()
    writer = YAML()
    writer.indent(mapping=2, sequence=4, offset=2)
    writer.default_flow_style = None
    writer.dump_all(documents, text)
    return text.getvalue()
