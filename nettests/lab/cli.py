"""``nettests lab``: start, stop, list and break emulated clusters.

Thin: it reads arguments, calls ``launch``, ``state`` and ``control``, and prints. Errors for people go to
standard error, with exit code 1; ``--json`` prints one object on standard output and nothing else.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from nettests.lab.errors import LabError, StateError
from nettests.lab.faults.kinds import KINDS, Kind
from nettests.lab.folders import control, places, state
from nettests.lab.folders.state import LabFolder
from nettests.lab.lifecycle import launch
from nettests.lab.lifecycle.launch import Phase
from nettests.lab.topology import mechanisms, profiles

_WIDE = 60
"""Characters of a fault and its options beyond which its meaning has a line of its own."""
_NAME = click.option("--name", default="lab", show_default=True, help="Name of the lab.")
_SELFTEST = "selftest"
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else.")


class _Group(click.Group):
    """Turns errors of the lab into messages: no tracebacks for people. Loads the selftest when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted([*super().list_commands(ctx), _SELFTEST])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name."""
        if cmd_name == _SELFTEST:
            from nettests.lab.selftest.command import selftest  # noqa: PLC0415  # slow; others do without

            return selftest
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except LabError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(1)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
def lab() -> None:
    """Emulated mixed clusters: Linux and Windows nodes with real packets, in network namespaces.

    \b
    nettests lab up --profile win2019-l2bridge
    export KUBECONFIG=$(nettests lab kubeconfig)
    kubectl get nodes
    nettests lab down

    A lab is closed: it has no way to the machine's network, and its API listens on 127.0.0.1 only.
    """


@lab.command()
@click.option(
    "--profile",
    default=profiles.DEFAULT,
    show_default=True,
    help="Which cluster: a name from `nettests lab profiles`, or a file (*.yaml).",
)
@_NAME
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
    help="Switch a mechanism against what builds and settings say; repeatable.",
)
@click.option(
    "--while",
    "while_pid",
    type=click.IntRange(min=1),
    metavar="PID",
    help="End the lab when this process has ended, also when it was killed.",
)
@click.option("--quiet", is_flag=True, help="Do not show progress.")
@_JSON
def up(
    *,
    profile: str,
    name: str,
    without_windows_ping: bool,
    switched: tuple[str, ...],
    while_pid: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Start a lab in the background; returns when every node is Ready."""
    options = launch.Options(
        windows_ping=not without_windows_ping,
        mechanisms=mechanisms.read(switched),
        while_pid=while_pid,
    )
    show = _nothing if quiet or as_json else _show
    _tell_of_a_place_passed_over()
    try:
        folder = launch.up(name, profile, options, show)
    except KeyboardInterrupt:
        click.echo("Interrupted: the lab was stopped, nothing is left of it.", err=True)
        sys.exit(130)
    if as_json:
        click.echo(json.dumps(_description(folder)))
        return
    click.echo(f'Lab "{name}" is ready ({profile}). Use it:')
    click.echo(f"  export KUBECONFIG={folder.kubeconfig}")
    click.echo("  kubectl get nodes")
    click.echo(f"  nettests run --cluster-profile {folder.cluster_profile}")
    click.echo(f"  nettests lab down --name {name}")


@lab.command()
@_NAME
@click.option("--all", "everything", is_flag=True, help="Stop every lab of this user.")
def down(*, name: str, everything: bool) -> None:
    """Stop a lab; removes its process, namespaces and files, also after it was killed."""
    if not everything:
        _stop(state.folder(name))
        return
    _tell_of_a_place_passed_over()
    refused = False
    for folder in state.folders():
        try:
            _stop(folder)
        except StateError as error:  # the others are stopped all the same
            click.echo(f"Error: {error}", err=True)
            refused = True
    if refused:
        sys.exit(1)


def _stop(folder: LabFolder) -> None:
    ran = launch.down(folder)
    what = "stopped" if ran else "was not running; what it left is removed"
    click.echo(f'Lab "{folder.name}" {what}.')


