"""Wait until servers, Services and names answer the pods that will use them; no verdicts.

A container needs a moment to listen, and kube-proxy to program a Service. Each (target, probe) pair is polled until it answers or its deadline passes; checks of the pair wait
for it. A pair that has not converged is recorded, and its checks run anyway.

HNS takes up to a minute to program Services; Kubernetes' scalability tests allow kube-proxy on
Linux 30 s. The sentinel is the Service that was created last: once it answers on a node, older
Services follow soon or not at all, and other nodes of that OS, with the same work, are done soon,
too. Time that the harness's machine lost does not count.
"""

import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

from nettests.bounds import Bounds
from nettests.model.check import Action, Target, Vantage
from nettests.model.cluster_profile import Timing
from nettests.model.dns_names import HEADLESS_FQDN, SERVICE_FQDN, absolute
from nettests.model.observation import Raw
from nettests.model.retransmission import QUERY_SECONDS
from nettests.model.target_kinds import Owner, descriptor
from nettests.model.words import (
    OS,
    Outcome,
    Protocol,
    Question,
    TargetKind,
    VantageKind,
)
from nettests.parse.netexec import HEALTH
from nettests.parse.overload import OVERLOADED_SECONDS
from nettests.parse.read import positive, read_raw
from nettests.probes.addresses import NotStandingError
from nettests.probes.commands import CannotProbeError, Command, command
from nettests.probes.pending import DIAL_PATIENCE, Pending, begin, one_over, queries_resolver
from nettests.probes.sending import Answer, Sender
from nettests.probes.service_pairs import Pair

TIMES_A_PEER = 3
"""How many times longer than the fastest node of its OS a node may need for all Services."""

OVERSLEPT_SECONDS = 0.1
"""A wait that ends this much late was delayed by the harness's machine: normally it ends within milliseconds."""


def overslept(planned: float, took: float) -> float:
    """Return for how long this process did not run although a wait was over."""
    late = took - planned
    return late if late >= OVERSLEPT_SECONDS else 0.0


@dataclass(slots=True)
class Deadlines:
    """The deadlines of a run, on a monotonic clock in seconds; thread-safe."""

    timing: Timing
    systems: Mapping[str, OS] = field(default_factory=dict)
    """The OS of each probe's node."""
    _sentinel_answered: dict[str, float] = field(default_factory=dict)
    _fastest: dict[OS | None, tuple[float, float]] = field(default_factory=dict)
    """By OS: when the sentinel first answered, and after how many seconds."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def sentinel_answered(self, probe: str, at: float, waited: float) -> None:
        """Note that the sentinel answers ``probe`` after ``waited`` seconds."""
        system = self.systems.get(probe)
        with self._lock:
            self._sentinel_answered[probe] = at
            self._fastest[system] = min(self._fastest.get(system, (math.inf, 0)), (at, waited))

    def of_server(self, began: float) -> float:
        """Return the deadline for a server, first polled at ``began``, to listen."""
        return began + self.timing.listening

    def of_service(self, probe: str, began: float) -> float:
        """Return the deadline for a Service or name to answer ``probe``; it may move earlier."""
        timing, system = self.timing, self.systems.get(probe)
        linux = min(timing.convergence_linux, timing.convergence)
        whole = began + (linux if system is OS.LINUX else timing.convergence)
        with self._lock:
            answered = self._sentinel_answered.get(probe, math.inf)
            first, waited = self._fastest.get(system, (math.inf, 0))
        of_peer = first + max(linux, (TIMES_A_PEER - 1) * waited)
        return min(whole, max(answered, began) + linux, max(of_peer, began + linux))


RECENT_SECONDS = 10.0
"""Seconds within which a reachable probe reports, because a poll times out after little more than 5 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Polling(Sender):
    """Sends polls; thread-safe."""

    clock: Callable[[], float] = time.monotonic
    _heard: dict[str, float] = field(default_factory=dict)
    """When a probe last returned any answer."""
    _failed: dict[str, tuple[float, str]] = field(default_factory=dict)
    """When and why a probe could not be reached last."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def carry_out(self, wanted: Command, action: Action) -> Answer:
        """Carry out ``wanted``, and remember whether the probe was reached."""
        answer = Sender.carry_out(self, wanted, action)
        with self._lock:
            if answer.error is None:
                self._heard[action.source.probe] = self.clock()
            else:
                self._failed[action.source.probe] = self.clock(), answer.error
        return answer

    def why_deaf(self, probe: str) -> str:
        """Return why a probe was not reached at all recently; empty if it was."""
        since = self.clock() - RECENT_SECONDS
        with self._lock:
            failed, why = self._failed.get(probe, (-RECENT_SECONDS, ""))
            deaf = self._heard.get(probe, since) <= since and failed > since
        return f"was not reached ({why})" if deaf else ""

    def why_overloaded(self, probe: str) -> str:
        """Return that a probe takes long to answer a request to itself; empty if it does not."""
        source = Vantage(kind=VantageKind.POD, probe=probe, os=OS.LINUX)
        target = Target(kind=TargetKind.OWN_IP, pod=probe)
        seconds = self.own_time(Action(source=source, target=target, protocol=Protocol.TCP))
        return f"took {seconds:.1f} s to answer for itself" if seconds >= OVERLOADED_SECONDS else ""


def polling(sender: Sender) -> Polling:
    """Return the sender of a run's polls."""
    return Polling(**{field.name: getattr(sender, field.name) for field in fields(sender)})


