"""``nettests diagnose``: collect diagnostics of nodes and checks now, without a run.

Arguments and output only: ``session.on_demand`` decides what is collected.
"""

from collections.abc import Iterator
from pathlib import Path

import click

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.options import CHECKS, CLUSTER, IMAGES, CommonOptions, cluster_options
from nettests.diagnose import Collected
from nettests.model.run_folder import DIAGNOSTICS_INDEX
from nettests.report.text import one_line, plural
from nettests.session.diagnosis import Demand, collect_now


@click.command(
    cls=Command, example="nettests diagnose --kubeconfig ~/.kube/config --node=win-1 --hosts"
)
@cluster_options(CLUSTER, IMAGES, CHECKS)
@click.option(
    "--check",
    "checks",
    multiple=True,
    metavar="ID",
    help="Nodes, Services and Pods of this check (repeatable).",
)
@click.option("--node", "node_names", multiple=True, metavar="NAME", help="This node (repeatable).")
@click.option(
    "--run",
    "run_id",
    metavar="ID",
    help="A run whose objects were kept (--keep): its Services and Pods too.",
)
@click.option(
    "--hosts",
    is_flag=True,
    help="Start a Pod on each node and run the node's own tools in it.",
)
@click.option(
    "--to",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("diagnostics"),
    show_default=True,
    metavar="DIR",
    help="Where diagnostics go.",
)
def diagnose(
    *,
    common: CommonOptions,
    checks: tuple[str, ...],
    node_names: tuple[str, ...],
    run_id: str | None,
    hosts: bool,
    directory: Path,
) -> None:
    """Collect diagnostics of a cluster's networking.

    Objects, events and logs of nodes and DNS; with --hosts also the output of the nodes' own tools.

    Without --check and --node: all nodes. Reads only, except that --hosts creates Pods and deletes them again.
    Secrets are removed before anything is written.
    """
    demand = Demand(checks=checks, nodes=node_names, run=run_id, hosts=hosts)
    flows = common.registry().flows
    with common.cluster() as options:
        answered = collect_now(options, flows, demand, directory)
    for collected in answered.collected:
        for line in _collected_lines(collected):
            terminal.line(line)
    for subject in answered.left_out:
        terminal.line(f"{subject}: left out (diagnostics.subjects of the cluster profile)")
    for remark in answered.remarks:
        terminal.line(remark)
    terminal.line(f"diagnostics: {directory / DIAGNOSTICS_INDEX}")


def _collected_lines(collected: Collected) -> Iterator[str]:
    files = [item.file for item in collected.items if item.file]
    yield f"{collected.subject}: {plural(len(files), 'file')} in {collected.subject.folder}/"
    if files:
        yield f"  {', '.join(files)}"
    for problem, titles in collected.missing.items():
        yield f"  not available: {', '.join(titles)}: {one_line(problem, limit=160)}"
