"""Port-forward for kubectl 1.31 and newer: SPDY/3.1 tunnelled in WebSocket messages (KEP-4006).

The client opens two streams for each connection, ``error`` and ``data``, paired by their request id.
Each data stream is one connection to a port in the pod; its end is told by FIN both ways.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from nettests.lab.apiserver import spdy
from nettests.lab.apiserver.call import Call
from nettests.lab.apiserver.channels import Channels
from nettests.lab.apiserver.dialling import forward_error
from nettests.lab.apiserver.settings import ChannelRequest
from nettests.lab.apiserver.spdy import Frame, Kind
from nettests.lab.interfaces import Duplex, Kubelet, NotRunningError

TUNNEL_PROTOCOL = "SPDY/3.1+portforward.k8s.io"
_CHUNK = 32768


@dataclass(slots=True)
class _Pair:
    """The two streams of one forwarded connection, and what the client has sent on ``data``."""

    port: int
    error: int | None = None
    data: int | None = None
    incoming: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)


async def tunnel(call: Call, kubelet: Kubelet, channel: ChannelRequest) -> web.StreamResponse:
    """Serve port-forward until the client closes the WebSocket."""
    channels = await Channels.accept(call.http, TUNNEL_PROTOCOL)
    session = _Session(call, kubelet, channels)
    async with call.cuttable(channel, channels.cut):
        await session.run()
        await channels.close()
    return channels.socket


class _Session:
    def __init__(self, call: Call, kubelet: Kubelet, channels: Channels) -> None:
        self._call = call
        self._kubelet = kubelet
        self._socket = channels.socket
        self._spdy = spdy.Connection()
        self._pairs: dict[str, _Pair] = {}
        self._streams: dict[int, _Pair] = {}
        self._flows: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Read frames until the client goes, then end every connection."""
        try:
            async for message in self._socket:
                if message.type is WSMsgType.BINARY:
                    for frame in self._spdy.feed(message.data):
                        await self._take(frame)
        except spdy.ProtocolError:
            await self._send(spdy.go_away(0))
        finally:
            for flow in list(self._flows):
                flow.cancel()
                with suppress(asyncio.CancelledError):
                    await flow

    async def _send(self, frame: bytes) -> None:
        if not self._socket.closed:
            with suppress(ConnectionError):
                await self._socket.send_bytes(frame)

    async def _take(self, frame: Frame) -> None:
        match frame.kind:
            case Kind.PING:
                await self._send(spdy.ping(frame.stream))
            case Kind.SYN_STREAM:
                await self._open(frame)
            case Kind.DATA:
                self._pass_on(frame)
            case Kind.RST_STREAM:
                if (pair := self._streams.pop(frame.stream, None)) and pair.data == frame.stream:
                    pair.incoming.put_nowait(b"")
            case _:
                pass  # settings, windows, a client's GOAWAY: nothing follows from them here

    def _pass_on(self, frame: Frame) -> None:
        pair = self._streams.get(frame.stream)
        if pair is None or pair.data != frame.stream:
            return
        if frame.data:
            pair.incoming.put_nowait(frame.data)
        if frame.fin:
            pair.incoming.put_nowait(b"")

    async def _open(self, frame: Frame) -> None:
        port = frame.headers.get("port", "")
        kind = frame.headers.get("streamtype", "")
        if not port.isdigit() or kind not in {"error", "data"}:
            await self._send(spdy.reset(frame.stream, 1))
            return
        request = frame.headers.get("requestid", str(frame.stream))
        pair = self._pairs.setdefault(request, _Pair(int(port)))
        self._streams[frame.stream] = pair
        if kind == "error":
            pair.error = frame.stream
        else:
            pair.data = frame.stream
        await self._send(self._spdy.syn_reply(frame.stream))
        if pair.error is not None and pair.data is not None:
            del self._pairs[request]
            flow = asyncio.ensure_future(self._flow(pair, pair.data, pair.error))
            self._flows.add(flow)
            flow.add_done_callback(self._flows.discard)

    async def _flow(self, pair: _Pair, data: int, error: int) -> None:
        complaint = ""
        try:
            stream = await self._kubelet.open_port(
                namespace=self._call.namespace, pod=self._call.name, port=pair.port
            )
        except (OSError, NotRunningError) as failure:
            complaint = forward_error(self._call, pair.port, failure)
        else:
            await self._copy(pair, data, stream)
        await self._send(spdy.data(error, complaint.encode(), fin=True))
        await self._send(spdy.data(data, b"", fin=True))
        for number in (data, error):
            self._streams.pop(number, None)

    async def _copy(self, pair: _Pair, data: int, stream: Duplex) -> None:
        writer = asyncio.ensure_future(_write(pair, stream))
        try:
            with suppress(ConnectionError):
                while chunk := await stream.reader.read(_CHUNK):
                    await self._send(spdy.data(data, chunk))
        finally:
            writer.cancel()
            with suppress(asyncio.CancelledError):
                await writer
            stream.writer.close()


async def _write(pair: _Pair, stream: Duplex) -> None:
    with suppress(ConnectionError):
        while chunk := await pair.incoming.get():
            stream.writer.write(chunk)
            await stream.writer.drain()
        if stream.writer.can_write_eof():
            stream.writer.write_eof()
