"""``agnhost no-snat-test``: ``/whoami`` answers the peer's ``address:port``; nothing else is exposed.

Unlike ``netexec --http-override=/clientip``, which answers nothing (see ``netexec``), it tells a client
its source address from a server that may stand behind a NodePort. ``/checknosnat`` queries other pods.
"""

import ipaddress

from nettests.lab.interfaces import Process
from nettests.lab.programs.agnhost.serving import ListenError, web_server
from nettests.lab.programs.golang import requests, web_client
from nettests.lab.programs.golang.failures import NetError
from nettests.lab.programs.golang.flags import Flag, Kind, Parsed
from nettests.lab.programs.golang.requests import Request, Response
from nettests.lab.programs.golang.values import quote

FLAGS = {"port": Flag(Kind.STRING, "8080")}
_ADDRESSES = ("POD_IP", "NODE_IP")
_CLIENT_SECONDS = 30.0


async def run(process: Process, options: Parsed) -> int:
    """Serve until killed; exit 1 when the environment or the port is not usable."""
    for name in _ADDRESSES:
        value = process.environment.get(name)
        problem = _problem(name, value)
        if problem:
            await process.stderr(f"{problem}\n".encode())
            return 1

    async def answer(request: Request) -> Response:
        if (clean := requests.cleaned(request)) is not None:
            return requests.redirect(request, clean, 307)
        if request.path == "/whoami":
            return requests.text(request.remote)
        if request.path == "/checknosnat":
            return await _check(process, request)
        return requests.error("404 page not found", 404)

    try:
        await web_server(process, answer, int(options.text("port"))).serve()
    except (ListenError, ValueError) as error:
        await process.stderr(f"{error}\n".encode())
    return 1


def _problem(name: str, value: str | None) -> str | None:
    if value is None:
        return f"{name} env var was not present in the environment"
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return f"{name} env var contained {quote(value)}, which is not an IP address"
    return None


async def _check(process: Process, request: Request) -> Response:
    """Query ``/whoami`` of each address; 200 when all saw this pod's address, else 500."""
    problems = []
    for address in request.query.get("ips", "").split(","):
        try:
            url = f"http://{address}/whoami"
            body = await web_client.get(process.machine, url, limit=_CLIENT_SECONDS)
        except NetError as error:
            problems.append(str(error))
            continue
        seen = body.decode(errors="replace").partition(":")[0]
        if seen != process.environment["POD_IP"]:
            problems.append(_translated(process, seen))
    return requests.text(", ".join(problems), 500 if problems else 200)


def _translated(process: Process, seen: str) -> str:
    pod, node = (process.environment[name] for name in _ADDRESSES)
    start = f"Returned ip {quote(seen)} != my Pod ip {quote(pod)}"
    if seen == node:
        return f"{start}, == my Node ip {quote(node)} - SNAT"
    return (
        f"{start} or my Node ip {quote(node)} - SNAT to unexpected ip (possible SNAT through "
        "unexpected interface on the way into another node)"
    )
