"""Open the WebSocket of an exec or a port-forward, again where that may help, and say why it was refused.

The client library gives one text with the status line, all headers and the body; people need the first
and the message in the last. A stream that was refused has done nothing, so it can be opened again.
"""

import re
from collections.abc import Callable
from typing import TypeVar

from kubernetes.client.exceptions import ApiException
from kubernetes.stream import ws_client

from nettests.cluster.connection import Connection
from nettests.cluster.frames import BoundedWebSocket

T = TypeVar("T")


ws_client.WebSocket = BoundedWebSocket
"""There is no other way in: its exec and its port-forward make the socket by this name."""

SWITCHING = 101
_PARTS = " -+-+- "


def why_refused(error: Exception) -> str:
    """Return the status line and the ``Status`` object's message, or the error's own words."""
    text = str(error.reason if isinstance(error, ApiException) else error)
    # sample: Handshake status 403 Forbidden -+-+- {'audit-id': …} -+-+- b'{"kind":"Status",…,"message":"…"}'
    head, _, rest = text.partition(_PARTS)
    found = re.search(r'"message":"((?:[^"\\]|\\.)*)"', rest)
    return f"{head}: {found[1]}".replace('\\"', '"') if found else head


def opened(connection: Connection, handshake: Callable[[], T]) -> T:
    """Return the stream that ``handshake`` opens, after as many tries as a request has."""
    tries = connection.tries()
    while True:
        tries.begin()
        try:
            stream = handshake()
        except TimeoutError:
            raise
        except (ApiException, OSError) as error:
            if _of_the_node(error) or not tries.again(_status(error)):
                raise
        else:
            tries.heard(SWITCHING)
            return stream


def _status(error: Exception) -> int | None:
    """Return the status of a refusal; ``None`` for a connection that was lost before one came."""
    # samples: Handshake status 429 Too Many Requests -+-+- {…   ·   Connection to remote host was lost.
    found = re.match(r"Handshake status (\d{3})", str(getattr(error, "reason", "")))
    return int(found[1]) if found else None


def _of_the_node(error: Exception) -> bool:
    """Whether the API server could not reach the node: another try says the same, only later."""
    # sample: error dialing backend: dial tcp 172.30.0.11:10250: connect: connection refused
    return "dialing backend" in str(getattr(error, "reason", ""))
