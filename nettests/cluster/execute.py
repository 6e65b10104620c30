"""Run a process in a container, attach to one, or talk to one: streams apart, everything bounded.

The only control channel that starts processes, and that does not use the pod network. An exec
without an exit code, and a stream that breaks during a conversation, are channel errors: the result
is unknown. Attaching does not repeat what the container wrote before.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass, replace
from typing import Any

from nettests.bounds import opened
from nettests.cluster.connection import Connection
from nettests.cluster.failures import HandshakeError
from nettests.cluster.frames import RefusedError
from nettests.cluster.streams import LostError, Stream, open_stream
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
    """Runs processes in one container; callers enter ``slots``, shared by a node's containers."""

    connection: Connection
    namespace: str
    pod: str
    container: str
    slots: AbstractContextManager[object]
    name: str = "exec"

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Run ``argv`` and return its result; ``ChannelError`` if it is unknown or did not run."""
        until = time.monotonic() + timeout + HANDSHAKE_SECONDS
        for left in reversed(range(self.connection.timing.channel_tries)):
            try:
                answer = self._exchange(argv, timeout, until)
            except LostStreamError:  # repeat: commands are harmless if run twice
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
    """Start ``argv`` and return its stream; ``ChannelError`` if that fails by ``until``."""
    shown = ("stdin", "stdout", "stderr") if stdin else ("stdout", "stderr")
    query = [
        *(("command", word) for word in argv),
        ("container", container),
        *((channel, "true") for channel in shown),
    ]
    path = f"/api/v1/namespaces/{namespace}/pods/{pod}/exec"
    return _opened(connection, path, query, until, f"exec in {pod}")


def answer_of(pod: str, program: str, *, stdout: bytes, stderr: bytes, status: bytes) -> ExecAnswer:
    """Read the three streams of an exec that ended; ``status`` is channel 3's ``Status`` object."""
    try:
        loaded = read_json(status)
    except ValueError as error:
        raise LostStreamError(f"exec in {pod} lost its exit code") from error
    if not isinstance(loaded, dict):
        raise ChannelError(
            f"exec in {pod} ended with a status that cannot be read: {str(loaded)[:80]!r}"
        )
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
        raise ChannelError(f"exec in {pod} ended with an exit code that cannot be read") from error
    not_run = program_start.of_error(message)
    if not_run is not None and not_run.missing:
        raise ProgramMissingError(not_run.of(program, pod))
    if not_run is not None:
        raise ChannelError(not_run.of(program, pod))
    raise ChannelError(f"exec in {pod} failed: {message}")


def signed(code: int) -> int:
    """Return a 32-bit exit code as signed: Windows' -1 is 4294967295 in exec, -1 in Pod status."""
    return code - 2**32 if code >= 2**31 else code


def attach(connection: Connection, namespace: str, pod: str, container: str, *, until: str) -> str:
    """Return what the container writes from now on, up to ``until``, its end or a time-out.

    The time-out is that of a process, and starts when the stream is open. ``ChannelError`` if the
    stream cannot be opened, is lost repeatedly, or ends with a failure from the kubelet.
    """
    deadline = time.monotonic() + connection.timing.execute + HANDSHAKE_SECONDS
    path = f"/api/v1/namespaces/{namespace}/pods/{pod}/attach"
    query = [("container", container), ("stdout", "true"), ("stderr", "true")]
    for left in reversed(range(connection.timing.channel_tries)):
        stream = _opened(connection, path, query, deadline, path)
        try:
            return _heard(stream, pod, until, time.monotonic() + connection.timing.execute)
        except RefusedError as error:
            raise ChannelError(f"attach to {pod} was given up: {error}") from error
        except LostError as error:  # attaching twice is harmless
            if not left:
                raise ChannelError(f"attach to {pod} was cut: {error}") from error
    raise AssertionError("unreachable: the last try returns or raises")


def _opened(
    connection: Connection, path: str, query: Sequence[tuple[str, str]], until: float, what: str
) -> Stream:
    try:
        return open_stream(connection, path, query, most=limits.EXEC_BYTES, until=until)
    except TimeoutError as error:
        raise ChannelError(f"{what} was not opened in time") from error
    except (HandshakeError, OSError) as error:
        raise ChannelError(f"{what} was not opened: {error}") from error


