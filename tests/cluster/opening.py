"""Streams of a test's own: how one is opened by a kubeconfig, and the other side of its TLS."""

import ssl
import threading
from collections.abc import Callable
from pathlib import Path

import trustme

from nettests.cluster import Connection
from nettests.cluster.execute import Exec
from tests.cluster.api import CLOSING, Reply, message

Connected = Callable[[Path], Connection]
ENDED = Reply(frames=(message(1, b"out") + message(3, b'{"status":"Success"}') + CLOSING,))
"""An exec whose process has said ``out``."""


def run(connection: Connection, seconds: float = 0.1) -> str:
    """Run a process and return what it says."""
    return (
        Exec(connection, "ns", "p", "c", threading.Semaphore()).run(["x"], timeout=seconds).stdout
    )


def tls(authority: trustme.CA, name: str = "127.0.0.1", *, actions: bool = False) -> ssl.SSLContext:
    """Return a server's side of TLS; it may request the client's certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    if actions:
        context.verify_mode = ssl.CERT_REQUIRED
        authority.configure_trust(context)
    return context
