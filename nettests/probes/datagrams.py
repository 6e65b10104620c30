"""The external vantage over UDP: one datagram from outside and its answer, directly or through a SOCKS5 proxy.

Used by ``external``. A forward proxy carries TCP alone; a SOCKS5 proxy may relay datagrams (RFC 1928, section 7, ``UDP
ASSOCIATE``) for as long as the connection stands over which that was requested. What fails on that connection is the
channel's failure. A relay passes no ICMP message back: what is refused behind it is silent.
"""

import ipaddress
import socket
from contextlib import ExitStack
from urllib.parse import unquote, urlsplit

from nettests.model.channel import ChannelError

_PORT = 1080
"""The port of SOCKS proxies unless their address names another one (RFC 1928, section 3)."""
_VERSION, _ASSOCIATE = 5, 3
_NO_PROOF, _PASSWORD = 0, 2
"""Methods of authentication."""
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
    """Return what ``target`` answers to one datagram; ``OSError`` where nothing, or an ICMP message, comes back."""
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
    """Return a socket that leads to the relay of ``proxy``, for as long as ``held`` is."""
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
    """Negotiate a method of authentication, and authenticate (RFC 1929)."""
    name, password = (credential.encode() for credential in who)
    way = _PASSWORD if name else _NO_PROOF
    control.sendall(bytes((_VERSION, 1, way)))
    version, chosen = _read(control, 2)
    if (version, chosen) != (_VERSION, way):
        wanted = "a name and a password" if way == _NO_PROOF else "another proof than a password"
        raise _failed(f"it wants {wanted}" if version == _VERSION else "it does not speak SOCKS5")
    if way == _PASSWORD:
        control.sendall(bytes((1, len(name))) + name + bytes((len(password),)) + password)
        if _read(control, 2)[1] != 0:
            raise _failed("it refuses its credentials")


def _associated(control: socket.socket, client: Place) -> Place:
    """Request a relay for what ``client`` sends, and return its address."""
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
    """Return an address and a port as SOCKS encodes them."""
    address = ipaddress.ip_address(place[0])
    kind = _IPV4 if address.version == 4 else _IPV6
    return bytes((kind,)) + address.packed + place[1].to_bytes(2, "big")


def _payload(datagram: bytes) -> bytes:
    """Return the payload of a relayed datagram."""
    kind = datagram[3] if len(datagram) > 3 else 0
    if kind not in _ADDRESS_BYTES or datagram[2] != 0:
        raise _failed("its relay sent what is no whole datagram")
    return datagram[4 + _ADDRESS_BYTES[kind] + 2 :]
