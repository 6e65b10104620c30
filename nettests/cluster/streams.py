"""An open exec or port-forward stream: messages by channel over one WebSocket; how to open one.

``execute`` and ``port_forward`` know what each channel carries. In the protocols
``*.channel.k8s.io`` a message's first byte is its channel. The close channel of ``v5`` is not
needed: the stream ends right after it. A refused stream has done nothing and may be retried. TLS
and proxies are those of API requests; redirects are not followed.
"""

import math
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from kubernetes import client
from kubernetes.client.rest import should_bypass_proxies
from urllib3.util.ssl_ import create_urllib3_context
from websockets.exceptions import (
    ConnectionClosed,
    InvalidProxy,
    InvalidProxyStatus,
    PayloadTooBig,
    WebSocketException,
)
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from nettests.cluster.client import USER_AGENT
from nettests.cluster.connection import Connection, Handshake
from nettests.cluster.failures import HandshakeError
from nettests.cluster.frames import SILENT_LOGGER, BoundedConnection, RefusedError
from nettests.deadlines import cut
from nettests.model.limits import spelled

SUBPROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
CLOSE_CHANNEL = 255
"""v5: the next byte names a channel that the other side has closed."""


class LostError(OSError):
    """A stream broke off without being closed."""


@dataclass(frozen=True, slots=True)
class Stream:
    """An open WebSocket; one thread reads it at a time."""

    connection: BoundedConnection
    closing: ExitStack
    """What is closed with it."""

    @property
    def frames(self) -> int:
        """How many frames have arrived, including answers to pings."""
        return self.connection.meter.frames

    def allow(self, most: int) -> None:
        """Allow this many bytes from now on, whatever was received before."""
        self.connection.meter.allow(most)

    def receive(self, seconds: float) -> tuple[int, bytes] | None:
        """Return the next message's channel and data; ``None`` after the other side closed.

        ``TimeoutError`` if none arrives in time, whatever else arrives, or if the time is negative,
        as after a deadline. With 0 seconds, return what has arrived. ``LostError`` or
        ``RefusedError`` if the stream broke.
        """
        if seconds < 0:
            raise TimeoutError("the deadline is over")
        until = time.monotonic() + seconds
        while True:
            try:
                message = self.connection.recv(
                    timeout=max(0.0, until - time.monotonic()), decode=False
                )
            except ConnectionClosed as closed:
                self._end(closed)
                return None
            if message and message[0] != CLOSE_CHANNEL:
                return message[0], message[1:]
            if time.monotonic() > until:
                raise TimeoutError("no message arrived in time")

    def send(self, channel: int, data: bytes) -> None:
        """Send a message; ``LostError`` if the stream broke off."""
        try:
            self.connection.send(bytes([channel]) + data)
        except ConnectionClosed as closed:
            raise LostError(_why(closed)) from closed

    def ping(self) -> None:
        """Send a ping; its answer counts among the ``frames``."""
        try:
            self.connection.ping()
        except ConnectionClosed as closed:
            raise LostError(_why(closed)) from closed

    def cut(self) -> None:
        """End the stream while another thread reads it."""
        cut(self.connection.below)

    def close(self) -> None:
        """Close the stream, without waiting for the other side. May be called twice."""
        self.closing.close()

    def _end(self, closed: ConnectionClosed) -> None:
        """Raise why the stream ended, unless the other side closed it in order."""
        unread = self.connection.protocol.parser_exc
        if isinstance(unread, PayloadTooBig):
            most = self.connection.protocol.max_message_size or 0
            raise RefusedError(f"its stream brought more than {spelled(most)}") from closed
        if unread is not None and not isinstance(unread, EOFError):
            raise RefusedError(f"its stream cannot be read: {unread}") from closed
        if self.connection.meter.refused is not None:
            raise RefusedError(str(self.connection.meter.refused)) from closed
        if closed.rcvd is not None:
            return
        if closed.sent is not None:  # raised by the library for invalid data
            raise RefusedError(f"its stream cannot be read: {_why(closed)}") from closed
        raise LostError(_why(closed)) from closed


def _why(closed: ConnectionClosed) -> str:
    return str(closed.__cause__ or closed)


T = TypeVar("T")

SWITCHING = 101
HANDSHAKE_SECONDS = 10.0
"""For one handshake: TCP, proxy, TLS and the whole answer."""
CLOSE_SECONDS = 0.5
"""For the closing frame of a stream, if the other side no longer reads."""


