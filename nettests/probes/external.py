"""The external vantage: request a NodePort from outside, or send it a datagram, perhaps by a proxy.

It contacts nothing else. The cluster profile's proxy is a control channel: if it cannot be reached
or rejects the credentials, nothing is known of the network behind it. What it reports of its own
connection attempt (``X-Squid-Error``, or a SOCKS proxy's reply) is the observation.
"""

import ipaddress
import re
import socket
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.exceptions import ConnectionError as RequestsConnectionError
from requests.exceptions import ProxyError, RequestException, Timeout

from nettests.deadlines import Patience, timely
from nettests.model import limits
from nettests.model.channel import ChannelError

_PORT = 1080
"""The default port of SOCKS proxies (RFC 1928, section 3)."""
_VERSION, _ASSOCIATE = 5, 3
_NO_PROOF, _PASSWORD = 0, 2
"""Authentication methods."""
_IPV4, _IPV6 = 1, 4
_ADDRESS_BYTES = {_IPV4: 4, _IPV6: 16}
_LONGEST = 65535
_REPLIES = {
    1: "general failure",
    2: "not allowed by its rules",
    7: "it relays no datagrams",
    8: "it does not know addresses of this family",
}
Place = tuple[str, int]


def exchange(proxy: str | None, target: Place, request: str, *, timeout: float) -> str:
    """Return the answer to one datagram; raises ``OSError`` on a time-out or an ICMP error."""
    with ExitStack() as held:
        if proxy is None:
            sock = held.enter_context(_datagrams(target[0]))
            sock.connect(target)
        else:
            sock = _relay(held, proxy, timeout)
        header = b"" if proxy is None else bytes(3) + _spelled(target)
        sock.settimeout(timeout)
        try:
            sock.send(header + request.encode())
            answer = sock.recv(_LONGEST)
        except TimeoutError:
            raise
        except OSError as error:
            if proxy is None:
                raise
            raise _failed(error) from None
    text = answer if proxy is None else _payload(answer)
    return text.decode("utf-8", errors="replace")


def _failed(error: object) -> ChannelError:
    return ChannelError(f"the external UDP proxy failed: {error}")


def _datagrams(host: str) -> socket.socket:
    version = ipaddress.ip_address(host).version
    return socket.socket(socket.AF_INET6 if version == 6 else socket.AF_INET, socket.SOCK_DGRAM)


def _relay(held: ExitStack, proxy: str, timeout: float) -> socket.socket:
    """Return a socket connected to the UDP relay of ``proxy``, open as long as ``held``."""
    parts = urlsplit(proxy)
    who = unquote(parts.username or ""), unquote(parts.password or "")
    try:
        place = (parts.hostname or "", parts.port or _PORT)
        control = held.enter_context(socket.create_connection(place, timeout))
        sock = held.enter_context(_datagrams(control.getsockname()[0]))
        sock.bind((control.getsockname()[0], 0))
        _prove(control, who)
        host, port = _associated(control, sock.getsockname()[:2])
        anywhere = ipaddress.ip_address(host).is_unspecified
        sock.connect((control.getpeername()[0] if anywhere else host, port))
    except OSError as error:
        raise _failed(error) from None
    return sock


def _prove(control: socket.socket, who: tuple[str, str]) -> None:
    name, password = (credential.encode() for credential in who)
    way = _PASSWORD if name else _NO_PROOF
    control.sendall(bytes((_VERSION, 1, way)))
    version, chosen = _read(control, 2)
    if (version, chosen) != (_VERSION, way):
        wanted = (
            "a name and a password"
            if way == _NO_PROOF
            else "another proof of identity than a password"
        )
        raise _failed(f"it wants {wanted}" if version == _VERSION else "it does not speak SOCKS5")
    if way == _PASSWORD:
        control.sendall(bytes((1, len(name))) + name + bytes((len(password),)) + password)
        if _read(control, 2)[1] != 0:
            raise _failed("it refuses its credentials")


def _associated(control: socket.socket, client: Place) -> Place:
    control.sendall(bytes((_VERSION, _ASSOCIATE, 0)) + _spelled(client))
    _, reply, _, kind = _read(control, 4)
    if reply != 0:
        raise _failed(f"SOCKS reply {reply}: {_REPLIES.get(reply, 'unknown')}")
    if kind not in _ADDRESS_BYTES:
        raise _failed("it names no address of its relay")
    host = str(ipaddress.ip_address(_read(control, _ADDRESS_BYTES[kind])))
    return host, int.from_bytes(_read(control, 2), "big")


