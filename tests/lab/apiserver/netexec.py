"""A real HTTP server on loopback that answers as ``agnhost netexec`` does where the replay queries it."""

import json
from datetime import UTC, datetime

from aiohttp import web


class NetExec:
    """Serves ``/hostname``, ``/echo``, ``/header``, ``/clientip``, ``/redirect``, ``/dial`` and ``/``."""

    def __init__(self, name: str, address: str) -> None:
        self.address = address
        self.log: list[tuple[str, bytes]] = []
        self._name = name
        self._runner: web.AppRunner | None = None

    async def start(self, port: int) -> None:
        """Listen on the pod's address."""
        app = web.Application()
        app.router.add_get("/hostname", self._hostname)
        app.router.add_route("*", "/echo", _echo)
        app.router.add_get("/header", _header)
        app.router.add_get("/clientip", _client_ip)
        app.router.add_get("/redirect", _redirect)
        app.router.add_get("/dial", _dial)
        app.router.add_get("/slow-body", _broken_body)
        app.router.add_get("/", _now)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, self.address, port).start()
        for line in (
            f"Started HTTP server on port {port}",
            f"Started UDP server on port  {port + 1}",
        ):
            moment = datetime.now(UTC)
            text = f"I{moment:%m%d %H:%M:%S.%f}       1 log.go:244] {line}\n"
            self.log.append((f"{moment:%Y-%m-%dT%H:%M:%S.%f}000Z", text.encode()))

    async def stop(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _hostname(self, _request: web.Request) -> web.Response:
        return _text(self._name)


def _text(text: str, status: int = 200) -> web.Response:
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    return web.Response(status=status, body=text.encode(), headers=headers)


async def _now(_request: web.Request) -> web.Response:
    return _text(f"NOW: {datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}000 +0000 UTC m=+5.1")


async def _echo(request: web.Request) -> web.Response:
    form = await request.post()
    message = request.query.get("msg") or str(form.get("msg", ""))
    return _text(message, int(request.query.get("code", "200")))


async def _header(request: web.Request) -> web.Response:
    names = ("Accept", "Accept-Encoding", "User-Agent", "X-Forwarded-For", "X-Forwarded-Uri")
    extra = sorted({name for name in request.headers if name not in (*names, "Host")})
    found = {name: request.headers.getall(name) for name in (*names, *extra)}
    return _text(json.dumps(found))


async def _client_ip(request: web.Request) -> web.Response:
    assert request.transport is not None
    address, port = request.transport.get_extra_info("peername")[:2]
    return _text(f"{address}:{port}")


async def _redirect(request: web.Request) -> web.Response:
    location = request.query["location"]
    headers = {"Location": location, "Content-Type": "text/html; charset=utf-8"}
    body = f'<a href="{location}">Found</a>.\n\n'.encode()
    return web.Response(status=302, body=body, headers=headers)


async def _dial(_request: web.Request) -> web.Response:
    response = _text("request parameter not specified. <nil>\n", 400)
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


async def _broken_body(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "100"})
    await response.prepare(request)
    await response.write(b"half")
    assert request.transport is not None
    request.transport.close()
    return response
