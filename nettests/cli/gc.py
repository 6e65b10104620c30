"""``nettests gc``: what dead runs left in a cluster, listed, and with ``--yes`` removed.

Reads the cluster and nothing else; which run is dead is ``cluster.leftovers``' finding.
"""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from nettests.cluster import Connection, connect
from nettests.cluster.leftovers import Leftover, State, find, remove
from nettests.cluster.profile import read_profile
from nettests.errors import ClusterError


@click.command
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
    help="For its timing: how long Leases, and the end of objects, are waited for.",
)
@click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    metavar="NAME",
    help="Look here too, where listing the whole cluster is denied (repeatable).",
)
@click.option(
    "--run", "run_id", metavar="ID", help="This run only; with --yes also what it was told to keep."
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
    yes: bool,
    as_json: bool,
) -> None:
    """Find what dead runs left in a cluster; remove it with --yes.

    A run is dead when nobody renews its Lease, which is watched for up to its duration (30 s). Only
    objects that carry all marks of a run are found; nothing else is ever removed. Exit code 1: something
    that should go is still there.
    """
    timing = read_profile(cluster_profile).timing
    connection = connect(kubeconfig, context, timing)
    try:
        found = [
            one
            for one in find(connection, namespaces=namespaces, seconds=timing.lease)
            if run_id in {None, one.ownership.run}
        ]
        chosen = [one for one in found if one.removable or _named(one, run_id)]
        problems = _removed(connection, chosen, timing.clean_up) if yes else {}
    finally:
        connection.close()
    if as_json:
        click.echo(json.dumps(_data(found, chosen if yes else [], problems), indent=2))
    else:
        _tell(found, chosen, problems, yes=yes)
    sys.exit(1 if problems else 0)


def _named(one: Leftover, run_id: str | None) -> bool:
    """Whether it was kept, and is asked for by the name of its run."""
    return run_id is not None and one.state is State.KEPT and not one.strangers


def _removed(connection: Connection, chosen: list[Leftover], wait: float) -> dict[str, str]:
    """Remove what was chosen; return what stays, with the reason."""
    problems = {}
    for one in chosen:
        try:
            remove(connection, one, wait=wait)
        except ClusterError as error:
            problems[one.namespace] = error.message
    return problems


def _tell(
    found: list[Leftover], chosen: list[Leftover], problems: dict[str, str], *, yes: bool
) -> None:
    if not found:
        click.echo("No run has left anything.")
    for one in found:
        click.echo(_line(one))
        if one.strangers:
            click.echo(f"  not removed: it holds objects of others: {', '.join(one.strangers)}")
    for namespace, problem in problems.items():
        click.echo(f"{namespace}: {problem}", err=True)
    if chosen and yes:
        gone = [one for one in chosen if one.namespace not in problems]
        click.echo(f"Removed the leftovers of {_runs(gone)}.")
    elif chosen:
        click.echo(f"Nothing was removed. Remove what {_runs(chosen)} left: nettests gc --yes")


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
                "removed": (one.ownership.run, one.namespace) in gone,
                "problem": problems.get(one.namespace),
            }
            for one in found
        ]
    }
