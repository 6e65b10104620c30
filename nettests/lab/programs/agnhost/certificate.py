"""The TLS certificate of the agnhost image (``/localhost.crt``): 127.0.0.1, ::1, made once per lab."""

import ssl
from functools import cache

import trustme

CERTIFICATE = "/localhost.crt"
KEY = "/localhost.key"


@cache
def image_context() -> ssl.SSLContext:
    """Return a server context with the image's certificate; it says nothing about who serves."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1", "::1", "localhost").configure_cert(context)
    return context
