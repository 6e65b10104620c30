"""``nettests calibrate``: are the tools of this cluster's nodes understood, or those of this machine?

Arguments and output only: ``session.calibrate_now`` and ``session.calibrate_local`` calibrate.
"""

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.options import (
    CHECKS,
    CLUSTER,
    IMAGES,
    CommonOptions,
    cluster_options,
    report_dir_option,
)
from nettests.cli.output_options import json_option
from nettests.model.codec import to_data
from nettests.model.exit_code import ExitCode
from nettests.model.grouping import grouped
from nettests.model.labels import document_version
from nettests.model.visible import as_line, plural
from nettests.parse.doubts import State
from nettests.report.instruments import InstrumentRow
from nettests.session.calibrate_local import CalibratedNow, calibrate_local
from nettests.session.process import require_posix
from nettests.terminal.drawing import console

PIPED = 140
_STYLES = {
    State.UNDERSTOOD: "green",
    State.OPEN: "cyan",
    State.ABSENT: "cyan",
    State.NOT_UNDERSTOOD: "bold red",
    State.UNANSWERED: "bold red",
}


@click.command(cls=Command, example="nettests calibrate --kubeconfig ~/.kube/config")
@cluster_options(CLUSTER, IMAGES, CHECKS)
@click.option("--local", is_flag=True, help="The tools of this machine, without a cluster.")
@click.option(
    "--via",
    envvar="NETTESTS_VIA",
    metavar="COMMAND",
    help="With --local: the words before each command, as of an emulator of Windows.",
)
@report_dir_option("Where the folder with the journal is made.")
@json_option("All questions and answers, as JSON.")
def calibrate(
    *, common: CommonOptions, local: bool, via: str | None, report_dir: Path, as_json: bool
) -> None:
    """Check whether the tools of a cluster's nodes are understood.

    Starts two Pods on one node of each kind (system, build, runtime, image), puts questions to each tool whose answers are
    known, and deletes the Pods again. A run does the same; this is for the first contact with a cluster. With --local
    the same questions go to the tools of a Windows machine that is no node.

    Exit code: 0 everything is understood; 6 something is not; 7 nothing answered.
    """
    if via and not local:
        raise click.UsageError("--via is for --local")
    calibrated = (
        calibrate_local(replace(common.options, report_dir=report_dir), shlex.split(via or ""))
        if local
        else _in_cluster(common, report_dir)
    )
    if as_json:
        terminal.document(_as_data(calibrated))
    else:
        _tell(calibrated)
    sys.exit(calibrated.exit_code)


def _in_cluster(common: CommonOptions, report_dir: Path) -> CalibratedNow:
    from nettests.session.calibrate_now import calibrate_now  # noqa: PLC0415 - imports what starts Pods

    require_posix()
    flows = common.registry().flows
    with common.cluster() as options:
        return calibrate_now(replace(options, report_dir=report_dir), flows)


def _as_data(calibrated: CalibratedNow) -> dict[str, object]:
    return {
        "apiVersion": document_version("v1alpha1"),
        "kind": "Calibration",
        "understood": calibrated.exit_code is ExitCode.OK,
        "folder": str(calibrated.folder),
        "bundle": str(calibrated.bundle) if calibrated.bundle else None,
        "instruments": to_data(calibrated.rows),
        "remarks": list(calibrated.remarks),
    }


def _tell(calibrated: CalibratedNow) -> None:
    drawn = console()
    if not drawn.is_terminal:
        drawn.width = PIPED
    table = Table.grid(padding=(0, 2))
    for (system, vantage), rows in _by_place(calibrated.rows).items():
        nodes = sorted({node for row in rows for node in row.nodes})
        where = f"{system} {vantage} ({', '.join(nodes)})"
        for state in State:
            names = dict.fromkeys(row.instrument for row in rows if row.state is state)
            if names:
                count = plural(sum(row.state is state for row in rows), "question")
                shown = Text(state.value, style=_STYLES[state])
                table.add_row(as_line(where), shown, count, as_line(", ".join(names)))
                where = ""
    drawn.print(table)
    for row in calibrated.rows:
        if not row.trusted:
            drawn.print()
            drawn.print(Text(as_line(_difference(row)), style="bold"))
            terminal.block(row.text)
    for remark in calibrated.remarks:
        terminal.line(remark)
    terminal.lines(_last_lines(calibrated))


def _by_place(rows: Sequence[InstrumentRow]) -> dict[tuple[str, str], list[InstrumentRow]]:
    return grouped(
        ((row.os.words, row.vantage), row)
        for row in sorted(rows, key=lambda row: (row.os.words, row.vantage))
    )


def _difference(row: InstrumentRow) -> str:
    where = f"{row.instrument} on {', '.join(row.nodes)} ({row.vantage})"
    if row.state is State.UNANSWERED:
        return f"{where} did not answer:"
    due = " or ".join(row.due)
    return f"{where}: {row.question} was read as {row.seen}, not as {due}:"


def _last_lines(calibrated: CalibratedNow) -> Iterator[str]:
    if not calibrated.rows:
        yield "Nothing answered."
    elif calibrated.exit_code is ExitCode.OK:
        yield "Every tool is understood: next, nettests run."
    else:
        yield "Checks that need one of these tools stay unknown on these nodes; everything else can be tested."
    if calibrated.bundle:
        yield f"→ help to read it: {calibrated.bundle} has no names and addresses, to send with an issue of the project"
    yield f"journal: {calibrated.folder}"
