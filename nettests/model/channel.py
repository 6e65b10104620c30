"""Protocols and values of control channels, which drive resident probes.

``cluster`` implements channels, ``probes`` uses them; neither knows the other. A channel returns an
answer or raises ``ChannelError``; what the probe saw of the network is inside the answer.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from nettests.errors import NettestsError

MISSING, UNSTARTED = "is missing in", "could not be started in"
"""Error text between a program's name and its Pod; ``judge.distrust`` parses it."""


class ChannelError(NettestsError):
    """The control channel itself failed, which shows nothing about the probe's network."""


class SpentError(ChannelError):
    """A single-use stream to a Pod was lost: its output is unknown, and it is not retried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """The answer of a probe's own HTTP server."""

    status: int
    body: str
    seconds: float | None = None
    """Seconds from request to end of answer; set if the channel may have been opened first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecAnswer:
    """The result of a process in a container, with separate streams."""

    exit_code: int
    stdout: str
    stderr: str
    seconds: float | None = None
    """How long this process took, if others ran for the same answer."""
    arrived: tuple[tuple[int, float], ...] = ()
    """Pairs of bytes and seconds: how much of stdout had arrived after how long."""

    def seconds_until(self, place: int) -> float | None:
        """Return when stdout reached this offset, in seconds; ``None`` if not recorded."""
        end = len(self.stdout[:place].encode())
        return next((seconds for length, seconds in self.arrived if length >= end), None)


class ProgramMissingError(ChannelError):
    """No such program is there; ``answer`` is the output of ``cmd`` if that was to start it."""

    def __init__(self, message: str, answer: ExecAnswer | None = None) -> None:
        super().__init__(message)
        self.answer = answer


class HttpChannel(Protocol):
    """Carries HTTP requests to a resident probe's own server; thread-safe."""

    @property
    def name(self) -> str:
        """``pod-proxy``, ``port-forward`` or ``exec``, as the journal records it."""

    def get(self, path: str, *, timeout: float) -> HttpAnswer:
        """Request ``path`` from the probe; ``ChannelError`` if the probe did not answer."""

    def close(self) -> None:
        """Release what the channel holds open."""


class Conversation(Protocol):
    """An interactive process in a container, for one thread at a time."""

    @property
    def stdout(self) -> str:
        """Standard output so far."""

    @property
    def stderr(self) -> str:
        """Standard error so far."""

    @property
    def exit_code(self) -> int | None:
        """The exit code; ``None`` while unknown."""

    def say(self, text: str) -> None:
        """Write to standard input."""

    def hear(self, enough: Callable[[str], bool], *, seconds: float) -> bool:
        """Read until output is ``enough``, the process ended or time is up; return whether it was."""

    def stay(self) -> None:
        """Send a keep-alive, so that no proxy closes the stream as idle."""

    def close(self) -> None:
        """Close the stream, which ends the process's input."""


class ExecChannel(Protocol):
    """Runs a process in a Pod's container; thread-safe."""

    @property
    def slots(self) -> AbstractContextManager[object]:
        """Limit processes on a node; entered around ``run``, so that waiting is not timed."""

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Run ``argv``; ``ChannelError`` without an exit code, ``ProgramMissingError`` if absent."""
