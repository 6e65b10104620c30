"""Collect what lies around failing checks while the run's objects still stand, into the run's folder.

After observation and before clean-up. ``Watch`` judges each check when it is done, in the process that observes;
the tests, which may be behind, decide what is reported. A clean run collects nothing.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nettests.cluster import Connection
from nettests.cluster.access import Access
from nettests.diagnose import Collected, Collector, Reader, chosen, index
from nettests.diagnose.folder import write_below
from nettests.diagnose.subjects import Subject, Wanted
from nettests.judge import judge
from nettests.model.channel import ExecChannel
from nettests.model.check import Check, Plan
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts
from nettests.model.observation import Raw
from nettests.model.profile import ClusterProfile
from nettests.model.verdict import ATTENTION
from nettests.model.words import OS, Verdict
from nettests.parse.resent import Carried, resent
from nettests.probes.asking import STOPPED
from nettests.probes.objects import INSPECTOR
from nettests.redaction import Redactor
from nettests.session.journal import Finished, Journal
from nettests.session.known import Known
from nettests.session.node_watch import NodeWatch
from nettests.session.observed import observed

FOLDER = "diagnostics"
INDEX = "index.md"


@dataclass(slots=True, kw_only=True)
class Hosts:
    """Channels to nodes' own tools: the Pods that stand for nodes, by node; ``absent`` says why there is none."""

    access: Access
    facts: ClusterFacts
    namespace: str
    pods: Mapping[str, str]
    inspected: frozenset[str]
    profile: ClusterProfile
    absent: str

    def why_closed(self, node: str) -> str:
        """Return why a node's own tools cannot be asked, or nothing."""
        return "" if node in self.pods else self.absent

    def open(self, node: str) -> ExecChannel:
        """Return the channel to a node's own tools: HNS answers administrators only."""
        windows = self.facts.node(node).os is OS.WINDOWS
        timing = self.profile.timing
        return self.access.open_exec(
            self.namespace,
            self.pods[node],
            INSPECTOR if windows and self.pods[node] in self.inspected else "node",
            node=node,
            at_once=timing.exec_windows if windows else timing.exec_linux,
        )


def redactor_of(profile: ClusterProfile, connection: Connection) -> Redactor:
    """Return a redactor that knows the secrets which the harness itself holds, those to come included."""
    known = Known()
    known.profile(profile)
    known.learn(connection.secrets)
    return known.redactor


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
    inspected: frozenset[str]
    """Those of ``hosts`` that have a container which HNS answers."""
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
            inspected=self.inspected,
            profile=self.profile,
            absent=self.absent,
        )
        reader = Reader(
            api=access,
            facts=self.facts,
            namespace=self.namespace,
            redactor=redactor_of(self.profile, self.connection),
            open_exec=hosts.open,
            why_closed=hosts.why_closed,
            seconds=min(self.profile.timing.execute, limits.seconds),
            log_lines=limits.log_lines,
            log_bytes=4 * limits.item_bytes,
        )
        found = Collector(
            reader=reader,
            directory=self.directory,
            limits=limits,
            ended=self.ended,
            on_progress=self.on_progress,
        ).run(wanted)
        page = index(found, left_out).encode()
        write_below(self.directory, [INDEX], page)
        return found


