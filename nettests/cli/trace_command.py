"""``nettests trace`` and ``nettests diagnose``: the hop at which a packet is lost, and what lies around a failure.

Arguments and output only: ``session.trace_now`` traces a check, ``capture.trace_files`` reads capture files, ``session.diagnose_now``
decides what is collected.
"""

from collections.abc import Iterator
from pathlib import Path

import click

from nettests import terminal
from nettests.capture.captures import require_scapy
from nettests.capture.trace_files import Given, trace_captures
from nettests.cli.help import Command
from nettests.cli.options import (
    CHECKS,
    CLUSTER,
    IMAGES,
    CommonOptions,
    cluster_options,
    own_options,
)
from nettests.cli.output_options import json_option
from nettests.diagnose import Collected
from nettests.model.exit_code import ExitCode
from nettests.model.run_folder import DIAGNOSTICS_INDEX
from nettests.model.visible import one_line, plural
from nettests.report.trace_words import document, terminal_lines
from nettests.session.diagnose_now import Demand, collect_now
from nettests.session.process import require_posix
from nettests.session.trace_now import trace_now
from nettests.tracing.finding import Finding, Trace


@click.command(
    cls=Command,
    example="nettests trace pod-to-service-clusterip/windows-1/linux-1/other-node/tcp --kubeconfig ~/.kube/config",
)
@click.argument("check", required=False)
@cluster_options(CLUSTER, IMAGES, CHECKS)
@own_options("trace")
@json_option()
def trace(
    *,
    check: str | None,
    common: CommonOptions,
    captures: tuple[str, ...],
    port: int | None,
    token: str | None,
    service: str | None,
    backends: tuple[str, ...],
    vni: int | None,
    directory: Path,
    as_json: bool,
) -> None:
    """Find the hop at which a check's packets are lost, and why.

    Sends the request of CHECK again as a marked flow while the nodes on its way capture it: tcpdump on Linux nodes,
    pktmon on Windows nodes. With --pcap reads existing capture files instead. Exit code: 0 nothing wrong; 1 a finding; 6
    unsure.
    """
    if bool(check) == bool(captures):
        raise click.UsageError("name a CHECK, or captures with --pcap")
    require_scapy()
    if captures:
        given = Given(
            captures=captures, port=port, token=token, service=service, backends=backends, vni=vni
        )
        traced, page = trace_captures(given, directory)
        _tell(", ".join(captures), traced, page, as_json=as_json)
        return
    require_posix()
    flows = common.registry().flows
    with common.cluster() as options:
        done = trace_now(options, flows, check or "", directory, lambda _stage: None)
    for remark in done.remarks:
        terminal.line(remark, err=as_json)
    _tell(done.check, done.trace, done.page, as_json=as_json)


def _tell(title: str, traced: Trace, page: Path, *, as_json: bool) -> None:
    if as_json:
        terminal.document(document(traced, title=title, page=str(page)))
    else:
        terminal.line(title)
        for line in terminal_lines(traced):
            terminal.line(f"  {line}")
        terminal.line(f"page: {page}")
    if traced.finding is Finding.UNSURE:
        raise SystemExit(ExitCode.UNKNOWN)
    if traced.finding is not Finding.NOTHING_WRONG:
        raise SystemExit(ExitCode.TESTS_FAILED)


@click.command(
    cls=Command, example="nettests diagnose --kubeconfig ~/.kube/config --node=win-1 --hosts"
)
@cluster_options(CLUSTER, IMAGES, CHECKS)
@own_options("diagnose")
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
    require_posix()
    demand = Demand(checks=checks, nodes=node_names, run=run_id, hosts=hosts)
    flows = common.registry().flows
    with common.cluster() as options:
        answered = collect_now(options, flows, demand, directory)
    for collected in answered.collected:
        terminal.lines(_collected_lines(collected))
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
