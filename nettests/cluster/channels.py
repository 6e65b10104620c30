"""Control channels to a probe's HTTP server: pod proxy, exec, and the choice between them.

No channel is independent of every flow (the pod proxy is API server → Pod, port-forward on Windows
is host → local Pod), so each probe uses the first channel that passes a self-check, with the next
one as its fallback. ``port_forward`` is tried first. Channels do not know what is tested.
"""

import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from nettests.cluster.connection import Answer, ApiRequest, Connection
from nettests.cluster.port_forward import CONNECT_SECONDS
from nettests.errors import ClusterError
from nettests.model import limits
from nettests.model.channel import ChannelError, ExecChannel, HttpAnswer, HttpChannel
from nettests.model.json_text import read_json

SELF_CHECK_SECONDS = 5.0
PAUSE_SECONDS = 0.3
CLIMB_SECONDS = 10.0
"""How often the better channels of a probe are checked again."""
COMMAND_LINE = 32_000
"""The longest argument, in characters: Windows limits a command line to 32,767 (CreateProcessW)."""
OWN_TROUBLE = frozenset({429, 500})
"""Statuses about the API server itself; 502 to 504 are about the Pod behind it."""


@dataclass(frozen=True, slots=True)
class PodProxy:
    """``GET …/pods/NAME:PORT/proxy/…``: the API server connects to the pod."""

    connection: Connection
    namespace: str
    pod: str
    port: int
    name: str = "pod-proxy"

    def get(self, path: str, *, timeout: float) -> HttpAnswer:
        """Request ``path`` over one keep-alive connection per thread."""
        url = f"/api/v1/namespaces/{self.namespace}/pods/{self.pod}:{self.port}/proxy{path}"
        try:
            silences = (self.connection.timing.api_connect, timeout)
            answer = self.connection.answer(
                ApiRequest("GET", url, timeout=silences),
                retried=OWN_TROUBLE,
                most=limits.BODY_BYTES,
            )
        except ClusterError as error:
            raise ChannelError(f"pod proxy to {self.pod}: {error.message}") from error
        if answer.status >= 500 or _is_status(answer):
            raise ChannelError(f"pod proxy to {self.pod}: {answer.status} {answer.text.strip()}")
        return HttpAnswer(status=answer.status, body=answer.text)

    def close(self) -> None:
        """Do nothing: only the connection to the API server is open."""


@dataclass(frozen=True, slots=True)
class ExecCurl:
    """The fallback: ``curl`` inside the Pod reaches the probe on loopback."""

    execute: ExecChannel
    port: int
    pod: str
    name: str = "exec"

    def get(self, path: str, *, timeout: float) -> HttpAnswer:
        """Request ``path`` by a process in the pod."""
        if len(path) > COMMAND_LINE:
            raise ChannelError(f"a request of {len(path)} bytes fits no command line in {self.pod}")
        url = f"http://127.0.0.1:{self.port}{path}"
        argv = ("curl", "-sS", "-i", "-m", str(int(timeout)), url)
        with self.execute.slots:
            answer = self.execute.run(argv, timeout=timeout + CONNECT_SECONDS)
        if answer.exit_code != 0:
            raise ChannelError(
                f"curl in {self.pod} ended with {answer.exit_code}: {answer.stderr.strip()}"
            )
        return curl_answer(answer.stdout)

    def close(self) -> None:
        """Do nothing: nothing is open."""


def curl_answer(text: str) -> HttpAnswer:
    """Parse the output of ``curl -i``: the head, an empty line, the body unchanged."""
    # sample, with \r\n at line ends: HTTP/1.1 400 Bad Request / Content-Length: 3 / / bad
    match = re.match(r"HTTP/[\d.]+ (\d{3})[^\n]*\n(?:[^\r\n]+\r?\n)*\r?\n", text)
    if match is None:
        raise ChannelError(f"curl printed no HTTP answer: {text[:80]!r}")
    return HttpAnswer(status=int(match[1]), body=text[match.end() :])


def open_channels(
    candidates: Sequence[HttpChannel], hostname: str, *, deadline: float
) -> tuple[tuple[HttpChannel, ...], tuple[str, ...]]:
    """Return the candidates, working ones first, and what failed; ``ChannelError`` if none works by ``deadline``.

    The self-check of ``/hostname`` also proves which Pod answers. A server that does not listen yet
    fails all: once one candidate works, those before it are checked again. Those behind it are
    fallbacks.
    """
    while True:
        index, notes = _first_working(candidates, hostname)
        if index:
            index, notes = _first_working(candidates[: index + 1], hostname)
        if index is not None:
            best, rest = candidates[index], (*candidates[index + 1 :], *candidates[:index])
            better = candidates[:index]
            chosen = Climbing(best, better, hostname) if better else best
            return (chosen, *rest), tuple(notes)
        if time.monotonic() > deadline:
            raise ChannelError(f"no control channel to {hostname} works ({'; '.join(notes)})")
        time.sleep(PAUSE_SECONDS)


def _first_working(
    candidates: Sequence[HttpChannel], hostname: str
) -> tuple[int | None, list[str]]:
    """Return the first candidate that works, and the failures of those before it."""
    notes: list[str] = []
    for index, candidate in enumerate(candidates):
        problem = _self_check(candidate, hostname)
        if problem is None:
            return index, notes
        notes.append(f"{candidate.name}: {problem}")
    return None, notes


@dataclass(slots=True)
class Climbing:
    """A channel that was not the first choice; it is replaced once a better one works."""

    channel: HttpChannel
    better: Sequence[HttpChannel]
    hostname: str
    again: float = CLIMB_SECONDS
    _due: float = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._due = time.monotonic() + self.again

    @property
    def name(self) -> str:
        """The name of the channel in use."""
        return self.channel.name

    def get(self, path: str, *, timeout: float) -> HttpAnswer:
        """Request ``path`` over the best working channel; one thread at a time checks others."""
        if self.better and time.monotonic() > self._due and self._lock.acquire(blocking=False):
            try:
                self._climb()
            finally:
                self._lock.release()
        return self.channel.get(path, timeout=timeout)

    def _climb(self) -> None:
        index, _ = _first_working(self.better, self.hostname)
        if index is not None:
            self.channel, self.better = self.better[index], self.better[:index]
        self._due = time.monotonic() + self.again

    def close(self) -> None:
        """Close the channel; the better ones are closed as fallbacks."""
        self.channel.close()


def _self_check(channel: HttpChannel, hostname: str) -> str | None:
    try:
        answer = channel.get("/hostname", timeout=SELF_CHECK_SECONDS)
    except ChannelError as error:
        return error.message
    if answer.status != 200 or answer.body.strip() != hostname:
        return f"answered {answer.status} {answer.body.strip()[:60]!r} instead of {hostname!r}"
    return None


def _is_status(answer: Answer) -> bool:
    """Whether the API server itself answered, not the pod behind it."""
    if not answer.content_type.startswith("application/json"):
        return False
    try:
        loaded = read_json(answer.body)
    except ValueError:
        return False
    return isinstance(loaded, dict) and loaded.get("kind") == "Status"
