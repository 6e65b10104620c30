"""A flow as a suite declares it, with its matrix and its claim.

``declarations`` ties a flow to the test that asserts it. Positive controls are not declared:
``controls`` derives them from vantage, target and question, so no suite can forget them.
Flows of class ``default`` are run by default on every cluster, others if their class is enabled.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import assert_never

from nettests.errors import PlanError
from nettests.model.check import Case, Skip
from nettests.model.expectation import Expected, Source
from nettests.model.nearest import nearest
from nettests.model.service import LOAD_BALANCER, ServiceSettings
from nettests.model.target_kinds import descriptor
from nettests.model.words import (
    CheckClass,
    Distribution,
    Outcome,
    Protocol,
    Question,
    Resolver,
    SourceSeen,
    TargetKind,
    VantageKind,
)


class Matrix(StrEnum):
    """How a flow is crossed with node pools and placements; ``Members`` selects nodes of pools."""

    PAIRS = "pairs"
    """Every node pool to every node pool: the source's own node and another node."""
    OWN_NODE = "own-node"
    """Every node pool to its own node's address, with backends on that node and elsewhere."""
    OTHER_NODES = "other-nodes"
    """Every node pool to other nodes' addresses, with backends on that node and elsewhere."""
    POOLS = "pools"
    """Every node pool to all servers of every node pool."""
    POOLS_AT_NODES = "pools-at-nodes"
    """The same at the addresses of the nodes of the target's pool."""
    OWN_POOL = "own-pool"
    """Every node pool to the Service in front of its first node."""
    ANOTHER = "another"
    """Every node pool alone, with another node as a target."""
    SOURCES = "sources"
    """Every node pool to one target outside the cluster."""
    WINDOWS_SOURCES = "windows-sources"
    """Every Windows node pool to it: where Linux depends on the plugin."""
    NEAREST = "nearest"
    """Every node pool to a target on its own node: where the target's node does not matter."""
    EMPTY_NODES = "empty-nodes"
    """Every node pool to the addresses of Windows nodes without Pods of the pod network."""
    NODES = "nodes"
    """From outside to every node pool's node address, with backends on that node and elsewhere."""
    FROM_OUTSIDE = "from-outside"
    """From outside to a target on every node pool's nodes."""
    ELSEWHERE = "elsewhere"
    """Every node pool to every node pool, on another node."""
    NO_ENDPOINTS = "no-endpoints"
    """Every node pool to a Service without endpoints."""
    CLUSTER = "cluster"
    """The cluster as a whole, once: for questions to the API server."""
    MANY_BACKENDS = "many-backends"
    """Every node pool to one Service with many backends, as many as the flow says."""
    EACH = "each"
    """Every node pool alone: for questions about a node, or a Pod created on it."""
    EACH_WINDOWS = "each-windows"
    """Every Windows node pool alone: for questions that do not concern Linux nodes."""


class Members(StrEnum):
    """Which nodes of the node pools become members of a check."""

    EACH_NODE = "each-node"
    """Each node is a source and a target."""
    EACH_PAIR = "each-pair"
    """Each ordered pair of nodes; in a large cluster, the pairs that ``plan.peers`` samples."""
    EACH_PAIR_ONCE = "each-pair-once"
    """The same in one direction: for paths that carry answers back as well."""
    ONE = "one"
    """One node of each pool: for what kubelet, scheduler and runtime do, on any node alike."""
    FEW = "few"
    """Two nodes of each pool: for what is not node-specific and needs its own Service or Pod."""