def open_stream(
    connection: Connection,
    path: str,
    query: Sequence[tuple[str, str]],
    *,
    most: int,
    seconds: float = HANDSHAKE_SECONDS,
    until: float = math.inf,
) -> Stream:
    """Return the stream that ``path`` opens; it may receive ``most`` bytes.

    ``HandshakeError`` or ``OSError`` if it is not opened: a handshake takes at most ``seconds``,
    and none continues after ``until`` (``time.monotonic``).
    """

    def handshake() -> Stream:
        left = min(seconds, until - time.monotonic())
        stream = _open(connection.handshake(path, query), most, left)
        stream.closing.enter_context(connection.under_way.cutting(stream.cut))
        return stream

    return opened(connection, handshake, until)


def opened(connection: Connection, handshake: Callable[[], T], until: float = math.inf) -> T:
    """Return what ``handshake`` opens, with the retries of a request."""
    tries = connection.tries(until)
    while True:
        tries.begin()
        try:
            stream = handshake()
        except HandshakeError as error:
            if error.of_the_node or not tries.again(error.status, error.retry_after):
                raise
        except (TimeoutError, ssl.SSLCertVerificationError):
            raise
        except OSError:
            if not tries.again():
                raise
        else:
            tries.heard(SWITCHING)
            return stream


def _open(to: Handshake, most: int, seconds: float) -> Stream:
    closing = ExitStack()
    proxy = _proxy(to.configuration)
    proxy_tls = proxy is not None and proxy.startswith("https:")  # its TLS wraps the server's
    try:
        connection = closing.enter_context(
            connect(
                to.url.replace("http", "ws", 1),
                ssl=_tls(to.configuration) if to.url.startswith("https:") else None,
                server_hostname=to.configuration.tls_server_name,
                subprotocols=[Subprotocol(name) for name in SUBPROTOCOLS],
                compression=None,
                additional_headers=list(to.headers),
                user_agent_header=USER_AGENT,
                proxy=proxy,
                proxy_ssl=_tls(to.configuration) if proxy_tls else None,
                open_timeout=seconds,
                ping_interval=None,
                close_timeout=CLOSE_SECONDS,
                max_size=most,
                logger=SILENT_LOGGER,
                create_connection=BoundedConnection,
            )
        )
    except InvalidProxy as error:  # its message contains the proxy's credentials
        raise HandshakeError(f"the proxy of the API server cannot be used: {error.msg}") from error
    except InvalidProxyStatus as error:
        status = error.response.status_code
        raise HandshakeError(f"the proxy of the API server answered {status}") from error
    except (WebSocketException, ImportError) as error:  # a SOCKS proxy needs another library
        raise HandshakeError(str(error)) from error
    assert isinstance(connection, BoundedConnection)
    return Stream(connection, closing)


def _tls(configuration: client.Configuration) -> ssl.SSLContext:
    """Return the kubeconfig's TLS settings, as the client library passes them to ``urllib3``."""
    files = (configuration.ssl_ca_cert, configuration.cert_file, configuration.key_file)
    return _context(
        verified=bool(configuration.verify_ssl),
        named=configuration.assert_hostname is not False,
        authority=(configuration.ssl_ca_cert, configuration.ca_cert_data),
        client_files=(configuration.cert_file, configuration.key_file),
        written=tuple(Path(file).stat().st_mtime_ns for file in filter(None, files)),
    )


@lru_cache(maxsize=8)
def _context(
    *,
    verified: bool,
    named: bool,
    authority: tuple[str | None, str | bytes | None],
    client_files: tuple[str | None, str | None],
    written: tuple[int, ...],  # noqa: ARG001 - a renewed certificate makes another context
) -> ssl.SSLContext:
    """Return a context that all streams share, like a connection pool: it takes longer to make than a handshake."""
    context = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED if verified else ssl.CERT_NONE)
    if not named:
        context.check_hostname = False
    file, data = authority
    if file or data:
        context.load_verify_locations(cafile=file, cadata=data)
    else:
        context.load_default_certs()
    certificate, key = client_files
    if certificate:
        context.load_cert_chain(certificate, key)
    return context


def _proxy(configuration: client.Configuration) -> str | None:
    proxy: str | None = configuration.proxy
    if not proxy or should_bypass_proxies(configuration.host, configuration.no_proxy or ""):
        return None
    return proxy