def _heard(stream: Stream, pod: str, until: str, deadline: float) -> str:
    """Return the output; ``ChannelError`` if the kubelet reports a failure before ``until``."""
    output = status = b""
    with closing(stream), suppress(TimeoutError):
        while until.encode() not in output:
            try:
                message = stream.receive(deadline - time.monotonic())
            except LostError:
                if not status:
                    raise
                break
            if message is None:
                break
            channel, data = message
            output += data if channel in {STDOUT, STDERR} else b""
            status += data if channel == STATUS else b""
    if status and until.encode() not in output:
        _require_success(pod, status)
    return output.decode(errors="replace")


def _require_success(pod: str, status: bytes) -> None:
    # sample: {"metadata":{},"status":"Failure","message":"Internal error occurred: error attaching to container: …"}
    try:
        loaded = read_json(status)
    except ValueError:
        loaded = None
    if not isinstance(loaded, dict):
        shown = status[:80].decode(errors="replace")
        raise ChannelError(f"attach to {pod} ended with a status that cannot be read: {shown!r}")
    if loaded.get("status") != "Success":
        raise ChannelError(f"attach to {pod} failed: {loaded.get('message', '')}")


DRAIN_SECONDS = 0.01
"""Reads only data that has already arrived."""
PINGS_UNANSWERED = 3
"""A stream without a frame after this many pings is dead."""


@dataclass(slots=True)
class Talk:
    """One interactive process; for one thread at a time."""

    pod: str
    program: str
    stream: Stream
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    _pings: int = 0
    """Pings sent since the last frame arrived."""
    _frames: int = 0
    """Frames that had arrived when the last ping was sent."""
    _status: bytes = b""

    @property
    def unanswered(self) -> int:
        """How many pings were sent since the last frame arrived."""
        return self._pings if self.stream.frames == self._frames else 0

    def say(self, text: str) -> None:
        """Write to its input, unless the process has ended."""
        self._send(lambda: self.stream.send(STDIN, text.encode()))

    def hear(self, enough: Callable[[str], bool], *, seconds: float) -> bool:
        """Read until the output is ``enough`` or the process ends; return whether it was enough."""
        deadline = time.monotonic() + seconds
        while not enough(self.stdout) and self.exit_code is None:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            self._take(left)
        return enough(self.stdout)

    def stay(self) -> None:
        """Ping the other end of the stream, and read what arrived.

        A stream without a frame after several pings is broken, whatever its sockets report.
        """
        self._send(self._ping)

    def close(self) -> None:
        """Close the stream, without waiting for the other side."""
        self.stream.close()

    def _ping(self) -> None:
        pings = self.unanswered
        if pings == PINGS_UNANSWERED:
            raise LostStreamError(
                f"exec in {self.pod}: nobody answered {pings} pings over its stream"
            )
        self._pings, self._frames = pings + 1, self.stream.frames
        self.stream.ping()

    def _send(self, send: Callable[[], None]) -> None:
        """Call ``send`` unless the process has ended, which may be why sending fails."""
        self._take(DRAIN_SECONDS)
        if self.exit_code is not None:
            return
        try:
            send()
        except OSError as error:
            self._take(DRAIN_SECONDS)
            if self.exit_code is None:
                raise self._cut(error) from error

    def _take(self, seconds: float) -> None:
        """Wait for a message; keep its data, and that of any that have arrived behind it."""
        if self.exit_code is not None:
            return
        closed = False
        try:
            while message := self.stream.receive(seconds):
                self._keep(*message)
                seconds = 0
            closed = True
        except TimeoutError:
            pass
        except OSError as error:
            if not self._status:
                raise self._cut(error) from error
        if self._status:
            self.exit_code = answer_of(
                self.pod, self.program, stdout=b"", stderr=b"", status=self._status
            ).exit_code
        elif closed:
            raise LostStreamError(f"exec in {self.pod} lost its exit code")

    def _keep(self, channel: int, data: bytes) -> None:
        if channel == STDOUT:
            self.stdout += data.decode(errors="replace")
        elif channel == STDERR:
            self.stderr += data.decode(errors="replace")
        elif channel == STATUS:
            self._status += data

    def _cut(self, error: Exception) -> LostStreamError:
        return LostStreamError(f"exec in {self.pod} was cut: {error}")


def converse(
    connection: Connection, namespace: str, pod: str, container: str, argv: Sequence[str]
) -> Talk:
    """Start ``argv`` with open input; ``ChannelError`` if the stream cannot be opened."""
    until = time.monotonic() + connection.timing.execute + HANDSHAKE_SECONDS
    stream = open_exec(connection, namespace, pod, container, argv, until=until, stdin=True)
    return Talk(pod, argv[0], stream)