@lab.command()
@click.option("--name", help="Only this lab, with phases of its start and its namespaces.")
@_JSON
def status(*, name: str | None, as_json: bool) -> None:
    """List the labs of this user and whether they run.

    With --name and --json also the file descriptors of the lab's namespaces, for
    nsenter --user=/proc/PID/ns/user --net=/proc/PID/fd/FD --preserve-credentials.
    """
    if name is not None:
        _show_one(_running(name), as_json=as_json)
        return
    _tell_of_a_place_passed_over()
    rows = list(_descriptions())
    if as_json:
        click.echo(json.dumps({"labs": rows}))
        return
    if not rows:
        click.echo("No lab runs. Start one: nettests lab up")
    for row in rows:
        _show_row(row)


@lab.command(name="profiles")
@_JSON
def list_profiles(*, as_json: bool) -> None:
    """List the clusters that can be emulated."""
    found = profiles.available()
    if as_json:
        click.echo(json.dumps({p.name: p.summary for p in found}))
        return
    width = max(len(profile.name) for profile in found)
    for profile in found:
        mark = " (default)" if profile.name == profiles.DEFAULT else ""
        click.echo(f"{profile.name:<{width}}  {profile.summary}{mark}")


@lab.command(name="mechanisms")
@_JSON
def list_mechanisms(*, as_json: bool) -> None:
    """List what `nettests lab up --mechanism NAME=VALUE` switches.

    The API does not tell: a check sees the other behaviour where its documents promise the usual one.
    """
    if as_json:
        click.echo(json.dumps({one.name: one.summary for one in mechanisms.MECHANISMS}))
        return
    width = max(len(one.name) for one in mechanisms.MECHANISMS)
    for one in mechanisms.MECHANISMS:
        values = "=N" if one.counts else "=on|off"
        click.echo(f"{one.name + values:<{width + 7}}  {one.summary}")


@lab.command()
@_NAME
@click.option(
    "--short-lived",
    is_flag=True,
    help="The one whose exec plugin fetches a token that lives for a minute.",
)
def kubeconfig(*, name: str, short_lived: bool) -> None:
    """Print the path of a running lab's kubeconfig, and nothing else."""
    folder = _running(name)
    click.echo(str(folder.short_lived if short_lived else folder.kubeconfig))


def _faults_help() -> str:
    width = max(len(kind.synopsis) for kind in KINDS if len(kind.synopsis) < _WIDE)
    rows = (_fault_help(kind, width) for kind in KINDS)
    return "Break a running lab on purpose, by mechanism, and mend it.\n\n\b\n" + "\n".join(rows)


def _fault_help(kind: Kind, width: int) -> str:
    if len(kind.synopsis) > width:
        return f"{kind.synopsis}\n{'':<{width}}  {kind.summary}"
    return f"{kind.synopsis:<{width}}  {kind.summary}"


@lab.group(cls=click.Group, help=_faults_help())
def fault() -> None:
    """Break a running lab on purpose."""


