"""``agnhost liveness``: healthy for ten seconds, then not, on port 8080."""

import asyncio

from nettests.lab.interfaces import Process
from nettests.lab.programs.agnhost.serving import ListenError, web_server
from nettests.lab.programs.golang import requests
from nettests.lab.programs.golang.flags import Parsed
from nettests.lab.programs.golang.klog import Log
from nettests.lab.programs.golang.requests import Request, Response
from nettests.lab.programs.golang.values import format_duration

_PORT = 8080
_ALIVE_SECONDS = 10


async def run(process: Process, _options: Parsed) -> int:
    """Serve ``/healthz``, ``/started`` and ``/redirect`` until killed."""
    loop = asyncio.get_running_loop()
    started = loop.time()

    async def answer(request: Request) -> Response:
        spent = loop.time() - started
        if request.path == "/healthz":
            if spent > _ALIVE_SECONDS:
                return requests.text(f"error: {spent:.9f}".rstrip("0"), 500)
            return requests.text("ok")
        if request.path == "/started":
            return requests.text(format_duration(spent))
        if request.path == "/redirect":
            return requests.redirect(request, request.query.get("loc", ""), 302)
        return requests.error("404 page not found", 404)

    try:
        await web_server(process, answer, _PORT).serve()
    except ListenError as error:
        await Log(process).line(str(error))
    return 1
