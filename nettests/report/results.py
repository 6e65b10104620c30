"""A finished or aborted run as frozen values, read by every renderer.

``build`` creates it. It keeps the vocabulary of ``model``, including journal records, so that each
format chooses what to show.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nettests.model.check import Check
from nettests.model.check_id import member_of
from nettests.model.codec import to_data
from nettests.model.expectation import AppliedLimitation, Expectation
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import (
    NOT_STARTED,
    AcceptedFailure,
    Convergence,
    Diagnostics,
    Event,
    ManifestFile,
    UnusedLimitation,
)
from nettests.model.labels import document_version
from nettests.model.observation import Attempt, Observation, Pull, Raw
from nettests.model.verdict import ATTENTION
from nettests.model.words import OS, Outcome, Placement, Verdict
from nettests.parse.unread import Unread
from nettests.report.instruments import InstrumentRow
from nettests.report.rounds import Rounds

API_VERSION = document_version("v1")
"""The version of ``results.json``, changed with any change that readers must handle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """Who ran what, where and when.

    ``complete`` is false when the journal has no end: the run was killed. ``error`` is the sentence of
    a run that could not start.
    """

    run_id: str = ""
    started: str = ""
    finished: str = ""
    seconds: float | None = None
    nettests: str = ""
    context: str = ""
    server: str = ""
    cluster_profile: str | None = None
    argv: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    manifests: tuple[ManifestFile, ...] = ()
    exit_code: int | None = None
    complete: bool = False
    error: str | None = None
    requests: Mapping[str, int] = field(default_factory=dict)
    """Requests to the API server by verb and resource, the most frequent first."""
    stages: Mapping[str, float] = field(default_factory=dict)
    """Seconds per stage, in order."""

    @property
    def why_not_started(self) -> str:
        """Why the run could not start, in one line without the next step; empty if it did start."""
        first, *_ = (self.error or "").splitlines() or [""]
        return first.removeprefix(NOT_STARTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One planned check: what was tested, expected and observed, and the verdict.

    ``check`` is ``None`` for a check that never applied; ``message`` is then the reason. ``raws``
    is the evidence in the order written; ``diagnostics`` was collected around a failure.
    """

    id: str
    flow: str
    verdict: Verdict
    message: str
    suite: str = ""
    required: bool = False
    ran: bool = False
    check: Check | None = None
    expectation: Expectation | None = None
    observation: Observation | None = None
    expected: str = ""
    observed: str = ""
    next_step: str = ""
    limitation_id: str | None = None
    distrust: str = ""
    """Why the observation cannot be trusted, or why there is none."""
    raws: tuple[Raw, ...] = ()
    diagnostics: tuple[Diagnostics, ...] = ()
    accepted: AcceptedFailure | None = None
    """The baseline's entry that accepts this deviation; it does not change the verdict."""
    excused: bool = False
    """Whether the exit code ignores this deviation (``--fail-on new``)."""
    members: "tuple[CheckResult, ...]" = ()
    """All members, with ids of their own; only those that need attention keep evidence."""

    @property
    def planned(self) -> Check:
        """The check of a result that ran."""
        assert self.check is not None, "a check that never applied did not run"
        return self.check

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The attempts that were observed; none without an observation."""
        return self.observation.attempts if self.observation else ()

    @property
    def outcomes(self) -> frozenset[Outcome]:
        """The outcomes of the observation and of its attempts; none without an observation."""
        seen = self.observation
        return frozenset({seen.outcome, *(each.outcome for each in seen.attempts)} if seen else ())

    @property
    def label(self) -> str:
        """The name of a member within its check: its node, or its pair of nodes."""
        return member_of(self.id)

    @property
    def deviating(self) -> "tuple[CheckResult, ...]":
        """The members that need attention, most urgent first."""
        return tuple(
            member for verdict in ATTENTION for member in self.members if member.verdict is verdict
        )

    @property
    def limitation(self) -> AppliedLimitation | None:
        """The documented limitation that decided the expected outcome."""
        return self.expectation.limitation if self.expectation else None


def run_singly(checks: Iterable[CheckResult]) -> Iterator[CheckResult]:
    """Yield what was run by itself: members of checks that have them, and other checks."""
    for check in checks:
        yield from check.members or (check,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How many checks were planned, ran, were skipped, and were planned but never judged."""

    due: int
    ran: int
    skipped: int
    not_judged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A node that no check exercised, and why."""

    node: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExercisedNodes:
    """Nodes of one OS: ``exercised`` at either end, ``sources`` those from which checks ran."""

    os: OS
    total: int
    exercised: tuple[str, ...]
    sources: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExercisedPairs:
    """Ordered pairs of different nodes from one OS to another: how many of the possible ones."""

    source: OS
    target: OS
    exercised: int
    possible: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExercisedKind:
    """One kind of check: how many nodes, or with ``pairs`` node pairs, it covered."""

    kind: str
    pairs: bool
    exercised: int
    possible: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercised:
    """Nodes that a run exercised, Windows first; empty without facts. ``kinds`` were planned."""

    nodes: tuple[ExercisedNodes, ...] = ()
    pairs: tuple[ExercisedPairs, ...] = ()
    kinds: tuple[ExercisedKind, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether every node and ordered node pair was exercised."""
        return not any(node.left_out for node in self.nodes) and all(
            pair.exercised == pair.possible for pair in self.pairs
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Seconds: median, 99th percentile and worst of ``answers`` answers."""

    flow: str
    node: str
    answers: int
    median: float
    p99: float
    worst: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPace:
    """Latency and throughput between Pods of two OSes, on the same node or not.

    ``median`` and ``p99`` are seconds of ``answers`` answers to short requests by address;
    ``mib_per_second`` is the median of ``transfers`` transfers of 1 MiB, ``None`` without any.
    """

    source_os: OS
    target_os: OS
    placement: Placement
    answers: int
    median: float
    p99: float
    transfers: int = 0
    mib_per_second: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedLimitation:
    """A limitation that decided checks of this run, with their ids by verdict."""

    limitation: AppliedLimitation
    checks: Mapping[Verdict, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One cause that explains red checks and that no green check contradicts.

    ``traits`` are what the checks share, by kind; ``checks`` are ids in plan order. A check that no
    cause explains is an incident of its own, in its own words, with ``explained`` false.
    """

    cause: str
    traits: Mapping[str, str]
    checks: tuple[str, ...]
    next_step: str
    explained: bool = True
    members: tuple[str, ...] = ()
    """Ids of the members, in checks that have them, whose failure the incident explains."""

    @property
    def places(self) -> str:
        """At how many nodes or pairs its members are, each counted once, whichever checks have it; empty without any."""
        count = len({member_of(member) for member in self.members})
        return (
            f"{count} nodes or pairs of nodes" if count > 1 else "1 node or pair of nodes" * count
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """One run. ``checks`` is in plan order, with checks that never applied last."""

    run: RunInfo
    facts: ClusterFacts | None = None
    facts_digest: str | None = None
    counts: Mapping[Verdict, int] = field(default_factory=dict)
    coverage: Coverage
    exercised: Exercised = Exercised()
    """The nodes and node pairs that the run exercised."""
    checks: tuple[CheckResult, ...] = ()
    incidents: tuple[Incident, ...] = ()
    """What is wrong, by cause: those that explain most first, unexplained checks last."""
    limitations_used: tuple[UsedLimitation, ...] = ()
    limitations_unused: tuple[UnusedLimitation, ...] = ()
    pulls: tuple[Pull, ...] = ()
    """Images that were pulled onto nodes before the first probe ran."""
    convergence: tuple[Convergence, ...] = ()
    latencies: tuple[Latency, ...] = ()
    paths: tuple[PathPace, ...] = ()
    rounds: Rounds | None = None
    """Totals of a watch; ``None`` for a run."""
    events: tuple[Event, ...] = ()
    diagnostics: tuple[Diagnostics, ...] = ()
    instruments: tuple[InstrumentRow, ...] = ()
    """What instruments made of known questions, answers not understood first."""
    unread: tuple[Unread, ...] = ()
    """Tool output that no parser understands, that of most checks first."""


_RUN = frozenset(
    {
        *("context", "denied", "namespace", "origin", "pod_security", "privileged"),
        *("fleet", "runtime_classes", "scale"),
    }
)
"""Facts about the identity, its permissions and where it ran, not about the network."""

_NODE = frozenset(
    {
        *("name", "addresses", "pod_cidrs", "ready", "schedulable", "hostname", "left_out"),
        *("empty", "zone"),
    }
)
"""Facts about one machine, which autoscaling or reimaging changes; node pool and member stay."""


def facts_digest(facts: ClusterFacts) -> str:
    """Return ``sha256:…`` over the canonical JSON (sorted keys, no blanks) of the lasting facts."""
    data = to_data(facts)
    data["nodes"] = [
        {key: value for key, value in node.items() if key not in _NODE} for node in data["nodes"]
    ]
    text = json.dumps(_lasting(data), sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lasting(part) for key, part in value.items() if key not in _RUN}
    if isinstance(value, list | tuple):
        return [_lasting(part) for part in value]
    return value
