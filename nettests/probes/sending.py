"""Send one request over the source's control channel, and record the answer before it is read.

A channel error is retried once over another channel, because every request here may reach its
target twice without harm. Without an answer, the record has the error and is not trusted.
"""

import math
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from nettests.bounds import ahead, took
from nettests.errors import NettestsError
from nettests.model.channel import (
    ChannelError,
    ExecAnswer,
    ExecChannel,
    HttpChannel,
    ProgramMissingError,
)
from nettests.model.check import Action
from nettests.model.cluster_profile import Timing
from nettests.model.observation import Raw
from nettests.model.payload import folded
from nettests.model.retransmission import PROMPT_SECONDS
from nettests.model.words import OS, Outcome, Question, VantageKind
from nettests.parse.datagram import DATAGRAM
from nettests.parse.overload import ICMP, REFERENCE, SPENT
from nettests.parse.read import positive, read_raw
from nettests.probes.addresses import Directory
from nettests.probes.commands import CannotProbeError, Command, command
from nettests.probes.deployment import StandingPod
from nettests.probes.examine import Examination, Examiner
from nettests.probes.external import External
from nettests.probes.own_time import OwnTimes, itself
from nettests.probes.pace import Pace, may_be_icmp
from nettests.probes.pending import Resolvers, queries_resolver
from nettests.probes.rerun import (
    HANG_SECONDS,
    PAUSES_SECONDS,
    RESOLVER_HANGS_SECONDS,
    Rerunning,
)
from nettests.probes.seams import Recorder
from nettests.probes.together import Done, Together

NOTHING: Mapping[str, str] = MappingProxyType({})
CONNECTING = frozenset({"curl", "connect"})
"""Tools that end with 0 if the target answered, and immediately."""
LOOKUP, PING = "nslookup", "ping"
STOPPED = "the run was stopped"
"""The prefix of each reason for a check that the stop of the run ended."""


class StoppedError(NettestsError):
    """The run was stopped; no further request is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A usable resident probe: its channels, the working one first."""

    name: str
    http: tuple[HttpChannel, ...] = ()
    execute: ExecChannel | None = None
    http_slots: AbstractContextManager[object] = field(default_factory=nullcontext)
    """Limits the requests over ``http``."""
    lookups: Together | None = None
    """Combines lookups of several checks in one process, if set."""
    going_on: Together | None = None
    stopping: Together | None = None
    """The same for connections of a node vantage: those that are refused, and all others."""
    pinging: Together | None = None
    """For pings of Linux."""

    def get(
        self, path: str, *, timeout: float, tell: Callable[[str], None] = lambda _why: None
    ) -> "Answer":
        """Request a path over the working channel, then over another one (``tell`` gets why)."""
        errors: list[str] = []
        for channel in self.http[:2]:
            began = time.monotonic()
            try:
                got = channel.get(path, timeout=timeout)
            except ChannelError as error:
                errors.append(f"{channel.name}: {error.message}")
                continue
            seconds = got.seconds
            if errors:
                tell(f"{errors[0]}; retried over {channel.name}")
                # The answer's time excludes the failed channel's.
                seconds = time.monotonic() - began if seconds is None else seconds
            return Answer(channel=channel.name, status=got.status, stdout=got.body, seconds=seconds)
        return Answer(
            channel=self.http[0].name if self.http else "none",
            error="; ".join(errors) or f"probe {self.name} has no control channel",
        )


