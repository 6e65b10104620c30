"""The API server as an aiohttp application: authentication, authorisation, dispatch.

``create_app`` joins the parts; ``start`` serves on a socket of its caller. One catch-all route leads through
authentication, fault hook, authorisation and dispatch, in this order.
"""

import asyncio
import dataclasses
import logging
import socket
import ssl
from asyncio import sslproto
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress

from aiohttp import web

from nettests.lab.apiserver import (
    actions,
    background,
    crud,
    discovery,
    execution,
    log,
    portforward,
    proxy,
    request,
    resources,
    responses,
)
from nettests.lab.apiserver.access import Access
from nettests.lab.apiserver.call import Call, Server
from nettests.lab.apiserver.channels import end_tasks
from nettests.lab.apiserver.generic_registry import Objects
from nettests.lab.apiserver.settings import ApiSettings
from nettests.lab.apiserver.status import ApiError, PlainError, internal, method_not_supported
from nettests.lab.apiserver.store import Store
from nettests.lab.apiserver.watching import watch
from nettests.lab.interfaces import Dial, Kubelet

_LOG = logging.getLogger(__name__)

Handler = Callable[[Call], Awaitable[web.StreamResponse]]

SERVER: web.AppKey[Server] = web.AppKey("server", Server)

_VERBS: Mapping[str, Handler] = {
    "get": crud.get,
    "list": crud.list_objects,
    "watch": watch,
    "create": crud.create,
    "update": crud.update,
    "patch": crud.patch_object,
    "delete": crud.delete,
    "deletecollection": crud.delete_collection,
}
_READ_WRITE = ("get", "update", "patch")
_CONNECT = ("get", "create")
_SUBRESOURCES: Mapping[str, tuple[tuple[str, ...], Handler]] = {
    "log": (("get",), log.read_log),
    "exec": (_CONNECT, execution.stream),
    "attach": (_CONNECT, execution.stream),
    "portforward": (_CONNECT, portforward.forward),
    "proxy": (("get", "create", "update", "patch", "delete"), proxy.proxy),
    "binding": (("create",), actions.bind),
    "eviction": (("create",), actions.evict),
    "token": (("create",), actions.issue_token),
}
_UPGRADED = frozenset({"exec", "attach", "portforward"})
_CREATE_TO_CONNECT = 35
"""From 1.35 on, WebSocket upgrades need the verb ``create`` too (KEP-2862's companion change)."""
_BODY_LIMIT = 3 * 2**20
_TLS_BUFFER = 2**15
_HEAD_LIMIT = 2**20
"""``http.DefaultMaxHeaderBytes``: a request to a Pod through the proxy may have a long URL."""


def create_app(
    *, store: Store, kubelets: Mapping[str, Kubelet], dial: Dial, settings: ApiSettings
) -> web.Application:
    """Return the application, which runs its background loops while it is served.

    An empty ``store`` is filled with the initial objects of a cluster.
    """
    app = web.Application(client_max_size=_BODY_LIMIT)
    objects = Objects(store, settings)
    background.prepare(objects, settings)
    app[SERVER] = Server(
        store=store,
        objects=objects,
        access=Access(store, settings.tokens),
        kubelets=kubelets,
        dial=dial,
        settings=settings,
    )
    app.router.add_route("*", "/{path:.*}", _serve)
    app.cleanup_ctx.append(_background)
    return app


async def start(
    app: web.Application, listening: socket.socket, tls: ssl.SSLContext | None
) -> web.AppRunner:
    """Serve ``app`` on a bound socket until the returned runner's ``cleanup()``.

    Handlers of watches and streams are cancelled when their client disconnects, which is not aiohttp's default.
    """
    runner = _Runner(
        app,
        access_log=None,
        handler_cancellation=True,
        shutdown_timeout=0.2,
        keepalive_timeout=120,
        max_line_size=_HEAD_LIMIT,
        max_field_size=_HEAD_LIMIT,
    )
    # A TLS connection allocates and clears so many bytes, 256 KiB by default: for each exec, too.
    sslproto.SSLProtocol.max_size = _TLS_BUFFER
    await runner.setup()
    await web.SockSite(runner, listening, ssl_context=tls, backlog=512).start()
    return runner


