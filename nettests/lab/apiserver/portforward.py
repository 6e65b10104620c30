"""``pods/portforward`` over WebSocket: ``v4.channel.k8s.io``, two channels for each port.

Channel ``2·n`` carries the data of the n-th port, ``2·n+1`` its errors; each begins with the port in
two bytes, least significant first. ``tunnel`` serves kubectl, which tunnels SPDY in the WebSocket.
"""

import asyncio
from contextlib import suppress

from aiohttp import web

from nettests.lab.apiserver.call import Call
from nettests.lab.apiserver.channels import (
    FORWARD_PROTOCOLS,
    Channels,
    NotAcceptedError,
    choose,
    not_accepted,
    offered,
    require_upgrade,
)
from nettests.lab.apiserver.dialling import forward_error
from nettests.lab.apiserver.log import dial_error, find_kubelet
from nettests.lab.apiserver.status import PlainError, bad_request
from nettests.lab.apiserver.tunnel import TUNNEL_PROTOCOL, tunnel
from nettests.lab.interfaces import Duplex, Kubelet, NotRunningError

_CHUNK = 32768


async def forward(call: Call) -> web.StreamResponse:
    """GET or POST of ``portforward``."""
    require_upgrade(call.http, what="port-forward", kubectl="1.31")
    pod = call.server.objects.require(call.resource, call.namespace, call.name).body
    node = pod["spec"].get("nodeName", "")
    if not node:
        raise bad_request(f"pod {call.name} does not have a host assigned")
    channel = call.channel("portforward", node)
    if (why := await call.broken(channel)) is not None:
        raise dial_error(why)
    kubelet = find_kubelet(call, node)
    if TUNNEL_PROTOCOL in offered(call.http):
        return await tunnel(call, kubelet, channel)
    try:
        protocol = choose(call.http, FORWARD_PROTOCOLS)
    except NotAcceptedError:
        return not_accepted()
    ports = _ports(call)
    channels = await Channels.accept(call.http, protocol)
    async with call.cuttable(channel, channels.cut):
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
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

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
            writer.cancel()
            with suppress(asyncio.CancelledError):
                await writer
            stream.writer.close()

    async def _send_error(self, index: int, port: int, error: Exception) -> None:
        text = forward_error(self._call, port, error)
        await self._channels.send(2 * index + 1, text.encode())


async def _write(stream: Duplex, incoming: asyncio.Queue[bytes]) -> None:
    with suppress(ConnectionError):
        while True:
            stream.writer.write(await incoming.get())
            await stream.writer.drain()
