"""Test whether an idle TCP connection still carries data.

The examiner of ``IDLE``. Neither end may send TCP keep-alives, as all Go programs do: one end is a
client of ``client_scripts``, and at the other ``nc`` runs ``cat``. Both are processes in the run's
own Pods; the client's input comes over exec, so words and pauses are timed here. Services map each
port to the same port of one Pod. Outside the cluster, the client sends HTTP to the external target;
one that closes idle connections is not tested. ``parse.idle`` reads the record.
"""

import itertools
import json
import math
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import assert_never

from nettests.model.channel import ChannelError, Conversation
from nettests.model.check import Action, Target
from nettests.model.cluster_profile import Timing
from nettests.model.facts import Address, ClusterFacts
from nettests.model.json_text import Object
from nettests.model.target_kinds import Location
from nettests.model.words import OS
from nettests.parse.idle import AFTER, ANEW, BEFORE, Fate, fate, opened, refused
from nettests.parse.reading import one_line
from nettests.probes.addresses import NotOfferedError, of_family
from nettests.probes.client_scripts import ECHO, WEB
from nettests.probes.deployment import StandingPod, StandingService
from nettests.probes.examine import Examination
from nettests.probes.objects import IDLE_PORTS
from nettests.probes.seams import Converses
from nettests.probes.sending import STOPPED, StoppedError

FIRST_PORT, PORTS = 21000, 1000
"""Each connection has its own port, as ``nc`` serves only one; all are below the dynamic port ranges."""
STAY_SECONDS = 10.0
PAUSE_SECONDS = 0.3
PATIENCE_DIALS = 2
"""A client waits this many times ``timing.dial`` for an echo, enough for a few retransmissions."""
CLIENT, SERVER = "probe", "hostname"
"""The containers of a probe and of a server."""


