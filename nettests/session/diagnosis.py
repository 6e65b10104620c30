"""Collect diagnostics of failing checks into the run's folder, while the run's objects still exist.

Runs after observation and before clean-up. ``judging`` knows what failed even if no test has read its
verdict yet. A run without failures collects nothing.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from nettests.cluster import Connection
from nettests.cluster.access import Access
from nettests.diagnose import Collected, Collector, Reader, chosen, index
from nettests.diagnose.folder import write_below
from nettests.diagnose.subjects import Subject, Wanted
from nettests.model.channel import ExecChannel
from nettests.model.check import Check, Plan
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import Diagnostics, DiagnosticsItem
from nettests.model.run_folder import DIAGNOSTICS, DIAGNOSTICS_INDEX
from nettests.model.words import Verdict
from nettests.probes.rerun import TOOL_HANGS_SECONDS, Rerunning
from nettests.redaction import Redactor
from nettests.session.journal import Journal
from nettests.session.prepare import Prepared
from nettests.session.run_state import RunState

Failing = Sequence[tuple[Check, Verdict]]
"""Checks, or members, that leave a run red or unknown, in the plan's order."""


@dataclass(slots=True, kw_only=True)
class Hosts:
    """Exec channels to the Pods in nodes' host network; ``absent`` says why a node has none."""

    access: Access
    facts: ClusterFacts
    namespace: str
    pods: Mapping[str, str]
    absent: str

    def why_closed(self, node: str) -> str:
        """Return why tools cannot be run on a node, or nothing."""
        return "" if node in self.pods else self.absent

    def open(self, node: str) -> ExecChannel:
        """Return the channel that runs tools on a node."""
        opened = self.access.open_exec(
            self.namespace,
            self.pods[node],
            "node",
            node=node,
            os=self.facts.node(node).os,
        )
        return Rerunning(channel=opened, beyond=TOOL_HANGS_SECONDS)


def host_pods(plan: Plan) -> dict[str, str]:
    """Return the names of a plan's Pods in the host network, by node."""
    return {pod.node: pod.name for pod in plan.pods if pod.purpose == "node" and not pod.dns_policy}


@dataclass(slots=True, kw_only=True)
class Diagnosis:
    """Collects for one run until ``ended``; ``absent`` says why a node has no Pod for its tools."""

    connection: Connection
    facts: ClusterFacts
    plan: Plan
    namespace: str
    profile: ClusterProfile
    directory: Path
    """The folder of the diagnostics."""
    hosts: Mapping[str, str]
    absent: str
    ended: Callable[[], bool] = lambda: False
    on_progress: Callable[[int, int], None] = lambda *_: None

    def collect(
        self, wanted: tuple[Wanted, ...], left_out: tuple[Subject, ...] = ()
    ) -> tuple[Collected, ...]:
        """Collect diagnostics of subjects and write the folder's index page."""
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


def diagnose_run(
    prepared: Prepared,
    plan: Plan,
    failing: Failing,
    *,
    facts: ClusterFacts,
    namespace: str,
    state: RunState,
    journal: Journal,
) -> None:
    """Collect diagnostics of failing checks while the run's objects exist; never fails a run."""
    state.stages.begin("diagnose")
    diagnosis = Diagnosis(
        connection=prepared.connection,
        facts=facts,
        plan=plan,
        namespace=namespace,
        profile=prepared.profile,
        directory=prepared.directory / DIAGNOSTICS,
        hosts=host_pods(plan),
        absent="no Pod of this run stands for the node: no check of it ran from there",
        ended=state.broken_off.is_set,
        on_progress=lambda done, total: state.tell("diagnose", done, total),
    )
    try:
        _diagnose_failures(diagnosis, journal, failing)
    except Exception as error:  # noqa: BLE001 - the run is valid without diagnostics
        journal.event(f"no diagnostics: {type(error).__name__}: {error}")


def _diagnose_failures(diagnosis: Diagnosis, journal: Journal, failing: Failing) -> None:
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
