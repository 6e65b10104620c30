"""Liveness, readiness and startup probes, and lifecycle hooks: real dials from the node.

A kubelet dials HTTP and TCP probes from its node's own namespace, so a probe fails where the node cannot
reach the pod; exec probes run in the container. Defaults and thresholds are the API's.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus

import h11

from nettests.lab.client import Json
from nettests.lab.interfaces import Duplex, Namespace
from nettests.lab.node.dial import connect
from nettests.lab.programs.sockets.texts import Call, call_text
from nettests.lab.topology import OS
from nettests.lab.topology.windows_settings import ENGLISH


@dataclass(frozen=True, slots=True)
class Ended:
    """How a probe's command ended: its exit code, and what it wrote."""

    code: int
    output: str


Exec = Callable[[Sequence[str]], Awaitable[Ended]]
"""Runs argv in the probed container; ``ProbeErroredError`` where it does not start."""

_EAGER_PERIOD = 0.1
_EAGER_TRIES = 10


class ProbeFailedError(Exception):
    """One attempt failed; the text is what the kubelet writes into its event, ``code`` that of a command that ended."""

    def __init__(self, text: str, code: int | None = None) -> None:
        super().__init__(text)
        self.code = code


class ProbeErroredError(ProbeFailedError):
    """A command could not be started: the kubelet writes an event, and otherwise forgets the attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prober:
    """Queries one container. ``address`` is the pod's; ``node`` is the namespace that dials, ``os`` its system."""

    node: Namespace
    os: OS
    address: str
    ports: Sequence[Json]
    execute: Exec
    locale: str = ENGLISH
    """The language of errors on Windows."""

    async def request(self, handler: Json) -> None:
        """Make one attempt of an ``httpGet``, ``tcpSocket`` or ``exec`` handler."""
        if "httpGet" in handler:
            await self._http(handler["httpGet"])
        elif "tcpSocket" in handler:
            await self._tcp(handler["tcpSocket"])
        elif "exec" in handler:
            await self._exec(handler["exec"]["command"])
        else:
            raise ProbeFailedError("missing probe handler")

    async def _exec(self, argv: Sequence[str]) -> None:
        ended = await self.execute(argv)
        if ended.code != 0:
            raise ProbeFailedError(ended.output, ended.code)

    async def _tcp(self, action: Json) -> None:
        duplex = await self._dial(action)
        duplex.writer.close()

    async def _http(self, action: Json) -> None:
        address, port = self._target(action)
        scheme = action.get("scheme", "HTTP").lower()
        url = f"{scheme}://{address}:{port}{action.get('path', '/')}"
        try:
            duplex = await self._dial(action)
        except ProbeFailedError as error:
            raise ProbeFailedError(f'Get "{url}": {error}') from error
        try:
            if scheme == "https":
                await duplex.writer.start_tls(_trust_all(), server_hostname=address)
            status = await _get(duplex, f"{address}:{port}", action)
        except (OSError, h11.ProtocolError) as error:
            raise ProbeFailedError(f'Get "{url}": {error}') from error
        finally:
            duplex.writer.close()
        if not HTTPStatus.OK <= status < HTTPStatus.BAD_REQUEST:
            raise ProbeFailedError(f"HTTP probe failed with statuscode: {status}")

    async def _dial(self, action: Json) -> Duplex:
        address, port = self._target(action)
        try:
            return await connect(self.node, address, port)
        except OSError as error:
            text = call_text(self.os, Call.CONNECT, error, self.locale)
            raise ProbeFailedError(f"dial tcp {address}:{port}: {text}") from error

    def _target(self, action: Json) -> tuple[str, int]:
        return action.get("host") or self.address, self._port(action["port"])

    def _port(self, port: int | str) -> int:
        for container_port in self.ports:
            if container_port.get("name") == port:
                return int(container_port["containerPort"])
        return int(port)


async def _get(duplex: Duplex, host: str, action: Json) -> int:
    connection = h11.Connection(h11.CLIENT)
    headers = [("Host", host), ("User-Agent", "kube-probe/1.0"), ("Connection", "close")]
    headers += [(h["name"], h["value"]) for h in action.get("httpHeaders") or ()]
    request = h11.Request(method="GET", target=action.get("path") or "/", headers=headers)
    duplex.writer.write(connection.send(request) or b"")
    duplex.writer.write(connection.send(h11.EndOfMessage()) or b"")
    await duplex.writer.drain()
    while True:
        event = connection.next_event()
        if isinstance(event, h11.Response):
            return int(event.status_code)
        if event is h11.NEED_DATA:
            connection.receive_data(await duplex.reader.read(65536))
        elif not isinstance(event, h11.InformationalResponse):
            raise h11.RemoteProtocolError("the connection ended before an answer")


def _trust_all() -> ssl.SSLContext:
    """Kubelets do not verify what answers a probe."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def watch(
    prober: Prober,
    probe: Json,
    result: Callable[[bool | None, str], None],
    *,
    failed: Callable[[str], None],
    until_success: bool = False,
    eager: bool = False,
) -> None:
    """Run ``probe`` periodically; tell ``result`` when its threshold is reached, either way, and of each attempt that erred.

    ``failed`` is told of each failure, whatever the threshold (Kubernetes, pkg/kubelet/prober/prober.go: its event).
    ``result`` gets success (``None``: unknown) and the last failure's text. With ``until_success`` (startup probes) it
    returns after the first success. With ``eager`` (readiness) it probes more often at first: a kubelet
    also probes at each sync of a pod that has just started and is not ready.
    """
    await asyncio.sleep(probe.get("initialDelaySeconds", 0))
    period = probe.get("periodSeconds", 10)
    quick = min(int(period / _EAGER_PERIOD), _EAGER_TRIES) if eager else 0
    thresholds = {
        True: int(probe.get("successThreshold", 1)),
        False: int(probe.get("failureThreshold", 3)),
    }
    streak, last = 0, False
    while True:
        good, text = await _attempt(prober, probe)
        if good is None:
            result(None, text)
        else:
            if not good:
                failed(text)
            streak, last = streak + 1 if good == last else 1, good
            if streak >= thresholds[good]:
                result(good, text)
                if good and until_success:
                    return
        quick = 0 if good else quick - 1
        await asyncio.sleep(_EAGER_PERIOD if quick > 0 else period)


async def _attempt(prober: Prober, probe: Json) -> tuple[bool | None, str]:
    seconds = probe.get("timeoutSeconds", 1)
    try:
        async with asyncio.timeout(seconds):
            await prober.request(probe)
    except ProbeFailedError as error:
        return None if isinstance(error, ProbeErroredError) else False, str(error)
    except TimeoutError:
        return False, f"command timed out or no answer within {seconds} s"
    return True, ""
