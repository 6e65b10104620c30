"""Content sniffing as ``net/http.DetectContentType`` does it, for the types that answers here can have.

Source: the WHATWG MIME Sniffing algorithm, which Go implements. HTML, XML, plain text, binary. Pure.
"""

_HTML_TAGS = (
    b"<!doctype html",
    b"<html",
    b"<head",
    b"<script",
    b"<iframe",
    b"<h1",
    b"<div",
    b"<font",
    b"<table",
    b"<a",
    b"<style",
    b"<title",
    b"<b",
    b"<body",
    b"<br",
    b"<p",
    b"<!--",
)
_TAG_ENDS = b" >"
_BINARY = frozenset([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_LOOKED_AT = 512

HTML = "text/html; charset=utf-8"
PLAIN = "text/plain; charset=utf-8"


def detect(body: bytes) -> str:
    """Return the content type Go gives a body without one."""
    head = body[:_LOOKED_AT]
    start = head.lstrip(b"\t\n\x0c\r ").lower()
    for tag in _HTML_TAGS:
        if start.startswith(tag) and (tag == b"<!--" or start[len(tag) : len(tag) + 1] in _ends()):
            return HTML
    if start.startswith(b"<?xml"):
        return "text/xml; charset=utf-8"
    return "application/octet-stream" if _BINARY.intersection(head) else PLAIN


def _ends() -> tuple[bytes, ...]:
    return tuple(bytes([end]) for end in _TAG_ENDS)
