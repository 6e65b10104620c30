"""``nettests lab up``, ``down``, ``status`` and ``kubeconfig``; ``profiles``, ``profile`` and ``mechanisms``.

They start, stop and list labs, list what can be emulated and switched, and print a profile's file.
"""

import json
import sys
from typing import Any

import click

from nettests.lab.cli import group
from nettests.lab.errors import StateError
from nettests.lab.folders import control, state
from nettests.lab.lifecycle import launch
from nettests.lab.topology import mechanisms, profiles


@group.lab.command(epilog="Example: nettests lab up --profile win2022-l2bridge-dsr")
@click.option(
    "--profile",
    default=profiles.DEFAULT,
    show_default=True,
    help="Which cluster: a name from `nettests lab profiles`, or a file (*.yaml).",
)
@group.SETTINGS
@group.NAME
@click.option(
    "--without-windows-ping",
    is_flag=True,
    help="Windows containers have no ping.exe, as some base images.",
)
@click.option(
    "--mechanism",
    "switched",
    multiple=True,
    metavar="NAME=VALUE",
    help="Turn a mechanism on or off, whatever builds and settings imply; repeatable.",
)
@click.option(
    "--while",
    "while_pid",
    type=click.IntRange(min=1),
    metavar="PID",
    help="Stop the lab when this process ends, even if it is killed.",
)
@click.option("--quiet", is_flag=True, help="Do not show progress.")
@group.JSON
def up(
    *,
    profile: str,
    settings: tuple[str, ...],
    name: str,
    without_windows_ping: bool,
    switched: tuple[str, ...],
    while_pid: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Start a lab in the background.

    Returns when every node is Ready.
    """
    options = launch.Options(
        windows_ping=not without_windows_ping,
        mechanisms=mechanisms.read(switched),
        settings=settings,
        while_pid=while_pid,
    )
    silent = quiet or as_json
    group.warn_of_another_folder()
    try:
        folder = launch.up(name, profile, options, (lambda _: None) if silent else _show)
    except KeyboardInterrupt:
        click.echo("Interrupted: the lab was stopped, nothing is left of it.", err=True)
        sys.exit(130)
    if as_json:
        click.echo(json.dumps(group.description(folder)))
        return
    changed = f" with {', '.join(settings)}" if settings else ""
    click.echo(f'Lab "{name}" is ready ({profile}{changed}). Use it:')
    click.echo(f"  export KUBECONFIG={folder.kubeconfig}")
    click.echo("  kubectl get nodes")
    click.echo(f"  nettests run --cluster-profile {folder.cluster_profile}")
    click.echo(f"  nettests lab down --name {name}")


@group.lab.command(epilog="Example: nettests lab down")
@group.NAME
@click.option("--all", "everything", is_flag=True, help="Stop every lab of this user.")
def down(*, name: str, everything: bool) -> None:
    """Stop a lab and remove its namespaces and files.

    Works also after the lab was killed.
    """
    if not everything:
        _stop(state.folder(name))
        return
    group.warn_of_another_folder()
    refused = False
    for folder in state.folders():
        try:
            _stop(folder)
        except StateError as error:  # the others are stopped all the same
            click.echo(f"Error: {error}", err=True)
            refused = True
    if refused:
        sys.exit(1)


def _stop(folder: state.LabFolder) -> None:
    ran = launch.down(folder)
    what = "stopped" if ran else "was not running; what it left is removed"
    click.echo(f'Lab "{folder.name}" {what}.')


@group.lab.command(epilog="Example: nettests lab status --json")
@click.option("--name", help="Only this lab, with phases of its start and its namespaces.")
@group.JSON
def status(*, name: str | None, as_json: bool) -> None:
    """List the labs of this user and whether they run.

    With --name and --json also the file descriptors of the lab's namespaces, for
    nsenter --user=/proc/PID/ns/user --net=/proc/PID/fd/FD --preserve-credentials.
    """
    if name is not None:
        _show_one(group.running(name), as_json=as_json)
        return
    group.warn_of_another_folder()
    rows = list(group.descriptions())
    if as_json:
        click.echo(json.dumps({"labs": rows}))
        return
    if not rows:
        click.echo("No lab runs. Start one: nettests lab up")
    for row in rows:
        _show_row(row)


@group.lab.command(epilog="Example: nettests lab kubeconfig")
@group.NAME
@click.option(
    "--short-lived",
    is_flag=True,
    help="The one whose exec plugin fetches a token that lives for a minute.",
)
def kubeconfig(*, name: str, short_lived: bool) -> None:
    """Print the path of a running lab's kubeconfig."""
    folder = group.running(name)
    click.echo(str(folder.short_lived if short_lived else folder.kubeconfig))


def _show_row(row: dict[str, Any]) -> None:
    condition = "running" if row["running"] else "dead (nettests lab down removes it)"
    click.echo(f"{row['name']:<12} {row['profile']:<24} {condition}  {row['kubeconfig']}")


def _show_one(folder: state.LabFolder, *, as_json: bool) -> None:
    answer = control.request(folder.path, {"do": "status"})
    if as_json:
        click.echo(json.dumps({**group.description(folder), **answer}))
        return
    _show_row(group.description(folder))
    for phase, seconds in answer["phases"].items():
        click.echo(f"  {seconds:6.2f} s  {phase}")
    for namespace, descriptor in answer["namespaces"].items():
        click.echo(f"  namespace {namespace}: /proc/{answer['pid']}/fd/{descriptor}")


def _show(phase: launch.Phase) -> None:
    click.echo(f"{phase.seconds:6.2f} s  {phase.name}", err=True)


@group.lab.command(name="profiles", epilog="Example: nettests lab profiles")
@group.JSON
def list_profiles(*, as_json: bool) -> None:
    """List the clusters that can be emulated."""
    available = profiles.available()
    if as_json:
        click.echo(json.dumps({p.name: p.summary for p in available}))
        return
    width = max(len(profile.name) for profile in available)
    for profile in available:
        mark = " (default)" if profile.name == profiles.DEFAULT else ""
        click.echo(f"{profile.name:<{width}}  {profile.summary}{mark}")


@group.lab.command(
    name="profile",
    epilog="Example: nettests lab profile win2019-l2bridge --set kubeProxy.dsr=true > dsr.yaml",
)
@click.argument("profile")
@group.SETTINGS
def show_profile(*, profile: str, settings: tuple[str, ...]) -> None:
    """Print a profile's YAML, with facts changed by --set.

    Use the file with `nettests run --lab FILE`, or edit it. PROFILE is a name from `nettests lab profiles`, or a file
    (*.yaml). Keys are those of `nettests forecast --to`, as far as a profile has them.
    """
    click.echo(profiles.written(profile, settings).rstrip("\n"))


@group.lab.command(name="mechanisms", epilog="Example: nettests lab mechanisms")
@group.JSON
def list_mechanisms(*, as_json: bool) -> None:
    """List the mechanisms for `lab up --mechanism`.

    A switched mechanism does not show in the API: checks expect the documented behaviour and observe another one.
    """
    if as_json:
        click.echo(
            json.dumps({mechanism.name: mechanism.summary for mechanism in mechanisms.MECHANISMS})
        )
        return
    width = max(len(mechanism.name) for mechanism in mechanisms.MECHANISMS)
    for mechanism in mechanisms.MECHANISMS:
        values = "=N" if mechanism.counts else "=on|off"
        click.echo(f"{mechanism.name + values:<{width + 7}}  {mechanism.summary}")
