"""netexec's ``/dial``: real connections from this container, answered as JSON.

Quirks kept: a name that does not resolve is a 400 text; failed tries are still 200; ``responses`` is left
out when the last try gave no text; every try is a new connection with five seconds.
"""

import asyncio

from nettests.lab.interfaces import Machine
from nettests.lab.programs.agnhost.connect import NO_SCTP
from nettests.lab.programs.golang import failures, lookup, requests, web_client
from nettests.lab.programs.golang.failures import NetError
from nettests.lab.programs.golang.requests import Request, Response
from nettests.lab.programs.golang.values import SyntaxOfValueError, atoi, to_json
from nettests.lab.programs.sockets import addresses, udp
from nettests.lab.programs.sockets.texts import Call

SECONDS = 5.0
_DATAGRAM = 2048
_PROTOCOLS = ("", "http", "udp", "sctp")


def log_line(request: Request) -> str:
    """Return the line netexec logs for a dial request."""
    order = ("host", "protocol", "port", "request", "tries")
    query = request.query
    return "GET /dial?" + "&".join(f"{name}={query.get(name, '')}" for name in order)


async def answer(machine: Machine, request: Request) -> Response:
    """Dial as the query says and answer with the responses and errors."""
    query = request.query
    protocol = query.get("protocol", "")
    try:
        tries = atoi(query["tries"]) if query.get("tries") else 1
    except SyntaxOfValueError as error:
        return requests.error(f"tries parameter is invalid. {error}", 400)
    if not query.get("request"):
        return requests.error("request parameter not specified. <nil>", 400)
    if protocol.lower() not in _PROTOCOLS:
        return requests.error(f"unsupported protocol. {protocol}", 400)
    try:
        host, port = await lookup.resolve_address(
            machine, query.get("host", ""), query.get("port", "")
        )
    except NetError as error:
        return requests.error(f"host and/or port param are invalid. {error}", 400)
    outcome = await _tries(machine, protocol.lower(), (host, port), query["request"], tries)
    return requests.text(to_json(outcome))


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
    url = f"http://{addresses.join(*place)}/{request}"
    body = await web_client.get(machine, url, limit=SECONDS)
    return body.decode(errors="replace")


async def _dial_udp(machine: Machine, place: tuple[str, int], request: str) -> str:
    try:
        conversation = udp.Conversation(machine, place[0] or "127.0.0.1", place[1])
    except OSError as error:
        prefix = f"dial udp {addresses.join(*place)}"
        failed = failures.operation_failed(machine, prefix, Call.CONNECT, error)
        raise NetError(f"udp dial failed. err:{failed}") from error
    with conversation:
        ends = f"{conversation.local}->{conversation.remote}"
        try:
            await conversation.send(request.encode())
        except OSError as error:
            failed = failures.operation_failed(machine, f"write udp {ends}", Call.WRITE, error)
            raise NetError(f"udp connection write failed. err:{failed}") from error
        try:
            async with asyncio.timeout(SECONDS):
                data = await conversation.receive(_DATAGRAM)
        except OSError as error:
            failed = failures.operation_failed(machine, f"read udp {ends}", Call.READ, error)
            raise NetError(f"reading from udp connection failed. err:'{failed}'") from error
    if not data:
        raise NetError("reading from udp connection failed. err:'<nil>'")
    return data.decode(errors="replace")
