"""Control channels as protocols and values: how a resident probe is driven.

``cluster`` implements channels, ``probes`` uses them; neither knows the other. A channel returns an answer or fails
as a channel (``ChannelError``); what the probe saw of the network is inside the answer.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from nettests.errors import NettestsError


class ChannelError(NettestsError):
    """The control channel itself failed: nothing is known of the network behind the probe."""


class SpentError(ChannelError):
    """A stream was lost after its one use of a Pod: what was said is unknown, and is not said again."""


class ProgramMissingError(ChannelError):
    """The container has no program of that name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What a probe's own HTTP server answered."""

    status: int
    body: str
    seconds: float | None = None
    """From the request to the end of the answer, where the channel had to be opened first or may have been."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecAnswer:
    """How a process in a container ended, its streams kept apart."""

    exit_code: int
    stdout: str
    stderr: str
    seconds: float | None = None
    """How long this process took, where others were begun for the same answer."""


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
    """A process in a container that is spoken to while it runs; one thread at a time."""

    @property
    def stdout(self) -> str:
        """All that it has said so far."""

    @property
    def stderr(self) -> str:
        """All that it has complained of so far."""

    @property
    def exit_code(self) -> int | None:
        """The exit status; ``None`` until it is known."""

    def say(self, text: str) -> None:
        """Write to its input."""

    def hear(self, enough: Callable[[str], bool], *, seconds: float) -> bool:
        """Listen until all that it said is ``enough``, or it has ended; return whether it was enough."""

    def stay(self) -> None:
        """Send a keep-alive, so that no proxy on the way closes the stream as idle."""

    def close(self) -> None:
        """Hang up; its input ends."""


class ExecChannel(Protocol):
    """Runs a process in a pod's container; safe for threads."""

    @property
    def slots(self) -> AbstractContextManager[object]:
        """Bounds the processes on one node: entered around ``run``, so that waiting is not measured."""

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Run ``argv``; ``ChannelError`` without an exit code, ``ProgramMissingError`` if absent."""
