"""A SOCKS5 relay for datagrams to the emulated outside, on the machine's loopback (RFC 1928, RFC 1929).

``forward_proxy`` does the same for TCP. A client requests a relay (``UDP ASSOCIATE``) with the lab's credentials and
declares its source port; its datagrams from there to the shared relay socket are sent from the outside client's
namespace, with a source port for each client, until the client's TCP connection ends. Only IPv4 addresses and
unfragmented datagrams are supported; ICMP errors are not relayed.
"""

import asyncio
import contextlib
import hmac
import logging
import socket
from ipaddress import IPv4Address

from nettests.lab.interfaces import Namespace
from nettests.lab.outside.forward_proxy import USER

_LOG = logging.getLogger(__name__)

_VERSION, _ASSOCIATE = 5, 3
_PASSWORD, _NONE_FITS = 2, 255
_IPV4, _NAME = 1, 3
_UNSUPPORTED_COMMAND, _UNSUPPORTED_ADDRESS = 7, 8
_HEADER = 10
"""Bytes before a datagram's payload: reserved, fragment, kind of address, IPv4 address, port."""
_ADDRESS_BYTES = {_IPV4: 4, 4: 16}
_CHUNK = 4096
Place = tuple[str, int]


class _FromOutside(asyncio.DatagramProtocol):
    """Passes answers to one client."""

    def __init__(self, relay: socket.socket, client: Place) -> None:
        self._relay = relay
        self._client = client

    def datagram_received(self, data: bytes, addr: Place) -> None:
        header = bytes((0, 0, 0, _IPV4)) + IPv4Address(addr[0]).packed + addr[1].to_bytes(2, "big")
        with contextlib.suppress(OSError):
            self._relay.sendto(header + data, self._client)


class DatagramProxy:
    """Serves ``listener`` and ``relay``; ``token`` is the password of user ``lab``."""

    def __init__(
        self, listener: socket.socket, relay: socket.socket, client: Namespace, token: str
    ) -> None:
        self._listener = listener
        self._relay = relay
        self._client = client
        self._token = token.encode()
        self._outwards: dict[Place, asyncio.DatagramTransport] = {}
        """The outside socket of each client."""

    async def run(self) -> None:
        """Serve until cancelled."""
        self._relay.settimeout(0)
        loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._serve, sock=self._listener)
        loop.add_reader(self._relay, self._pass_on)
        try:
            async with server:
                await server.serve_forever()
        finally:
            loop.remove_reader(self._relay)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            client = await self._associated(reader, writer)
            if client is not None:
                await self._hold(client, reader, writer)
        except (asyncio.IncompleteReadError, OSError) as error:
            _LOG.debug("datagram proxy: %s", error)
        finally:
            writer.close()

    async def _associated(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Place | None:
        """Do the SOCKS handshake and read the request; return the address that the client will send from."""
        _, count = await reader.readexactly(2)
        offered = await reader.readexactly(count)
        writer.write(bytes((_VERSION, _PASSWORD if _PASSWORD in offered else _NONE_FITS)))
        if _PASSWORD not in offered:
            return None
        _, length = await reader.readexactly(2)
        user = await reader.readexactly(length)
        password = await reader.readexactly((await reader.readexactly(1))[0])
        authorized = user == USER.encode() and hmac.compare_digest(password, self._token)
        writer.write(bytes((1, 0 if authorized else 1)))
        if not authorized:
            return None
        _, command, _, kind = await reader.readexactly(4)
        if kind == _NAME:
            length = (await reader.readexactly(1))[0]
        elif kind in _ADDRESS_BYTES:
            length = _ADDRESS_BYTES[kind]
        else:
            writer.write(_reply(_UNSUPPORTED_ADDRESS))
            return None
        # only the port of the stated source is used
        declared = await reader.readexactly(length + 2)
        if command != _ASSOCIATE:
            writer.write(_reply(_UNSUPPORTED_COMMAND))
            return None
        return "127.0.0.1", int.from_bytes(declared[-2:], "big")

    async def _hold(
        self, client: Place, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Relay for one client until its connection ends."""
        outside = self._client.socket(socket.AF_INET, socket.SOCK_DGRAM)
        outside.bind(("", 0))
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: _FromOutside(self._relay, client), sock=outside
        )
        self._outwards[client] = transport
        try:
            writer.write(_reply(0, self._relay.getsockname()))
            while await reader.read(_CHUNK):
                pass  # nothing is expected here; the connection keeps the relay open
        finally:
            if self._outwards.get(client) is transport:  # otherwise another client has its port now
                del self._outwards[client]
            transport.close()

    def _pass_on(self) -> None:
        """Send a client's datagram from its outside socket; drop those of unknown clients."""
        with contextlib.suppress(OSError):
            data, client = self._relay.recvfrom(65535)
            transport = self._outwards.get(client)
            if transport is None or data[2:4] != bytes((0, _IPV4)) or len(data) < _HEADER:
                return
            target = str(IPv4Address(data[4:8])), int.from_bytes(data[8:_HEADER], "big")
            transport.sendto(data[_HEADER:], target)


def _reply(code: int, place: Place = ("0.0.0.0", 0)) -> bytes:  # noqa: S104 - no address, as RFC 1928 spells it
    address = IPv4Address(place[0]).packed + place[1].to_bytes(2, "big")
    return bytes((_VERSION, code, 0, _IPV4)) + address
