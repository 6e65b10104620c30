"""Checks: flows made concrete on a cluster.

Suites declare flows, ``plan`` turns them into checks, ``probes`` runs them, ``judge`` judges them.
Names use node pools, never a node, address or build, so that an id means the same check before and
after an upgrade. Addresses are looked up once the probes are deployed.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from nettests.model.check_id import member_id
from nettests.model.expectation import Expected, Source
from nettests.model.facts import ExistingService
from nettests.model.service import ServiceSettings
from nettests.model.target_kinds import Descriptor, descriptor
from nettests.model.versions import WindowsBuild
from nettests.model.visible import plural
from nettests.model.words import (
    OS,
    CheckClass,
    Family,
    Outcome,
    Placement,
    Protocol,
    Question,
    Resolver,
    TargetKind,
    VantageKind,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vantage:
    """Where a check's probe runs.

    ``probe`` names the resident probe (``probe-windows-1-1`` for a pod, ``node-windows-1-1`` for a
    node vantage, ``external`` outside): the Pod of that name in the run's namespace.
    """

    kind: VantageKind
    probe: str
    pool: str | None = None
    os: OS | None = None
    node: str | None = None
    build: WindowsBuild | None = None
    dns_policy: str = ""
    """The Pod's ``dnsPolicy`` if it is not the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a check reaches.

    ``pod`` or ``service`` name objects of the run's namespace; ``node`` holds the Pod, backs the
    Service or owns the address. ``backends`` are the Pod names that may answer. ``settings`` are
    those of the Service if the flow states any; ``None`` is an ordinary Service. ``name_form`` is a
    template of the name to resolve, over ``{service} {namespace} {domain} {pod} {pod_address}
    {subdomain} {external}``.
    """

    kind: TargetKind
    pool: str | None = None
    os: OS | None = None
    node: str | None = None
    build: WindowsBuild | None = None
    pod: str | None = None
    service: str | None = None
    backends: tuple[str, ...] = ()
    former: tuple[str, ...] = ()
    """For ``CHURN``: the former backends of the Service, which must no longer answer."""
    name_form: str | None = None
    settings: ServiceSettings | None = None
    existing: ExistingService | None = None
    """The existing Service that is reached, if it is not the run's."""

    @property
    def descriptor(self) -> Descriptor:
        """The descriptor of all targets of this kind."""
        return descriptor(self.kind)


