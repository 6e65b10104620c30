"""``pods/exec`` and ``pods/attach`` over WebSocket: the kubelet runs, this side frames.

Channels: 0 stdin, 1 stdout, 2 stderr, 3 the final ``Status``, 4 terminal size. After
``k8s.io/kubelet/pkg/cri/streaming/remotecommand``; attach shows the container's log from now on.
"""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from aiohttp import web

from nettests.lab.apiserver.call import Call
from nettests.lab.apiserver.channels import (
    CLOSE_CHANNEL,
    EXEC_PROTOCOLS,
    Channels,
    NotAcceptedError,
    choose,
    not_accepted,
    require_upgrade,
)
from nettests.lab.apiserver.log import container_of, dial_error, find_kubelet, is_running
from nettests.lab.apiserver.request import flag
from nettests.lab.apiserver.settings import ChannelRequest, Ending
from nettests.lab.apiserver.status import PlainError, bad_request, internal, success
from nettests.lab.interfaces import ExecOutcome, NotRunningError

Json = dict[str, Any]

_STDIN, _STDOUT, _STDERR, _ERROR = 0, 1, 2, 3
_FRAME = 32768
_POLL_SECONDS = 0.2


class _Input:
    """What the client types, until it closes channel 0 or goes."""

    def __init__(self) -> None:
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._ended = False

    def put(self, data: bytes) -> None:
        if data:
            self._chunks.put_nowait(data)

    def end(self) -> None:
        self._chunks.put_nowait(b"")

    async def read(self) -> bytes:
        if self._ended:
            return b""
        chunk = await self._chunks.get()
        self._ended = not chunk
        return chunk


async def execute(call: Call) -> web.StreamResponse:
    """GET or POST of ``exec``."""
    return await _stream(call, "exec", _run)


async def attach(call: Call) -> web.StreamResponse:
    """GET or POST of ``attach``: output only."""
    return await _stream(call, "attach", _show)


async def _stream(
    call: Call, kind: str, session: Callable[[Call, Json, Channels], Awaitable[None]]
) -> web.StreamResponse:
    require_upgrade(call.http, what=kind, kubectl="1.30")
    query = call.http.query
    pod = call.server.objects.require(call.resource, call.namespace, call.name).body
    container = container_of(pod, query.get("container", ""))
    node = pod["spec"].get("nodeName", "")
    if not node:
        raise bad_request(f"pod {call.name} does not have a host assigned")
    channel = call.channel(kind, node)
    if (why := await call.broken(channel)) is not None:
        raise dial_error(why)
    if not any(flag(query, name) for name in ("stdin", "stdout", "stderr")):
        raise PlainError(400, "you must specify at least 1 of stdin, stdout, stderr")
    find_kubelet(call, node)
    if not _runs(pod, container):
        raise PlainError(500, f'container not found ("{container}")')
    try:
        protocol = choose(call.http, EXEC_PROTOCOLS)
    except NotAcceptedError:
        return not_accepted()
    return await _accepted(call, channel, {"node": node, "container": container}, protocol, session)


async def _accepted(
    call: Call,
    channel: ChannelRequest,
    where: Json,
    protocol: str,
    session: Callable[[Call, Json, Channels], Awaitable[None]],
) -> web.StreamResponse:
    channels = await Channels.accept(call.http, protocol)
    async with call.cuttable(channel, channels.cut):
        shown = (_STDOUT, "stdout"), (_STDERR, "stderr"), (_ERROR, "")
        first = next(number for number, name in shown if not name or flag(call.http.query, name))
        await channels.send(first, b"")
        await session(call, where, channels)
        await channels.close()
    return channels.socket


def _runs(pod: Json, container: str) -> bool:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return any(
        each["name"] == container and "running" in (each.get("state") or {}) for each in statuses
    )


