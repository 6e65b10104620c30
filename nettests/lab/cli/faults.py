"""``nettests lab fault``: inject faults into a running lab, list and clear them."""

import json
from typing import Any

import click

from nettests.lab.cli.group import JSON, NAME, descriptions, lab, running
from nettests.lab.faults.kinds import KINDS, Kind
from nettests.lab.folders import control

_WIDE = 60
"""Characters of a fault and its options beyond which its meaning has a line of its own."""


def _faults_help() -> str:
    width = max(len(kind.synopsis) for kind in KINDS if len(kind.synopsis) < _WIDE)
    rows = (_fault_help(kind, width) for kind in KINDS)
    return "Inject faults into a running lab, and clear them.\n\n\b\n" + "\n".join(rows)


def _fault_help(kind: Kind, width: int) -> str:
    if len(kind.synopsis) > width:
        return f"{kind.synopsis}\n{'':<{width}}  {kind.summary}"
    return f"{kind.synopsis:<{width}}  {kind.summary}"


@lab.group(cls=click.Group, help=_faults_help())
def fault() -> None:
    """Inject faults into a running lab."""


@fault.command(epilog="Example: nettests lab fault inject packet-loss --node win-1")
@click.argument("kind")
@NAME
@click.option("--service", help="Services: NAME, NAMESPACE/NAME, or a pattern of either.")
@click.option("--port", help="A port of the Service by name; of packets by number, or a range.")
@click.option("--node", help="A node.")
@click.option("--peer", help="Another node.")
@click.option("--from", help="Source of the packets: a node, or gateway.")
@click.option("--to", help="Destination of the packets: a node, or gateway.")
@click.option("--pod", help="Pods: a name, or a pattern.")
@click.option("--protocol", help="tcp, udp or icmp.")
@click.option("--source-port", help="Of packets by number, or a range.")
@click.option("--flows", type=click.IntRange(min=2), help="One flow of 2, 4, 8 …")
@click.option("--fragments", is_flag=True, default=None, help="Fragments but the first.")
@click.option("--kilobits", type=click.IntRange(min=8), help="Kilobits a second.")
@click.option("--prefix", type=click.IntRange(1, 32), help="Length of a network's prefix.")
@click.option("--type", help="Records by type: A, AAAA …")
@click.option("--larger-than", type=click.IntRange(min=1), help="Bytes of the IP packet.")
@click.option("--rate", type=click.FloatRange(0, 1), help="Share of requests or packets.")
@click.option("--every", type=click.IntRange(min=2), help="Every K-th packet or connection.")
@click.option("--connections", type=click.IntRange(min=1), help="Connections at most.")
@click.option("--services", type=click.IntRange(min=1), help="Services at most.")
@click.option("--beyond", type=click.IntRange(min=1), help="Only beyond this number of others.")
@click.option("--seed", type=int, help="Seed of the random choice (0).")
@click.option("--seconds", type=click.FloatRange(0, 600), help="Duration in seconds.")
@click.option(
    "--jitter", type=click.FloatRange(0, 60), help="Up to so many seconds more, at random."
)
@click.option("--bytes", type=click.IntRange(576, 9000), help="The largest IP packet.")
@click.option(
    "--object", help="An object: node/N, node-status/N, configmap/NS/N or daemonset/NS/N."
)
@click.option("--patch", help="A JSON merge patch.")
@click.option("--text", help="What fails says.")
@click.option("--match", help="Part of a Pod, as JSON; null matches an unset field.")
@click.option("--controller", help="Who makes Pods: daemonset, deployment, job, cronjob …")
@click.option("--code", type=click.IntRange(0, 2**32 - 1), help="An exit code.")
@click.option("--program", help="A program by name, without .exe.")
@click.option("--vni", type=click.IntRange(1, 2**24 - 1), help="A VXLAN network id.")
def inject(kind: str, *, name: str, **options: Any) -> None:
    """Inject a fault; it stays until it is cleared.

    `nettests lab fault --help` lists the kinds.
    """
    options_given = {
        key.replace("_", "-"): value for key, value in options.items() if value is not None
    }
    request = {"do": "fault-inject", "fault": kind, "options": options_given}
    control.request(running(name).path, request)
    click.echo(f"{kind} is in force. Undo: nettests lab fault clear {kind} --name {name}")


@fault.command(epilog="Example: nettests lab fault clear packet-loss")
@click.argument("kind", required=False)
@NAME
def clear(kind: str | None, *, name: str) -> None:
    """Clear all faults, or those of one kind."""
    answer = control.request(running(name).path, {"do": "fault-clear", "fault": kind})
    click.echo(f"{answer['cleared']} fault(s) cleared.")


@fault.command(name="list", epilog="Example: nettests lab fault list")
@NAME
@JSON
def list_faults(*, name: str, as_json: bool) -> None:
    """List the faults in force; if no such lab runs, the kinds that there are."""
    standing = [row["name"] for row in descriptions() if row["running"]]
    if not as_json and name not in standing:
        others = f" (--name: {', '.join(standing)})" if standing else ""
        click.echo(f"No lab {name!r} is running{others}. Kinds of faults:\n")
        click.echo(fault.get_help(click.Context(fault, info_name="nettests lab fault")))
        return
    answer = control.request(running(name).path, {"do": "fault-list"})
    if as_json:
        click.echo(json.dumps(answer))
        return
    for row in answer["faults"]:
        options = " ".join(f"{key}={value}" for key, value in row["options"].items())
        click.echo(f"{row['fault']} {options}".rstrip())
