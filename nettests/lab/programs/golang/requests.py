"""Requests and responses of a Go HTTP server, and their wire form. Pure.

The order of header fields is Go's: a handler's own, sorted, then Date, Content-Length, Content-Type,
Connection, Transfer-Encoding (``net/http/server.go``). A missing content type is detected like in ``net/http.DetectContentType``
(the WHATWG MIME Sniffing algorithm), for the types that occur here: HTML, XML, plain text, binary.
"""

import html
import posixpath
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from functools import cached_property, lru_cache
from http import HTTPStatus
from urllib.parse import parse_qsl, quote, unquote

from nettests.lab.web.messages import Head

_HTML_TAGS = b"<!doctype html|<html|<head|<script|<iframe|<h1|<div|<font|<table|<a|<style|<title|<b|<body|<br|<p|<!--"
_BINARY = frozenset([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_LOOKED_AT = 512

HTML = "text/html; charset=utf-8"
PLAIN = "text/plain; charset=utf-8"


def detect(body: bytes) -> str:
    """Return the content type that Go detects for a body."""
    head = body[:_LOOKED_AT]
    start = head.lstrip(b"\t\n\x0c\r ").lower()
    for tag in _HTML_TAGS.split(b"|") if start.startswith(b"<") else ():
        ended = tag == b"<!--" or start[len(tag) : len(tag) + 1] in {b" ", b">"}
        if start.startswith(tag) and ended:
            return HTML
    if start.startswith(b"<?xml"):
        return "text/xml; charset=utf-8"
    return "application/octet-stream" if _BINARY.intersection(head) else PLAIN


BUFFERED = 2048
"""Bytes that Go buffers before it has to use chunked encoding."""

_BODILESS = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


@dataclass(frozen=True, kw_only=True)
class Request(Head):
    """One request; ``remote`` is the peer's ``address:port``, empty for a handler's own request."""

    remote: str
    body: bytes = b""

    @cached_property
    def path(self) -> str:
        """The path, unescaped."""
        return unquote(self.target.partition("?")[0])

    @cached_property
    def query(self) -> dict[str, str]:
        """The first value of each query parameter."""
        return _first_values(self.target.partition("?")[2])

    def form(self, name: str) -> str:
        """Return a form value of the body, or else of the query (``Request.FormValue``)."""
        if self.header("content-type").startswith("application/x-www-form-urlencoded"):
            posted = _first_values(self.body.decode(errors="replace"))
            if name in posted:
                return posted[name]
        return self.query.get(name, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A handler's answer; the server adds length, type and date."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    close: bool = False


Handler = Callable[[Request], Awaitable[Response]]


def text(body: str, status: int = 200) -> Response:
    """Return an answer without a stated content type."""
    return Response(body=body.encode(), status=status)


def error(message: str, status: int) -> Response:
    """Return the answer of ``http.Error``."""
    headers = (("Content-Type", PLAIN), ("X-Content-Type-Options", "nosniff"))
    return Response(body=f"{message}\n".encode(), status=status, headers=headers)


def redirect(request: Request, location: str, status: int) -> Response:
    """Return the answer of ``http.Redirect``, with a body only for GET and HEAD."""
    if not location.startswith(("/", "http://", "https://")):
        base = request.path.rpartition("/")[0]
        location = posixpath.normpath(f"{base}/{location}") if location else f"{base}/"
    place = ("Location", quote(location, safe="/%:=&?~#+!$,;'@()*[]"))
    if request.method not in ("GET", "HEAD"):
        return Response(status=status, headers=(place,))
    escaped = html.escape(location).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
    body = f'<a href="{escaped}">{reason(status)}</a>.\n\n'.encode()
    return Response(body=body, status=status, headers=(("Content-Type", HTML), place))


def cleaned(request: Request) -> str | None:
    """Return the target to which Go's ``ServeMux`` redirects an unclean path, else ``None``."""
    path, mark, query = request.target.partition("?")
    if request.target == "*" or request.method == "CONNECT":
        return None
    clean = posixpath.normpath(path) if path else "/"
    clean = "/" + clean.lstrip("/")
    if path.endswith("/") and clean != "/":
        clean += "/"
    return None if clean == path else clean + mark + query


def behind_mux(handler: Handler) -> Handler:
    """Return a handler of clean paths; others are redirected, as by Go's ``ServeMux``."""

    async def answer(request: Request) -> Response:
        clean = cleaned(request)
        return await handler(request) if clean is None else redirect(request, clean, 307)

    return answer


def reason(status: int) -> str:
    """Return the reason phrase of a status."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return f"status code {status}"


def frame(request: Request, response: Response, now: datetime, *, close: bool) -> bytes:
    """Return ``response`` as Go's server writes it."""
    headers = sorted(response.headers)
    given = {name for name, _ in headers}
    bodiless = response.status in _BODILESS
    chunked = len(response.body) > BUFFERED and not bodiless and request.version == "1.1"
    sized = not bodiless and "Content-Length" not in given
    headers.append(("Date", _date(now.replace(microsecond=0))))
    if sized and len(response.body) <= BUFFERED:
        headers.append(("Content-Length", str(len(response.body))))
    if response.body and not bodiless and "Content-Type" not in given:
        headers.append(("Content-Type", detect(response.body)))
    if close and request.version == "1.1":
        headers.append(("Connection", "close"))
    if chunked:
        headers.append(("Transfer-Encoding", "chunked"))
    lines = [f"HTTP/{request.version} {response.status} {reason(response.status)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    head = "\r\n".join([*lines, "", ""]).encode()
    if request.method == "HEAD" or bodiless:
        return head
    body = response.body
    return head + (b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if chunked else body)


@lru_cache(maxsize=1)
def _date(second: datetime) -> str:
    return format_datetime(second, usegmt=True)


def _first_values(text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        values.setdefault(name, value)
    return values
