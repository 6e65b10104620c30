"""A recorded run: check × member → verdict, expectation, facts, as frozen values.

``reading`` builds it from ``results.json``, in the document's shape except for members. Evidence
(attempts, controls, raw answers) is left out: a difference links to both reports.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from nettests.model.expectation import AppliedLimitation
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import Convergence
from nettests.model.observation import Pull
from nettests.model.verdict import DEVIATING, MERGE_ORDER
from nettests.model.words import OS, Verdict
from nettests.report.results import Coverage, Incident, Latency, PathPace, RunInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The source or target of a check; ``role`` is its node pool, as the document names it."""

    kind: str | None = None
    role: str | None = None
    os: OS | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expecting:
    """The expectation; without ``outcome`` the documents leave it open, or it is ``undecided``."""

    outcome: str | None = None
    alternatives: tuple[str, ...] = ()
    source_seen: str | None = None
    distribution: str | None = None
    claim: str | None = None
    undecided: str | None = None
    text: str = ""

    @property
    def open(self) -> bool:
        """Whether any outcome is accepted."""
        return self.outcome is None and self.undecided is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was observed."""

    outcome: str | None = None
    source_seen: str | None = None
    distribution: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """The result of one member of a check, and the limitation that decided its expectation."""

    verdict: Verdict
    limitation: str | None = None
    message: str = ""


Members = Mapping[str, Member]
"""Members by their labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCheck:
    """One planned check; ``message`` is the reason if it was skipped."""

    id: str
    flow: str
    verdict: Verdict
    message: str = ""
    next_step: str = ""
    source: End = End()
    target: End = End()
    expected: Expecting = Expecting()
    observed: Seen = Seen()
    limitation: AppliedLimitation | None = None
    members: Mapping[str, Member] = field(default_factory=dict)

    @property
    def standing(self) -> Verdict:
        """Its verdict; if that is not a deviation, the worst of its deviating members', if any."""
        if self.verdict in DEVIATING:
            return self.verdict
        of_members = set(self.deviating_members.values())
        return next((verdict for verdict in MERGE_ORDER if verdict in of_members), self.verdict)

    @property
    def deviating_members(self) -> dict[str, Verdict]:
        """The members that deviate, with their verdicts."""
        return {
            label: member.verdict
            for label, member in self.members.items()
            if member.verdict in DEVIATING
        }

    @property
    def limitation_id(self) -> str | None:
        """The limitation that decided the expectation."""
        return self.limitation.id if self.limitation else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """One run. ``facts`` is ``None`` if it could not start."""

    run: RunInfo
    coverage: Coverage
    counts: Mapping[Verdict, int] = field(default_factory=dict)
    checks: tuple[RecordedCheck, ...] = ()
    incidents: tuple[Incident, ...] = ()
    pulls: tuple[Pull, ...] = ()
    convergence: tuple[Convergence, ...] = ()
    latencies: tuple[Latency, ...] = ()
    paths: tuple[PathPace, ...] = ()
    facts: ClusterFacts | None = None

    @property
    def by_id(self) -> dict[str, RecordedCheck]:
        """Its checks by their ids."""
        return {check.id: check for check in self.checks}


def cluster_of(run: RecordedRun) -> str:
    """Return the name of a run's cluster: ``api.staging:6443``, ``context kind-a at this machine``.

    Facts do not identify a cluster (decision 0054), so the API server's host and port do, or, if
    that is this machine (tunnels and labs, whose ports change), the kubeconfig's context.
    """
    return cluster_name(run.run.server, run.run.context)


def cluster_name(server: str, context: str) -> str:
    """Return the same by the API server's address and the kubeconfig's context."""
    host, port = _address(server)
    if is_this_machine(server):
        return f"context {context or 'of no name'} at this machine"
    return f"{host}:{port}" if port else host


def is_this_machine(server: str) -> bool:
    """Whether an API server's address is loopback (tunnel, lab): it identifies no cluster."""
    host = _address(server)[0]
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host in {"", "localhost"}


def host_of(server: str) -> str:
    """Return the host of an API server's address, without the port, which tunnels change."""
    return _address(server)[0]


def _address(server: str) -> tuple[str, str]:
    # samples: "https://api.staging.test:6443", "https://[::1]:35035"
    try:
        parts = urlsplit(server)
        return parts.hostname or server, str(parts.port or "")
    except ValueError:
        return server, ""
