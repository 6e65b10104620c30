"""Pod, Service and node proxy: one real connection from the control plane's node per request.

Names are ``[scheme:]name[:port]``. Headers are rewritten as by the API server's ``UpgradeAwareHandler``:
credentials are dropped, ``X-Forwarded-…`` added, redirects to the backend's own paths rewritten to the proxy's path.
Links inside HTML are left alone and upgrades (WebSocket) are refused. The request's body is sent whole, the answer's
is streamed, and connections are not kept alive. Errors have the texts of Go's ``net`` package, as from a real API
server.
"""

import asyncio
import errno
import random
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from aiohttp import web

from nettests.lab.apiserver import resources
from nettests.lab.apiserver.call import Call
from nettests.lab.apiserver.responses import GO_PHRASES, api_headers
from nettests.lab.apiserver.status import ApiError, bad_request, unavailable
from nettests.lab.interfaces import Duplex
from nettests.lab.web import messages
from nettests.lab.web.messages import CutOffError, Head, MalformedError, Messages

_TEXTS = {
    errno.ECONNREFUSED: "connect: connection refused",
    errno.EHOSTUNREACH: "connect: no route to host",
    errno.ENETUNREACH: "connect: network is unreachable",
    errno.ECONNRESET: "read: connection reset by peer",
    errno.ETIMEDOUT: "i/o timeout",
}


def go_text(error: OSError) -> str:
    """Return Go's text for a failed connect or read."""
    number = errno.ETIMEDOUT if isinstance(error, TimeoutError) else error.errno
    return _TEXTS.get(number or 0, str(error.strerror or error).lower())


class _BrokenError(Exception):
    """The backend did not answer with HTTP; the text is Go's."""


@contextmanager
def _broken() -> Iterator[None]:
    """Raise ``_BrokenError`` if the answer breaks off or is none."""
    try:
        yield
    except CutOffError as error:
        raise _BrokenError("EOF") from error
    except MalformedError as error:
        raise _BrokenError(f"malformed HTTP response: {error}") from error
    except ConnectionError as error:
        raise _BrokenError("read: connection reset by peer") from error


async def _send(stream: Duplex, request: bytes) -> tuple[Head, Messages]:
    """Send a request; return the head of the answer, and the messages of which it is one."""
    try:
        stream.writer.write(request)
        await stream.writer.drain()
    except ConnectionError as error:
        raise _BrokenError("write: broken pipe") from error
    answers = Messages(stream.reader, answers=True)
    with _broken():
        head = await answers.head()
    if head is None:
        raise _BrokenError("EOF")
    return head, answers


_DIAL_SECONDS = 30
_TLS_SECONDS = 10
_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer"),
        *("transfer-encoding", "upgrade", "host", "content-length", "authorization"),
        *("impersonate-user", "impersonate-group", "x-forwarded-for"),
    }
)
_KINDS = {"pods": "pod-proxy", "services": "service-proxy", "nodes": "node-proxy"}
_KUBELET_PORT = 10250


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """Where a proxied request goes."""

    address: str
    port: int
    node: str = ""
    tls: bool = False


def _split_name(text: str, resource: resources.Resource) -> tuple[str, str, str]:
    """Split ``[scheme:]name[:port]`` into scheme, name and port (empty when absent)."""
    match text.split(":"):
        case [name]:
            return "", name, ""
        case [name, port]:
            return "", name, port
        case [("http" | "https" | "") as scheme, name, port]:
            return scheme, name, port
        case _:
            raise bad_request(f'invalid {resource.plural[:-1]} request "{text}"')


async def proxy(call: Call) -> web.StreamResponse:
    """Serve any method on ``…/proxy`` and below."""
    if call.http.headers.get("Upgrade"):
        raise bad_request("this API server does not proxy upgraded connections")
    if not call.request.rest:
        location = call.http.rel_url.raw_path + "/"
        if call.http.rel_url.raw_query_string:
            location += f"?{call.http.rel_url.raw_query_string}"
        return web.Response(status=301, headers={**api_headers(), "Location": location})
    scheme, name, port = _split_name(call.name, call.resource)
    target = _TARGETS[call.resource.key](call, scheme, name, port)
    channel = call.channel(_KINDS[call.resource.key], target.node)
    if (why := await call.broken(channel)) is not None:
        raise _unreachable(why)
    stream = await _dial(call, target)
    try:
        async with call.cuttable(channel, stream.writer.close):
            return await _exchange(call, stream, target)
    finally:
        stream.writer.close()


def _unreachable(why: str) -> ApiError:
    return unavailable(f"error trying to reach service: {why}")


def _number(port: str, default: int) -> int:
    if not port:
        return default
    if not port.isdigit():
        raise bad_request(f'invalid port: "{port}"')
    return int(port)


def _pod_target(call: Call, scheme: str, name: str, port: str) -> _Target:
    pod = call.server.objects.require(resources.PODS, call.namespace, name).body
    ports = [
        each["containerPort"]
        for container in pod["spec"]["containers"]
        for each in container.get("ports") or ()
    ]
    address = (pod.get("status") or {}).get("podIP")
    if not address:
        raise bad_request("address not allowed")
    return _Target(
        address=address,
        port=_number(port, ports[0] if ports else 80),
        node=pod["spec"].get("nodeName", ""),
        tls=scheme == "https",
    )


