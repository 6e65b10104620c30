"""``nettests gc``: list what killed runs left in a cluster; with ``--yes`` remove it.

No state file is needed: ``cluster.leftovers`` reads the cluster and decides which runs are dead.
"""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from nettests import terminal
from nettests.cli.help import Command
from nettests.cluster import Connection, connect
from nettests.cluster.collect import remove
from nettests.cluster.leftovers import Leftover, State, find
from nettests.cluster.profile_file import read_profile
from nettests.model.exit_code import ExitCode


@click.command(cls=Command, example="nettests gc --kubeconfig ~/.kube/config --yes")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Default: $KUBECONFIG.",
)
@click.option("--context", metavar="NAME", help="Context of the kubeconfig.")
@click.option(
    "--cluster-profile",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Sets how long to wait for Leases and deletions.",
)
@click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    metavar="NAME",
    help="Search this namespace too, if listing all is denied (repeatable).",
)
@click.option(
    "--run", "run_id", metavar="ID", help="This run only; with --yes also objects that --keep left."
)
@click.option(
    "--ignore",
    "ignored",
    multiple=True,
    metavar="KIND/NAME",
    help="An object that this cluster puts into every namespace (repeatable).",
)
@click.option("--yes", is_flag=True, help="Remove what is shown as dead or expired.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else.")
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
    run are removed together, and only if every kind of object in them could be listed and all of them belong
    to the run. gc prints why it leaves the others. Exit code 1 with --yes: a dead run still has objects.
    """
    timing = read_profile(cluster_profile).timing
    connection = connect(kubeconfig, context, timing)
    try:
        found = [
            one
            for one in find(
                connection,
                namespaces=namespaces,
                seconds=timing.lease,
                named=run_id,
                ignore=ignored,
            )
            if run_id in {None, one.ownership.run}
        ]
        chosen = [one for one in found if one.removable]
        problems = _removed(connection, chosen, timing.clean_up, ignored) if yes else {}
    finally:
        connection.close()
    if as_json:
        terminal.document(_data(found, chosen if yes else [], problems))
    else:
        _tell(found, chosen, problems, yes=yes)
    stays = [one for one in found if one.state in _GONE_BY and not one.removable]
    sys.exit(ExitCode.TESTS_FAILED if problems or (yes and stays) else ExitCode.OK)


_GONE_BY = frozenset({State.DEAD, State.EXPIRED})
"""What ought to go."""


def _removed(
    connection: Connection, chosen: list[Leftover], wait: float, ignored: tuple[str, ...]
) -> dict[str, str]:
    """Remove the chosen runs, one after the other; return what stays, with the reason."""
    problems: dict[str, str] = {}
    for run in dict.fromkeys(one.ownership.run for one in chosen):
        places = [one for one in chosen if one.ownership.run == run]
        problems |= remove(connection, places, wait=wait, ignore=ignored)
    return problems


def _tell(
    found: list[Leftover], chosen: list[Leftover], problems: dict[str, str], *, yes: bool
) -> None:
    if not found:
        terminal.line("No run has left anything.")
    for one in found:
        terminal.line(_line(one))
        if one.removable:
            terminal.line(f"  may go: {_why_it_goes(one)}")
        else:
            terminal.line(f"  stays: {one.obstacle or one.spared}{_next_step(one)}")
    for namespace, problem in problems.items():
        terminal.paragraph(f"{namespace}: {problem}", err=True)
    gone = [one for one in chosen if one.namespace not in problems]
    if gone and yes:
        terminal.line(f"Removed the leftovers of {_runs(gone)}.")
    elif chosen and not yes:
        terminal.line(f"Nothing was removed. Remove what {_runs(chosen)} left: nettests gc --yes")


def _why_it_goes(one: Leftover) -> str:
    if one.state is State.TERMINATING:
        return "it is terminating, and nobody renews a Lease of its run"
    if one.state in {State.KEPT, State.EXPIRED}:
        why = "its run was named" if one.named else "it was kept, and has expired"
    else:
        why = "nobody renews the Lease of its run"
    whose = "everything in it is the run's" if one.own else "only what carries the run's marks goes"
    return f"{why}; {whose}"


def _next_step(one: Leftover) -> str:
    """Return the next step towards removal; nothing if waiting is all that is left to do."""
    if one.state is State.KEPT and not one.named:
        return f"; remove it with: nettests gc --run {one.ownership.run} --yes"
    look = f"look at it, then: kubectl delete namespace {one.namespace}"
    if one.state is State.ALIVE or not one.own or not one.obstacle:
        return ""
    if one.unseen and not one.strangers:
        return f"; run gc with the role of manifests/rbac/gc.yaml, or {look}"
    return f"; {look}"


def _runs(leftovers: list[Leftover]) -> str:
    """Count runs, each of which may have left more than one namespace."""
    count = len({one.ownership.run for one in leftovers})
    return f"{count} dead run" if count == 1 else f"{count} dead runs"


def _line(one: Leftover) -> str:
    where = f"namespace {one.namespace}" if one.own else f"in namespace {one.namespace}"
    now, marks = datetime.now(UTC), one.ownership
    return (
        f"{marks.run}  {one.state.value:<11} {where}  {len(one.objects)} objects  {marks.owner}  "
        f"created {_span(now - marks.created)} ago, {_until(marks.expires - now)}"
    )


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
    found: list[Leftover], removed: list[Leftover], problems: dict[str, str]
) -> dict[str, object]:
    gone = {(one.ownership.run, one.namespace) for one in removed if one.namespace not in problems}
    return {
        "leftovers": [
            {
                "run": one.ownership.run,
                "owner": one.ownership.owner,
                "created": one.ownership.created.isoformat(),
                "expires": one.ownership.expires.isoformat(),
                "namespace": one.namespace,
                "own_namespace": one.own,
                "state": one.state.value,
                "objects": list(one.objects),
                "strangers": list(one.strangers),
                "unseen": list(one.unseen),
                "removable": one.removable,
                "reason": one.obstacle or one.spared or None,
                "removed": (one.ownership.run, one.namespace) in gone,
                "problem": problems.get(one.namespace),
            }
            for one in found
        ]
    }
