"""Run a process in a container: stdout, stderr and exit code kept apart, everything bounded.

The control channel that does not depend on the pod network, and the only one that starts processes.
An exec without an exit code is a channel error: nothing is known of what it ran.
"""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from kubernetes.client.exceptions import ApiException
from kubernetes.stream.ws_client import (
    ERROR_CHANNEL,
    STDERR_CHANNEL,
    STDOUT_CHANNEL,
    WebSocketConnectionClosedException,
    WSClient,
    websocket_call,
)

from nettests.cluster.bounded import within
from nettests.cluster.connection import Connection
from nettests.cluster.frames import RefusedError
from nettests.cluster.handshake import opened, why_refused
from nettests.model import limits
from nettests.model.channel import ChannelError, ExecAnswer, ProgramMissingError
from nettests.model.json_text import read_json

HANDSHAKE_SECONDS = 5.0


class LostStreamError(ChannelError):
    """The stream ended before the exit code came: nothing is known of what ran."""


@dataclass(frozen=True, slots=True)
class Exec:
    """Runs processes in one container; callers enter ``slots``, which all of a node share."""

    connection: Connection
    namespace: str
    pod: str
    container: str
    slots: AbstractContextManager[object]
    name: str = "exec"

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        """Run ``argv`` and return how it ended; ``ChannelError`` when that is not known."""
        try:
            return within(timeout + HANDSHAKE_SECONDS, lambda: self._repeated(list(argv), timeout))
        except TimeoutError:
            raise ChannelError(
                f"exec in {self.pod} did not answer within {timeout + HANDSHAKE_SECONDS:.0f} s"
            ) from None

    def _repeated(self, argv: list[str], timeout: float) -> ExecAnswer:
        """Run ``argv`` again where the stream was lost: what is run here does no harm twice."""
        for left in reversed(range(self.connection.timing.channel_tries)):
            try:
                return self._exchange(argv, timeout)
            except LostStreamError:
                if not left:
                    raise
        raise AssertionError("unreachable: the last try returns or raises")

    def _exchange(self, argv: list[str], timeout: float) -> ExecAnswer:
        try:
            socket = opened(self.connection, lambda: self._open(argv))
        except (ApiException, OSError) as error:
            raise ChannelError(
                f"exec in {self.pod} was not opened: {why_refused(error)}"
            ) from error
        try:
            socket.sock.allow(limits.EXEC_BYTES)
            socket.run_forever(timeout=timeout)
            if socket.is_open():
                raise ChannelError(f"exec in {self.pod} did not end within {timeout:.0f} s")
            return answer_of(
                self.pod,
                stdout=socket.read_channel(STDOUT_CHANNEL),
                stderr=socket.read_channel(STDERR_CHANNEL),
                status=socket.read_channel(ERROR_CHANNEL),
            )
        except RefusedError as error:
            raise ChannelError(f"exec in {self.pod} was given up: {error}") from error
        except (OSError, WebSocketConnectionClosedException) as error:
            raise LostStreamError(f"exec in {self.pod} was cut: {error}") from error
        finally:
            socket.sock.shutdown()  # close() leaves a socket open whose peer closed first

    def _open(self, argv: list[str]) -> WSClient:
        to = self.connection.handshake(
            f"/api/v1/namespaces/{self.namespace}/pods/{self.pod}/exec",
            [
                *(("command", word) for word in argv),
                ("container", self.container),
                ("stdout", "true"),
                ("stderr", "true"),
            ],
        )
        return websocket_call(
            to.configuration,
            "GET",
            to.url,
            headers=to.headers,
            binary=True,
            _preload_content=False,
        )


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
