"""A flow as a suite declares it, with its matrix and its claim.

``declare`` ties a flow to the test that asserts it. Positive controls are not declared: they follow from vantage,
target and question (``controls``), so no suite can forget them.
"""

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import assert_never

from nettests.errors import PlanError
from nettests.model.check import Case, Skip
from nettests.model.expectation import Expected, Source
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
    """How a flow is crossed with the cluster's node pools and placements; ``Members`` says with which of their nodes."""

    PAIRS = "pairs"
    """Every node pool to every node pool: the source's own node and another node."""
    OWN_NODE = "own-node"
    """Every node pool to its own node's address, by backends on that node and elsewhere."""
    OTHER_NODES = "other-nodes"
    """Every node pool to other nodes' addresses, by backends on that node and elsewhere."""
    POOLS = "pools"
    """Every node pool to all servers of every node pool."""
    POOLS_AT_NODES = "pools-at-nodes"
    """The same at the addresses of the nodes of the target's pool."""
    OWN_POOL = "own-pool"
    """Every node pool to the Service before its first node."""
    ANOTHER = "another"
    """Every node pool alone, beside a node that is not its own."""
    SOURCES = "sources"
    """Every node pool to one target outside the cluster."""
    WINDOWS_SOURCES = "windows-sources"
    """Every Windows node pool to it: for what is up to the plugin on Linux."""
    NEAREST = "nearest"
    """Every node pool to a target on its own node: for questions that do not depend on the target's."""
    EMPTY_NODES = "empty-nodes"
    """Every node pool to the addresses of Windows nodes that hold no Pod of their network, by backends elsewhere."""
    NODES = "nodes"
    """From outside to every node pool's node address, by backends on that node and elsewhere."""
    FROM_OUTSIDE = "from-outside"
    """From outside to what stands on every node pool's node."""
    ELSEWHERE = "elsewhere"
    """Every node pool to every node pool, on another node."""
    NO_ENDPOINTS = "no-endpoints"
    """Every node pool to a Service without endpoints."""
    CLUSTER = "cluster"
    """The cluster as a whole, once: for questions to the API server."""
    MANY_BACKENDS = "many-backends"
    """Every node pool to one Service with many backends, as many as the flow says."""
    EACH = "each"
    """Every node pool alone: for questions about a node, or a Pod made on it."""
    EACH_WINDOWS = "each-windows"
    """Every Windows node pool alone: for questions that Linux nodes do not raise."""


class Members(StrEnum):
    """Which nodes of the node pools that a matrix crosses are members of a check."""

    EACH_NODE = "each-node"
    """Each is a source and a target."""
    EACH_PAIR = "each-pair"
    """Each ordered pair of a source and a target; of a large cluster so many as ``plan.peers`` says."""
    EACH_PAIR_ONCE = "each-pair-once"
    """The same, in one direction: for what comes back over the path that it took."""
    ONE = "one"
    """One of each node pool: for what kubelet, scheduler and runtime do, which no path and no setting of a node decides."""
    FEW = "few"
    """Two of each node pool: for what is not a node's own and takes a Service, or a Pod, of its own."""


