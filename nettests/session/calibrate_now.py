"""Calibrate every instrument on one node of each kind, without a run.

For ``nettests calibrate``: for a first user, the step after preflight. Deploys a Pod in the pod
network and one in the host network of each chosen node, runs all known questions there, and removes
them; the journal has facts and answers, and nothing is judged.
"""

import threading
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from nettests import probes
from nettests.model.calibration import Instrument
from nettests.model.check import Plan, ProbePod
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.journal_records import Discovered
from nettests.model.run_folder import JOURNAL
from nettests.model.words import OS, Question
from nettests.plan import Flow
from nettests.plan.least_privilege import pinging_pods
from nettests.plan.node_pools import host_probe, node_vantage, pod_vantage, probe, unusable
from nettests.private import require_writable
from nettests.report.instruments import instrument_rows
from nettests.session.calibrate_local import CalibratedNow, folder_of
from nettests.session.deploying import Standing, standing_for_a_while
from nettests.session.journal import Journal
from nettests.session.observing import Calibrating
from nettests.session.prepare import Prepared, prepare
from nettests.session.report_dir import write_head
from nettests.session.run_options import RunOptions


def calibrate_now(options: RunOptions, flows: Iterable[Flow]) -> CalibratedNow:
    """Calibrate a cluster, and write the journal into a folder below ``report_dir``."""
    require_writable(options.report_dir)
    prepared = prepare(options, flows)
    folder = folder_of(options.report_dir, prepared.run_id)
    try:
        with Journal(folder / JOURNAL) as journal:
            calibrated = _in_cluster(prepared, journal, folder)
            journal.end(exit_code=calibrated.exit_code, counts={})
    finally:
        prepared.connection.close()
    return calibrated.bundled()


def _in_cluster(prepared: Prepared, journal: Journal, folder: Path) -> CalibratedNow:
    connection, blueprint = prepared.connection, prepared.blueprint
    write_head(
        journal,
        prepared.options,
        prepared.run_id,
        context=connection.context,
        server=connection.server,
        digests=blueprint.digests,
    )
    journal.write(Discovered(facts=blueprint.facts))
    plan, remarks = _plan(blueprint.plan, blueprint.facts), list[str]()
    calibrating = Calibrating(
        write=journal.write, timing=prepared.profile.timing, stopped=threading.Event()
    )
    if plan.pods:
        with standing_for_a_while(prepared, plan, remarks) as standing:
            if standing is not None:
                _ask(calibrating, standing, prepared, journal, pinging_pods(plan))
    else:
        remarks.append("no node can be used: each is cordoned, not Ready or left out")
    for remark in remarks:
        journal.event(remark)
    rows = instrument_rows(calibrating.made)
    return CalibratedNow(folder=folder, rows=rows, remarks=tuple(remarks))


def _ask(
    calibrating: Calibrating,
    standing: Standing,
    prepared: Prepared,
    journal: Journal,
    pinging: Collection[str],
) -> None:
    """Calibrate the deployed Pods and wait for the answers; only Pods in ``pinging`` ping."""
    facts, deployment = prepared.blueprint.facts, standing.deployment
    opened, _ = probes.open_probes(
        standing.access, deployment, facts, prepared.profile.timing, journal
    )
    try:
        places = []
        for name in opened:
            pod = deployment.pods[name]
            node = facts.node(pod.node)
            vantage = node_vantage(node) if pod.purpose == "node" else pod_vantage(node)
            every = probes.every_instrument(node.os, vantage.kind)
            if node.os is OS.LINUX and name not in pinging:
                every -= {Instrument.PING}
            places.append(probes.place_of(name, node, vantage.kind, every, facts))
        calibrating.begin(places, opened)
        calibrating.wait()
    finally:
        probes.close_probes(opened)


def _plan(plan: Plan, facts: ClusterFacts) -> Plan:
    """Return the Pods to deploy, with the checks by which they get the rights to ping."""
    nodes = tuple(_one_of_each_kind(plan, facts))
    pods = tuple(pod for node in nodes for pod in _pods(node))
    names = {pod.name for pod in pods}
    pinging = tuple(
        check
        for check in plan.each
        if check.action.question is Question.PING and check.source.probe in names
    )
    return Plan(checks=pinging, skips=(), pods=pods, services=())


def _one_of_each_kind(plan: Plan, facts: ClusterFacts) -> Iterator[NodeFacts]:
    """Yield a usable node of each system, build, runtime and image, preferably one with checks."""
    sources = {check.source.node for check in plan.each}
    chosen: dict[tuple[object, ...], NodeFacts] = {}
    for node in sorted(facts.nodes, key=lambda node: node.name not in sources):
        if not unusable(node):
            chosen.setdefault((node.os, node.build.value, node.runtime.value, node.os_image), node)
    yield from chosen.values()


def _pods(node: NodeFacts) -> Iterator[ProbePod]:
    names = {"probe": probe(node)}
    if node.os is OS.LINUX or node.host_process.value is True:
        names["node"] = host_probe(node)
    for purpose, name in names.items():
        yield ProbePod(name=name, purpose=purpose, node=node.name, os=node.os, pool=node.pool)