class _Runner(web.AppRunner):
    """Aborts its connections on cleanup: a TLS close would wait for clients that may be stuck."""

    async def cleanup(self) -> None:
        for connection in self.server.connections if self.server else ():
            if connection.transport is not None:
                # Python 3.11.2 raises AttributeError for a TLS transport that was closed twice and has
                # no protocol any more; its connection is ending already.
                with suppress(AttributeError):
                    connection.transport.abort()
        await super().cleanup()


async def _background(app: web.Application) -> AsyncIterator[None]:
    server = app[SERVER]
    loops = [
        asyncio.create_task(background.collect_garbage(server.objects)),
        asyncio.create_task(background.keep_quotas(server.objects)),
        asyncio.create_task(background.keep_namespaces(server.objects, server.settings)),
    ]
    yield
    await end_tasks(*loops)


async def _serve(http: web.Request) -> web.StreamResponse:
    server = http.app[SERVER]
    try:
        return await _answer(server, http)
    except ApiError as error:
        return responses.failure(error)
    except PlainError as error:
        return responses.plain(error.text, code=error.code)
    except (ConnectionError, web.HTTPException, asyncio.CancelledError):
        raise
    except Exception as error:  # noqa: BLE001  answered by a 500, as Go recovers from panics
        _LOG.exception("%s %s", http.method, http.path_qs)
        return responses.failure(internal(f"{type(error).__name__}: {error}"))


async def _answer(server: Server, http: web.Request) -> web.StreamResponse:
    user = server.access.authenticate(http.headers)
    groups = tuple(http.headers.getall("Impersonate-Group", []))
    user = server.access.impersonate(user, http.headers, groups)
    wanted = request.read(http.method, http.rel_url.raw_path, http.query, user.name)
    if (hook := server.settings.faults.before_request) is not None:
        await hook(wanted)
    server.access.check(user, wanted)
    server.requests[wanted.verb, wanted.plural, wanted.subresource] += 1
    if not wanted.is_resource:
        return _bare_path(server, http, wanted)
    minor = server.settings.version.minor
    resource = resources.find(wanted.group, wanted.version, wanted.plural, minor)
    if resource is None:
        if not resources.in_group(wanted.group, wanted.version, minor):
            raise _no_page()
        raise _no_resource()
    handler = _handler(wanted, resource)
    if wanted.subresource in _UPGRADED and minor >= _CREATE_TO_CONNECT:
        server.access.check(user, dataclasses.replace(wanted, verb="create"))
    call = Call(server=server, http=http, request=wanted, resource=resource, user=user)
    return await handler(call)


def _no_page() -> PlainError:
    return PlainError(404, "404 page not found\n")


def _no_resource() -> ApiError:
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def _handler(wanted: request.Request, resource: resources.Resource) -> Handler:
    if wanted.subresource:
        if wanted.subresource not in resource.subresources:
            raise _no_resource()
        if wanted.subresource == "status":
            handler = _VERBS.get(wanted.verb) if wanted.verb in _READ_WRITE else None
        else:
            verbs, subresource_handler = _SUBRESOURCES[wanted.subresource]
            handler = subresource_handler if wanted.verb in verbs else None
    elif resource.verbs == ("create",):
        create = actions.bind if resource.kind == "Binding" else actions.review
        handler = create if wanted.verb == "create" else None
    else:
        taken = wanted.verb == "create" and wanted.name
        handler = None if taken or wanted.verb not in resource.verbs else _VERBS.get(wanted.verb)
    if handler is None:
        raise method_not_supported(resource)
    return handler


def _bare_path(server: Server, http: web.Request, wanted: request.Request) -> web.Response:
    path = wanted.path.rstrip("/") or "/"
    accept = http.headers.get("Accept", "")
    if path in {"/healthz", "/livez", "/readyz"}:
        return responses.plain(discovery.health(path, verbose="verbose" in http.query))
    if path == "/metrics":
        return responses.plain(discovery.metrics(server.requests))
    if path == "/openapi/v2" and "protobuf" in accept:
        headers = {"Content-Type": discovery.OPENAPI_V2}
        return web.Response(body=discovery.openapi_v2(), headers=headers)
    document = discovery.document(path, server.settings)
    if document is None:
        raise _no_page()
    return responses.json_value(document)
