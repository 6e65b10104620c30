"""netexec's HTTP endpoints, one method each, and ``/dial``: real connections from this container, answered as JSON.

``/shell`` refuses, as the lab runs no program chosen by a client. There is no ``/upload``. Quirks of ``/dial`` are kept:
a name that does not resolve is a 400 text; failed tries are still 200; ``responses`` is left out if the last try got
no text; every try is a new connection with a time-out of five seconds.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from nettests.lab.interfaces import Machine, Process
from nettests.lab.programs.agnhost.small_commands import NO_SCTP
from nettests.lab.programs.golang import requests, values, web_client
from nettests.lab.programs.golang.requests import Request, Response
from nettests.lab.programs.golang.web_client import NetError
from nettests.lab.programs.sockets import transport
from nettests.lab.programs.sockets.transport import Call

SECONDS = 5.0
_DATAGRAM = 2048
_PROTOCOLS = ("", "http", "udp", "sctp")


async def answer(machine: Machine, request: Request) -> Response:
    """Dial as requested by the query, and answer with the responses and errors."""
    query = request.query
    protocol = query.get("protocol", "")
    try:
        tries = values.atoi(query["tries"]) if query.get("tries") else 1
    except values.SyntaxOfValueError as error:
        return requests.error(f"tries parameter is invalid. {error}", 400)
    if not query.get("request"):
        return requests.error("request parameter not specified. <nil>", 400)
    if protocol.lower() not in _PROTOCOLS:
        return requests.error(f"unsupported protocol. {protocol}", 400)
    try:
        host, port = await web_client.resolve_address(
            machine, query.get("host", ""), query.get("port", "")
        )
    except NetError as error:
        return requests.error(f"host and/or port param are invalid. {error}", 400)
    outcome = await _tries(machine, protocol.lower(), (host, port), query["request"], tries)
    return requests.text(values.to_json(outcome))


async def _tries(
    machine: Machine, protocol: str, place: tuple[str, int], request: str, tries: int
) -> dict[str, list[str]]:
    responses: list[str] = []
    errors: list[str] = []
    last = ""
    for _ in range(tries):
        try:
            last = await _dial(machine, protocol, place, request)
            responses.append(last)
        except NetError as error:
            last = ""
            errors.append(error.text)
    outcome = {"responses": responses} if last else {}
    return outcome | ({"errors": errors} if errors else {})


async def _dial(machine: Machine, protocol: str, place: tuple[str, int], request: str) -> str:
    if protocol == "udp":
        return await _dial_udp(machine, place, request)
    if protocol == "sctp":
        raise NetError(f"sctp dial failed. err:{NO_SCTP[machine.os]}")
    url = f"http://{transport.join(*place)}/{request}"
    body = await web_client.get(machine, url, limit=SECONDS)
    return body.decode(errors="replace")


async def _dial_udp(machine: Machine, place: tuple[str, int], request: str) -> str:
    try:
        conversation = transport.Conversation(machine, place[0] or "127.0.0.1", place[1])
    except OSError as error:
        prefix = f"dial udp {transport.join(*place)}"
        failed = web_client.operation_failed(machine, prefix, Call.CONNECT, error)
        raise NetError(f"udp dial failed. err:{failed}") from error
    with conversation:
        ends = f"{conversation.local}->{conversation.remote}"
        try:
            await conversation.send(request.encode())
        except OSError as error:
            failed = web_client.operation_failed(machine, f"write udp {ends}", Call.WRITE, error)
            raise NetError(f"udp connection write failed. err:{failed}") from error
        try:
            async with asyncio.timeout(SECONDS):
                data = await conversation.receive(_DATAGRAM)
        except OSError as error:
            failed = web_client.operation_failed(machine, f"read udp {ends}", Call.READ, error)
            raise NetError(f"reading from udp connection failed. err:'{failed}'") from error
    if not data:
        raise NetError("reading from udp connection failed. err:'<nil>'")
    return data.decode(errors="replace")


_NO_SHELL = "fork/exec /bin/sh: operation not permitted: the lab runs no shell"


@dataclass(slots=True)
class Exit:
    """How and when the process is to end."""

    wanted: asyncio.Event = field(default_factory=asyncio.Event)
    code: int = 0
    grace: float = 0.0


class Endpoints:
    """The handlers of one netexec process."""

    def __init__(self, process: Process, port: int, ready: Callable[[], bool]) -> None:
        self._process = process
        self._log = partial(values.log, process)
        self._ready = ready
        self._started = asyncio.get_running_loop().time()
        self.exit = Exit()
        self._routes: Mapping[str, Callable[[Request], Awaitable[Response]]] = {
            "/dial": self._dial,
            "/echo": self._echo,
            "/exit": self._exit,
            "/header": self._header,
            "/redirect": self._redirect,
            "/shell": self._shell,
            "/shutdown": self._shutdown,
        }
        self._plain: Mapping[str, Callable[[Request], Response]] = {
            "/clientip": lambda request: requests.text(request.remote),
            "/healthz": lambda _: Response(status=200 if ready() else 412),
            "/hostName": lambda _: requests.text(process.machine.hostname),
            "/hostname": lambda _: requests.text(process.machine.hostname),
            "/readyz": lambda _: self._readyz(),
            "/serverport": lambda _: requests.text(str(port)),
        }
        """Endpoints that log only their path."""

    async def route(self, request: Request) -> Response:
        """Answer by path; unknown paths get the time."""
        if request.path in self._plain:
            await self._log(f"GET {request.path}")
            return self._plain[request.path](request)
        return await self._routes.get(request.path, self._root)(request)

    def _readyz(self) -> Response:
        if self._process.terminate.is_set():
            return requests.text("shutting down", 503)
        return requests.text("ok") if self._ready() else Response(status=412)

    async def _root(self, _request: Request) -> Response:
        await self._log("GET /")
        spent = asyncio.get_running_loop().time() - self._started
        now = datetime.now(UTC)
        fraction = f".{now.microsecond:06d}".rstrip("0").rstrip(".")
        return requests.text(f"NOW: {now:%Y-%m-%d %H:%M:%S}{fraction} +0000 UTC m=+{spent:.9f}")

    async def _echo(self, request: Request) -> Response:
        message, code = request.form("msg"), request.form("code")
        await self._log(f"GET /echo?msg={message}&code={code}")
        if not code:
            return requests.text(message)
        try:
            return requests.text(message, values.atoi(code))
        except values.SyntaxOfValueError:
            return requests.text(_not_an_integer(code))

    async def _header(self, request: Request) -> Response:
        key = request.form("key")
        if key:
            await self._log(f"GET /header?key={key}")
            return requests.text("" if key.lower() == "host" else request.header(key))
        await self._log("GET /header")
        fields: dict[str, list[str]] = {}
        for name, value in request.headers:
            canonical = "-".join(part.capitalize() for part in name.split("-"))
            if canonical != "Host":
                fields.setdefault(canonical, []).append(value)
        return requests.text(values.to_json(fields))

    async def _redirect(self, request: Request) -> Response:
        place, code = request.form("location"), request.form("code")
        await self._log(f"{request.method} /redirect?msg={place}&code={code}")
        try:
            status = values.atoi(code) if code else 302
        except values.SyntaxOfValueError:
            return requests.text(_not_an_integer(code))
        return requests.redirect(request, place, status)

    async def _dial(self, request: Request) -> Response:
        order = ("host", "protocol", "port", "request", "tries")
        words = "&".join(f"{name}={request.query.get(name, '')}" for name in order)
        await self._log(f"GET /dial?{words}")
        return await answer(self._process.machine, request)

    async def _shell(self, request: Request) -> Response:
        command = request.form("shellCommand") or request.form("cmd")
        await self._log(f"GET /shell?cmd={command}")
        if not command:
            await self._log("Output: map[]")
            return requests.text(values.to_json({}))
        await self._log(f"Output: map[error:{_NO_SHELL}]")
        return requests.text(values.to_json({"error": _NO_SHELL}))

    async def _exit(self, request: Request) -> Response:
        code, grace, wait = (request.form(name) for name in ("code", "timeout", "wait"))
        await self._log(f"GET /exit?code={code}&timeout={grace}&wait={wait}")
        seconds = []
        for name, value in (("timeout", grace), ("wait", wait)):
            try:
                seconds.append(values.parse_duration(value) if value else 0.0)
            except values.SyntaxOfValueError:
                kind = "a valid golang duration or empty"
                return requests.text(
                    f"argument '{name}' must be {kind}, got {values.quote(value)}\n"
                )
        try:
            self.exit.code = values.atoi(code) if code else 0
        except values.SyntaxOfValueError:
            return requests.text(
                f"argument 'code' must be an integer [0-127] or empty, got {values.quote(code)}\n"
            )
        self.exit.grace, pause = seconds
        await self._log(
            f"Will begin shutdown in {values.format_duration(pause)}, allowing "
            f"{values.format_duration(self.exit.grace)} for connections to close, then will exit with "
            f"{self.exit.code}"
        )
        await asyncio.sleep(pause)
        return await self._leave()

    async def _shutdown(self, _request: Request) -> Response:
        await self._log("GET /shutdown")
        self.exit.code, self.exit.grace = 0, 0.0
        return await self._leave()

    async def _leave(self) -> Response:
        """End the process: at once and without an answer, or after an answer if there is a grace period."""
        self.exit.wanted.set()
        if not self.exit.grace:
            await asyncio.Event().wait()
        return Response()


def _not_an_integer(code: str) -> str:
    return f"argument 'code' must be an integer or empty, got {values.quote(code)}\n"
