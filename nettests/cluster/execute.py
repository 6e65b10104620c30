"""Run a process in a container: stdout, stderr and exit code kept apart, everything bounded.

The control channel that does not depend on the pod network, and the only one that starts processes.
An exec without an exit code is a channel error: nothing is known of what it ran.
"""

import re
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from typing import Any

from nettests.bounds import opened
from nettests.cluster.connection import Connection
from nettests.cluster.failures import HandshakeError
from nettests.cluster.frames import RefusedError
from nettests.cluster.handshake import open_stream
from nettests.cluster.streams import LostError, Stream
from nettests.model import limits
from nettests.model.channel import ChannelError, ExecAnswer, ProgramMissingError
from nettests.model.json_text import read_json

STDIN, STDOUT, STDERR, STATUS = range(4)
"""The channels of an exec; the last one carries the ``Status`` object with the result."""
HANDSHAKE_SECONDS = 5.0


class LostStreamError(ChannelError):
    """The stream ended before the exit code arrived: the result of the process is unknown."""


@dataclass(frozen=True, slots=True)
class Exec:
    """Runs processes in one container; callers enter ``slots``, which all containers of a node share."""

    connection: Connection
    namespace: str
    pod: str
    container: str
    slots: AbstractContextManager[object]
    name: str = "exec"

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Run ``argv`` and return its result; ``ChannelError`` if that is unknown."""
        until = time.monotonic() + timeout + HANDSHAKE_SECONDS
        for left in reversed(range(self.connection.timing.channel_tries)):
            try:
                return self._exchange(argv, timeout, until)
            except LostStreamError:  # run it again: it does no harm twice
                if not left:
                    raise
        raise AssertionError("unreachable: the last try returns or raises")

    def _exchange(self, argv: Sequence[str], timeout: float, until: float) -> ExecAnswer:
        to = self.connection, self.namespace, self.pod, self.container
        stream = open_exec(*to, argv, until=until)
        opened(self.slots)
        deadline = min(time.monotonic() + timeout, until)
        received: dict[int, list[bytes]] = defaultdict(list)
        try:
            with closing(stream):
                while message := stream.receive(deadline - time.monotonic()):
                    channel, data = message
                    received[channel].append(data)
        except TimeoutError as error:
            raise ChannelError(f"exec in {self.pod} did not end within {timeout:.0f} s") from error
        except RefusedError as error:
            raise ChannelError(f"exec in {self.pod} was given up: {error}") from error
        except LostError as error:
            raise LostStreamError(f"exec in {self.pod} was cut: {error}") from error
        stdout, stderr, status = (
            b"".join(received[channel]) for channel in (STDOUT, STDERR, STATUS)
        )
        return answer_of(self.pod, stdout=stdout, stderr=stderr, status=status)


def open_exec(
    connection: Connection,
    namespace: str,
    pod: str,
    container: str,
    argv: Sequence[str],
    *,
    until: float,
    stdin: bool = False,
) -> Stream:
    """Start ``argv`` and return its stream; ``ChannelError`` if that fails until ``until``."""
    shown = ("stdin", "stdout", "stderr") if stdin else ("stdout", "stderr")
    try:
        return open_stream(
            connection,
            f"/api/v1/namespaces/{namespace}/pods/{pod}/exec",
            [
                *(("command", word) for word in argv),
                ("container", container),
                *((channel, "true") for channel in shown),
            ],
            most=limits.EXEC_BYTES,
            until=until,
        )
    except TimeoutError as error:
        raise ChannelError(f"exec in {pod} was not opened in time") from error
    except (HandshakeError, OSError) as error:
        raise ChannelError(f"exec in {pod} was not opened: {error}") from error


def answer_of(pod: str, *, stdout: bytes, stderr: bytes, status: bytes) -> ExecAnswer:
    """Read the three streams of an exec that ended; ``status`` is channel 3's ``Status`` object."""
    try:
        loaded = read_json(status)
    except ValueError as error:
        raise LostStreamError(f"exec in {pod} lost its exit code") from error
    if not isinstance(loaded, dict):
        raise ChannelError(f"exec in {pod} ended with a status that is none: {str(loaded)[:80]!r}")
    return ExecAnswer(
        exit_code=_exit_code(pod, loaded),
        stdout=stdout.decode(errors="replace"),
        stderr=stderr.decode(errors="replace"),
    )


def _exit_code(pod: str, status: dict[str, Any]) -> int:
    if status.get("status") == "Success":
        return 0
    message = str(status.get("message", ""))
    try:
        for cause in (status.get("details") or {}).get("causes") or []:
            if cause.get("reason") == "ExitCode":
                return int(cause["message"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ChannelError(f"exec in {pod} ended with an exit code that is none") from error
    # samples: exec: "ping": executable file not found in $PATH
    #          hcs::System::CreateProcess …: The system cannot find the file specified.
    if re.search(
        r"executable file not found|no such file or directory|cannot find the file", message
    ):
        raise ProgramMissingError(f"{pod} has no such program: {message}")
    raise ChannelError(f"exec in {pod} failed: {message}")
