"""Run a process in a container: stdout, stderr and exit code kept apart, everything bounded.

The control channel that does not depend on the pod network, and the only one that starts processes.
An exec without an exit code is a channel error: nothing is known of what it ran.
"""

import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
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
from nettests.parse import program_start

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
        """Run ``argv`` and return its result; ``ChannelError`` if that is unknown, or if it did not run at all."""
        until = time.monotonic() + timeout + HANDSHAKE_SECONDS
        for left in reversed(range(self.connection.timing.channel_tries)):
            try:
                answer = self._exchange(argv, timeout, until)
            except LostStreamError:  # run it again: it does no harm twice
                if not left:
                    raise
            else:
                streams = answer.exit_code, answer.stdout, answer.stderr
                if missing := program_start.of_answer(argv, *streams):
                    raise ProgramMissingError(missing.of(argv[0], self.pod), answer)
                return answer
        raise AssertionError("unreachable: the last try returns or raises")

    def _exchange(self, argv: Sequence[str], timeout: float, until: float) -> ExecAnswer:
        to = self.connection, self.namespace, self.pod, self.container
        stream = open_exec(*to, argv, until=until)
        opened(self.slots)
        deadline = min(time.monotonic() + timeout, until)
        received: dict[int, list[bytes]] = defaultdict(list)
        arrived: list[tuple[int, float]] = []
        began, length = time.monotonic(), 0
        try:
            with closing(stream):
                while message := stream.receive(deadline - time.monotonic()):
                    channel, data = message
                    received[channel].append(data)
                    if channel == STDOUT:
                        length += len(data)
                        arrived.append((length, time.monotonic() - began))
        except TimeoutError as error:
            raise ChannelError(f"exec in {self.pod} did not end within {timeout:.0f} s") from error
        except RefusedError as error:
            raise ChannelError(f"exec in {self.pod} was given up: {error}") from error
        except LostError as error:
            raise LostStreamError(f"exec in {self.pod} was cut: {error}") from error
        stdout, stderr, status = (
            b"".join(received[channel]) for channel in (STDOUT, STDERR, STATUS)
        )
        answer = answer_of(self.pod, argv[0], stdout=stdout, stderr=stderr, status=status)
        return replace(answer, arrived=tuple(arrived))


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


def answer_of(pod: str, program: str, *, stdout: bytes, stderr: bytes, status: bytes) -> ExecAnswer:
    """Read the three streams of an exec that ended; ``status`` is channel 3's ``Status`` object."""
    try:
        loaded = read_json(status)
    except ValueError as error:
        raise LostStreamError(f"exec in {pod} lost its exit code") from error
    if not isinstance(loaded, dict):
        raise ChannelError(f"exec in {pod} ended with a status that is none: {str(loaded)[:80]!r}")
    return ExecAnswer(
        exit_code=_exit_code(pod, program, loaded),
        stdout=stdout.decode(errors="replace"),
        stderr=stderr.decode(errors="replace"),
    )


def _exit_code(pod: str, program: str, status: dict[str, Any]) -> int:
    if status.get("status") == "Success":
        return 0
    message = str(status.get("message", ""))
    try:
        for cause in (status.get("details") or {}).get("causes") or []:
            if cause.get("reason") == "ExitCode":
                return signed(int(cause["message"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ChannelError(f"exec in {pod} ended with an exit code that is none") from error
    not_run = program_start.of_error(message)
    if not_run is not None and not_run.missing:
        raise ProgramMissingError(not_run.of(program, pod))
    if not_run is not None:
        raise ChannelError(not_run.of(program, pod))
    raise ChannelError(f"exec in {pod} failed: {message}")


def signed(code: int) -> int:
    """Return an exit code as 32 bits with a sign: exec shows -1 of Windows as 4294967295, a Pod's status as -1."""
    return code - 2**32 if code >= 2**31 else code