PAUSE_SECONDS = 0.25
LONGEST_PAUSE = 2.0
"""The longest pause between polls of a pair, because many polls slow down convergence."""
STALLED_SECONDS = 5.0
"""After so many silent seconds, a Service may never answer: its checks run speculatively."""
LOOK_SECONDS = 1.0
"""Seconds between looks at the deadline while a poll is under way."""
ANSWERING_SECONDS = 2 * QUERY_SECONDS
"""The most seconds of good answers in one protocol that do not count for the next one: if DNS loses two of three
queries, names would be late without that."""
UNDER_WAY = Bounds().polls_per_service
"""Concurrent polls of a pair: a resolver whose queries are lost does not answer for ten seconds."""
PROTOCOLS = ((Protocol.TCP, 0), (Protocol.TCP, 1), (Protocol.UDP, 0))
"""Protocols and turns: both HTTP handlers of a server, and UDP."""


@dataclass(frozen=True, slots=True)
class Waited:
    """How the wait for a pair ended."""

    silent: frozenset[Protocol]
    """The protocols in which it did not answer."""
    seconds: float


@dataclass(slots=True)
class Convergence:
    """Waits for pairs as long as ``deadlines`` allow; thread-safe.

    ``names`` holds name templates of pods that are polled by name; ``under_way`` limits a pair's
    polls.
    """

    sender: Sender
    names: Mapping[str, str]
    deadlines: Deadlines
    clock: Callable[[], float] = time.monotonic
    under_way: int = UNDER_WAY

    def wait_for(self, pair: Pair, on_stalled: Callable[[], None] = lambda: None) -> Waited:
        """Poll one pair until it answers, and record how long it took.

        ``on_stalled`` is called once, after ``STALLED_SECONDS`` without an answer.
        """
        polls = _Polls(self, pair, on_stalled)
        left = list(PROTOCOLS)
        while left:
            # TCP first: a lost datagram costs 5 s, whereas a SYN is retransmitted.
            while left and polls.answers(*left[0]):
                left.pop(0)
            if not left or polls.over():
                break
            left.append(
                left.pop(0)
            )  # a server that does not answer in one protocol may answer in the others
            polls.pause()
        if not left and pair.name == self.sender.directory.deployment.sentinel:
            self.deadlines.sentinel_answered(pair.probe, self.clock(), polls.waited)
        self.sender.recorder.convergence(
            service=pair.name, probe=pair.probe, seconds=polls.waited, converged=not left
        )
        return Waited(frozenset(protocol for protocol, _ in left), polls.waited)


class _Polls:
    """The polls of one pair until its deadline.

    Not counted: time that this machine overslept, and the time of earlier protocols' answers.
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
        """Seconds since the first poll, without those that this machine overslept."""
        return self._clock() - self._began - self._overslept

    def over(self) -> bool:
        """Whether the deadline has passed or the run was stopped."""
        return self._left <= 0 or self._sender.stopped.is_set()

    def answers(self, protocol: Protocol, turn: int) -> bool:
        """Whether the pair answers a poll before its deadline.

        A slow poll continues in the background, unless too many do; its later answer counts.
        """
        sender, pair, names = self._sender, self._pair, self._names
        kept = self._probed[protocol, turn]
        mine: Pending[bool] | None = None
        began = self.waited
        while not self.over() and not any(poll.over and poll.result() for poll in kept):
            if mine is None and len(self._under_way) < self._most:
                mine = begin(lambda _: _answers(sender, pair, names, protocol, turn))
                kept.append(mine)
            if mine is not None and (mine.over or self._left_to_itself(mine)):
                break
            self._wait_a_moment()
        if mine is not None and mine.over and mine.result():
            self._answering = min(ANSWERING_SECONDS, self._answering + self.waited - began)
        return any(poll.over and poll.result() for poll in kept)

    @property
    def _under_way(self) -> list[Pending[bool]]:
        return [poll for probed in self._probed.values() for poll in probed if not poll.over]

    def _left_to_itself(self, poll: Pending[bool]) -> bool:
        by_name = descriptor(
            self._pair.kind
        ).by_name  # a lost query is retransmitted after that time
        silent = time.monotonic() - poll.began >= (QUERY_SECONDS if by_name else DIAL_PATIENCE)
        return silent and len(self._under_way) < self._most

    def _wait_a_moment(self) -> None:
        moment = min(LOOK_SECONDS, self._left)  # the deadline may come closer meanwhile
        if not self._stalled:
            moment = min(moment, STALLED_SECONDS - self.waited)
        self._wait(lambda seconds: one_over(self._under_way, seconds), max(0.0, moment))
        self._look()

    def pause(self) -> None:
        """Wait until another poll is worthwhile."""
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
    """Whether the pair answers; if an object does not exist, ``True``: it is not waited for."""
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
        sender.pace.note_refusal(pair.probe, since, time.monotonic())
    enough = _enough(raw)
    if enough and queries_resolver(action):
        sender.resolvers.note_answer(pair.probe, time.monotonic())
    return enough


def _target(sender: Sender, pair: Pair, names: Mapping[str, str]) -> Target:
    reached = descriptor(pair.kind)
    if reached.owner is Owner.PODS:
        return Target(kind=pair.kind, name_form=absolute(HEADLESS_FQDN))
    if reached.owner is Owner.POD:
        return Target(kind=pair.kind, pod=pair.name, name_form=absolute(names.get(pair.name, "")))
    if reached.owner is Owner.NODE_PORT:
        # Such a Service has a backend: without one, no answer would show that a node has programmed it.
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
