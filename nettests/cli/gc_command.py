"""``nettests gc``: list what killed runs left in a cluster; with ``--yes`` remove it.

No state file is needed: ``cluster.leftovers`` reads the cluster and decides which runs are dead.
"""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shlex import quote

import click

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.options import own_options
from nettests.cli.output_options import json_option
from nettests.cluster import Connection, connect
from nettests.cluster.collect import remove
from nettests.cluster.leftovers import Leftover, State, find
from nettests.cluster.profile_file import read_profile
from nettests.model.exit_code import ExitCode
from nettests.model.grouping import grouped
from nettests.model.labels import DOMAIN
from nettests.model.visible import plural


@click.command(cls=Command, example="nettests gc --kubeconfig ~/.kube/config --yes")
@own_options("gc")
@json_option()
def gc(
    *,
    kubeconfig: Path | None,
    context: str | None,
    cluster_profile: Path | None,
    namespaces: tuple[str, ...],
    run_id: str | None,
    ignored: tuple[str, ...],
    yes: bool,
    as_json: bool,
) -> None:
    """List what killed runs left in a cluster; --yes removes it.

    A run is dead if its Lease is not renewed; gc watches it for up to its duration (30 s). The namespaces of a
    run are removed together, and only if every kind of object in them could be listed or counted and all of them
    belong to the run. gc prints why it leaves the others. Exit code 1 with --yes: a dead run still has objects.
    """
    timing = read_profile(cluster_profile).timing
    connection = connect(kubeconfig, context, timing)
    try:
        leftovers = [
            leftover
            for leftover in find(
                connection,
                namespaces=namespaces,
                seconds=timing.lease,
                named=run_id,
                ignore=ignored,
            )
            if run_id in {None, leftover.ownership.run}
        ]
        chosen = [leftover for leftover in leftovers if leftover.removable]
        problems = _removed(connection, chosen, timing.clean_up, ignored) if yes else {}
    finally:
        connection.close()
    if as_json:
        terminal.document(_data(leftovers, chosen if yes else [], problems))
    else:
        _tell(leftovers, chosen, problems, yes=yes)
    stays = [
        leftover
        for leftover in leftovers
        if leftover.state in _GONE_BY and not leftover.removable and not leftover.copied
    ]
    sys.exit(ExitCode.TESTS_FAILED if problems or (yes and stays) else ExitCode.OK)


_GONE_BY = frozenset({State.DEAD, State.EXPIRED})
"""The states of what should be removed."""


def _removed(
    connection: Connection, chosen: list[Leftover], wait: float, ignored: tuple[str, ...]
) -> dict[str, str]:
    """Remove the chosen runs one by one; return what stays, with the reason."""
    problems: dict[str, str] = {}
    runs = grouped(
        ((leftover.ownership.run, "" if leftover.own_namespace else leftover.namespace), leftover)
        for leftover in chosen
    )
    for places in runs.values():
        problems |= remove(connection, places, wait=wait, ignore=ignored)
    return problems


def _tell(
    leftovers: list[Leftover], chosen: list[Leftover], problems: dict[str, str], *, yes: bool
) -> None:
    if not leftovers:
        terminal.line("No run has left anything.")
    for leftover in leftovers:
        where = (
            f"namespace {leftover.namespace}"
            if leftover.own_namespace
            else f"in namespace {leftover.namespace}"
        )
        now, marks = datetime.now(UTC), leftover.ownership
        terminal.line(
            f"{marks.run}  {leftover.state.value:<11} {where}  {len(leftover.objects)} objects  {marks.owner}  "
            f"created {_span(now - marks.created)} ago, {_until(marks.expires - now)}"
        )
        if leftover.removable:
            terminal.line(f"  may go: {_why_it_goes(leftover)}")
        else:
            terminal.line(f"  stays: {leftover.reason}{_next_step(leftover)}")
    for namespace, problem in problems.items():
        terminal.paragraph(f"{namespace}: {problem}", err=True)
    gone = [leftover for leftover in chosen if leftover.namespace not in problems]
    if gone and yes:
        terminal.line(f"Removed the leftovers of {_runs(gone)}.")
    elif chosen and not yes:
        terminal.line(f"Nothing was removed. Remove what {_runs(chosen)} left: nettests gc --yes")


def _why_it_goes(leftover: Leftover) -> str:
    if leftover.state is State.TERMINATING:
        return "it is terminating, and no Lease of its run is renewed"
    if leftover.state in {State.KEPT, State.EXPIRED}:
        why = "its run was named" if leftover.named else "it was kept, and has expired"
    else:
        why = "the Lease of its run is no longer renewed"
    whose = (
        "everything in it belongs to the run"
        if leftover.own_namespace
        else "only objects with the run's labels are removed"
    )
    counted = f", counting what may not be listed as none: {', '.join(leftover.uncounted)}"
    return f"{why}; {whose}{counted if leftover.uncounted else ''}"


def _next_step(leftover: Leftover) -> str:
    if leftover.state is State.KEPT and not leftover.named:
        return f"; remove it with: nettests gc --run {quote(leftover.ownership.run)} --yes"
    if leftover.copied:
        return f"; no run owns it: remove its labels {DOMAIN}/… if they are in the way"
    ignoring = " ".join(f"--ignore {quote(name)}" for name in leftover.strangers[:3])
    look = f"look at it, then: kubectl delete namespace {quote(leftover.namespace)}"
    if ignoring:
        look = f"if your cluster puts them into each namespace: nettests gc {ignoring}; else {look}"
    if leftover.state is State.ALIVE or not leftover.own_namespace or not leftover.obstacle:
        return ""
    return f"; {look}"


def _runs(leftovers: list[Leftover]) -> str:
    """Count runs, each of which may have left more than one namespace."""
    return plural(len({leftover.ownership.run for leftover in leftovers}), "dead run")


def _until(left: timedelta) -> str:
    return f"expires in {_span(left)}" if left > timedelta() else "expired"


def _span(length: timedelta) -> str:
    """Return a length of time for people: 40 s, 12 min, 5 h, 3 d."""
    seconds = max(0, int(length.total_seconds()))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _data(
    leftovers: list[Leftover], removed: list[Leftover], problems: dict[str, str]
) -> dict[str, object]:
    gone = {
        (leftover.ownership.run, leftover.namespace)
        for leftover in removed
        if leftover.namespace not in problems
    }
    return {
        "leftovers": [
            {
                "run": leftover.ownership.run,
                "owner": leftover.ownership.owner,
                "created": leftover.ownership.created.isoformat(),
                "expires": leftover.ownership.expires.isoformat(),
                "namespace": leftover.namespace,
                "own_namespace": leftover.own_namespace,
                "state": leftover.state.value,
                "objects": list(leftover.objects),
                "strangers": list(leftover.strangers),
                "unseen": list(leftover.unseen),
                "removable": leftover.removable,
                "uncounted": list(leftover.uncounted),
                "reason": leftover.reason or None,
                "removed": (leftover.ownership.run, leftover.namespace) in gone,
                "problem": problems.get(leftover.namespace),
            }
            for leftover in leftovers
        ]
    }
