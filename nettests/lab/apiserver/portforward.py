"""``pods/portforward`` over WebSocket: by channels, or for kubectl 1.31 and newer by SPDY/3.1 inside it (KEP-4006).

By ``v4.channel.k8s.io`` each port has two channels: ``2·n`` carries the data of the n-th port, ``2·n+1`` its errors;
each begins with the port in two bytes, least significant first. By SPDY the client opens two streams for each
connection, ``error`` and ``data``, paired by their request id; each data stream is one connection to a port in the
pod, and its end is told by FIN both ways.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from nettests.lab.apiserver import spdy
from nettests.lab.apiserver.backend import go_text
from nettests.lab.apiserver.call import Call
from nettests.lab.apiserver.channels import (
    FORWARD_PROTOCOLS,
    Channels,
    choose,
    end_tasks,
    not_accepted,
    offered,
    require_upgrade,
)
from nettests.lab.apiserver.log import find_kubelet, reach
from nettests.lab.apiserver.spdy import Frame, Kind
from nettests.lab.apiserver.status import PlainError
from nettests.lab.interfaces import Duplex, Kubelet, NotRunningError

_TUNNEL_PROTOCOL = "SPDY/3.1+portforward.k8s.io"
_CHUNK = 32768


async def forward(call: Call) -> web.StreamResponse:
    """GET or POST of ``portforward``."""
    require_upgrade(call.http, what="port-forward", kubectl="1.31")
    pod = call.server.objects.require(call.resource, call.namespace, call.name).body
    channel = await reach(call, "portforward", pod["spec"].get("nodeName", ""))
    kubelet = find_kubelet(call, channel.node)
    tunnelled = _TUNNEL_PROTOCOL in offered(call.http)
    protocol = _TUNNEL_PROTOCOL if tunnelled else choose(call.http, FORWARD_PROTOCOLS)
    if protocol is None:
        return not_accepted()
    ports = [] if tunnelled else _ports(call)
    channels = await Channels.accept(call.http, protocol)
    async with call.cuttable(channel, channels.cut):
        if tunnelled:
            await _Tunnel(call, kubelet, channels).run()
        else:
            await _Session(call, kubelet, channels, ports).run()
        await channels.close()
    return channels.socket


def _ports(call: Call) -> list[int]:
    texts = [
        text for value in call.http.query.getall("ports", []) for text in value.split(",") if text
    ]
    if not texts:
        raise PlainError(400, 'query parameter "port" is required')
    for text in texts:
        if not text.isdigit() or not 0 < int(text) < 65536:
            raise PlainError(400, f'unable to parse "{text}" as a port')
    return [int(text) for text in texts]


def _forward_error(call: Call, port: int, error: Exception) -> str:
    """Return what a kubelet says when it cannot reach a port in a pod; the words are containerd's."""
    record = call.server.store.get(call.resource.key, call.namespace, call.name)
    uid = record.body["metadata"]["uid"].replace("-", "") if record else ""
    sandbox = (uid * 2)[:64]
    detail = str(error)
    if isinstance(error, OSError):
        text = go_text(error)
        detail = (
            f'failed to execute portforward in network namespace "/var/run/netns/cni-{uid}": failed '
            f'to connect to localhost:{port} inside namespace "{sandbox}", IPv4: dial tcp4 '
            f"127.0.0.1:{port}: {text} IPv6 dial tcp6 [::1]:{port}: {text} "
        )
    return f"error forwarding port {port} to pod {sandbox}, uid : {detail}"


async def _write(stream: Duplex, incoming: asyncio.Queue[bytes]) -> None:
    """Pass on what the client sends; an empty text is its end."""
    with suppress(ConnectionError):
        while data := await incoming.get():
            stream.writer.write(data)
            await stream.writer.drain()
        if stream.writer.can_write_eof():
            stream.writer.write_eof()


