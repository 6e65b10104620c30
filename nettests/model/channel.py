"""Control channels as protocols and values: how a resident probe is driven.

``cluster`` implements channels, ``probes`` uses them; neither knows the other. A channel returns an answer or fails
as a channel (``ChannelError``); what the probe saw of the network is inside the answer.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from nettests.errors import NettestsError

MISSING, UNSTARTED = "is missing in", "could not be started in"
"""What an error says of a program, between its name and its Pod; ``judge.distrust`` reads it again."""


class ChannelError(NettestsError):
    """The control channel itself failed: nothing is known about the network of the probe."""


class SpentError(ChannelError):
    """A stream to a Pod that can be used only once was lost: its output is unknown, and is not repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """The answer of a probe's own HTTP server."""

    status: int
    body: str
    seconds: float | None = None
    """From the request to the end of the answer, if the channel had to be opened first, or may have been."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecAnswer:
    """The result of a process in a container, with separate streams."""

    exit_code: int
    stdout: str
    stderr: str
    seconds: float | None = None
    """How long this process took, if others were started for the same answer."""
    arrived: tuple[tuple[int, float], ...] = ()
    """How many bytes of standard output had come after so many seconds."""

    def seconds_until(self, place: int) -> float | None:
        """Return after how many seconds the output had come up to a place in it, if the channel notes that."""
        end = len(self.stdout[:place].encode())
        return next((seconds for length, seconds in self.arrived if length >= end), None)


class ProgramMissingError(ChannelError):
    """There is no program of that name where it should run; ``answer`` is what ``cmd`` said of it, if that was to start it."""

    def __init__(self, message: str, answer: ExecAnswer | None = None) -> None:
        super().__init__(message)
        self.answer = answer


class HttpChannel(Protocol):
    """Carries HTTP requests to a resident probe's own server; safe for threads."""

    @property
    def name(self) -> str:
        """``pod-proxy``, ``port-forward`` or ``exec``, as the journal records it."""

    def get(self, path: str, *, timeout: float) -> HttpAnswer:
        """Request ``path`` from the probe; ``ChannelError`` if the probe did not answer."""

    def close(self) -> None:
        """Release what the channel holds open."""


class Conversation(Protocol):
    """An interactive process in a container; one thread at a time."""

    @property
    def stdout(self) -> str:
        """Its standard output so far."""

    @property
    def stderr(self) -> str:
        """Its standard error so far."""

    @property
    def exit_code(self) -> int | None:
        """The exit status; ``None`` until it is known."""

    def say(self, text: str) -> None:
        """Write to its input."""

    def hear(self, enough: Callable[[str], bool], *, seconds: float) -> bool:
        """Read until its output is ``enough``, or it has ended; return whether it was enough."""

    def stay(self) -> None:
        """Send a keep-alive, so that no proxy in between closes the stream as idle."""

    def close(self) -> None:
        """Close the stream; the process's input ends."""


class ExecChannel(Protocol):
    """Runs a process in a pod's container; safe for threads."""

    @property
    def slots(self) -> AbstractContextManager[object]:
        """Limits the processes on one node: entered around ``run``, so that waiting is not measured."""

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Run ``argv``; ``ChannelError`` without an exit code, ``ProgramMissingError`` if absent."""
