"""The input of preflight: facts, plans with and without denials, the namespace's objects and limits."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from nettests.errors import NettestsError
from nettests.model.check import Plan, Skip
from nettests.model.cluster_profile import StatedFacts
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.json_text import Object
from nettests.model.permission import Permission
from nettests.model.words import VantageKind
from nettests.plan.node_pools import unusable
from nettests.preflight.demand import Passing, quantity


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    NOTE = "note"
    """Useful to know; changes nothing."""
    WARNING = "warning"
    """A part of the plan will not be tested, or its results will say less."""
    BLOCKER = "blocker"
    """A run would judge nothing, skip a required flow, or end as ``unknown``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The finding about one topic; ``details`` are lines, ``next_step`` is for people."""

    topic: str
    level: Level
    summary: str
    details: tuple[str, ...] = ()
    next_step: str = ""


def ok(topic: str, summary: str) -> Finding:
    """Return the finding of a topic without problems."""
    return Finding(topic=topic, level=Level.OK, summary=summary)


def note(topic: str, summary: str) -> Finding:
    """Return a finding that is useful to know and changes nothing."""
    return Finding(topic=topic, level=Level.NOTE, summary=summary)


def worst(levels: Iterable[Level]) -> Level:
    """Return the most severe level."""
    order = tuple(Level)
    return max(levels, key=order.index, default=Level.OK)


def unreachable(error: NettestsError, *, topic: str = "reachability") -> Finding:
    """Return the only finding about a cluster that could not be examined."""
    return Finding(topic=topic, level=Level.BLOCKER, summary=error.message, next_step=error.hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One limit of a ResourceQuota: ``resource`` as in ``hard``, amounts as numbers."""

    name: str
    resource: str
    hard: Fraction
    used: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """What another run has in the cluster: ``state`` as in ``nettests gc``."""

    run: str
    owner: str
    namespace: str
    state: str
    objects: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that was read. ``plan`` is the run's; ``whole`` is the plan if nothing were denied."""

    server: str
    facts: ClusterFacts
    plan: Plan
    whole: Plan
    missing: tuple[Permission, ...] = ()
    images: Mapping[str, str] = field(default_factory=dict)
    """The probe image of each node, by the node's name."""
    unserved: Mapping[str, str] = field(default_factory=dict)
    """Nodes whose build the image lacks, with the reason."""
    exposed: tuple[str, ...] = ()
    """Each port that is reachable from outside the pod network, in words, with its objects."""
    objects: tuple[Object, ...] = ()
    """The objects in the namespace during a run, as they would be created."""
    passing: tuple[Passing, ...] = ()
    """Temporary Pods of single checks, and their controllers."""
    refusals: Mapping[str, str] = field(default_factory=dict)
    """Kinds of Pods that a dry run in the namespace refuses, with the API server's message."""
    quotas: tuple[Quota, ...] = ()
    defaults: Mapping[str, Fraction] = field(default_factory=dict)
    """A LimitRange's values for containers that state nothing (``requests.cpu`` …)."""
    unread: str = ""
    """Why quotas and limits could not be read; empty if they were."""
    remains: tuple[Remains, ...] = ()
    unlisted: str = ""
    """Why leftovers could not be listed; empty if they were."""
    webhooks: tuple[Object, ...] = ()
    """The configurations of admission webhooks, each with its ``kind``."""
    webhooks_unread: str = ""
    """Why some of them could not be read; empty if all were."""
    namespace_labels: Mapping[str, str] = field(default_factory=dict)
    """The labels of the namespace that a run uses."""
    ready: Mapping[str, StatedFacts] = field(default_factory=dict)
    """The facts that ready cluster profiles state, by profile."""
    ports: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """Ports of nodes that Pods use: by node, by port, the Pod."""
    lacking_agents: tuple[str, ...] = ()
    """Service proxies and network plugins that are not Ready on all of their nodes, in words."""
    unready: Mapping[str, int] = field(default_factory=dict)
    """Nodes on which others' Pods in the pod network exist and none is Ready, with their number."""

    @property
    def usable(self) -> tuple[NodeFacts, ...]:
        """The nodes that can run probes."""
        return tuple(node for node in self.facts.nodes if not unusable(node))

    @property
    def probe_nodes(self) -> tuple[NodeFacts, ...]:
        """The nodes that get Pods by the plan, or would if nothing were denied."""
        names = {pod.node for pod in (*self.plan.pods, *self.whole.pods)}
        return tuple(node for node in self.facts.nodes if node.name in names)

    @property
    def vantages(self) -> frozenset[str]:
        """The nodes that are vantages by the plan, or would be if nothing were denied."""
        checks = (*self.plan.each, *self.whole.each)
        return frozenset(
            check.source.node or "" for check in checks if check.source.kind is VantageKind.NODE
        )

    def cost(self, skips: tuple[Skip, ...]) -> Level:
        """Return how much these skips matter."""
        if not skips:
            return Level.OK
        planned = {check.flow for check in self.plan.checks}
        lost = any(skip.required and skip.flow not in planned for skip in skips)
        return Level.BLOCKER if lost or not planned else Level.WARNING


def quotas_of(items: Iterable[Object]) -> tuple[Quota, ...]:
    """Return every limit for all Pods, without those scoped to some classes of Pods."""
    return tuple(quota for item in items for quota in _limits(item))


def _limits(item: Object) -> Iterator[Quota]:
    spec, status = item.get("spec") or {}, item.get("status") or {}
    if spec.get("scopes") or spec.get("scopeSelector"):
        return
    used = status.get("used") or {}
    for resource, hard in (status.get("hard") or spec.get("hard") or {}).items():
        yield Quota(
            name=f"ResourceQuota {item['metadata']['name']}",
            resource=resource,
            hard=quantity(str(hard)),
            used=quantity(str(used.get(resource, "0"))),
        )


def defaults_of(items: Iterable[Object]) -> dict[str, Fraction]:
    """Return LimitRanges' values for containers that state nothing: ``requests.cpu`` …"""
    defaults: dict[str, Fraction] = {}
    for item in items:
        for limit in (item.get("spec") or {}).get("limits") or ():
            if limit.get("type") != "Container":
                continue
            limits, requests = limit.get("default") or {}, limit.get("defaultRequest") or {}
            given = {f"limits.{name}": amount for name, amount in limits.items()}
            # A default limit is a default request, too (LimitRanger).
            given |= {f"requests.{name}": amount for name, amount in {**limits, **requests}.items()}
            for name, amount in given.items():
                defaults.setdefault(name, quantity(str(amount)))
    return defaults
