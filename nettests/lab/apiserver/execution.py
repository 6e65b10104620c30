"""``pods/exec`` and ``pods/attach`` over WebSocket: the kubelet runs the program, this module frames its streams.

Channels: 0 stdin, 1 stdout, 2 stderr, 3 the final ``Status``, 4 terminal size. After
``k8s.io/kubelet/pkg/cri/streaming/remotecommand``; attach sends new lines of the container's log.
"""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable

from aiohttp import web

from nettests.lab.apiserver.call import Call
from nettests.lab.apiserver.channels import (
    CLOSE_CHANNEL,
    EXEC_PROTOCOLS,
    Channels,
    choose,
    end_tasks,
    not_accepted,
    require_upgrade,
)
from nettests.lab.apiserver.log import container_of, find_kubelet, is_running, reach
from nettests.lab.apiserver.request import flag
from nettests.lab.apiserver.settings import Ending
from nettests.lab.apiserver.status import PlainError, internal, success
from nettests.lab.interfaces import Json, NotRunningError

_STDIN, _STDOUT, _STDERR, _ERROR = 0, 1, 2, 3
_FRAME = 32768
_POLL_SECONDS = 0.2


async def stream(call: Call) -> web.StreamResponse:
    """GET or POST of ``exec``, or of ``attach``, which has output only."""
    query, kind = call.http.query, call.request.subresource
    require_upgrade(call.http, kind, instead="use kubectl 1.30 or newer")
    pod = call.server.objects.require(call.resource, call.namespace, call.name).body
    container, node = container_of(pod, query.get("container", "")), pod["spec"].get("nodeName", "")
    channel = await reach(call, kind, node)
    if not any(flag(query, name) for name in ("stdin", "stdout", "stderr")):
        raise PlainError(400, "you must specify at least 1 of stdin, stdout, stderr")
    find_kubelet(call, node)
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    if not any(
        each["name"] == container and "running" in (each.get("state") or {}) for each in statuses
    ):
        raise PlainError(500, f'container not found ("{container}")')
    if (protocol := choose(call.http, EXEC_PROTOCOLS)) is None:
        return not_accepted()
    channels = await Channels.accept(call.http, protocol)
    async with call.cuttable(channel, channels.cut):
        shown = (_STDOUT, "stdout"), (_STDERR, "stderr"), (_ERROR, "")
        first = next(number for number, name in shown if not name or flag(query, name))
        await channels.send(first, b"")
        await (_run if kind == "exec" else _show)(
            call, {"node": node, "container": container}, channels
        )
        await channels.close()
    return channels.socket


async def _run(call: Call, where: Json, channels: Channels) -> None:
    typed: asyncio.Queue[bytes] = asyncio.Queue()
    program = asyncio.ensure_future(_execute(call, where, channels, typed))
    reader = asyncio.ensure_future(_read(channels, typed))
    await asyncio.wait({program, reader}, return_when=asyncio.FIRST_COMPLETED)
    try:
        if not program.done():
            return  # the client has disconnected, and its program ends
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
        await end_tasks(program, reader)


async def _read(channels: Channels, typed: asyncio.Queue[bytes]) -> None:
    """Queue the client's input, and empty data when it closes channel 0 or disconnects."""
    async for channel, data in channels.receive():
        if channel == _STDIN and data:
            typed.put_nowait(data)
        elif channel == CLOSE_CHANNEL and data[:1] == bytes([_STDIN]):
            typed.put_nowait(b"")
    typed.put_nowait(b"")


async def _execute(
    call: Call, where: Json, channels: Channels, typed: asyncio.Queue[bytes]
) -> Json:
    query, ended = call.http.query, asyncio.Event()

    async def stdin() -> bytes:
        chunk = b"" if ended.is_set() else await typed.get()
        if not chunk:
            ended.set()
        return chunk

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
            stdin=stdin if flag(query, "stdin") else None,
            stdout=output(_STDOUT, "stdout"),
            stderr=output(_STDERR, "stderr"),
            tty=flag(query, "tty"),
        )
    except NotRunningError as error:
        return _failed(str(error))
    if outcome.error is not None:
        return _failed(_not_started(outcome.error))
    if outcome.exit_code == 0:
        return {"metadata": {}, "status": success()["status"]}
    ended_with = f"command terminated with exit code {outcome.exit_code}"
    causes = [{"reason": "ExitCode", "message": str(outcome.exit_code)}]
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: {ended_with}",
        "reason": "NonZeroExitCode",
        "details": {"causes": causes},
    }


def _not_started(detail: str) -> str:
    """Return containerd's error for a program that did not start; ``detail`` is that of runc or hcsshim."""
    return (
        "error executing command in container: failed to exec in container: "
        f'failed to start exec "{secrets.token_hex(32)}": {detail}'
    )


def _failed(text: str) -> Json:
    """Return the status of a command that did not start: the API wraps the kubelet's error."""
    body = internal(f"Internal error occurred: {text}").body()
    return {key: value for key, value in body.items() if key not in {"kind", "apiVersion"}}


async def _show(call: Call, where: Json, channels: Channels) -> None:
    kubelet, container = find_kubelet(call, where["node"]), where["container"]
    reader = asyncio.ensure_future(_read(channels, asyncio.Queue()))

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
        await end_tasks(reader)