@dataclass(slots=True, kw_only=True)
class Watch:
    """Writes to the journal for the probes, and judges each check when it is done, as its test will.

    So the process that observes knows what failed while the objects still stand, whenever the tests get there.
    """

    journal: Journal
    plan: Plan
    expectations: Mapping[str, Expectation]
    nodes_of: Callable[[Check], Collection[str]] = lambda _check: ()
    """The nodes that a check depends on."""
    nodes: NodeWatch | None = None
    _raws: defaultdict[str, list[Raw]] = field(default_factory=lambda: defaultdict(list))
    _carried: defaultdict[tuple[str, str], list[Carried]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """By probe and channel, when it was asked what: what is slow while others are not was lost on its way."""
    _failing: dict[str, Verdict] = field(default_factory=dict)
    _checks: dict[str, Check] = field(init=False)

    def __post_init__(self) -> None:
        self._checks = {check.id: check for check in self.plan.checks}

    def raw(self, raw: Raw) -> None:
        """Write one question and its answer."""
        self._raws[raw.check].append(self.journal.raw(raw))
        if raw.error is None:
            self._carried[raw.probe, raw.channel].append(Carried(raw.started, raw.elapsed))

    def done(
        self,
        check: str,
        *,
        distrust: str | None = None,
        skip: str | None = None,
        late: str | None = None,
    ) -> None:
        """Write that a check was asked to the end, and judge it; a stopped one is nobody's failure."""
        raws = tuple(self._raws.pop(check, ()))
        again = self._resent(check, raws)
        if skip is None and not (distrust or "").startswith(STOPPED):
            finished = Finished(check=check, raws=raws, distrust=distrust, late=late, resent=again)
            verdict = self._verdict(finished)
            if why := self._unready(finished, verdict):
                distrust = f"{why}; {distrust}" if distrust else why
                verdict = Verdict.UNKNOWN
            self._failing[check] = verdict
        self.journal.done(check, distrust=distrust, skip=skip, late=late, resent=again)

    def _resent(self, check: str, raws: Sequence[Raw]) -> str | None:
        """Say which answer came only after a packet was sent again, by what the same channel carried meanwhile."""
        own = [raw for raw in raws if raw.purpose == "check"]
        if not own or check not in self._checks:
            return None
        others = tuple(self._carried[own[-1].probe, own[-1].channel])
        return resent(self._checks[check], own, others)

    def event(self, text: str) -> None:
        """Write what happened to the run as a whole."""
        self.journal.event(text)

    def convergence(self, *, service: str, probe: str, seconds: float, converged: bool) -> None:
        """Write how long a Service took to answer ``probe``."""
        self.journal.convergence(service=service, probe=probe, seconds=seconds, converged=converged)

    def failing(self) -> list[tuple[Check, Verdict]]:
        """Return the checks that do not leave the run green, in the plan's order."""
        verdicts = dict(self._failing)
        return [
            (check, verdicts[check.id])
            for check in self.plan.checks
            if verdicts.get(check.id) in ATTENTION
        ]

    def _unready(self, finished: Finished, verdict: Verdict) -> str:
        """Return which node was not Ready while a check was asked that did not simply pass, or nothing.

        An answer that was to come and came is one, whatever the API says of the node.
        """
        if self.nodes is None or verdict is Verdict.PASS:
            return ""
        # A Service is waited for before its checks are asked.
        asked = () if finished.late else finished.raws
        since = min((raw.started for raw in asked), default=0.0)
        concerned = self.nodes_of(self._checks[finished.check])
        return self.nodes.why_unready(concerned, since, fresh=verdict in ATTENTION)

    def _verdict(self, finished: Finished) -> Verdict:
        check = self._checks[finished.check]
        return judge(check, self.expectations[check.id], observed(check, finished)).verdict


def diagnose_failures(diagnosis: Diagnosis, watch: Watch) -> None:
    """Collect what lies around the failing checks, and record in the journal what was collected."""
    journal, limit = watch.journal, diagnosis.profile.diagnostics.subjects
    red = watch.failing() if limit else []
    if not red:
        return
    began = time.monotonic()
    wanted, left_out = chosen(red, diagnosis.plan, limit)
    for one in diagnosis.collect(wanted, left_out):
        journal.write(
            "diagnostics",
            subject=str(one.subject),
            folder=f"{FOLDER}/{one.subject.folder}",
            checks=one.checks,
            items=one.items,
        )
    spent = time.monotonic() - began
    more = f"; left out: {', '.join(map(str, left_out))}" if left_out else ""
    journal.event(
        f"diagnostics of {len(wanted)} subjects for {len(red)} failing checks, in {spent:.1f} s{more}"
    )
