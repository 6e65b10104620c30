"""Collect diagnostics of failing checks into the run's folder, while the run's objects still exist.

After observation and before clean-up. ``watch`` knows what failed even if the tests have not taken their verdicts
yet. A run without failures collects nothing.

For ``nettests diagnose``. Reads only, unless the nodes' own tools are requested: then one Pod runs on each chosen
node, in a namespace of its own, and is removed again.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from nettests.cluster import Connection
from nettests.cluster.access import Access
from nettests.diagnose import Collected, Collector, Reader, chosen, index, subjects_of
from nettests.diagnose.folder import write_below
from nettests.diagnose.subjects import DNS, NODE, Subject, Wanted
from nettests.errors import PlanError
from nettests.model.channel import ExecChannel
from nettests.model.check import Check, Plan, ProbePod
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.journal_records import Diagnostics, DiagnosticsItem
from nettests.model.nearest import nearest
from nettests.model.run_folder import DIAGNOSTICS, DIAGNOSTICS_INDEX
from nettests.model.words import OS, Verdict
from nettests.plan import Flow
from nettests.plan.node_pools import host_probe, unusable
from nettests.probes.rerun import TOOL_HANGS_SECONDS, Rerunning
from nettests.redaction import Redactor
from nettests.session.for_a_while import standing_for_a_while
from nettests.session.journal import Journal
from nettests.session.prepare import Prepared, prepare
from nettests.session.report_dir import require_writable
from nettests.session.run_options import RunOptions

Failing = Sequence[tuple[Check, Verdict]]
"""Checks, or members, that do not leave a run green, in the plan's order."""


@dataclass(slots=True, kw_only=True)
class Hosts:
    """Channels to nodes' own tools: the Pods that stand for nodes, by node; ``absent`` says why there is none."""

    access: Access
    facts: ClusterFacts
    namespace: str
    pods: Mapping[str, str]
    absent: str

    def why_closed(self, node: str) -> str:
        """Return why a node's own tools cannot be run, or nothing."""
        return "" if node in self.pods else self.absent

    def open(self, node: str) -> ExecChannel:
        """Return the channel to a node's own tools."""
        opened = self.access.open_exec(
            self.namespace,
            self.pods[node],
            "node",
            node=node,
            os=self.facts.node(node).os,
        )
        return Rerunning(channel=opened, beyond=TOOL_HANGS_SECONDS)


def host_pods(plan: Plan) -> dict[str, str]:
    """Return the Pods of a plan that stand for nodes, by node."""
    return {pod.node: pod.name for pod in plan.pods if pod.purpose == "node" and not pod.dns_policy}


@dataclass(slots=True, kw_only=True)
class Diagnosis:
    """Collects for one run. ``ended`` breaks it off; ``absent`` says why no Pod stands for some node."""

    connection: Connection
    facts: ClusterFacts
    plan: Plan
    namespace: str
    profile: ClusterProfile
    directory: Path
    """The folder that the diagnostics stand in."""
    hosts: Mapping[str, str]
    absent: str
    ended: Callable[[], bool] = lambda: False
    on_progress: Callable[[int, int], None] = lambda *_: None

    def collect(
        self, wanted: tuple[Wanted, ...], left_out: tuple[Subject, ...] = ()
    ) -> tuple[Collected, ...]:
        """Collect subjects and write the folder's page."""
        limits = self.profile.diagnostics
        access = Access(self.connection)
        hosts = Hosts(
            access=access,
            facts=self.facts,
            namespace=self.namespace,
            pods=self.hosts,
            absent=self.absent,
        )
        reader = Reader(
            api=access,
            facts=self.facts,
            namespace=self.namespace,
            redactor=Redactor(),
            open_exec=hosts.open,
            why_closed=hosts.why_closed,
            seconds=min(self.profile.timing.execute, limits.seconds),
            log_lines=limits.log_lines,
            log_bytes=4 * limits.item_bytes,
        )
        collected = Collector(
            reader=reader,
            directory=self.directory,
            limits=limits,
            ended=self.ended,
            on_progress=self.on_progress,
        ).run(wanted)
        page = index(collected, left_out).encode()
        write_below(self.directory, [DIAGNOSTICS_INDEX], page)
        return collected


def diagnose_failures(diagnosis: Diagnosis, journal: Journal, failing: Failing) -> None:
    """Collect what lies around the failing checks, and record in the journal what was collected."""
    limit = diagnosis.profile.diagnostics.subjects
    red = failing if limit else ()
    if not red:
        return
    began = time.monotonic()
    wanted, left_out = chosen(red, diagnosis.plan, limit)
    for collected in diagnosis.collect(wanted, left_out):
        journal.write(
            Diagnostics(
                subject=str(collected.subject),
                folder=f"{DIAGNOSTICS}/{collected.subject.folder}",
                checks=collected.checks,
                items=tuple(DiagnosticsItem(**asdict(item)) for item in collected.items),
            )
        )
    spent = time.monotonic() - began
    more = f"; left out: {', '.join(map(str, left_out))}" if left_out else ""
    journal.event(
        f"diagnostics of {len(wanted)} subjects for {len(red)} failing checks, in {spent:.1f} s{more}"
    )


NOT_TESTED = "it was not requested: --hosts puts a Pod on the node for it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What to look at: ``checks`` by id, ``nodes`` by name; neither means all nodes and the cluster's DNS.

    ``run`` names a run whose objects were kept; ``hosts`` tests the nodes' own tools as well.
    """

    checks: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    run: str | None = None
    hosts: bool = False


@dataclass(slots=True, kw_only=True)
class Answered:
    """What was collected, what was left out for the bound, and remarks for people."""

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
    """Look at a cluster and write what is found into ``directory``."""
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
    """Return the subjects that are requested; Services and Pods stand only where a run was kept."""
    # A check of the fleet is about the nodes of all its members; one member, by its own id, about its own.
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
    """Give the namespace to read, and the Pods that stand for nodes there, for the time of the block."""
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
    return ProbePod(
        name=host_probe(node),
        purpose="node",
        node=node.name,
        os=node.os,
        pool=node.pool,
    )
