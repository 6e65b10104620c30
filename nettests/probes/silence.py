"""Ask of a connection that was silent whether it still carries anything.

The examiner of ``IDLE``. Neither end may send TCP keep-alives, as all of Go does: ``curl``, told not to, holds the
client's end, and ``nc`` hands the server's end to ``cat``. Both are processes in the run's own Pods; the
client's input is an exec's, so that words and silence are timed here. What came back is a record for
``parse.idle``; what it means is not known here.
"""

import itertools
import json
import math
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import Any

from nettests.model.channel import ChannelError, Conversation
from nettests.model.check import Ask
from nettests.model.facts import ClusterFacts
from nettests.model.profile import Timing
from nettests.model.words import OS
from nettests.probes.addresses import of_family
from nettests.probes.asking import STOPPED, StoppedError
from nettests.probes.deployment import StandingPod
from nettests.probes.examine import Examination
from nettests.probes.seams import Converses

Object = dict[str, Any]

BEFORE, AFTER, ANEW = "before", "after", "anew"
"""What is said before the silence, after it, and over the new connection beside."""
FIRST_PORT, PORTS = 21000, 1000
"""Each connection has a port of its own: ``nc`` serves one, and below the ports that systems hand out."""
STAY_SECONDS = 10.0
PAUSE_SECONDS = 0.3
CLIENT, SERVER = "probe", "hostname"
"""The containers of a probe and of a server."""
_NC = {OS.LINUX: ("busybox", "nc"), OS.WINDOWS: ("nc",)}
"""The Linux image's own ``nc`` is OpenBSD's, which runs no program."""


@dataclass(slots=True, kw_only=True)
class _Line:
    """One connection: the processes at both ends, and what was said over it."""

    client_words: tuple[str, ...]
    server_words: tuple[str, ...]
    client: Conversation
    server: Conversation
    heard: list[str] = field(default_factory=list)
    server_ended: int | None = None
    """How the server had ended by the time the silence was over."""

    def say(self, word: str, *, seconds: float) -> bool:
        """Say a word, and wait for it to come back."""
        self.client.say(f"{word}\n")
        back = self.client.hear(word, seconds=seconds)
        self.heard += [word] * back
        return back

    def stay(self) -> None:
        """Keep both streams."""
        self.client.stay()
        self.server.stay()

    def record(self) -> Object:
        """Return what is known of it."""
        return {
            "client": list(self.client_words),
            "server": list(self.server_words),
            "heard": self.heard,
            "exit": self.client.exit_code,
            "stderr": self.client.stderr,
            "server_exit": self.server_ended,
            "server_stderr": self.server.stderr,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Opens connections from probe to server and lets them be silent; safe for threads."""

    talks: Converses
    namespace: str
    facts: ClusterFacts
    standing: Mapping[str, StandingPod]
    timing: Timing
    stopped: threading.Event = field(default_factory=threading.Event)
    _ports: Iterator[int] = field(
        default_factory=lambda: itertools.cycle(range(FIRST_PORT, FIRST_PORT + PORTS))
    )

    def examine(self, ask: Ask) -> Examination:
        """Say a word, be silent, say another one; where that is not answered, say one over a new connection."""
        words = (BEFORE, f"{self.timing.idle:g}s", AFTER)
        with ExitStack() as lines:
            try:
                record = self._hold(ask, lines, self.timing.idle)
            except ChannelError as error:
                return Examination(tool="idle", words=words, channel="exec", error=error.message)
        return Examination(tool="idle", words=words, channel="exec", stdout=json.dumps(record))

    def _hold(self, ask: Ask, lines: ExitStack, seconds: float) -> Object:
        """Return what was heard, and the processes that held the ends."""
        kept = self._open(ask, lines, seconds=seconds, word=BEFORE)
        fresh = self._after(ask, lines, kept, seconds) if kept.heard else None
        beside = fresh.record() if fresh else None
        return {"seconds": seconds, "kept": kept.record(), "fresh": beside}

    def _after(self, ask: Ask, lines: ExitStack, kept: _Line, seconds: float) -> _Line | None:
        """Be silent and use the connection again; return a new one where it is not answered."""
        self._be_silent(kept, seconds)
        kept.server_ended = kept.server.exit_code
        if kept.client.exit_code is None and kept.say(AFTER, seconds=self._patience(seconds)):
            return None
        return self._open(ask, lines, seconds=0, word=ANEW)

    def _be_silent(self, line: _Line, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if self.stopped.wait(min(left, STAY_SECONDS)):
                raise StoppedError(f"{STOPPED} while a connection was silent")
            line.stay()

    def _patience(self, seconds: float) -> int:
        """Return how long a client goes on: it says itself that nothing more came."""
        return math.ceil(seconds + 2 * self.timing.dial)

    def _open(self, ask: Ask, lines: ExitStack, *, seconds: float, word: str) -> _Line:
        """Return a connection over which a word was said, answered or not.

        Nobody tells when ``nc`` listens: the client tries again until it does.
        """
        source = self.standing[ask.source.probe]
        target = self.standing[ask.target.pod or ""]
        port = next(self._ports)
        system = self.facts.node(target.node).os
        serving = (*_NC[system], "-l", "-p", str(port), "-e", "cat")
        server = self._start(lines, target, SERVER, serving)
        asking = client_words(
            str(of_family(target.addresses, ask.family)), port, self._patience(seconds)
        )
        deadline = time.monotonic() + self.timing.listening
        while True:
            client = self._start(lines, source, CLIENT, asking)
            line = _Line(client_words=asking, server_words=serving, client=client, server=server)
            line.say(word, seconds=self.timing.dial)
            server.stay()
            line.server_ended = server.exit_code
            given_up = time.monotonic() > deadline or self.stopped.is_set()
            if line.heard or client.exit_code is None or server.exit_code is not None or given_up:
                return line
            time.sleep(PAUSE_SECONDS)

    def _start(
        self, lines: ExitStack, pod: StandingPod, container: str, words: tuple[str, ...]
    ) -> Conversation:
        talk = self.talks.converse(self.namespace, pod.name, container, words)
        return lines.enter_context(closing(talk))


def client_words(host: str, port: int, seconds: int) -> tuple[str, ...]:
    """Return the argv of a client that sends what it is given and no keep-alives, for so many seconds."""
    address = f"[{host}]" if ":" in host else host
    return ("curl", "-sS", "--no-keepalive", "-m", str(seconds), f"telnet://{address}:{port}")
