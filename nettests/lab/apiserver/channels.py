"""WebSocket channels: the ``*.channel.k8s.io`` subprotocols that exec and port-forward speak.

Each message begins with a channel number: a byte, or a digit in the base64 variants. After
``k8s.io/apiserver/pkg/util/wsstream``. Raw SPDY, which kubectl spoke before 1.30, is answered with a
``Status`` that says what to use instead.
"""

import asyncio
import base64
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from aiohttp import WSMsgType, web

from nettests.lab.apiserver.status import bad_request

EXEC_PROTOCOLS = (
    "v5.channel.k8s.io",
    "v4.channel.k8s.io",
    "v4.base64.channel.k8s.io",
    "channel.k8s.io",
    "base64.channel.k8s.io",
    "",
)
FORWARD_PROTOCOLS = ("v4.channel.k8s.io", "v4.base64.channel.k8s.io", "")
CLOSE_CHANNEL = 255
"""v5: the next byte names a channel that the client has closed."""


def require_upgrade(request: web.Request, what: str, *, instead: str) -> None:
    """Raise 400 unless the request upgrades to WebSocket; for SPDY the message says what to use ``instead``."""
    upgrade = request.headers.get("Upgrade", "").lower()
    if upgrade.startswith("spdy/"):
        raise bad_request(
            f"this API server offers {what} over WebSocket only, not over {upgrade.upper()}: {instead}"
        )
    if upgrade != "websocket":
        raise bad_request("Upgrade request required")


def choose(request: web.Request, served: Sequence[str]) -> str | None:
    """Return the first offered subprotocol that is served, if any; an empty offer means the oldest."""
    offered = request.headers.get("Sec-WebSocket-Protocol", "").split(",")
    return next((name for name in map(str.strip, offered) if name in served), None)


async def end_tasks(*tasks: asyncio.Future[Any]) -> None:
    """Cancel tasks and wait until they have ended."""
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@dataclass(slots=True)
class Channels:
    """An open WebSocket whose messages belong to channels."""

    socket: web.WebSocketResponse
    protocol: str
    transport: asyncio.Transport | None

    @classmethod
    async def accept(cls, request: web.Request, protocol: str) -> "Channels":
        """Answer the upgrade and return the open connection."""
        socket = web.WebSocketResponse(
            protocols=(protocol,) if protocol else (), compress=False, max_msg_size=0
        )
        if not protocol:
            socket.headers["Sec-WebSocket-Protocol"] = ""
        await socket.prepare(request)
        return cls(socket, protocol, request.transport)

    @property
    def encoded(self) -> bool:
        """Whether messages are text in base64."""
        return "base64" in self.protocol

    @property
    def version(self) -> int:
        """The protocol's version; 1 for the oldest."""
        return int(self.protocol[1]) if self.protocol.startswith("v") else 1

    async def send(self, channel: int, data: bytes) -> None:
        """Send data on a channel; it is dropped if the client has disconnected."""
        if self.socket.closed:
            return
        with suppress(ConnectionError):
            if self.encoded:
                await self.socket.send_str(f"{channel}{base64.b64encode(data).decode()}")
            else:
                await self.socket.send_bytes(bytes([channel]) + data)

    async def receive(self) -> AsyncIterator[tuple[int, bytes]]:
        """Yield channel and data of each message until the client closes."""
        async for message in self.socket:
            if message.type is WSMsgType.BINARY and message.data:
                yield message.data[0], bytes(message.data[1:])
            elif message.type is WSMsgType.TEXT and message.data:
                if self.encoded:
                    yield int(message.data[0]), base64.b64decode(message.data[1:])
                else:
                    data = message.data.encode()
                    yield data[0], data[1:]

    async def close(self) -> None:
        """Close the connection with the closing handshake."""
        await self.socket.close(code=1000)

    def cut(self) -> None:
        """Drop the connection at once, without a closing handshake."""
        if self.transport is not None:
            self.transport.close()


def not_accepted() -> web.Response:
    """Return the answer to a WebSocket handshake without a common subprotocol."""
    response = web.Response(status=403)
    response.force_close()
    return response