@fault.command()
@click.argument("kind")
@_NAME
@click.option("--service", help="Services: NAME, NAMESPACE/NAME, or a pattern of either.")
@click.option("--port", help="A port of the Service by name; of packets by number, or a range.")
@click.option("--node", help="A node.")
@click.option("--peer", help="Another node.")
@click.option("--from", help="Where packets come from: a node, or gateway.")
@click.option("--to", help="Where packets go: a node, or gateway.")
@click.option("--pod", help="Pods: a name, or a pattern.")
@click.option("--protocol", help="tcp, udp or icmp.")
@click.option("--larger-than", type=click.IntRange(min=1), help="Bytes of the IP packet.")
@click.option("--rate", type=click.FloatRange(0, 1), help="Share of requests or packets.")
@click.option("--every", type=click.IntRange(min=2), help="One of so many.")
@click.option("--seed", type=int, help="Of the dice that choose (0).")
@click.option("--seconds", type=click.FloatRange(0, 600), help="How long.")
@click.option("--jitter", type=click.FloatRange(0, 60), help="Seconds more, by dice.")
@click.option("--bytes", type=click.IntRange(576, 9000), help="The largest IP packet.")
@click.option("--object", help="An object: node/N, node-status/N or configmap/NS/N.")
@click.option("--patch", help="A JSON merge patch.")
@click.option("--vni", type=click.IntRange(1, 2**24 - 1), help="A VXLAN network id.")
def inject(kind: str, *, name: str, **options: Any) -> None:
    """Put a fault in force until it is cleared; `nettests lab fault --help` has the kinds."""
    given = {key.replace("_", "-"): value for key, value in options.items() if value is not None}
    request = {"do": "fault-inject", "fault": kind, "options": given}
    control.ask(_running(name).path, request)
    click.echo(f"{kind} is in force. Undo: nettests lab fault clear {kind} --name {name}")


@fault.command()
@click.argument("kind", required=False)
@_NAME
def clear(kind: str | None, *, name: str) -> None:
    """Undo all faults, or those of one kind."""
    answer = control.ask(_running(name).path, {"do": "fault-clear", "fault": kind})
    click.echo(f"{answer['cleared']} fault(s) cleared.")


@fault.command(name="list")
@_NAME
@_JSON
def list_faults(*, name: str, as_json: bool) -> None:
    """List the faults in force."""
    answer = control.ask(_running(name).path, {"do": "fault-list"})
    if as_json:
        click.echo(json.dumps(answer))
        return
    for row in answer["faults"]:
        options = " ".join(f"{key}={value}" for key, value in row["options"].items())
        click.echo(f"{row['fault']} {options}".rstrip())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line (``python -m nettests.lab``)."""
    lab.main(args=arguments, prog_name="nettests lab")


def _running(name: str) -> LabFolder:
    folder = state.folder(name)
    if not folder.runs():
        running = [row["name"] for row in _descriptions() if row["running"]]
        hint = f"Running: {', '.join(running)}." if running else "Start one: nettests lab up"
        raise LabError(f'No lab called "{name}" is running.', hint=hint)
    return folder


def _show_row(row: dict[str, Any]) -> None:
    condition = "running" if row["running"] else "dead (nettests lab down removes it)"
    click.echo(f"{row['name']:<12} {row['profile']:<24} {condition}  {row['kubeconfig']}")


def _show_one(folder: LabFolder, *, as_json: bool) -> None:
    answer = control.ask(folder.path, {"do": "status"})
    if as_json:
        click.echo(json.dumps({**_description(folder), **answer}))
        return
    _show_row(_description(folder))
    for phase, seconds in answer["phases"].items():
        click.echo(f"  {seconds:6.2f} s  {phase}")
    for namespace, descriptor in answer["namespaces"].items():
        click.echo(f"  namespace {namespace}: /proc/{answer['pid']}/fd/{descriptor}")


def _description(folder: LabFolder) -> dict[str, Any]:
    record = folder.record()
    return {
        "name": folder.name,
        "profile": record.profile if record else "unknown",
        "pid": record.pid if record else None,
        "kubeconfig": str(folder.kubeconfig),
        "cluster_profile": str(folder.cluster_profile),
        "running": folder.runs(),
    }


def _descriptions() -> Iterator[dict[str, Any]]:
    """Describe every lab; a folder that is not private is named on standard error and left alone."""
    for folder in state.folders():
        try:
            yield _description(folder)
        except StateError as error:
            click.echo(f"Error: {error}", err=True)


def _tell_of_a_place_passed_over() -> None:
    told = places.passed_over()
    if told:
        click.echo(told, err=True)


def _show(phase: Phase) -> None:
    click.echo(f"{phase.seconds:6.2f} s  {phase.name}", err=True)


def _nothing(_phase: Phase) -> None:
    """Show no progress."""
