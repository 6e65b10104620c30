"""``pods/portforward`` over WebSocket channels, as the Python client uses it; ``kubectl port-forward`` needs SPDY.

Each port has two channels: ``2·n`` for the data of the n-th port, ``2·n+1`` for its errors; each begins with the port
in two bytes, least significant first.
"""

import asyncio
from contextlib import suppress

from aiohttp import web

from nettests.lab.apiserver.call import Call
from nettests.lab.apiserver.channels import (
    FORWARD_PROTOCOLS,
    Channels,
    choose,
    end_tasks,
    not_accepted,
    require_upgrade,
)
from nettests.lab.apiserver.log import find_kubelet, reach
from nettests.lab.apiserver.proxy import go_text
from nettests.lab.apiserver.status import PlainError
from nettests.lab.interfaces import Duplex, Kubelet, NotRunningError

_CHUNK = 32768


async def forward(call: Call) -> web.StreamResponse:
    """GET or POST of ``portforward``."""
    require_upgrade(call.http, "port-forward", instead="use `kubectl proxy`")
    pod = call.server.objects.require(call.resource, call.namespace, call.name).body
    channel = await reach(call, "portforward", pod["spec"].get("nodeName", ""))
    kubelet = find_kubelet(call, channel.node)
    protocol = choose(call.http, FORWARD_PROTOCOLS)
    if protocol is None:
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


def _forward_error(call: Call, port: int, error: Exception) -> str:
    """Return the kubelet's error for a port of a pod that it cannot reach, in containerd's words."""
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
    """Forward the client's data."""
    with suppress(ConnectionError):
        while True:
            stream.writer.write(await incoming.get())
            await stream.writer.drain()


class _Session:
    """The flows of one WebSocket, one for each port."""

    def __init__(self, call: Call, kubelet: Kubelet, channels: Channels, ports: list[int]) -> None:
        self._call, self._kubelet, self._channels, self._ports = call, kubelet, channels, ports
        self._incoming: list[asyncio.Queue[bytes]] = [asyncio.Queue() for _ in ports]

    async def run(self) -> None:
        """Announce the ports and copy until every flow has ended or the client disconnects."""
        for index, port in enumerate(self._ports):
            for number in (2 * index, 2 * index + 1):
                await self._channels.send(number, port.to_bytes(2, "little"))
        flows = (self._flow(index, port) for index, port in enumerate(self._ports))
        tasks = (asyncio.gather(*flows), asyncio.ensure_future(self._distribute()))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await end_tasks(*tasks)

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