def _node_target(call: Call, scheme: str, name: str, port: str) -> _Target:
    node = call.server.objects.require(resources.NODES, "", name).body
    status = node.get("status") or {}
    addresses = {each["type"]: each["address"] for each in status.get("addresses") or ()}
    if "InternalIP" not in addresses:
        raise bad_request("address not allowed")
    kubelet = ((status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}).get(
        "Port", _KUBELET_PORT
    )
    number = _number(port, kubelet)
    tls = scheme == "https" or (number == kubelet and not scheme)
    return _Target(address=addresses["InternalIP"], port=number, node=name, tls=tls)


def _service_target(call: Call, scheme: str, name: str, port: str) -> _Target:
    service = call.server.objects.require(resources.SERVICES, call.namespace, name).body
    wanted, shown = port, f"{name}:{port}" if port else name
    if port.isdigit():
        for each in service["spec"].get("ports") or ():
            if each["port"] == int(port):
                wanted = each.get("name", "")
                shown = f"{name}:{wanted}" if wanted else name
                break
        else:
            raise unavailable(f'no service port {port} found for service "{name}"')
    endpoints = _endpoints(call, name, wanted)
    if not endpoints:
        raise unavailable(f'no endpoints available for service "{shown}"')
    address, number, node = random.choice(endpoints)  # noqa: S311  not a secret
    return _Target(address=address, port=number, node=node, tls=scheme == "https")


_TARGETS = {"pods": _pod_target, "services": _service_target, "nodes": _node_target}


def _endpoints(call: Call, service: str, port: str) -> list[tuple[str, int, str]]:
    endpoints = []
    for record in call.server.store.records(resources.ENDPOINT_SLICES.key, call.namespace):
        labels = record.body["metadata"].get("labels") or {}
        if labels.get("kubernetes.io/service-name") != service:
            continue
        numbers = [
            each["port"]
            for each in record.body.get("ports") or ()
            if each.get("name", "") == port and each.get("protocol", "TCP") == "TCP"
        ]
        endpoints += [
            (address, number, each.get("nodeName", ""))
            for each in record.body.get("endpoints") or ()
            if (each.get("conditions") or {}).get("ready", True)
            for address in each["addresses"]
            for number in numbers
        ]
    return endpoints


async def _dial(call: Call, target: _Target) -> Duplex:
    try:
        async with asyncio.timeout(_DIAL_SECONDS):
            stream = await call.server.dial(target.address, target.port)
    except OSError as error:
        raise _unreachable(f"dial tcp {target.address}:{target.port}: {go_text(error)}") from error
    if target.tls:
        await _start_tls(stream)
    return stream


async def _start_tls(stream: Duplex) -> None:
    """Start TLS without verification, as the API server does to pods and Services."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        await stream.writer.start_tls(context, ssl_handshake_timeout=_TLS_SECONDS)
    except (OSError, ssl.SSLError) as error:
        stream.writer.close()
        raise _unreachable(f"tls: {error}") from error


async def _exchange(call: Call, stream: Duplex, target: _Target) -> web.StreamResponse:
    query = call.http.rel_url.raw_query_string
    rest = call.request.rest
    request = messages.request(
        call.http.method,
        f"{rest}?{query}" if query else rest,
        _request_headers(call, target),
        await call.http.read(),
    )
    try:
        return await _pass_on(call, *await _send(stream, request))
    except _BrokenError as error:
        raise _unreachable(str(error)) from error


def _request_headers(call: Call, target: _Target) -> list[tuple[str, str]]:
    headers = [
        (name, value) for name, value in call.http.headers.items() if name.lower() not in _HOP
    ]
    names = {name.lower() for name, _ in headers}
    if "accept-encoding" not in names:
        headers.append(("Accept-Encoding", "gzip"))
    before = call.http.headers.get("X-Forwarded-For")
    client = call.http.remote or ""
    headers.append(("X-Forwarded-For", f"{before}, {client}" if before else client))
    headers.append(("X-Forwarded-Uri", call.http.rel_url.raw_path))
    return [("Host", f"{target.address}:{target.port}"), *headers]


async def _pass_on(call: Call, head: Head, answers: Messages) -> web.StreamResponse:
    reason = GO_PHRASES.get(head.status) or head.reason
    response = web.StreamResponse(status=head.status, reason=reason, headers=api_headers())
    for name, value in head.headers:
        lower = name.lower()
        if lower == "content-length" or lower not in _HOP:
            response.headers[name] = _under_proxy(call, value) if lower == "location" else value
    has_length = "Content-Length" in response.headers
    bodiless = call.http.method == "HEAD" or head.status in {204, 304}
    if not has_length and not bodiless:
        response.enable_chunked_encoding()
    response.headers.setdefault("Content-Type", "application/octet-stream")
    await response.prepare(call.http)
    # the head is sent already: if the body breaks off, so must the answer
    with suppress(_BrokenError), _broken():
        if not bodiless:
            async for part in answers.parts():
                await response.write(part)
        await response.write_eof()
        return response
    if call.http.transport is not None:
        call.http.transport.close()
    return response


def _under_proxy(call: Call, location: str) -> str:
    parts = urlsplit(location)
    if parts.netloc or not parts.path.startswith("/"):
        return location
    prefix = call.http.rel_url.raw_path.removesuffix(call.request.rest)
    return f"{prefix}{location}"
