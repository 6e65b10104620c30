"""Limitation manifests as values: data only, every entry with its file and line.

``manifest_reading`` makes them, the first step of ``expect``. An entry says when it holds and exactly what is observed
then; no cluster is involved.
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
    """Layers in rising order: a higher one may override or cancel a lower one."""

    BASE = 0
    CNI = 1
    PLATFORM = 2
    SITE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCondition:
    """What must hold of a node; ``None`` or empty means anything."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """When an entry holds: facts of the cluster, of the source's and target's nodes, and the check."""

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
        """Return the claim with this deviation's parts.

        With a negative deviation, source and distribution are not asserted.
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

    ``names`` is the outcome that it names itself, ``None`` if it only says that something fails.
    ``picked`` are the patch releases that got a merged change too, ``None`` if that was not looked up.
    """

    source: Source
    names: Outcome | None = None
    picked: tuple[KubernetesVersion, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limitation:
    """One entry. ``deviation`` is ``None`` for ``unspecified`` and for entries that only cancel.

    ``facts`` are documented facts that it covers besides the one of its own id. For ``unspecified`` entries
    ``settled_by`` says what would decide them, and ``when_present`` what is observed with the bug that leaves
    the outcome open; both are empty otherwise. ``among`` are the outcomes that the documents allow for where they
    leave open which of them it is; empty if it may be any.

    An entry with several conditions becomes one of these for each of them: ``part`` is the position in ``also``,
    and 0 for the entry's own condition. They share one id, and differ in where they hold.
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
        """Whether it leaves the outcome open: ``unspecified``."""
        return self.deviation is None and not self.only_cancels


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One file of entries of one layer, each followed by its parts for further conditions."""

    file: str
    layer: Layer
    limitations: tuple[Limitation, ...]
