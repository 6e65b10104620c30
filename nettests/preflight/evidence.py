"""The input of preflight: facts, plans with and without the missing permissions, and the namespace's objects."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from nettests.errors import NettestsError
from nettests.model.check import Plan, Skip
from nettests.model.cluster_profile import StatedFacts
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.permission import Permission
from nettests.model.words import VantageKind
from nettests.plan.node_pools import unusable
from nettests.preflight.demand import Passing


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    NOTE = "note"
    """Worth knowing; changes nothing."""
    WARNING = "warning"
    """A part of what is planned will not be tested, or will say less."""
    BLOCKER = "blocker"
    """A run would judge nothing, leave out a required flow, or end in ``unknown``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What preflight found about one topic; ``details`` are lines, ``next_step`` is for people."""

    topic: str
    level: Level
    summary: str
    details: tuple[str, ...] = ()
    next_step: str = ""


def ok(topic: str, summary: str) -> Finding:
    """Return the finding of a topic without problems."""
    return Finding(topic=topic, level=Level.OK, summary=summary)


def note(topic: str, summary: str) -> Finding:
    """Return a finding that is worth knowing and changes nothing."""
    return Finding(topic=topic, level=Level.NOTE, summary=summary)


def worst(levels: Iterable[Level]) -> Level:
    """Return the level that matters most."""
    order = tuple(Level)
    return max(levels, key=order.index, default=Level.OK)


def unreachable(error: NettestsError, *, topic: str = "reachability") -> Finding:
    """Return the finding that ends every preflight: the cluster could not be tested."""
    return Finding(topic=topic, level=Level.BLOCKER, summary=error.message, next_step=error.hint)


Object = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One limit of a ResourceQuota: ``resource`` as its ``hard`` spells it, in counted units."""

    name: str
    resource: str
    hard: Fraction
    used: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """What another run has in the cluster: ``state`` as ``nettests gc`` calls it."""

    run: str
    owner: str
    namespace: str
    state: str
    objects: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that was read. ``plan`` is a run's own; ``whole`` is what it would be if nothing were denied."""

    server: str
    facts: ClusterFacts
    plan: Plan
    whole: Plan
    missing: tuple[Permission, ...] = ()
    images: Mapping[str, str] = field(default_factory=dict)
    """The probe image of each node, by the node's name."""
    unserved: Mapping[str, str] = field(default_factory=dict)
    """Nodes whose build the image lacks, each with the reason."""
    exposed: tuple[str, ...] = ()
    """Each port that is reachable from outside the pod network, in words, with the objects that have it."""
    objects: tuple[Object, ...] = ()
    """What stands in the namespace while a run tests, as it would be created."""
    passing: tuple[Passing, ...] = ()
    """Pods of single checks, and what makes them, that come and go beside it."""
    refusals: Mapping[str, str] = field(default_factory=dict)
    """Kinds of pods that the existing namespace refuses in a dry run, each with the API server's words."""
    quotas: tuple[Quota, ...] = ()
    defaults: Mapping[str, Fraction] = field(default_factory=dict)
    """What a LimitRange gives to containers which say nothing (``requests.cpu`` …)."""
    unread: str = ""
    """Why quotas and limits could not be read; empty when they were."""
    remains: tuple[Remains, ...] = ()
    unlisted: str = ""
    """Why leftovers could not be looked for; empty when they were."""
    webhooks: tuple[Object, ...] = ()
    """The configurations of admission webhooks, each with its ``kind``."""
    webhooks_unread: str = ""
    """Why some of them could not be read; empty when all were."""
    namespace_labels: Mapping[str, str] = field(default_factory=dict)
    """The labels of the namespace that a run uses."""
    ready: Mapping[str, StatedFacts] = field(default_factory=dict)
    """What the ready cluster profiles state, by their names."""
    ports: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """Ports of nodes that pods hold: by node, by port, whose they are."""
    lacking_agents: tuple[str, ...] = ()
    """Service proxies and network plugins that are not Ready on all of their nodes, in words."""
    unready: Mapping[str, int] = field(default_factory=dict)
    """Nodes on which other people's Pods run in the pod network and none is Ready, with their number."""

    @property
    def usable(self) -> tuple[NodeFacts, ...]:
        """The nodes that can hold probes."""
        return tuple(node for node in self.facts.nodes if not unusable(node))

    @property
    def probe_nodes(self) -> tuple[NodeFacts, ...]:
        """The nodes on which the plan puts pods, or would if nothing were denied."""
        names = {pod.node for pod in (*self.plan.pods, *self.whole.pods)}
        return tuple(node for node in self.facts.nodes if node.name in names)

    @property
    def vantages(self) -> frozenset[str]:
        """The nodes that the plan uses as vantages, or would if nothing were denied."""
        checks = (*self.plan.each, *self.whole.each)
        return frozenset(
            check.source.node or "" for check in checks if check.source.kind is VantageKind.NODE
        )

    def cost(self, skips: tuple[Skip, ...]) -> Level:
        """Return how much it matters that these are left out."""
        if not skips:
            return Level.OK
        planned = {check.flow for check in self.plan.checks}
        lost = any(skip.required and skip.flow not in planned for skip in skips)
        return Level.BLOCKER if lost or not planned else Level.WARNING


def counted(number: int, word: str) -> str:
    """Return ``1 check`` or ``2 checks``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
