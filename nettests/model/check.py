"""Checks: flows made concrete on a cluster.

Suites declare flows, ``plan`` makes checks of them, ``probes`` runs checks, ``judge`` judges them. Objects are named
by node pool, never by node, address or build, so that an id means the same check before and after an upgrade.
Addresses are looked up once the probes are deployed.
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
    """The Pod's ``dnsPolicy`` if it is not the usual one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a check reaches.

    ``pod`` or ``service`` name objects of the run's namespace; ``node`` is the node that holds the
    pod, backs the Service or owns the address. ``backends`` are the pod names that may answer.
    ``settings`` are the Service's where the flow states any; ``None`` is an ordinary Service.
    ``name_form`` is a template for names that resolvers are queried for, over ``{service} {namespace}
    {domain} {pod} {pod_address} {subdomain} {external}``.
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
    """For ``CHURN``: the backends that the Service had before, and that must not answer any more."""
    name_form: str | None = None
    settings: ServiceSettings | None = None
    existing: ExistingService | None = None
    """The Service that is reached, if it is none of the run's."""

    @property
    def descriptor(self) -> Descriptor:
        """The descriptor of all targets of this kind."""
        return descriptor(self.kind)


FIRST_PACKETS = "first"
"""The word of ``Afterwards.how`` for reading a Pod's first packets from its own log."""
EXIT_CODE, MESSAGE = "exit-code", "message"
"""The words for reading from a Pod's status how its first container ended."""
UNTIL_DENIED = "until-denied"
"""The word for a command that is repeated until it fails, a few times at most."""
RESTARTS = "restarts"
"""The word for a first container that its kubelet has to restart by itself."""
TERMINATES = "terminates"
"""The word for a server that has to end by itself once it is told, by the times of its node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Afterwards:
    """What happens to a check's own Pod once it has started, and the expected result.

    ``how`` is ``address`` (compare its address: ``says`` is ``node``), ``exec`` (run ``words`` in its
    first container), ``log`` (read that container's log), ``pod-proxy`` or ``port-forward`` (request a
    path at a port, the two ``words``), ``port-read`` (read what a server says at a port by itself). Output
    has to hold ``says``, whatever its case; with ``whole_line`` it has to be one of its lines, as a text of which another
    one is the beginning proves nothing (``10.96.0.1`` of ``10.96.0.12``). ``restart`` requests a path that ends the first container and
    compares the Pod's address before and after; ``renew`` deletes the Pod of a StatefulSet, whose next one has
    to have its name, as host name and in DNS; ``end`` deletes the Pod, which has to take as many seconds
    as ``says``, and no longer than its grace period. ``terminates`` (``TERMINATES``) deletes it likewise; so many seconds lie
    between the moment when its server says in its log that it was told to end, and its container's end. ``first`` (``FIRST_PACKETS``) waits until all containers have
    ended and reads in their logs when each first reached something: a container for each kind of path.
    ``exit-code`` and ``message`` (``EXIT_CODE``, ``MESSAGE``) wait until all containers have ended: the first one's code
    has to be ``says``, or its termination message hold it. ``restarts`` (``RESTARTS``) waits until the kubelet has
    restarted the first container, with an event that holds ``says``. ``until-denied`` (``UNTIL_DENIED``) runs ``words`` like
    ``exec``, again as long as they succeed. ``attach`` listens to what the first container writes from then on.
    Of objects that make Pods (``model.workload``) ``makes`` wants a Pod that starts, and the object's status to tell
    so; ``rolls-out`` changes a Deployment's template, and wants its Pod replaced while one of both is Ready; ``apart``
    wants one of two Pods to start, and the other one to stay pending for a reason that holds ``says``.
    """

    how: str
    words: tuple[str, ...] = ()
    says: str = ""
    whole_line: bool = False

    @property
    def by_itself(self) -> bool:
        """Whether no step follows: only the Pod's own result is read, whether it became Ready or not."""
        return self.how in {FIRST_PACKETS, EXIT_CODE, MESSAGE, RESTARTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One of several cases that a flow tests in the same place: the object varies, not the path.

    ``label`` is the last part of the check's id. ``object`` is the Kubernetes object as JSON, for
    questions that send one. ``field`` is what a rejection has to name, spelled as ``details.causes``
    of a ``Status`` spells it (``spec.hostPID``): rejected for another reason proves nothing.
    ``counter`` is the same object without what is in question: a rejection counts beside its
    acceptance. ``outcome`` replaces the flow's claim, and ``os`` keeps the case to nodes of that system.
    For ``INSPECT`` the label names the rule, and ``when`` says what the rule is about (``overlay``,
    ``dsr`` …): elsewhere it is not run. ``beside_pod`` wants a Pod of the run on the node, to be looked at,
    where it may make any.

    For ``ADMIT``, ``level`` is the level of Pod Security of the namespace that is used, where it is not the
    run's own. ``then`` may be ``steered``: the Pod names a RuntimeClass that is there already.

    For ``START``, ``pods`` are so many of them at the same time, over the nodes of a node pool, and ``reasons`` are texts of which a failure has to show one: a Pod that stays away for
    another reason proves nothing. ``then`` is what is done once it has started.
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
    """One concrete question: from where, to what, how.

    A check has one; each of its positive controls is one more.
    """

    source: Vantage
    target: Target
    protocol: Protocol
    family: Family = Family.IPV4
    question: Question = Question.REACH
    resolver: Resolver | None = None
    size: int | None = None
    """For ``PING``: bytes of payload in packets that must not be split; ``None`` leaves both to ping. For ``REACH``: bytes
    of payload that a request carries beside the question, and its answer back; ``None`` sends the question alone. For
    ``PATH_MTU``: bytes of the Pods' MTU, ``None`` where it is not known."""
    connections: int = 1
    """For ``DISTRIBUTE``: how many new connections from distinct source ports. For ``LOSS`` and ``FLOWS``: how many tries. For
    ``SCALE``: how many Services. For ``START``: how many Pods at the same time."""
    pause: float = 0
    """For ``DISTRIBUTE``: seconds between the connections."""
    case: Case | None = None
    """For ``ADMIT``, ``INSPECT`` and ``START``: what exactly is tested."""

    @property
    def makes_many_pods(self) -> bool:
        """Whether several Pods are created at the same time; nothing else may be tested meanwhile."""
        return self.question is Question.START and self.connections > 1

    @property
    def is_process(self) -> bool:
        """Whether the source has to start a program to probe, because there is no HTTP request for it."""
        match self.question:
            case Question.PING | Question.IDLE | Question.WITNESS:
                return True
            case Question.REACH if self.target.existing is not None:
                return True  # which sends nothing: a request might mean something to a server of others
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
        """The names of the nodes that capture it: those of both ends; none except for ``WITNESS``."""
        if self.question is not Question.WITNESS:
            return ()
        return tuple(dict.fromkeys(node for node in (self.source.node, self.target.node) if node))

    @property
    def answered_on_host(self) -> bool:
        """Whether a Pod on the target node's own network has to answer; kubelet and kernel answer by themselves."""
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

    ``label`` names its nodes (``win-3 → linux-2``) and is unique in its check.
    """

    label: str
    action: Action
    placement: Placement
    controls: tuple[Control, ...] = ()


def counted(labels: Collection[str]) -> str:
    """Return how many nodes, or pairs of nodes, there are by the labels of members: ``1 pair of nodes``."""
    ends = (label.partition(" → ") for label in labels)
    pairs = any(arrow and source != target for source, arrow, target in ends)
    word = "pair" if pairs else "node"
    many = f"{len(labels)} {word}" if len(labels) == 1 else f"{len(labels)} {word}s"
    return f"{many} of nodes" if pairs else many


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One flow made concrete.

    ``id`` is stable and made of node pools, never of nodes (``check_id``).
    ``needs`` are capabilities of the source probe (``ping``) that are discovered before it is probed.
    A check with ``members`` is never run itself: each of them is, and its own action says only what they share.
    ``alike`` is the flow whose documented limitations hold for this one, too.
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
        """The checks that are run: its members, each as a check with its own id, or the check itself."""
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
        """All its actions: its own or its members', and those of their positive controls."""
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
    """A check, or a whole flow, that is planned but does not apply or cannot be run, and why."""

    id: str
    flow: str
    reason: str
    required: bool = False
    suite: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePod:
    """A resident Pod that the checks need.

    ``purpose`` is ``probe``, ``resolver``, ``server``, ``unready``, ``hostport`` or ``node``.

    A ``probe`` runs a full ``netexec`` inside the pod network; a ``resolver`` is one more with a
    ``dnsPolicy`` of its own (a ``node`` may have one too). A ``server`` and a ``node`` pod serve
    overridden handlers only, because NodePorts and host addresses expose them.
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
    """Everything that a run will do: same facts, same plan, same ids, in the same order."""

    checks: tuple[Check, ...]
    skips: tuple[Skip, ...]
    pods: tuple[ProbePod, ...]
    services: tuple[ServiceObject, ...]

    @property
    def each(self) -> Iterator[Check]:
        """What is run: the members of all checks, each as a check."""
        for check in self.checks:
            yield from check.each