def _read(control: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count:
        more = control.recv(count - len(received))
        if not more:
            raise _failed("it closed the connection")
        received += more
    return received


def _spelled(place: Place) -> bytes:
    address = ipaddress.ip_address(place[0])
    kind = _IPV4 if address.version == 4 else _IPV6
    return bytes((kind,)) + address.packed + place[1].to_bytes(2, "big")


def _payload(datagram: bytes) -> bytes:
    kind = datagram[3] if len(datagram) > 3 else 0
    if kind not in _ADDRESS_BYTES or datagram[2] != 0:
        raise _failed("its relay sent what is no whole datagram")
    return datagram[4 + _ADDRESS_BYTES[kind] + 2 :]


SQUID_ERROR = "X-Squid-Error"
PROXY_STATUSES = frozenset({407, 502, 504})
SOCKS_REPLY = "SOCKS reply"
_PIECE = 65536
# sample: SOCKSConnection(host='172.30.0.13', port=30080): Failed to establish a new connection: 0x05: Connection refused
_REPLY = re.compile(r": 0x0([0-9a-fA-F]): ([^:]+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The result of a fetch: status and body, or the error of the attempt to connect."""

    status: int | None
    body: str
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class External:
    """Fetches from outside, through the forward or SOCKS proxy ``proxy``; ``None``: directly."""

    proxy: str | None
    udp_proxy: str | None = None
    """The address of a SOCKS proxy that relays datagrams, if ``proxy`` is set."""

    @property
    def channel(self) -> str:
        """The channel's name in the journal."""
        return "proxy" if self.proxy else "direct"

    @property
    def _speaks_http(self) -> bool:
        """Whether a status may be the proxy's own; a SOCKS proxy only passes bytes on."""
        return bool(self.proxy and self.proxy.startswith("http"))

    def fetch(self, url: str, *, timeout: float, margin: float) -> Fetched:
        """Fetch ``url`` over a new connection; a proxy gets ``margin`` seconds more for errors."""
        patience = timeout + margin if self.proxy else timeout
        limit = Patience()
        limit.begin(patience)
        with requests.Session() as session:
            session.mount("http://", TimelyAdapter(limit))
            session.trust_env = False  # ignore proxy settings of the environment
            session.headers["Connection"] = "close"
            session.headers["Accept"] = "*/*"
            proxies = {"http": self.proxy} if self.proxy else {}
            try:
                answer = session.get(
                    url, proxies=proxies, timeout=patience, allow_redirects=False, stream=True
                )
                body = _body(answer)
            except ProxyError as error:
                raise ChannelError(f"the external proxy failed: {_cause(error)}") from None
            except Timeout as error:
                if self.proxy:
                    raise ChannelError("the external proxy did not answer in time") from None
                return Fetched(status=None, body="", error=f"timed out: {_cause(error)}")
            except RequestsConnectionError as error:
                if self.proxy and not (reply := _socks_reply(error)):
                    raise ChannelError(f"the external proxy: {_cause(error)}") from None
                if self.proxy:
                    return Fetched(status=None, body="", error=reply)
                return Fetched(status=None, body="", error=_cause(error))
            except RequestException as error:
                raise ChannelError(f"the external vantage failed: {_cause(error)}") from None
        squid = answer.headers.get(SQUID_ERROR, "")
        if self._speaks_http and not squid and answer.status_code in PROXY_STATUSES:
            raise ChannelError(f"the external proxy answered {answer.status_code} {answer.reason}")
        squid_error = f"{SQUID_ERROR}: {squid}" if squid else ""
        return Fetched(status=answer.status_code, body=body, error=squid_error)

    def send(self, url: str, *, timeout: float) -> Fetched:
        """Send the path of ``udp://host:port/path`` as one datagram, and wait for its answer."""
        if self.proxy and not self.udp_proxy:
            raise ChannelError("the external proxy carries no UDP")
        parts = urlsplit(url)
        target = (parts.hostname or "", parts.port or 0)
        try:
            body = exchange(self.udp_proxy, target, parts.path.lstrip("/"), timeout=timeout)
        except TimeoutError:
            return Fetched(status=None, body="", error="timed out")
        except OSError as error:
            return Fetched(status=None, body="", error=str(error))
        return Fetched(status=None, body=body)


class TimelyAdapter(HTTPAdapter):
    """An adapter whose answers end by a deadline, with a proxy or without."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Create the pool of direct connections."""
        super().init_poolmanager(*arguments, **options)
        timely(self.poolmanager, self._patience)

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        """Return the cached pool of connections through a proxy."""
        cached = proxy in self.proxy_manager
        manager = super().proxy_manager_for(proxy, **options)
        if not cached:
            timely(manager, self._patience)
        return manager


def _body(answer: requests.Response) -> str:
    """Return the body up to a size limit, because servers outside are not trusted."""
    pieces, size = [], 0
    for piece in answer.iter_content(_PIECE):
        size += len(piece)
        if size > limits.BODY_BYTES:
            raise ChannelError(
                f"the external vantage got more than {limits.spelled(limits.BODY_BYTES)}"
            )
        pieces.append(piece)
    return b"".join(pieces).decode(answer.encoding or "utf-8", errors="replace")


def _socks_reply(error: Exception) -> str:
    """Return a SOCKS proxy's reply about its own attempt to connect; else empty."""
    match = _REPLY.search(str(_reason(error)))
    return f"{SOCKS_REPLY} {int(match[1], 16)}: {match[2]}" if match else ""


def _cause(error: Exception) -> str:
    """Return the innermost reason, without the proxy's address and credentials."""
    reason = _reason(error)
    return type(reason).__name__ + ": " + str(reason).rpartition(": ")[2]


def _reason(error: Exception) -> object:
    return getattr(error.args[0], "reason", error) if error.args else error
