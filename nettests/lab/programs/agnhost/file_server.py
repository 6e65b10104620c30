"""``agnhost test-webserver``: a file server over the container's few readable files, port 80."""

from collections.abc import Mapping
from html import escape

from nettests.lab.interfaces import Process
from nettests.lab.programs import image_files
from nettests.lab.programs.agnhost.serving import ListenError, web_server
from nettests.lab.programs.golang.content import HTML, PLAIN
from nettests.lab.programs.golang.flags import Flag, Kind, Parsed
from nettests.lab.programs.golang.klog import Log
from nettests.lab.programs.golang.requests import Request, Response

FLAGS = {"port": Flag(Kind.INT, 80)}

_LAST_MODIFIED = "Sat, 21 Nov 2026 00:47:11 GMT"
_HEADERS = (
    ("Access-Control-Allow-Credentials", "true"),
    (
        "Access-Control-Allow-Headers",
        "DNT,X-Mx-ReqToken,Keep-Alive,User-Agent,X-Requested-With,Cache-Control,Content-Type",
    ),
    ("Access-Control-Allow-Methods", "GET, POST, OPTIONS"),
    ("Access-Control-Allow-Origin", "*"),
    ("Cache-Control", "private"),
    ("Last-Modified", _LAST_MODIFIED),
)


async def run(process: Process, options: Parsed) -> int:
    """Serve until killed."""
    tree = image_files.files(process.machine)

    async def answer(request: Request) -> Response:
        return serve(tree, request)

    try:
        await web_server(process, answer, options.number("port")).serve()
    except ListenError as error:
        await Log(process).line(str(error))
    return 1


def serve(tree: Mapping[str, str], request: Request) -> Response:
    """Return a file, the listing of a folder, or Go's 404."""
    path = request.path
    if path in tree:
        headers = (*_HEADERS, ("Content-Type", PLAIN))
        return Response(body=tree[path].encode(), headers=headers)
    folder = path if path.endswith("/") else f"{path}/"
    names = sorted({_first_part(file, folder) for file in tree if file.startswith(folder)})
    if not names:
        return Response(
            body=b"404 page not found\n",
            status=404,
            headers=(*_HEADERS[:-2], ("Content-Type", PLAIN)),
        )
    links = "".join(f'<a href="{escape(name)}">{escape(name)}</a>\n' for name in names)
    listing = f'<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n{links}</pre>\n'
    return Response(body=listing.encode(), headers=(*_HEADERS, ("Content-Type", HTML)))


def _first_part(file: str, folder: str) -> str:
    first, slash, _ = file.removeprefix(folder).partition("/")
    return first + slash
