"""Wait until servers, Services and names answer the pods that will use them; measured, never judged.

Programming a Service takes up to a minute on Windows, and a container needs a moment to listen. Each (target, probe)
pair is polled until it answers or its deadline passes; checks of the pair wait for it. A pair that has not converged
is recorded, and its checks run anyway.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from nettests.bounds import Bounds
from nettests.model.check import Action, Check, Target, Vantage
from nettests.model.check_id import member_of
from nettests.model.dns_names import HEADLESS_FQDN, SERVICE_FQDN, absolute
from nettests.model.observation import Raw
from nettests.model.retransmission import QUERY_SECONDS
from nettests.model.service import ByHand
from nettests.model.target_kinds import Location, Owner, descriptor
from nettests.model.words import (
    OS,
    Family,
    Outcome,
    Protocol,
    Question,
    TargetKind,
    VantageKind,
)
from nettests.parse.answers import HEALTH
from nettests.parse.read import positive, read_raw
from nettests.plan.targets import LOAD_BALANCED
from nettests.probes.addresses import SUBDOMAIN, NotStandingError
from nettests.probes.beside import DIAL_PATIENCE, Pending, begin, one_over, queries_resolver
from nettests.probes.commands import CannotProbeError, Command, command
from nettests.probes.deadlines import Deadlines, overslept
from nettests.probes.sending import Answer, Sender

PAUSE_SECONDS = 0.25
LONGEST_PAUSE = 2.0
"""What has waited for long is polled less often: many polls at once slow down what they wait for."""
STALLED_SECONDS = 5.0
"""A Service silent for this long may never answer: the checks that wait for it are run early."""
LOOK_SECONDS = 1.0
"""Between two looks at the deadline, while a question is under way."""
ANSWERING_SECONDS = 2 * QUERY_SECONDS
"""What good answers in one protocol took is no time of the next one's, up to so much: names of a DNS that loses two queries
of three take longer and longer, and are late."""
UNDER_WAY = Bounds().polls_per_service
"""So many questions wait at the same time: a resolver whose queries are lost keeps silent for ten seconds."""
PROTOCOLS = ((Protocol.TCP, 0), (Protocol.TCP, 1), (Protocol.UDP, 0))
"""Both handlers of a server, and its UDP."""
_IN_QUESTION = {ByHand.MIXED_TARGET_PORTS, ByHand.TERMINATING}


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """A target that has to answer (``kind`` and ``name``), and the probe pod from which it is polled."""

    kind: TargetKind
    name: str
    probe: str
    family: Family = Family.IPV4


def pairs_of(
    check: Check, probe_on: dict[str, str], sentinel: str | None = None
) -> frozenset[Pair]:
    """Return what has to answer before ``check`` and its controls are run.

    ``probe_on`` names the probe pod of each node that has one. A node or an external vantage point has no
    dial of its own; the probe pod of its node, or of the target's, stands in for it, because
    kube-proxy programs a node as a whole. ``sentinel`` is the Service that was made last: a node where
    it answers knows all that was said of the others, also of those that are meant to stay silent.
    Of the fleet's members there are as many as pairs of nodes: what their targets need is waited for once a node.
    """
    if member_of(check.id):
        return _once_a_node(check.action, probe_on, sentinel)
    found: set[Pair] = set()
    for action in (check.action, *(control.action for control in check.controls)):
        probes = _polling_pods(action, probe_on)
        if sentinel and action.target.service is not None:
            found |= {Pair(TargetKind.SERVICE_CLUSTERIP, sentinel, probe) for probe in probes}
        named = _named(action.target)
        if named is not None:
            served = probes & _served(action, probe_on)
            found |= {Pair(*named, probe, action.family) for probe in served}
    return frozenset(found)


def _once_a_node(action: Action, probe_on: dict[str, str], sentinel: str | None) -> frozenset[Pair]:
    """Return what has to answer the node whose rules a member meets: a Service there, or a Pod on its own node."""
    of_pod = action.target.pod is not None and action.target.service is None
    at_target = of_pod or action.target.descriptor.owner is Owner.NODE_PORT
    probe = probe_on.get((action.target.node if at_target else action.source.node) or "")
    named = _named(action.target)
    if probe is None or named is None:
        return frozenset()
    found = {Pair(*named, probe, action.family)}
    if sentinel and action.target.service is not None:
        found.add(Pair(TargetKind.SERVICE_CLUSTERIP, sentinel, probe))
    return frozenset(found)


def _polling_pods(action: Action, probe_on: dict[str, str]) -> set[str]:
    """Return the probe pods to poll from: those of the nodes whose Service proxy the action depends on."""
    nodes = {action.source.node, action.target.node}
    settings = action.target.settings
    local = settings is not None and settings.internal_local
    if action.target.descriptor.owner is Owner.NODE_PORT:
        if action.target.kind is not TargetKind.HEALTH_CHECK_PORT:
            nodes = {action.target.node}  # no other node translates its addresses
    elif action.source.node in probe_on and not local:
        nodes = {action.source.node}
    probes = {probe_on[node] for node in nodes if node in probe_on}
    return probes or set(sorted(probe_on.values())[:1])


def _served(action: Action, probe_on: dict[str, str]) -> set[str]:
    """Return the probe pods that get an answer when all is well; the others are not waited for."""
    settings, own = action.target.settings, probe_on.get(action.source.node or "")
    every = set(probe_on.values())
    if settings is not None and settings.internal_local:
        # Only clients on the backend's own node are served.
        return {probe_on.get(action.target.node or "", "")}
    if (
        settings is not None
        and settings.behind == "node"
        and action.source.node == action.target.node
    ):
        # Documented to stay silent on Windows: waiting for an answer would take a minute.
        return every - {own or ""}
    if settings is not None and settings.publish_not_ready and action.source.os is OS.WINDOWS:
        # kube-proxy for Windows leaves out endpoints that do not serve (kubernetes/kubernetes#113776 and its picks).
        return every - {own or ""}
    return every


def _named(target: Target) -> tuple[TargetKind, str] | None:
    if target.settings is not None and target.settings.by_hand in _IN_QUESTION:
        return None  # whether its backends answer is what is tested
    if target.settings is not None and target.settings.no_endpoints:
        return (
            None  # it answers nobody; the ordinary Service that its control targets is waited for
        )
    reached = target.descriptor
    if reached.owner is Owner.PODS:
        return target.kind, SUBDOMAIN
    balanced = reached.location is Location.LOAD_BALANCER
    # With settings of its own a load balancer need answer nobody at its address.
    itself = reached.awaited_itself and (not balanced or target.settings == LOAD_BALANCED)
    if target.service is not None:
        by_name = target.name_form is not None
        otherwise = TargetKind.SERVICE_FQDN if by_name else TargetKind.SERVICE_CLUSTERIP
        return target.kind if itself else otherwise, target.service
    if target.pod is not None:
        return target.kind if itself else TargetKind.POD_IP, target.pod
    return None


@dataclass(frozen=True, slots=True)
class Waited:
    """How the wait for a pair ended."""

    silent: frozenset[Protocol]
    """The protocols in which it did not answer."""
    seconds: float


@dataclass(slots=True)
class Convergence:
    """Waits for pairs, for as long as ``deadlines`` allow; safe for threads.

    ``names`` holds the name templates of pods that are waited for by name; ``under_way`` is how many polls of one pair
    wait at the same time.
    """

    sender: Sender
    names: Mapping[str, str]
    deadlines: Deadlines
    clock: Callable[[], float] = time.monotonic
    under_way: int = UNDER_WAY

    def wait_for(self, pair: Pair, on_stalled: Callable[[], None] = lambda: None) -> Waited:
        """Poll one pair until it answers, and record how long it took.

        ``on_stalled`` is called once, when it has been silent for ``STALLED_SECONDS``.
        """
        polls = _Polls(self, pair, on_stalled)
        left = list(PROTOCOLS)
        while left:
            # One after the other: a datagram that is lost costs 5 s, a SYN is sent again.
            while left and polls.answers(*left[0]):
                left.pop(0)
            if not left or polls.over():
                break
            left.append(left.pop(0))  # what is silent in one way may answer in the others
            polls.pause()
        if not left and pair.name == self.sender.directory.deployment.sentinel:
            self.deadlines.sentinel_answered(pair.probe, self.clock(), polls.waited)
        self.sender.recorder.convergence(
            service=pair.name, probe=pair.probe, seconds=polls.waited, converged=not left
        )
        return Waited(frozenset(protocol for protocol, _ in left), polls.waited)


class _Polls:
    """The questions to one pair, within its deadline: a question that is silent then is not waited for.

    Two things are no time of the pair's: what this machine overslept, and what a good answer took in one protocol, while
    the next one had not been sent.
    """

    def __init__(self, waits: Convergence, pair: Pair, on_stalled: Callable[[], None]) -> None:
        self._sender, self._pair, self._names = waits.sender, pair, waits.names
        self._deadlines, self._clock = waits.deadlines, waits.clock
        self._overslept = self._answering = 0.0
        self._on_stalled, self._stalled = on_stalled, False
        self._most = waits.under_way
        self._began = self._clock()
        self._probed: defaultdict[tuple[Protocol, int], list[Pending[bool]]] = defaultdict(list)

    @property
    def waited(self) -> float:
        """Seconds since the first question in which this machine could look."""
        return self._clock() - self._began - self._overslept

    def over(self) -> bool:
        """Whether its time is over, or that of the run."""
        return self._left <= 0 or self._sender.stopped.is_set()

    def answers(self, protocol: Protocol, turn: int) -> bool:
        """Whether the pair answers a question, before its time is over.

        One that is idle is left to itself, as long as few are: its answer counts when it comes.
        """
        sender, pair, names = self._sender, self._pair, self._names
        kept = self._probed[protocol, turn]
        mine: Pending[bool] | None = None
        began = self.waited
        while not self.over() and not any(one.over and one.result() for one in kept):
            if mine is None and len(self._under_way) < self._most:
                mine = begin(lambda _: _answers(sender, pair, names, protocol, turn))
                kept.append(mine)
            if mine is not None and (mine.over or self._left_to_itself(mine)):
                break
            self._wait_a_moment()
        if mine is not None and mine.over and mine.result():
            self._answering = min(ANSWERING_SECONDS, self._answering + self.waited - began)
        return any(one.over and one.result() for one in kept)

    @property
    def _under_way(self) -> list[Pending[bool]]:
        return [one for probed in self._probed.values() for one in probed if not one.over]

    def _left_to_itself(self, one: Pending[bool]) -> bool:
        by_name = descriptor(self._pair.kind).by_name  # a lost query is sent again after that time
        silent = time.monotonic() - one.began >= (QUERY_SECONDS if by_name else DIAL_PATIENCE)
        return silent and len(self._under_way) < self._most

    def _wait_a_moment(self) -> None:
        """Wait until a question is answered, but no longer than until something may be due."""
        moment = min(LOOK_SECONDS, self._left)  # the deadline may come closer meanwhile
        if not self._stalled:
            moment = min(moment, STALLED_SECONDS - self.waited)
        self._wait(lambda seconds: one_over(self._under_way, seconds), max(0.0, moment))
        self._look()

    def pause(self) -> None:
        """Wait until another question is worth its while."""
        self._wait(self._sender.stopped.wait, min(LONGEST_PAUSE, PAUSE_SECONDS + self.waited / 8))
        self._look()

    def _wait(self, wait: Callable[[float], object], seconds: float) -> None:
        began = self._clock()
        wait(seconds)
        self._overslept += overslept(seconds, self._clock() - began)

    @property
    def _left(self) -> float:
        if self._pair.kind is TargetKind.POD_IP:
            deadline = self._deadlines.of_server(self._began)
        else:
            deadline = self._deadlines.of_service(self._pair.probe, self._began)
        return deadline + self._overslept + self._answering - self._clock()

    def _look(self) -> None:
        if not self._stalled and self.waited >= STALLED_SECONDS:
            self._stalled = True
            self._on_stalled()


def _answers(
    sender: Sender, pair: Pair, names: Mapping[str, str], protocol: Protocol, turn: int
) -> bool:
    """Whether the pair answers; what does not stand will not, and is not waited for."""
    vantage = Vantage(kind=VantageKind.POD, probe=pair.probe, os=OS.LINUX)
    try:
        target = _target(sender, pair, names)
        action = Action(source=vantage, target=target, protocol=protocol, family=pair.family)
        wanted = command(action, sender.directory.endpoint(action), turn, sender.timing)
    except (NotStandingError, CannotProbeError):
        return True
    since = time.monotonic()
    raw = _read(wanted, sender.carry_out(wanted, action))
    if raw is None:
        return False
    if read_raw(raw).outcome is Outcome.REFUSED:
        sender.pace.told(pair.probe, since, time.monotonic())
    enough = _enough(raw)
    if enough and queries_resolver(action):
        sender.resolvers.told(pair.probe, time.monotonic())
    return enough


def _target(sender: Sender, pair: Pair, names: Mapping[str, str]) -> Target:
    reached = descriptor(pair.kind)
    if reached.owner is Owner.PODS:
        return Target(kind=pair.kind, name_form=absolute(HEADLESS_FQDN))
    if reached.owner is Owner.POD:
        return Target(kind=pair.kind, pod=pair.name, name_form=absolute(names.get(pair.name, "")))
    if reached.owner is Owner.NODE_PORT:
        # Where a backend is: nothing tells that a node has heard that it has none.
        (backend, *_) = sender.directory.service(pair.name).backends
        node = sender.directory.pod(backend).node
        return Target(kind=pair.kind, service=pair.name, node=node)
    form = absolute(SERVICE_FQDN) if reached.by_name else None
    return Target(kind=pair.kind, service=pair.name, name_form=form)


def _read(wanted: Command, answer: Answer) -> Raw | None:
    if answer.error is not None:
        return None
    return Raw(
        check="",
        purpose="convergence",
        attempt=1,
        tool=wanted.tool,
        client_os=OS.LINUX.value,
        probe="",
        channel=answer.channel,
        command=wanted.words,
        started=0,
        elapsed=0,
        status=answer.status,
        stdout=answer.stdout,
        context={"request": wanted.request},
    )


def _enough(raw: Raw) -> bool:
    if raw.context["request"] == HEALTH:
        return read_raw(raw).outcome is Outcome.HEALTHY
    return positive(raw, Question.REACH)


def name_forms(checks: Iterable[Check]) -> dict[str, str]:
    """Return the template of the name by which each pod is probed, where one is."""
    return {
        action.target.pod: action.target.name_form
        for check in checks
        for action in (check.action, *(control.action for control in check.controls))
        if action.target.kind is TargetKind.POD_NAME
        and action.target.pod
        and action.target.name_form
    }