async def _run(call: Call, where: Json, channels: Channels) -> None:
    client_input = _Input()
    program = asyncio.ensure_future(_probe_kubelet(call, where, channels, client_input))
    reader = asyncio.ensure_future(_read(channels, client_input))
    await asyncio.wait({program, reader}, return_when=asyncio.FIRST_COMPLETED)
    try:
        if not program.done():
            return  # the client has gone: its program ends with the channel
        status = program.result()
        ending = call.ending(call.channel("exec", where["node"]))
        if ending is Ending.NEVER:
            await reader
        if ending is not Ending.TOLD:
            return
        if channels.version >= 4:
            await channels.send(_ERROR, json.dumps(status, separators=(",", ":")).encode())
        elif status["status"] == "Failure":
            await channels.send(_ERROR, status["message"].encode())
    finally:
        for task in (program, reader):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _read(channels: Channels, client_input: _Input) -> None:
    async for channel, data in channels.receive():
        if channel == _STDIN:
            client_input.put(data)
        elif channel == CLOSE_CHANNEL and data[:1] == bytes([_STDIN]):
            client_input.end()
    client_input.end()


async def _probe_kubelet(call: Call, where: Json, channels: Channels, client_input: _Input) -> Json:
    query = call.http.query

    def output(channel: int, name: str) -> Callable[[bytes], Awaitable[None]]:
        async def write(data: bytes) -> None:
            if flag(query, name):
                for start in range(0, len(data), _FRAME):
                    await channels.send(channel, data[start : start + _FRAME])

        return write

    argv = query.getall("command", [])
    if not argv:
        return _failed(_not_started("OCI runtime exec failed: exec failed: args must not be empty"))
    try:
        outcome = await find_kubelet(call, where["node"]).exec(
            namespace=call.namespace,
            pod=call.name,
            container=where["container"],
            argv=argv,
            stdin=client_input.read if flag(query, "stdin") else None,
            stdout=output(_STDOUT, "stdout"),
            stderr=output(_STDERR, "stderr"),
            tty=flag(query, "tty"),
        )
    except NotRunningError as error:
        return _failed(str(error))
    return _outcome(outcome)


def _not_started(detail: str) -> str:
    """Return containerd's words for a program that did not start; ``detail`` is what runc or hcsshim says."""
    return (
        "error executing command in container: failed to exec in container: "
        f'failed to start exec "{secrets.token_hex(32)}": {detail}'
    )


def _outcome(outcome: ExecOutcome) -> Json:
    if outcome.error is not None:
        return _failed(_not_started(outcome.error))
    if outcome.exit_code == 0:
        return {"metadata": {}, "status": success()["status"]}
    code = outcome.exit_code
    return {
        "metadata": {},
        "status": "Failure",
        "message": (
            f"command terminated with non-zero exit code: command terminated with exit code {code}"
        ),
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


def _failed(text: str) -> Json:
    """Return the status of a command that did not start: the API wraps what the kubelet says."""
    inner = f"Internal error occurred: {text}"
    body = internal(inner).body()
    return {key: value for key, value in body.items() if key not in {"kind", "apiVersion"}}


async def _show(call: Call, where: Json, channels: Channels) -> None:
    kubelet = find_kubelet(call, where["node"])
    container = where["container"]
    reader = asyncio.ensure_future(_read(channels, _Input()))

    async def lines() -> list[bytes]:
        log_lines = await kubelet.log(
            namespace=call.namespace, pod=call.name, container=container, previous=False
        )
        return [line for _, line in log_lines]

    mute = call.server.settings.faults.attach_mute
    try:
        if mute is not None and mute(call.channel("attach", where["node"])):
            await reader
        sent = len(await lines())
        while not reader.done() and is_running(call, container):
            await asyncio.wait({reader}, timeout=_POLL_SECONDS)
            log_lines = await lines()
            for line in log_lines[sent:]:
                await channels.send(_STDOUT, line)
            sent = len(log_lines)
    finally:
        reader.cancel()
        with suppress(asyncio.CancelledError):
            await reader
