"""Answers as aiohttp responses: JSON texts, ``Status`` objects, plain texts, the headers of the API."""

import json
import uuid
from collections.abc import Sequence

from aiohttp import web

from nettests.lab.apiserver.status import ApiError
from nettests.lab.interfaces import Json

JSON = "application/json"
_PLAIN = "text/plain; charset=utf-8"
GO_PHRASES = {413: "Request Entity Too Large", 418: "I'm a teapot", 422: "Unprocessable Entity"}
"""Go's reason phrases where Python has others or none."""


def api_headers() -> dict[str, str]:
    """Return the headers that every answer of the API carries."""
    return {"Audit-Id": str(uuid.uuid4()), "Cache-Control": "no-cache, private"}


def json_text(text: str, *, code: int = 200, warnings: Sequence[str] = ()) -> web.Response:
    """Return a JSON answer of encoded text, with a final newline as from Go's encoder."""
    response = web.Response(
        status=code,
        reason=GO_PHRASES.get(code),
        body=text.encode() + b"\n",
        headers={**api_headers(), "Content-Type": JSON},
    )
    for warning in warnings:  # RFC 7234, section 5.5
        response.headers.add("Warning", f"299 - {json.dumps(warning)}")
    return response


def json_value(value: Json, *, code: int = 200) -> web.Response:
    """Return a JSON answer."""
    return json_text(json.dumps(value, separators=(",", ":")), code=code)


def plain(text: str, *, code: int = 200) -> web.Response:
    """Return an answer in plain text."""
    fixed = {**api_headers(), "Content-Type": _PLAIN, "X-Content-Type-Options": "nosniff"}
    return web.Response(status=code, body=text.encode(), headers=fixed)


def failure(error: ApiError) -> web.Response:
    """Return the ``Status`` of an error."""
    response = json_value(error.body(), code=error.code)
    if error.code == 403:
        response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers.update(error.headers)
    return response
