"""``pods/log``: the log of a container, from its kubelet, at once or followed by polling.

Options and errors follow ``LogLocation`` of the pod registry and the kubelet's
``validateContainerLogStatus``.
"""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain

from aiohttp import web

from nettests.lab.apiserver.call import Call
from nettests.lab.apiserver.request import flag
from nettests.lab.apiserver.responses import api_headers
from nettests.lab.apiserver.settings import ChannelRequest
from nettests.lab.apiserver.status import ApiError, bad_request, internal
from nettests.lab.interfaces import Json, Kubelet, NotRunningError

Lines = Sequence[tuple[str, bytes]]

_POLL_SECONDS = 0.2
_PULL_REASONS = frozenset({"ErrImagePull", "ImagePullBackOff"})


def container_of(pod: Json, wanted: str) -> str:
    """Return the requested or only container; raise 400 if it must be named or does not exist."""
    name, spec = pod["metadata"]["name"], pod["spec"]
    names = [each["name"] for each in spec.get("containers") or ()]
    all_names = [*names, *(each["name"] for each in spec.get("initContainers") or ())]
    if wanted:
        if wanted not in all_names:
            raise bad_request(f"container {wanted} is not valid for pod {name}")
        return wanted
    annotations = pod["metadata"].get("annotations") or {}
    default = annotations.get("kubectl.kubernetes.io/default-container")
    if default in all_names:
        return str(default)
    if len(names) > 1:
        raise bad_request(
            f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]"
        )
    return str(names[0])


def find_kubelet(call: Call, node: str) -> Kubelet:
    """Return the kubelet of a node; raise the dial error of an unknown host if it does not run."""
    try:
        return call.server.kubelets[node]
    except KeyError:
        raise _dial_error(f"dial tcp: lookup {node}: no such host") from None


async def reach(call: Call, kind: str, node: str) -> ChannelRequest:
    """Return the channel to a pod's node that a request opens; raise the dial error of a fault, if any."""
    if not node:
        raise bad_request(f"pod {call.name} does not have a host assigned")
    channel = call.channel(kind, node)
    if (why := await call.broken(channel)) is not None:
        raise _dial_error(why)
    return channel


def _dial_error(text: str) -> ApiError:
    return internal(f"error dialing backend: {text}")


def _status(pod: Json, container: str) -> Json:
    status = pod.get("status") or {}
    listed = (status.get(field) or () for field in ("containerStatuses", "initContainerStatuses"))
    every: Iterator[Json] = chain.from_iterable(listed)
    return next((each for each in every if each["name"] == container), {})


def _check_started(pod: Json, container: str, *, previous: bool) -> None:
    name, status = pod["metadata"]["name"], _status(pod, container)
    ended = (status.get("lastState") or {}).get("terminated")
    if previous and not ended:
        raise bad_request(f'previous terminated container "{container}" in pod "{name}" not found')
    waiting = (status.get("state") or {}).get("waiting")
    if not previous and waiting is not None and not ended:
        reason = waiting.get("reason", "")
        why = "image can't be pulled" if reason in _PULL_REASONS else reason
        raise bad_request(f'container "{container}" in pod "{name}" is waiting to start: {why}')


async def read_log(call: Call) -> web.StreamResponse:
    """GET of a container's log."""
    query = call.http.query
    pod = call.server.objects.require(call.resource, call.namespace, call.name).body
    container = container_of(pod, query.get("container", ""))
    node = pod["spec"].get("nodeName", "")
    previous = flag(query, "previous")
    response = web.StreamResponse(headers={**api_headers(), "Content-Type": "text/plain"})
    response.enable_chunked_encoding()
    lines: Lines = ()
    if node:
        await reach(call, "log", node)
        _check_started(pod, container, previous=previous)
        lines = await _lines(call, node, container, previous=previous)
    await response.prepare(call.http)
    await response.write(_render(call, _selected(call, lines))[: _number(call, "limitBytes")])
    if node and flag(query, "follow") and not previous:
        await _follow(call, response, node, container, len(lines))
    await response.write_eof()
    return response


async def _lines(call: Call, node: str, container: str, *, previous: bool) -> Lines:
    kubelet = find_kubelet(call, node)
    try:
        return await kubelet.log(
            namespace=call.namespace, pod=call.name, container=container, previous=previous
        )
    except NotRunningError as error:
        raise bad_request(str(error)) from error


def _number(call: Call, name: str) -> int | None:
    text = call.http.query.get(name)
    try:
        return None if text is None else int(text)
    except ValueError as error:
        raise bad_request(f'invalid {name}: "{text}"') from error


def _selected(call: Call, lines: Lines) -> Lines:
    since = call.http.query.get("sinceTime", "")
    if (seconds := _number(call, "sinceSeconds")) is not None:
        since = (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()
    if since:
        moment = _moment(since)
        lines = [line for line in lines if _moment(line[0]) >= moment]
    if (tail := _number(call, "tailLines")) is not None:
        lines = lines[max(0, len(lines) - tail) :]
    return lines


def _moment(text: str) -> datetime:
    # 2026-11-21T01:22:03.787768733Z: Python reads at most six digits of a second
    whole, dot, rest = text.replace("Z", "+00:00").partition(".")
    if dot:
        digits, sign, offset = rest.partition("+")
        text = f"{whole}.{digits[:6]}{sign}{offset}"
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)


def _render(call: Call, lines: Lines) -> bytes:
    stamped = flag(call.http.query, "timestamps")
    return b"".join((f"{moment} ".encode() if stamped else b"") + line for moment, line in lines)


async def _follow(
    call: Call, response: web.StreamResponse, node: str, container: str, sent: int
) -> None:
    running = True
    while running:
        await asyncio.sleep(_POLL_SECONDS)
        running = is_running(call, container)
        try:
            lines = await _lines(call, node, container, previous=False)
        except ApiError:
            return
        sent = min(sent, len(lines))
        if len(lines) > sent:
            await response.write(_render(call, lines[sent:]))
            sent = len(lines)


def is_running(call: Call, container: str) -> bool:
    """Whether the container is running or about to run in a pod that still exists."""
    record = call.server.store.get(call.resource.key, call.namespace, call.name)
    if record is None:
        return False
    return "terminated" not in (_status(record.body, container).get("state") or {})