class Backing(StrEnum):
    """Where the backends of a NodePort are, relative to the node that owns the address."""

    ANYWHERE = "anywhere"
    """On that node, and, in other cells, on a node of every node pool elsewhere."""
    LOCAL = "local"
    """On that node only."""
    ELSEWHERE = "elsewhere"
    """On other nodes only."""
    NOWHERE = "nowhere"
    """There are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameForm:
    """A name that resolvers look up: ``template`` as in ``Target.name_form``.

    ``label`` distinguishes a flow's forms in check ids (``svc.ns``); empty if there is one.
    ``resolvers`` look up the name without connecting; ``REACH`` flows use the system's resolver.
    """

    template: str
    label: str = ""
    resolvers: tuple[Resolver, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A suite's declaration of a flow: which kind of vantage, which kind of target, which result.

    These fields are the arguments of ``flow``; those without a default are required.

    The claimed outcome is that of a flow that works (``connected``, ``replied``, ``resolved``)
    unless ``outcome`` names another one. ``cases`` are the tested cases of a flow without a path.
    ``facts`` are the documented facts that the flow exercises, by their ids in the catalogue.
    ``source_seen`` and ``distribution`` are asserted if given. ``service`` has the settings of the
    tested Service, ``backing`` the place of a NodePort's backends. ``pause`` is the number of
    seconds between the connections of a ``DISTRIBUTE`` question. ``required`` makes a run count as
    not judged if all checks of the flow are skipped. ``check_class`` says whether the flow always
    runs or only if its class is enabled. ``dns_policy`` is the ``dnsPolicy`` of the source Pods if
    it is not the default. ``backends`` is the number of Pods behind the Service of
    ``Matrix.MANY_BACKENDS``. ``each_family`` tests every IP family of the cluster, not only the
    first one. ``dual_stack`` limits the flow to clusters with two families. ``beyond_mtu`` is by
    how many bytes unfragmented echo requests exceed the Pods' MTU. ``alike`` names a flow whose
    documented limitations apply to this one, too. ``members`` selects the nodes of its checks;
    ``Matrix.CLUSTER`` has none. ``payload`` is the number of bytes exchanged over TCP, in either
    direction; over UDP it is what fits into a packet of the Pods' MTU.
    """

    name: str = field(kw_only=False)
    source: VantageKind
    target: TargetKind
    matrix: Matrix
    sources: tuple[Source, ...]
    protocols: tuple[Protocol, ...] = (Protocol.TCP, Protocol.UDP)
    question: Question = Question.REACH
    names: tuple[NameForm, ...] = ()
    outcome: Outcome | None = None
    members: Members = Members.EACH_NODE
    source_seen: SourceSeen | None = None
    distribution: Distribution | None = None
    cases: tuple[Case, ...] = ()
    service: ServiceSettings | None = None
    backing: Backing = Backing.ANYWHERE
    pause: float = 0
    facts: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    required: bool = False
    check_class: CheckClass = CheckClass.DEFAULT
    dns_policy: str = ""
    backends: int = 0
    each_family: bool = False
    dual_stack: bool = False
    beyond_mtu: int | None = None
    alike: str = ""
    payload: int | None = None

    def __post_init__(self) -> None:
        # sample: flow "pod-to-service-partial-name" of the shipped suites
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.name):
            raise PlanError(
                f"flow name {self.name!r} cannot be part of check ids",
                hint="use lower-case letters, digits and single dashes",
            )
        if self.required and self.check_class is not CheckClass.DEFAULT:
            raise PlanError(
                f"flow {self.name} is required and of class {self.check_class.value}",
                hint="what every run needs runs in every run: leave one of the two out",
            )
        if self.question.has_path is not descriptor(self.target).has_path:
            raise PlanError(
                f"flow {self.name} probes {self.question.value} of {self.target.value}, "
                "and only one of the two has a path",
                hint="probe admit, inspect and start of api-server, configuration and pod, and probe nothing else with these",
            )
        if (self.backends > 0) is not (self.matrix is Matrix.MANY_BACKENDS):
            raise PlanError(
                f"flow {self.name} says how many backends, or has the matrix many-backends, but not both",
                hint="Matrix.MANY_BACKENDS and backends belong together",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow(Declaration):
    """A declaration with what its test adds: the claim, in a sentence, and the suite."""

    claim: str
    suite: str = ""
    """The topic of the suite: reports group flows by it."""

    def __post_init__(self) -> None:
        Declaration.__post_init__(self)
        if not self.claim:
            raise PlanError(
                f"flow {self.name} claims nothing",
                hint="write the claim as the first paragraph of the test's docstring",
            )

    @property
    def classes(self) -> tuple[CheckClass, ...]:
        """All classes that must be enabled: disruptive and packet flows may also be exposed."""
        balanced = self.service is not None and self.service.type == LOAD_BALANCER
        if balanced and self.check_class in {CheckClass.DISRUPTIVE, CheckClass.PACKETS}:
            return (self.check_class, CheckClass.EXPOSED)
        return (self.check_class,)

    @property
    def owns_services(self) -> bool:
        """Whether each target needs a Service of its own, or a load balancer."""
        settings = self.service
        return settings is not None and not (settings.no_endpoints or settings.external_name)

    @property
    def is_process(self) -> bool:
        """Whether each attempt starts a program on a node: a run then makes as few as it needs."""
        from_node = self.source is VantageKind.NODE and self.question is Question.REACH
        return from_node or self.question is Question.PING

    @property
    def several_backends(self) -> bool:
        """Whether the flow claims that connections are spread over several backends."""
        return self.distribution is Distribution.SEVERAL_BACKENDS

    def skipped(self, check_id: str, reason: str) -> Skip:
        """Return the skip of a check of this flow, or of all of them."""
        return Skip(
            id=check_id, flow=self.name, reason=reason, required=self.required, suite=self.suite
        )

    def expected(
        self, protocol: Protocol, question: Question, case: Case | None = None
    ) -> Expected:
        """Return what this flow claims for a protocol and question, and for ``case`` if given."""
        stated = (case and case.outcome) or self.outcome
        claimed = Expected(outcome=stated or _works(question, protocol))
        if not question.has_path or question is Question.RESOLVE:
            return claimed
        return replace(claimed, source_seen=self.source_seen, distribution=self.distribution)


def _works(question: Question, protocol: Protocol) -> Outcome:
    """Return the default claim for a question."""
    match question:
        case Question.REACH | Question.PING | Question.DISTRIBUTE | Question.IDLE | Question.CHURN:
            return _answers(protocol)
        case Question.PATH_MTU | Question.LOSS | Question.FLOWS | Question.SCALE:
            return _answers(protocol)
        case Question.WITNESS | Question.DURING:
            return _answers(protocol)
        case Question.RESOLVE:
            return Outcome.RESOLVED
        case Question.ADMIT:
            return Outcome.ACCEPTED
        case Question.INSPECT:
            return Outcome.CONFORMS
        case Question.START:
            return Outcome.STARTED
        case _:
            assert_never(question)


def _answers(protocol: Protocol) -> Outcome:
    match protocol:
        case Protocol.TCP:
            return Outcome.CONNECTED
        case Protocol.UDP | Protocol.ICMP:
            return Outcome.REPLIED
        case _:
            assert_never(protocol)


ENABLE = "--enable"
CAN_BE_ENABLED = tuple(
    check_class.value for check_class in CheckClass if check_class is not CheckClass.DEFAULT
)


def read_classes(texts: Iterable[str]) -> frozenset[CheckClass]:
    """Read the values of ``--enable``, comma-separated lists; ``PlanError`` for a wrong word."""
    words = [word.strip() for text in texts for word in text.split(",")]
    for word in words:
        if word not in CAN_BE_ENABLED:
            hint = nearest(word, CAN_BE_ENABLED, what="classes")
            raise PlanError(f"{ENABLE}: there is no class {word!r} to enable", hint=hint)
    return frozenset(map(CheckClass, words))


def not_enabled(check_class: CheckClass, enabled: Collection[CheckClass]) -> str:
    """Return why a check of this class is not run, or nothing."""
    if check_class is CheckClass.DEFAULT or check_class in enabled:
        return ""
    name = check_class.value
    return f"checks of class {name} are run only when enabled: {ENABLE}={name}"


def without_checks(enabled: Collection[CheckClass], chosen: Iterable[Flow]) -> str:
    """Return which enabled classes none of the chosen flows belongs to, or nothing."""
    idle = set(enabled).difference(*(flow.classes for flow in chosen))
    if not idle:
        return ""
    names = ",".join(sorted(idle))
    return f"{ENABLE}={names} changes nothing: no chosen check is of this class"