def channel_on(
    node: str | None, probes: Mapping[str, Probe], standing: Mapping[str, StandingPod]
) -> ExecChannel | None:
    """Return an exec channel to the node's own network, if the run has a node vantage there."""
    vantages = (pod for pod in standing.values() if (pod.purpose, pod.node) == ("node", node))
    return next((probes[pod.name].execute for pod in vantages if pod.name in probes), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of one command, over any channel."""

    channel: str
    exit_code: int | None = None
    status: int | None = None
    stdout: str = ""
    stderr: str = ""
    error: str | None = None
    seconds: float | None = None
    """The time of the request itself, if the channel had to be opened first."""

    def examination(self, wanted: Command, context: Mapping[str, str]) -> Examination:
        """Return the answer as an examination, with its command."""
        return Examination(
            tool=wanted.tool,
            words=wanted.words,
            context=context,
            channel=self.channel,
            exit_code=self.exit_code,
            status=self.status,
            stdout=self.stdout,
            stderr=self.stderr,
            error=self.error,
        )


def _of_exec(got: ExecAnswer) -> Answer:
    return Answer(
        channel="exec",
        exit_code=got.exit_code,
        stdout=got.stdout,
        stderr=got.stderr,
        seconds=got.seconds,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Sends the requests of a run; thread-safe. ``began`` is the run's start (monotonic)."""

    directory: Directory
    probes: Mapping[str, Probe]
    external: External | None
    recorder: Recorder
    timing: Timing
    began: float
    stopped: threading.Event = field(default_factory=threading.Event)
    examiners: Mapping[Question, Examiner] = field(default_factory=dict)
    """For the questions that take more than one command."""
    pace: Pace = field(default_factory=Pace)
    resolvers: Resolvers = field(default_factory=Resolvers)
    own_times: OwnTimes = field(default_factory=OwnTimes)
    carried: Callable[[Raw], None] = lambda _raw: None
    """Called with each answer immediately, even if the recorder holds it back."""

    def send(
        self,
        check: str,
        purpose: str,
        number: int,
        action: Action,
        *,
        turn: int = 0,
        paced: bool = False,
        more: Mapping[str, str] = NOTHING,
        on_sent: Callable[[], None] = lambda: None,
    ) -> Raw:
        """Send once, journal the answer and return it; ``more`` is added to its context.

        ``on_sent`` is called when the request is sent. With ``paced``, it waits while a Linux
        kernel's rate limit would suppress an ICMP refusal. Raises ``NotStandingError`` or
        ``CannotProbeError`` if the target or the means to probe it are missing.
        """
        self._go_on()
        if action.question.examined:
            return self._examined(check, purpose, number, action)
        wanted = command(action, self.directory.endpoint(action), turn, self.timing)
        context = {**self.directory.context(action), **more}
        if wanted.request:
            context["request"] = wanted.request
        if wanted.port is not None:
            context["port"] = str(wanted.port)
        now = time.monotonic()
        reserved = self.pace.reserve(action.source.probe, now) if paced else None
        if reserved is not None:
            self.stopped.wait(max(0.0, reserved.since - now))
        slot = self._slot(wanted, action)
        if done := self._in_a_row(wanted, action, on_sent):
            started, answer = done.began, _of_exec(done.answer)
            ended = started + (answer.seconds or 0)
            context |= {"together": str(done.commands)} if done.commands > 1 else {}
        else:
            # A reference request counts only while the request it is compared with is under way.
            # The answer's time excludes waiting for a slot.
            with ahead(slot) if purpose == REFERENCE else slot:
                self._go_on()
                started = time.monotonic()
                if reserved is not None:
                    self.pace.sent(reserved, started)
                on_sent()
                answer = self._answer(wanted, action)
                ended = time.monotonic()
        elapsed = ended - started if answer.seconds is None else answer.seconds
        if may_be_icmp(action) and self.pace.spent(action.source.probe, started):
            context[ICMP] = SPENT
        raw = self._written(
            action,
            answer.examination(wanted, context),
            started,
            elapsed,
            check=check,
            purpose=purpose,
            attempt=number,
        )
        if read_raw(raw).outcome is Outcome.REFUSED:
            if reserved is not None:
                self.pace.heard(reserved, ended)
            elif may_be_icmp(action):
                self.pace.note_refusal(action.source.probe, started, ended)
        if positive(raw, action.question):
            self._learn(raw, wanted, action, slot)
        return raw

    def _learn(
        self, raw: Raw, wanted: Command, action: Action, slot: AbstractContextManager[object]
    ) -> None:
        took(slot, self._of_channel(wanted, action, raw.elapsed / read_raw(raw).tries))
        if queries_resolver(action):
            self.resolvers.note_answer(action.source.probe, time.monotonic())

    def _of_channel(self, wanted: Command, action: Action, seconds: float) -> float:
        """Return the part of an answer's seconds that the channel may have taken."""
        if wanted.means != "dial" or seconds <= PROMPT_SECONDS:
            return seconds
        return min(seconds, self.own_times.of(action.source.probe, lambda: self.own_time(action)))

    def own_time(self, action: Action) -> float:
        """Return the seconds that the source now takes to answer itself; infinite without one."""
        of_itself = itself(action)
        wanted = command(of_itself, self.directory.endpoint(of_itself), 0, self.timing)
        with ahead(self._slot(wanted, of_itself)):
            started = time.monotonic()
            answer = self._answer(wanted, of_itself)
        if answer.error is not None:
            return math.inf
        return time.monotonic() - started if answer.seconds is None else answer.seconds

    def _go_on(self) -> None:
        if self.stopped.is_set():
            raise StoppedError(f"{STOPPED} while this check was run")

    def _examined(self, check: str, purpose: str, number: int, action: Action) -> Raw:
        examiner = self.examiners.get(action.question)
        if examiner is None:
            raise CannotProbeError(f"nobody here can {action.question.value}")
        self.directory.require(action.target)
        started = time.monotonic()
        done = examiner.examine(action)
        elapsed = time.monotonic() - started
        return self._written(
            action, done, started, elapsed, check=check, purpose=purpose, attempt=number
        )

    def _written(
        self,
        action: Action,
        done: Examination,
        started: float,
        elapsed: float,
        *,
        check: str,
        purpose: str,
        attempt: int,
    ) -> Raw:
        raw = Raw(
            check=check,
            purpose=purpose,
            attempt=attempt,
            tool=done.tool,
            client_os=(action.source.os or OS.LINUX).value,
            probe=action.source.probe,
            channel=done.channel,
            command=done.words,
            started=round(started - self.began, 3),
            elapsed=round(elapsed, 3),
            exit_code=done.exit_code,
            status=done.status,
            stdout=done.stdout,
            stderr=done.stderr,
            error=done.error,
            context=dict(done.context),
        )
        self.recorder.raw(raw)
        self.carried(raw)
        return raw

    def carry_out(self, wanted: Command, action: Action) -> Answer:
        """Carry out ``wanted`` ahead of waiting checks; channel errors are in the answer.

        Used while Services converge, because their deadlines must not include the wait for checks.
        """
        with ahead(self._slot(wanted, action)):
            return self._answer(wanted, action)

    def _slot(self, wanted: Command, action: Action) -> AbstractContextManager[object]:
        probe = self.probes.get(action.source.probe)
        if probe is None or wanted.means == "external":
            return nullcontext()
        if wanted.means == "dial":
            return probe.http_slots
        if probe.execute is None:
            return nullcontext()
        slots = probe.execute.slots
        # Lookups and pings go first: they wait longest, for three tries of a resolver or for each echo.
        return ahead(slots) if queries_resolver(action) or action.protocol.echoed else slots

    def _answer(self, wanted: Command, action: Action) -> Answer:
        if action.source.kind is VantageKind.EXTERNAL:
            return self._fetch(wanted)
        probe = self.probes.get(action.source.probe)
        if probe is None:
            return Answer(channel="none", error=f"probe {action.source.probe} cannot be probed")
        if wanted.means == "dial":
            return self._dial(probe, wanted)
        return self._execute(probe, wanted, action)

    def _in_a_row(
        self, wanted: Command, action: Action, on_sent: Callable[[], None]
    ) -> Done | None:
        """Run a process together with others of its Pod, if the Pod combines such processes."""
        probe = self.probes.get(action.source.probe)
        if probe is None or probe.lookups is None:
            return None
        if wanted.tool == PING:
            return probe.pinging.run(wanted.words, PING, on_sent) if probe.pinging else None
        if wanted.tool == LOOKUP:
            return probe.lookups.run(wanted.words, LOOKUP, on_sent)
        if probe.stopping is None or probe.going_on is None or wanted.tool not in CONNECTING:
            return None
        kind = action.target.kind.value
        if kind in probe.stopping.refusing:
            return probe.going_on.run(wanted.words, kind, on_sent)
        return probe.stopping.run(wanted.words, kind, on_sent)

    def _dial(self, probe: Probe, wanted: Command) -> Answer:
        def tell(why: str) -> None:
            self.recorder.event(f"probe {probe.name}: {why}: {wanted.words[-1]}")

        patience = wanted.deadline + self.timing.channel
        got = probe.get(wanted.path, timeout=patience, tell=tell)
        return replace(got, stdout=folded(got.stdout, wanted.payload)) if wanted.payload else got

    def _execute(self, probe: Probe, wanted: Command, action: Action) -> Answer:
        if probe.execute is None:
            return Answer(channel="none", error=f"probe {probe.name} has no exec channel")

        def tell(why: str) -> None:
            words = " ".join(wanted.words)
            self.recorder.event(f"probe {probe.name}: {why}; run again: {words}")

        beyond = RESOLVER_HANGS_SECONDS if queries_resolver(action) else HANG_SECONDS
        beyond += PAUSES_SECONDS if wanted.tool == PING and action.source.os is OS.WINDOWS else 0
        processes = Rerunning(channel=probe.execute, beyond=beyond, tell=tell)
        try:
            got = processes.run(wanted.words, timeout=wanted.deadline + self.timing.execute)
        except ProgramMissingError as error:
            if error.answer is None:
                return Answer(channel="exec", error=error.message)
            got = error.answer  # parsed from the journal
        except ChannelError as error:
            return Answer(channel="exec", error=error.message)
        return _of_exec(got)

    def _fetch(self, wanted: Command) -> Answer:
        if self.external is None:
            return Answer(channel="none", error="the cluster profile declares no external vantage")
        try:
            if wanted.tool == DATAGRAM:
                got = self.external.send(wanted.path, timeout=wanted.deadline)
            else:
                got = self.external.fetch(
                    wanted.path, timeout=wanted.deadline, margin=self.timing.channel
                )
        except ChannelError as error:
            return Answer(channel=self.external.channel, error=error.message)
        return Answer(
            channel=self.external.channel, status=got.status, stdout=got.body, stderr=got.error
        )
