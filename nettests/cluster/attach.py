"""Attach to a container: what it writes from then on, as far as that is waited for.

Beside ``execute``, which starts a process of its own. What was written before is in the container's log, and does not
come; so nobody can say of silence more than how long it was listened to.
"""

import time
from contextlib import closing, suppress

from nettests.cluster.connection import Connection
from nettests.cluster.execute import HANDSHAKE_SECONDS, STATUS, STDERR, STDOUT
from nettests.cluster.failures import HandshakeError
from nettests.cluster.frames import RefusedError
from nettests.cluster.handshake import open_stream
from nettests.cluster.streams import LostError, Stream
from nettests.model import limits
from nettests.model.channel import ChannelError
from nettests.model.json_text import read_json


def attach(connection: Connection, namespace: str, pod: str, container: str, *, until: str) -> str:
    """Return what the container writes from now on, until it contains ``until``, ends, or its time is over.

    Its time is that of a process, and begins when the stream is open: what opening took is not silence. ``ChannelError``
    where the stream cannot be opened, is lost again and again, or ends with a failure that the kubelet tells.
    """
    deadline = time.monotonic() + connection.timing.execute + HANDSHAKE_SECONDS
    path = f"/api/v1/namespaces/{namespace}/pods/{pod}/attach"
    for left in reversed(range(connection.timing.channel_tries)):
        stream = _opened(connection, path, container, deadline)
        try:
            return _heard(stream, pod, until, time.monotonic() + connection.timing.execute)
        except RefusedError as error:
            raise ChannelError(f"attach to {pod} was given up: {error}") from error
        except LostError as error:  # attaching twice does no harm
            if not left:
                raise ChannelError(f"attach to {pod} was cut: {error}") from error
    raise AssertionError("unreachable: the last try returns or raises")


def _opened(connection: Connection, path: str, container: str, deadline: float) -> Stream:
    query = [("container", container), ("stdout", "true"), ("stderr", "true")]
    try:
        return open_stream(connection, path, query, most=limits.EXEC_BYTES, until=deadline)
    except TimeoutError as error:
        raise ChannelError(f"{path} was not opened in time") from error
    except (HandshakeError, OSError) as error:
        raise ChannelError(f"{path} was not opened: {error}") from error


def _heard(stream: Stream, pod: str, until: str, deadline: float) -> str:
    """Return what was said; ``ChannelError`` where it is not all that was to come, because the kubelet says that it failed."""
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
        raise ChannelError(f"attach to {pod} ended with a status that is none: {shown!r}")
    if loaded.get("status") != "Success":
        raise ChannelError(f"attach to {pod} failed: {loaded.get('message', '')}")
