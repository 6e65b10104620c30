"""Answers as aiohttp responses: JSON texts, ``Status`` objects, plain texts, the headers of the API."""

import json
import uuid
from collections.abc import Mapping, Sequence

from aiohttp import web

from nettests.lab.apiserver.status import ApiError, PlainError
from nettests.lab.interfaces import Json

JSON = "application/json"
_PLAIN = "text/plain; charset=utf-8"
_GO_PHRASES = {413: "Request Entity Too Large", 418: "I'm a teapot", 422: "Unprocessable Entity"}


def phrase(code: int) -> str | None:
    """Return Go's reason phrase if Python has another or none, else ``None``."""
    return _GO_PHRASES.get(code)


def api_headers() -> dict[str, str]:
    """Return the headers that every answer of the API carries."""
    return {"Audit-Id": str(uuid.uuid4()), "Cache-Control": "no-cache, private"}


def warning_headers(warnings: Sequence[str]) -> list[tuple[str, str]]:
    """Return one ``Warning`` header per text (RFC 7234 section 5.5, code 299)."""
    return [("Warning", f"299 - {json.dumps(text)}") for text in warnings]


def json_text(text: str, *, code: int = 200, warnings: Sequence[str] = ()) -> web.Response:
    """Return a JSON answer of encoded text, with a final newline as from Go's encoder."""
    response = web.Response(
        status=code,
        reason=phrase(code),
        body=text.encode() + b"\n",
        headers={**api_headers(), "Content-Type": JSON},
    )
    for name, value in warning_headers(warnings):
        response.headers.add(name, value)
    return response


def json_value(value: Json, *, code: int = 200, warnings: Sequence[str] = ()) -> web.Response:
    """Return a JSON answer."""
    return json_text(json.dumps(value, separators=(",", ":")), code=code, warnings=warnings)


def plain(text: str, *, code: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """Return an answer in plain text."""
    fixed = {**api_headers(), "Content-Type": _PLAIN, "X-Content-Type-Options": "nosniff"}
    return web.Response(status=code, body=text.encode(), headers={**fixed, **(headers or {})})


def failure(error: ApiError) -> web.Response:
    """Return the ``Status`` of an error."""
    response = json_value(error.body(), code=error.code)
    if error.code == 403:
        response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers.update(error.headers)
    return response


def plain_failure(error: PlainError) -> web.Response:
    """Return the plain-text answer of an error below the API."""
    return plain(error.text, code=error.code)