@dataclass(slots=True, kw_only=True)
class _Line:
    """One connection: the processes at both ends, or only the client."""

    client_words: tuple[str, ...]
    client: Conversation
    port: int = 0
    server_words: tuple[str, ...] = ()
    server: Conversation | None = None

    def say(self, word: str, *, seconds: float) -> bool:
        """Send a word and wait for the client's report; return whether the word came back."""
        self.client.say(f"{word}\n")
        self.client.hear(lambda output: fate(output, word) is not Fate.UNTOLD, seconds=seconds)
        return fate(self.client.stdout, word) is Fate.ANSWERED

    def stay(self) -> None:
        """Keep both exec streams open."""
        self.client.stay()
        if self.server is not None:
            self.server.stay()

    def record(self) -> Object:
        """Return the record of the connection."""
        server = self.server
        return {
            "client": list(self.client_words),
            "server": list(self.server_words),
            "said": self.client.stdout,
            "stderr": self.client.stderr,
            "exit": self.client.exit_code,
            "server_exit": server.exit_code if server else None,
            "server_stderr": server.stderr if server else "",
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleConnection:
    """Opens connections from probe to server and lets them idle; thread-safe."""

    talks: Converses
    namespace: str
    facts: ClusterFacts
    standing: Mapping[str, StandingPod]
    timing: Timing
    services: Mapping[str, StandingService] = field(default_factory=dict)
    stopped: threading.Event = field(default_factory=threading.Event)
    _ports: Iterator[int] = field(
        default_factory=lambda: itertools.cycle(range(FIRST_PORT, FIRST_PORT + PORTS))
    )
    _ports_of: dict[str, Iterator[int]] = field(default_factory=dict)
    """By Service, an iterator over its ports."""

    def examine(self, action: Action) -> Examination:
        """Send a word, idle, and send another; if it is not answered, try a new connection."""
        seconds = self.timing.idle
        if seconds <= self.timing.flow_memory:
            raise NotOfferedError(
                f"timing.idle is {seconds:g} s, in which nothing forgets flows that it remembers for "
                f"{self.timing.flow_memory:g} s (timing.flowMemory)"
            )
        words = (BEFORE, f"{seconds:g}s", AFTER)
        with ExitStack() as lines:
            try:
                record = self._hold(action, lines, seconds)
            except ChannelError as error:
                return Examination(tool="idle", words=words, channel="exec", error=error.message)
        return Examination(tool="idle", words=words, channel="exec", stdout=json.dumps(record))

    def hold(self, action: Action, lines: ExitStack) -> "Held":
        """Open a connection, send a word and idle as long as a check does; ``ChannelError``."""
        if _is_outside(action):
            raise NotOfferedError(
                "a server outside has no port that tells one connection from others"
            )
        line = self._open(action, lines)
        if not line.say(BEFORE, seconds=self._patience):
            raise ChannelError(f"no connection was open that could stay silent: {_output_of(line)}")
        self._stay_idle(line, self.timing.idle)
        return Held(connections=self, action=action, lines=lines, line=line)

    def _hold(self, action: Action, lines: ExitStack, seconds: float) -> Object:
        """Return the output of both ends of the connection, and of the new one, if any."""
        kept = self._open(action, lines)
        fresh = None
        stood = kept.say(BEFORE, seconds=self._patience)
        if _is_outside(action) and not stood:
            raise NotOfferedError(
                f"the external target answers no HTTP request: {_output_of(kept)}"
            )
        if stood:
            fresh = self._after(action, lines, kept, seconds)
        beside = fresh.record() if fresh else None
        return {"seconds": seconds, "kept": kept.record(), "fresh": beside}

    def _after(self, action: Action, lines: ExitStack, kept: _Line, seconds: float) -> _Line | None:
        """Idle, then use the connection again; if that is not answered, return a new one."""
        self._stay_idle(kept, seconds)
        if kept.say(AFTER, seconds=self._patience):
            return None
        if _is_outside(action) and fate(kept.client.stdout, AFTER) is Fate.OTHER:
            raise NotOfferedError(
                f"the external target ended a connection that was silent for {seconds:g} s, or said something by "
                "itself: name a server that keeps idle HTTP connections for longer than that"
            )
        if kept.server is not None:
            # The end of a server may be reported a little later than its effect at the client.
            kept.server.hear(_nothing, seconds=self.timing.dial)
        fresh = self._open(action, lines)
        fresh.say(ANEW, seconds=self._patience)
        return fresh

    def _stay_idle(self, line: _Line, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if self.stopped.wait(min(left, STAY_SECONDS)):
                raise StoppedError(f"{STOPPED} while a connection was silent")
            line.stay()

    @property
    def _reply(self) -> int:
        """Seconds that a client waits for a word to come back."""
        return math.ceil(PATIENCE_DIALS * self.timing.dial)

    @property
    def _patience(self) -> float:
        """Seconds to wait for a client's report, including the report that nothing came back."""
        return self._reply + self.timing.execute

    def _open(self, action: Action, lines: ExitStack) -> _Line:
        """Return a connection, or the result of the last try.

        ``nc`` does not report when it listens, so a refused client is replaced until it does.
        """
        if _is_outside(action):
            return self._open_outwards(action, lines)
        source = self.standing[action.source.probe]
        target, addresses, port = self._where(action.target)
        serving = (*_nc(self._system(target)), "-l", "-p", str(port), "-e", "cat")
        server = self._start(lines, target, SERVER, serving)
        host = str(of_family(addresses, action.family))
        probing = ECHO.words(self._system(source), host, port, self._reply)
        deadline = time.monotonic() + self.timing.listening
        while True:
            with ExitStack() as attempt:
                client = self._start(attempt, source, CLIENT, probing)
                client.hear(opened, seconds=self._patience)
                if refused(client.stdout):
                    server.hear(_nothing, seconds=PAUSE_SECONDS)
                if self.stopped.is_set():
                    raise StoppedError(f"{STOPPED} while a connection was opened")
                failed = server.exit_code is not None or time.monotonic() > deadline
                if failed or not refused(client.stdout):
                    lines.push(attempt.pop_all())
                    return _Line(
                        client_words=probing,
                        client=client,
                        port=port,
                        server_words=serving,
                        server=server,
                    )

    def _open_outwards(self, action: Action, lines: ExitStack) -> _Line:
        source, outside = self.standing[action.source.probe], self.facts.external_target
        if outside is None or outside.address is None or outside.tcp_port is None:
            raise NotOfferedError("the cluster profile declares no external target to connect to")
        words = WEB.words(self._system(source), str(outside.address), outside.tcp_port, self._reply)
        client = self._start(lines, source, CLIENT, words)
        client.hear(opened, seconds=self._patience)
        return _Line(client_words=words, client=client)

    def _where(self, target: Target) -> tuple[StandingPod, tuple[Address, ...], int]:
        """Return the server Pod, the addresses to dial, and a port without another connection."""
        if target.service is None:
            pod = self.standing[target.pod or ""]
            return pod, pod.addresses, next(self._ports)
        service = self.services[target.service]
        ports = self._ports_of.setdefault(service.name, itertools.cycle(IDLE_PORTS))
        return self.standing[service.backends[0]], service.addresses, next(ports)

    def _system(self, pod: StandingPod) -> OS:
        return self.facts.node(pod.node).os

    def _start(
        self, lines: ExitStack, pod: StandingPod, container: str, words: tuple[str, ...]
    ) -> Conversation:
        talk = self.talks.converse(self.namespace, pod.name, container, words)
        return lines.enter_context(closing(talk))


@dataclass(slots=True, kw_only=True)
class Held:
    """A connection that has been idle."""

    connections: IdleConnection
    action: Action
    lines: ExitStack
    line: _Line

    @property
    def port(self) -> int:
        """The server's port, which no other connection uses."""
        return self.line.port

    def answered(self) -> bool:
        """Use it again; return whether it is answered. ``ChannelError`` without a report."""
        if self.line.say(AFTER, seconds=self.connections._patience):  # noqa: SLF001 - of the same module
            return True
        if fate(self.line.client.stdout, AFTER) not in {Fate.SILENT, Fate.RESET}:
            raise ChannelError(
                f"nothing reports what became of the silent connection: {_output_of(self.line)}"
            )
        return False

    def answered_anew(self) -> bool:
        """Open a new connection, and return whether it is answered."""
        fresh = self.connections._open(self.action, self.lines)  # noqa: SLF001 - of the same module
        return fresh.say(ANEW, seconds=self.connections._patience)  # noqa: SLF001 - of the same module


def _is_outside(action: Action) -> bool:
    return action.target.descriptor.location is Location.EXTERNAL_ADDRESS


def _output_of(line: _Line) -> str:
    return one_line(f"{line.client.stdout[-120:]} {line.client.stderr[-80:]}") or "it said nothing"


def _nothing(_output: str) -> bool:
    """Never satisfied by output: wait for the end of a process."""
    return False


def _nc(system: OS) -> tuple[str, ...]:
    """Return the command of ``nc``; the Linux image's own is OpenBSD's, which runs no program."""
    match system:
        case OS.LINUX:
            return ("busybox", "nc")
        case OS.WINDOWS:
            return ("nc",)
        case _:
            assert_never(system)
