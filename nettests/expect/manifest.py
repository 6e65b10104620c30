"""Limitation manifests as values: data only, every entry with its file and line.

``manifest_reading`` creates them, the first step of ``expect``. An entry says when it holds and
exactly what is observed then, independent of any cluster.
"""

from dataclasses import dataclass
from datetime import date
from enum import IntEnum

from nettests.model.expectation import Expected, Source
from nettests.model.versions import KubernetesVersion, VersionRange
from nettests.model.words import (
    OS,
    Category,
    Distribution,
    Family,
    NatException,
    Outcome,
    Placement,
    Protocol,
    Resolver,
    Setting,
    SourceSeen,
    SuffixList,
)


class Layer(IntEnum):
    """Layers in ascending order: a higher one may override or cancel entries of a lower one."""

    BASE = 0
    CNI = 1
    PLATFORM = 2
    SITE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCondition:
    """Conditions on a node; ``None`` or empty means anything."""

    os: OS | None = None
    build: VersionRange | None = None
    kubelet: VersionRange | None = None
    kube_proxy: VersionRange | None = None
    mode: tuple[str, ...] = ()
    dsr: bool | None = None
    driver: tuple[str, ...] = ()
    runtime: tuple[str, ...] = ()
    runtime_version: VersionRange | None = None
    host_process: bool | None = None
    firewall: tuple[Setting, ...] = ()
    localhost_node_ports: tuple[Setting, ...] = ()
    dns_suffixes: tuple[SuffixList, ...] = ()
    policies: tuple[Setting, ...] = ()
    terminating_endpoints: tuple[Setting, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """When an entry holds: conditions on the cluster, source and target nodes, and the check."""

    kubernetes: VersionRange | None = None
    platform: tuple[str, ...] = ()
    cni: tuple[str, ...] = ()
    backend: tuple[str, ...] = ()
    loopback_dsr: tuple[Setting, ...] = ()
    source: NodeCondition = NodeCondition()
    target: NodeCondition = NodeCondition()
    placement: tuple[Placement, ...] = ()
    backend_placement: tuple[Placement, ...] = ()
    nat_exception: tuple[NatException, ...] = ()
    resolver: tuple[Resolver, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """What is observed instead of the claim; a part that is ``None`` stays as claimed.

    ``alternatives`` are further outcomes that satisfy it; empty if ``outcome`` is exact.
    """

    outcome: Outcome | None = None
    source_seen: SourceSeen | None = None
    distribution: Distribution | None = None
    alternatives: tuple[Outcome, ...] = ()

    def applied(self, claim: Expected) -> Expected:
        """Return the claim with this deviation applied.

        A negative outcome asserts neither source address nor distribution.
        """
        outcome = self.outcome or claim.outcome
        if not outcome.positive:
            return Expected(outcome=outcome, alternatives=self.alternatives)
        return Expected(
            outcome=outcome,
            alternatives=self.alternatives,
            source_seen=self.source_seen or claim.source_seen,
            distribution=self.distribution or claim.distribution,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A source of an entry, and what it proves.

    ``names`` is the outcome that it states, ``None`` if it only says that something fails.
    ``picked`` are the patch releases to which a merged change was cherry-picked, ``None`` if not
    looked up.
    """

    source: Source
    names: Outcome | None = None
    picked: tuple[KubernetesVersion, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limitation:
    """One entry. ``deviation`` is ``None`` for ``unspecified`` and for entries that only cancel.

    ``facts`` are documented facts that it covers besides that of its own id. For ``unspecified``
    entries, ``settled_by`` says what would decide them, and ``when_present`` what is observed if
    the bug that leaves the outcome open shows; otherwise both are empty. ``among`` are the outcomes
    that the documents allow if they leave it open; empty if any.

    An entry with several conditions becomes one value for each: ``part`` is the position in
    ``also``, 0 for the entry's own condition. They share an id and differ in where they hold.
    """

    id: str
    summary: str
    layer: Layer
    condition: Condition
    flows: tuple[str, ...]
    protocols: tuple[Protocol, ...]
    families: tuple[Family, ...]
    cases: tuple[str, ...]
    deviation: Deviation | None
    mechanism: str
    category: Category
    citations: tuple[Citation, ...]
    overrides: tuple[str, ...] = ()
    cancels: tuple[str, ...] = ()
    only_cancels: bool = False
    settled_by: str = ""
    when_present: Deviation | None = None
    among: tuple[Outcome, ...] = ()
    facts: tuple[str, ...] = ()
    reason: str = ""
    review_by: date | None = None
    file: str = ""
    line: int = 0
    part: int = 0

    @property
    def sources(self) -> tuple[Source, ...]:
        """The URLs of its sources."""
        return tuple(citation.source for citation in self.citations)

    @property
    def place(self) -> str:
        """``file:line``."""
        return f"{self.file}:{self.line}"

    @property
    def is_open(self) -> bool:
        """Whether it is ``unspecified``, which leaves the outcome open."""
        return self.deviation is None and not self.only_cancels


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One file of entries of one layer, each followed by its parts for further conditions."""

    file: str
    layer: Layer
    limitations: tuple[Limitation, ...]