class Backing(StrEnum):
    """Where the backends of a NodePort are, relative to the node that owns the address."""

    ANYWHERE = "anywhere"
    """On that node, and in other cells on a node of every node pool elsewhere."""
    LOCAL = "local"
    """On that node only."""
    ELSEWHERE = "elsewhere"
    """On other nodes only."""
    NOWHERE = "nowhere"
    """There are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameForm:
    """A name that resolvers are queried for: ``template`` as in ``Target.name_form``.

    ``label`` distinguishes the forms of one flow in check ids (``svc.ns``); empty when there is one.
    ``resolvers`` look up the name without connecting; ``REACH`` flows resolve theirs through the system's resolver.
    """

    template: str
    label: str = ""
    resolvers: tuple[Resolver, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A suite's declaration of a flow: from which kind of vantage to which kind of target, with which result.

    These fields are the only list of ``flow``'s arguments: those without a default are required, the others refine
    the flow.

    The claimed outcome is that of a flow that works (``connected``, ``replied``, ``resolved``)
    unless ``outcome`` names another one. ``cases`` are the tested cases of a flow without a path.
    ``facts`` are the documented facts that the flow exercises, by their ids in the catalogue.
    ``source_seen`` and ``distribution`` are asserted when given.
    ``service`` are the settings of the Service in question, ``backing`` the place of a NodePort's backends.
    ``pause`` is how many seconds pass between the connections of a ``DISTRIBUTE`` question.
    ``required`` makes a run count as not judged if every check of the flow was skipped.
    ``check_class`` says whether the flow is run by default, or only when its class is enabled.
    ``dns_policy`` is the ``dnsPolicy`` of the source Pods if it is not the usual one.
    ``backends`` is how many pods are behind the Service of ``Matrix.MANY_BACKENDS``.
    ``each_family`` probes the same in every IP family of the cluster, not only in its first one.
    ``dual_stack`` limits the flow to clusters of two families.
    ``beyond_mtu`` is by how many bytes echo requests that must not be split exceed the pods' MTU.
    ``alike`` names the flow whose documented limitations hold for this one, too: it does the same in another way.
    ``members`` says which nodes are members of its checks; ``Matrix.CLUSTER`` has none.
    ``payload`` is how many bytes are exchanged over TCP, either way; over UDP it is what one packet of the pods' MTU holds.
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
                hint="probe admit, inspect and start of api-server, configuration and pod, and these nothing else",
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
    """The topic of the suite that declares it: reports group flows by it."""

    def __post_init__(self) -> None:
        Declaration.__post_init__(self)
        if not self.claim:
            raise PlanError(
                f"flow {self.name} claims nothing",
                hint="write the claim as the first paragraph of the test's docstring",
            )

    @property
    def classes(self) -> tuple[CheckClass, ...]:
        """All classes that have to be enabled: a disruptive flow, or a captured one, may also be exposed."""
        balanced = self.service is not None and self.service.type == LOAD_BALANCER
        if balanced and self.check_class in {CheckClass.DISRUPTIVE, CheckClass.PACKETS}:
            return (self.check_class, CheckClass.EXPOSED)
        return (self.check_class,)

    @property
    def owns_services(self) -> bool:
        """Whether each of its targets takes a Service with its own settings, or a load balancer."""
        settings = self.service
        return settings is not None and not (settings.no_endpoints or settings.external_name)

    @property
    def is_process(self) -> bool:
        """Whether each of its attempts starts a program on a node: then a run makes no more of them than it needs."""
        from_node = self.source is VantageKind.NODE and self.question is Question.REACH
        return from_node or self.question is Question.PING

    @property
    def several_backends(self) -> bool:
        """Whether the flow claims that connections are spread, so that it needs no affinity."""
        return self.distribution is Distribution.SEVERAL_BACKENDS

    def skipped(self, check_id: str, reason: str) -> Skip:
        """Return the skip of a check of this flow, or of all of them."""
        return Skip(
            id=check_id, flow=self.name, reason=reason, required=self.required, suite=self.suite
        )

    def expected(
        self, protocol: Protocol, question: Question, case: Case | None = None
    ) -> Expected:
        """Return what this flow claims for ``protocol`` of ``question``, and for ``case`` if there is one."""
        stated = (case and case.outcome) or self.outcome
        claimed = Expected(outcome=stated or _works(question, protocol))
        if not question.has_path or question is Question.RESOLVE:
            return claimed
        return replace(claimed, source_seen=self.source_seen, distribution=self.distribution)


def _works(question: Question, protocol: Protocol) -> Outcome:
    """Return the default claim for a question, unless flow or case claim something else."""
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
    """Return the outcome of an answer: a connection, if the protocol has any."""
    match protocol:
        case Protocol.TCP:
            return Outcome.CONNECTED
        case Protocol.UDP | Protocol.ICMP:
            return Outcome.REPLIED
        case _:
            assert_never(protocol)