FIRST_PACKETS = "first"
"""``Afterwards.how``: read a Pod's first packets from its own log."""
EXIT_CODE, MESSAGE = "exit-code", "message"
"""``Afterwards.how``: read from a Pod's status how its first container ended."""
UNTIL_DENIED = "until-denied"
"""``Afterwards.how``: repeat a command until it fails, a few times at most."""
RESTARTS = "restarts"
"""``Afterwards.how``: the kubelet must restart the first container by itself."""
TERMINATES = "terminates"
"""``Afterwards.how``: a server must end by itself after SIGTERM, timed by its node's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Afterwards:
    """What is done with a check's own Pod once it has started, and the expected result.

    Output must contain ``says``, ignoring case; with ``whole_line`` one of its lines must equal it,
    as a prefix proves nothing (``10.96.0.1`` of ``10.96.0.12``). ``how`` is one of:

    ``address``: compare the Pod's address, ``says`` is ``node``. ``exec``: run ``words`` in the
    first container. ``until-denied``: the same, repeated while it succeeds. ``log``: read that
    container's log; ``attach``: read what it writes from then on. ``pod-proxy``, ``port-forward``:
    request a path at a port, the two ``words``. ``port-read``: read what a server sends by itself.
    ``restart``: request a path that ends the first container, and compare the Pod's address before
    and after. ``renew``: delete a StatefulSet's Pod; the next one must have its name, as hostname
    and in DNS. ``end``: delete the Pod, which must take ``says`` seconds, at most its grace period.
    ``terminates``: delete it; ``says`` seconds must pass between the server's log entry of the
    signal and the container's end. ``first``: wait until all containers, one per kind of path, have
    ended, and read in their logs when each first reached something. ``exit-code``, ``message``:
    wait likewise; the first container's code must be ``says``, or its termination message contain
    it. ``restarts``: wait until the kubelet has restarted the first container, with an event that
    contains ``says``.

    For workloads (``model.workload``): ``makes``: a Pod must start and the object's status show it.
    ``rolls-out``: change a Deployment's template; its Pod must be replaced while one of the two is
    Ready. ``apart``: one of two Pods must start, the other stay pending, ``says`` in its reason.
    """

    how: str
    words: tuple[str, ...] = ()
    says: str = ""
    whole_line: bool = False

    @property
    def by_itself(self) -> bool:
        """Whether no step follows: only the Pod's own result is read, Ready or not."""
        return self.how in {FIRST_PACKETS, EXIT_CODE, MESSAGE, RESTARTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One of several cases that a flow tests in the same place: the object varies, not the path.

    ``label`` is the last part of the check's id. ``object`` is a Kubernetes object as JSON, for
    questions that send one. ``field`` is what a rejection must name, spelled as in
    ``details.causes`` of a ``Status`` (``spec.hostPID``): a rejection for another reason proves
    nothing. ``counter`` is the same object without what is tested: a rejection counts only if it is
    accepted. ``outcome`` replaces the flow's claim, and ``os`` limits the case to nodes of that OS.
    For ``INSPECT``, the label names the rule, and ``when`` where it applies (``overlay``, ``dsr``
    …); ``beside_pod`` wants a Pod of the run to inspect on the node, if it may have one.

    For ``ADMIT``, ``level`` is the namespace's Pod Security level, if it is not the run's own
    namespace. ``then`` may be ``steered``: the Pod names an existing RuntimeClass.

    For ``START``, ``pods`` are that many at the same time over the nodes of a node pool, and a
    failure must show one of ``reasons``: a Pod that fails for another reason proves nothing.
    ``then`` is what is done once it has started.
    """

    label: str
    object: str = ""
    field: str = ""
    counter: str = ""
    outcome: Outcome | None = None
    when: tuple[str, ...] = ()
    os: OS | None = None
    level: str = ""
    reasons: tuple[str, ...] = ()
    then: Afterwards | None = None
    beside_pod: bool = False
    pods: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One concrete action: from where, to what, how.

    A check has one, and one more for each positive control.
    """

    source: Vantage
    target: Target
    protocol: Protocol
    family: Family = Family.IPV4
    question: Question = Question.REACH
    resolver: Resolver | None = None
    size: int | None = None
    """For ``PING``: bytes of payload in unfragmented packets; ``None`` leaves both to ping. For
    ``REACH``: bytes of payload that request and answer carry in addition; ``None`` sends none. For
    ``PATH_MTU``: the Pods' MTU in bytes, ``None`` if unknown."""
    connections: int = 1
    """For ``DISTRIBUTE``: new connections from distinct source ports. For ``LOSS`` and ``FLOWS``:
    tries. For ``SCALE``: Services. For ``START``: Pods at the same time."""
    pause: float = 0
    """For ``DISTRIBUTE``: seconds between connections."""
    case: Case | None = None
    """For ``ADMIT``, ``INSPECT`` and ``START``: the case tested."""

    @property
    def makes_many_pods(self) -> bool:
        """Whether several Pods are created at once; no other check may run meanwhile."""
        return self.question is Question.START and self.connections > 1

    @property
    def is_process(self) -> bool:
        """Whether the source must start a program, because no HTTP request can do it."""
        match self.question:
            case Question.PING | Question.IDLE | Question.WITNESS:
                return True
            case Question.REACH if self.target.existing is not None:
                return True  # it sends nothing: a request could have an effect on a foreign server
            case Question.REACH | Question.RESOLVE | Question.DISTRIBUTE | Question.CHURN:
                return self.resolver is not None and self.resolver.is_process
            case Question.DURING:  # a process keeps the source port of a flow
                return self.protocol is Protocol.UDP
            case Question.ADMIT | Question.INSPECT | Question.START:
                return False
            case Question.PATH_MTU | Question.LOSS | Question.FLOWS | Question.SCALE:
                return False
            case _:
                assert_never(self.question)

    @property
    def captured_on(self) -> tuple[str, ...]:
        """The nodes that capture, those of both ends; none except for ``WITNESS``."""
        if self.question is not Question.WITNESS:
            return ()
        return tuple(dict.fromkeys(node for node in (self.source.node, self.target.node) if node))

    @property
    def answered_on_host(self) -> bool:
        """Whether a hostNetwork Pod on the target node must answer, not kubelet or kernel."""
        match self.protocol:
            case Protocol.UDP:
                return self.target.descriptor.on_node_network
            case Protocol.TCP | Protocol.ICMP:
                return False
            case _:
                assert_never(self.protocol)


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A positive control, probed in the same window as a negative result.

    ``proves`` is ``vantage`` (this vantage reaches something by this protocol), ``target`` (this
    target answers another vantage) or ``path`` (one path that shows both).
    """

    proves: str
    action: Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One node, or one ordered pair of nodes, of a check.

    ``label`` names the nodes (``win-3 → linux-2``) and is unique within the check.
    """

    label: str
    action: Action
    placement: Placement
    controls: tuple[Control, ...] = ()


def counted(labels: Collection[str]) -> str:
    """Count the nodes, or pairs of nodes, that members' labels name: ``1 pair of nodes``."""
    ends = (label.partition(" → ") for label in labels)
    pairs = any(arrow and source != target for source, arrow, target in ends)
    return f"{plural(len(labels), 'pair')} of nodes" if pairs else plural(len(labels), "node")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One flow made concrete.

    ``id`` is stable and consists of node pools, never of nodes (``check_id``). ``needs`` are
    capabilities of the source probe (``ping``), discovered before it runs. A check with ``members``
    is never run itself; they are, and its action holds only what they share. ``alike`` is a flow
    whose limitations also hold for this one.
    """

    id: str
    flow: str
    title: str
    action: Action
    placement: Placement
    claim: Expected
    controls: tuple[Control, ...]
    sources: tuple[Source, ...]
    needs: tuple[str, ...] = ()
    required: bool = False
    check_class: CheckClass = CheckClass.DEFAULT
    suite: str = ""
    alike: str = ""
    members: tuple[Member, ...] = ()

    @property
    def each(self) -> "tuple[Check, ...]":
        """The checks that run: members as checks with their own ids, or the check itself."""
        if not self.members:
            return (self,)
        return tuple(
            replace(
                self,
                id=member_id(self.id, member.label),
                title=f"{self.title}: {member.label}",
                action=member.action,
                placement=member.placement,
                controls=member.controls,
                members=(),
            )
            for member in self.members
        )

    @property
    def actions(self) -> Iterator[Action]:
        """All actions: its own or its members', and those of their positive controls."""
        for holder in self.members or (self,):
            yield holder.action
            for control in holder.controls:
                yield control.action

    @property
    def source(self) -> Vantage:
        """The vantage of the check itself."""
        return self.action.source

    @property
    def target(self) -> Target:
        """The target of the check itself."""
        return self.action.target

    @property
    def queries_dns(self) -> bool:
        """Whether the answer involves the cluster's DNS."""
        reached = self.target.descriptor
        named = reached.by_name or self.action.question is Question.RESOLVE
        return named or reached.name_server


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """A check, or a whole flow, that was planned but does not apply or cannot run, and why."""

    id: str
    flow: str
    reason: str
    required: bool = False
    suite: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePod:
    """A resident Pod that the checks need.

    ``purpose`` is ``probe``, ``resolver``, ``server``, ``unready``, ``hostport`` or ``node``.

    A ``probe`` runs a full ``netexec`` in the Pod network; a ``resolver`` is a probe with its own
    ``dnsPolicy`` (a ``node`` may have one too). ``server`` and ``node`` Pods serve only overridden
    handlers, because NodePorts and host addresses expose them.
    """

    name: str
    purpose: str
    node: str
    os: OS
    pool: str
    dns_policy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceObject:
    """A Service that the checks need, in front of ``backends`` (pod names)."""

    name: str
    backends: tuple[str, ...]
    settings: ServiceSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that a run will do: the same facts give the same plan, ids and order."""

    checks: tuple[Check, ...]
    skips: tuple[Skip, ...]
    pods: tuple[ProbePod, ...]
    services: tuple[ServiceObject, ...]

    @property
    def each(self) -> Iterator[Check]:
        """The checks that run, with members in place of their checks."""
        for check in self.checks:
            yield from check.each
