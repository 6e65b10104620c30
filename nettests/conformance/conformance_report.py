"""A conformance report as frozen values, read by every renderer and by ``verification``.

Created by ``assessment``. It is published: it names node pools, versions and check ids, but no
node, address, context or server.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from nettests.conformance.vendor_profile import Implementation, Level
from nettests.expect.condition import Truth
from nettests.model.words import Verdict


class Result(StrEnum):
    """The result of a claim, in the words of gateway-api's reports."""

    SUCCESS = "success"
    """All of it ran and is as claimed, or as a shipped limitation documents."""
    PARTIAL = "partial"
    """Nothing failed, and not all was shown."""
    FAILURE = "failure"
    """A check of it deviates."""


WORST_FIRST = (Result.FAILURE, Result.PARTIAL, Result.SUCCESS)


class Gap(StrEnum):
    """Why a part of a claim was not shown; any of them makes a feature ``partial``."""

    NOT_PLANNED = "not-planned"
    """The run lacks a check that belongs to the flow on this cluster, or there is none."""
    PLANNED_OTHERWISE = "planned-otherwise"
    """The run's check claims or sends something else than this version plans."""
    SKIPPED = "skipped"
    UNKNOWN = "unknown"
    KNOWN_BUG = "known-bug"
    OWN_LIMITATION = "own-limitation"
    """The vendor's own limitation decides the expectation."""
    NOT_MET = "not-met"
    """No check of the flow met its claim: all are limited or recorded."""


class Works(StrEnum):
    """What was observed of an unsupported feature."""

    WORKS = "works"
    DEVIATES = "deviates"
    NOT_SHOWN = "not-shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Counts of checks by result; ``failed`` are ``fail``, ``lifted`` and ``flaky``."""

    passed: int = 0
    limited: int = 0
    recorded: int = 0
    known_bugs: int = 0
    failed: int = 0
    unknown: int = 0
    skipped: int = 0
    not_planned: int = 0

    @property
    def judged(self) -> int:
        """The checks whose behaviour is known."""
        return self.passed + self.limited + self.recorded + self.known_bugs + self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What was not shown of a flow, for one reason; without ``checks`` there is no check at all."""

    gap: Gap
    flow: str
    reason: str
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A check that deviates."""

    check: str
    verdict: Verdict
    expected: str
    observed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureReport:
    """The result of a claimed feature; ``limitations`` are ids of those that decided its checks."""

    name: str
    level: Level
    summary: str = ""
    result: Result
    statistics: Statistics
    flows: tuple[str, ...]
    failed: tuple[Failed, ...] = ()
    missing: tuple[Missing, ...] = ()
    limitations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelReport:
    """The result of all features of a level."""

    level: Level
    result: Result
    statistics: Statistics
    features: tuple[FeatureReport, ...]

    @property
    def succeeded(self) -> int:
        """How many features succeeded."""
        return sum(feature.result is Result.SUCCESS for feature in self.features)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsupportedFeature:
    """A feature that is not claimed, why, and what was observed of it."""

    name: str
    reason: str
    works: Works
    statistics: Statistics
    flows: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclaimed:
    """The flows that no feature names, and their deviations, which count for no claim."""

    statistics: Statistics
    failed: tuple[Failed, ...] = ()
    flows: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeRow:
    """A part of the supported scope, and the value on the run's cluster."""

    subject: str
    claimed: str
    found: str
    holds: Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRow:
    """A node pool of the run's cluster, with exact versions; several values are listed."""

    pool: str
    os: str
    nodes: int
    build: str
    driver: str
    kubelet: str
    runtime: str
    kube_proxy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """The cluster and the run behind the report."""

    kubernetes: str
    plugin: str
    backend: str
    pools: tuple[PoolRow, ...]
    facts_digest: str
    run_id: str
    started: str
    finished: str
    complete: bool
    exercised: str
    """How many nodes and ordered pairs of nodes the run tested."""
    judged_otherwise: int
    """How many checks had another verdict in the run, by other manifests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """The SHA-256 of an input of the report; ``own`` is whether it is the vendor's."""

    file: str
    sha256: str
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Digests:
    """The inputs of the report; of suites only the vendor's, as others belong to nettests."""

    journal: Digest
    profile: Digest
    manifests: tuple[Digest, ...] = ()
    suites: tuple[Digest, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceReport:
    """One report. ``date`` is the run's, so the report does not depend on when it is made."""

    date: str
    nettests: str
    implementation: Implementation
    result: Result
    levels: Mapping[Level, LevelReport] = field(default_factory=dict)
    """Core, and extended if anything is claimed there."""
    unsupported: tuple[UnsupportedFeature, ...] = ()
    unclaimed: Unclaimed
    scope: tuple[ScopeRow, ...]
    not_covered: tuple[str, ...] = ()
    """What the profile also supports, and this run's cluster lacks."""
    tested: Tested
    digests: Digests
    profile: str
    """The text of the vendor profile, so that report and journal are enough to recompute it."""

    @property
    def features(self) -> tuple[FeatureReport, ...]:
        """All claimed features, core first."""
        return tuple(feature for level in self.levels.values() for feature in level.features)

    @property
    def judged(self) -> int:
        """How many checks of claimed features were judged."""
        return sum(level.statistics.judged for level in self.levels.values())