class _Session:
    """The flows of one WebSocket, one for each port."""

    def __init__(self, call: Call, kubelet: Kubelet, channels: Channels, ports: list[int]) -> None:
        self._call = call
        self._kubelet = kubelet
        self._channels = channels
        self._ports = ports
        self._incoming: list[asyncio.Queue[bytes]] = [asyncio.Queue() for _ in ports]

    async def run(self) -> None:
        """Announce the ports and copy until every flow has ended or the client goes."""
        for index, port in enumerate(self._ports):
            for number in (2 * index, 2 * index + 1):
                await self._channels.send(number, port.to_bytes(2, "little"))
        tasks = (asyncio.create_task(self._flows()), asyncio.create_task(self._distribute()))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await end_tasks(*tasks)

    async def _flows(self) -> None:
        async with asyncio.TaskGroup() as group:
            for index, port in enumerate(self._ports):
                group.create_task(self._flow(index, port))

    async def _distribute(self) -> None:
        async for channel, data in self._channels.receive():
            if channel % 2 == 0 and channel // 2 < len(self._incoming) and data:
                self._incoming[channel // 2].put_nowait(data)

    async def _flow(self, index: int, port: int) -> None:
        try:
            stream = await self._kubelet.open_port(
                namespace=self._call.namespace, pod=self._call.name, port=port
            )
        except (OSError, NotRunningError) as error:
            await self._send_error(index, port, error)
            return
        writer = asyncio.create_task(_write(stream, self._incoming[index]))
        try:
            while data := await stream.reader.read(_CHUNK):
                await self._channels.send(2 * index, data)
        except ConnectionError as error:
            await self._send_error(index, port, error)
        finally:
            await end_tasks(writer)
            stream.writer.close()

    async def _send_error(self, index: int, port: int, error: Exception) -> None:
        text = _forward_error(self._call, port, error)
        await self._channels.send(2 * index + 1, text.encode())


@dataclass(slots=True)
class _Pair:
    """The two streams of one forwarded connection, and what the client has sent on ``data``."""

    port: int
    streams: dict[str, int] = field(default_factory=dict)
    incoming: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)


class _Tunnel:
    """The connections that one client forwards by SPDY."""

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
            await end_tasks(*self._flows)

    async def _send(self, frame: bytes) -> None:
        if not self._socket.closed:
            with suppress(ConnectionError):
                await self._socket.send_bytes(frame)

    async def _take(self, frame: Frame) -> None:
        """Act on a frame; nothing follows from settings, windows and a client's GOAWAY here."""
        pair = self._streams.get(frame.stream)
        of_data = pair is not None and pair.streams.get("data") == frame.stream
        match frame.kind:
            case Kind.PING:
                await self._send(spdy.ping(frame.stream))
            case Kind.SYN_STREAM:
                await self._open(frame)
            case Kind.DATA if pair is not None and of_data:
                if frame.data:
                    pair.incoming.put_nowait(frame.data)
                if frame.fin:
                    pair.incoming.put_nowait(b"")
            case Kind.RST_STREAM if pair is not None:
                del self._streams[frame.stream]
                if of_data:
                    pair.incoming.put_nowait(b"")

    async def _open(self, frame: Frame) -> None:
        port, kind = (frame.headers.get(name, "") for name in ("port", "streamtype"))
        if not port.isdigit() or kind not in {"error", "data"}:
            await self._send(spdy.reset(frame.stream, 1))
            return
        request = frame.headers.get("requestid", str(frame.stream))
        pair = self._pairs.setdefault(request, _Pair(int(port)))
        self._streams[frame.stream] = pair
        pair.streams[kind] = frame.stream
        await self._send(self._spdy.syn_reply(frame.stream))
        if len(pair.streams) == 2:
            del self._pairs[request]
            flow = asyncio.create_task(self._flow(pair, pair.streams["data"]))
            self._flows.add(flow)
            flow.add_done_callback(self._flows.discard)

    async def _flow(self, pair: _Pair, data: int) -> None:
        complaint = ""
        try:
            stream = await self._kubelet.open_port(
                namespace=self._call.namespace, pod=self._call.name, port=pair.port
            )
        except (OSError, NotRunningError) as failure:
            complaint = _forward_error(self._call, pair.port, failure)
        else:
            writer = asyncio.create_task(_write(stream, pair.incoming))
            try:
                with suppress(ConnectionError):
                    while chunk := await stream.reader.read(_CHUNK):
                        await self._send(spdy.data(data, chunk))
            finally:
                await end_tasks(writer)
                stream.writer.close()
        await self._send(spdy.data(pair.streams["error"], complaint.encode(), fin=True))
        await self._send(spdy.data(data, b"", fin=True))
        for number in pair.streams.values():
            self._streams.pop(number, None)
