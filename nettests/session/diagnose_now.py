"""Collect diagnostics of a cluster without a run, for ``nettests diagnose``.

Reads only, unless tools on nodes are requested: then a Pod runs on each chosen node, in a namespace
of its own, and is removed again.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nettests.diagnose import Collected, subjects_of
from nettests.diagnose.subjects import DNS, NODE, Subject, Wanted
from nettests.errors import PlanError
from nettests.model.check import Plan, ProbePod
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.nearest import nearest
from nettests.model.words import OS
from nettests.plan import Flow
from nettests.plan.node_pools import host_probe, unusable
from nettests.private import require_writable
from nettests.session.deploying import standing_for_a_while
from nettests.session.diagnosis import Diagnosis, host_pods
from nettests.session.prepare import Prepared, prepare
from nettests.session.run_options import RunOptions

NOT_TESTED = "it was not requested: --hosts puts a Pod on the node for it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What to diagnose: ``checks`` by id, ``nodes`` by name; by default all nodes and cluster DNS.

    ``run`` names a run whose objects were kept; ``hosts`` runs tools on the nodes as well.
    """

    checks: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    run: str | None = None
    hosts: bool = False


@dataclass(slots=True, kw_only=True)
class Answered:
    """What was collected, which subjects exceeded the limit, and remarks for people."""

    collected: tuple[Collected, ...] = ()
    left_out: tuple[Subject, ...] = ()
    remarks: list[str] = field(default_factory=list)


def collect_now(
    options: RunOptions,
    flows: Sequence[Flow],
    demand: Demand,
    directory: Path,
    on_progress: Callable[[str, int, int], None] = lambda *_: None,
) -> Answered:
    """Diagnose a cluster and write the diagnostics into ``directory``."""
    require_writable(directory)
    prepared = prepare(options, flows)
    try:
        facts, plan = prepared.blueprint.facts, prepared.blueprint.plan
        wanted = _wanted(demand, facts, plan)
        limit = prepared.profile.diagnostics.subjects
        answered = Answered(left_out=tuple(request.subject for request in wanted[limit:]))
        with _hosts(prepared, demand, wanted[:limit], answered) as (namespace, hosts):
            answered.collected = Diagnosis(
                connection=prepared.connection,
                facts=facts,
                plan=plan,
                namespace=namespace,
                profile=prepared.profile,
                directory=directory,
                hosts=hosts,
                absent="; ".join(answered.remarks) or NOT_TESTED,
                on_progress=lambda done, total: on_progress("diagnose", done, total),
            ).collect(tuple(wanted[:limit]), answered.left_out)
    finally:
        prepared.connection.close()
    return answered


def _wanted(demand: Demand, facts: ClusterFacts, plan: Plan) -> list[Wanted]:
    """Return the requested subjects; Services and Pods exist only if a run was kept."""
    # A check concerns the nodes of all its members; a member, by its own id, only its own.
    checks = {check.id: check.each for check in plan.checks}
    checks |= {member.id: (member,) for member in plan.each}
    checks_of: dict[Subject, list[str]] = {}
    for name in demand.nodes:
        if name not in {node.name for node in facts.nodes}:
            node_names = [node.name for node in facts.nodes]
            raise PlanError(f"the cluster has no node {name!r}", hint=nearest(name, node_names))
        checks_of[Subject(NODE, name)] = []
    for name in demand.checks:
        if name not in checks:
            raise PlanError(f"this cluster has no check {name!r}", hint=nearest(name, [*checks]))
        subjects = (subject for member in checks[name] for subject in subjects_of(member, plan))
        for subject in dict.fromkeys(subjects):
            if demand.run or subject.kind in {NODE, DNS}:
                checks_of.setdefault(subject, []).append(name)
    if not checks_of:
        checks_of = {Subject(NODE, node.name): [] for node in facts.nodes}
        checks_of[Subject(DNS, "kube-dns")] = []
    return [Wanted(subject=subject, checks=tuple(names)) for subject, names in checks_of.items()]


@contextmanager
def _hosts(
    prepared: Prepared, demand: Demand, wanted: Sequence[Wanted], answered: Answered
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the namespace to read, and the Pods in the host network by node, for the block."""
    facts, plan = prepared.blueprint.facts, prepared.blueprint.plan
    if demand.run:
        yield facts.namespace or f"nettests-{demand.run}", host_pods(plan)
        return
    nodes = [facts.node(request.subject.name) for request in wanted if request.subject.kind == NODE]
    pods = tuple(_pod(node) for node in nodes if _may_stand_on(node)) if demand.hosts else ()
    if not pods:
        yield facts.namespace or "default", {}
        return
    deployed = Plan(checks=(), skips=(), pods=pods, services=())
    with standing_for_a_while(prepared, deployed, answered.remarks) as standing:
        if standing is None:
            yield facts.namespace or "default", {}
            return
        names = {pod.node: name for name, pod in standing.deployment.pods.items()}
        yield standing.blank.namespace, names


def _may_stand_on(node: NodeFacts) -> bool:
    return not unusable(node) and (node.os is OS.LINUX or node.host_process.value is True)


def _pod(node: NodeFacts) -> ProbePod:
    name = host_probe(node)
    return ProbePod(name=name, purpose="node", node=node.name, os=node.os, pool=node.pool)
