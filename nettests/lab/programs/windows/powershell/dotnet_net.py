"""``System.Net`` and the streams over it: TCP and UDP clients on real sockets of the container's namespace.

Errors are .NET's: a SocketException whose message is the system's, with its code; reads and writes wrap it in an IOException.
"""

import asyncio
import errno
import ipaddress
import select
import socket
from collections.abc import Callable
from typing import Any

from nettests.lab.dns import clients
from nettests.lab.dns.exchange import ResolutionError
from nettests.lab.programs.sockets import transport
from nettests.lab.programs.terminal import Lines
from nettests.lab.programs.windows.powershell import values as v
from nettests.lab.programs.windows.powershell.session import Session
from nettests.lab.topology import OS

_SIZE = 65536
_SOCKET_EXCEPTION = "System.Net.Sockets.SocketException"


class IpAddress(v.DotNet):
    """``[Net.IPAddress]``."""

    kind = "System.Net.IPAddress"

    def __init__(self, written: str) -> None:
        self.ip_address_to_string = written
        self.address_family = "InterNetworkV6" if ":" in written else "InterNetwork"

    def __str__(self) -> str:
        return self.ip_address_to_string

    @classmethod
    def parsed(cls, written: str) -> "IpAddress":
        """Parse an address; a FormatException if it is invalid."""
        try:
            return cls(str(ipaddress.ip_address(written)))
        except ValueError:
            raise v.NetError(
                "System.FormatException", "An invalid IP address was specified."
            ) from None


def socket_error(session: Session, error: OSError) -> v.NetError:
    """Return the SocketException of an error."""
    if isinstance(error, TimeoutError) and not error.errno:
        error = OSError(errno.ETIMEDOUT, "")
    message = transport.error_text(OS.WINDOWS, error, session.process.machine.locale)
    row = transport.winsock(error)
    codes: dict[str, Any] = dict.fromkeys(("ErrorCode", "NativeErrorCode"), row["number"])
    name = row.get("dotnet", "SocketError")
    return v.NetError(_SOCKET_EXCEPTION, message, SocketErrorCode=name, **codes)


def _transport(session: Session, verb: str, error: OSError) -> v.NetError:
    inner = socket_error(session, error)
    message = f"Unable to {verb} the transport connection: {inner.message}"
    return v.NetError("System.IO.IOException", message, inner)


async def _addresses(session: Session, name: str) -> list[str]:
    try:
        return list((await clients.resolve_on_windows(session.process.machine, name)).addresses)
    except ResolutionError:
        codes: dict[str, Any] = {"SocketErrorCode": "HostNotFound", "NativeErrorCode": 11001}
        raise v.NetError(_SOCKET_EXCEPTION, "No such host is known", **codes) from None


class _Socket(v.DotNet):
    """``TcpClient.Client`` and ``UdpClient.Client``."""

    kind = "System.Net.Sockets.Socket"

    def __init__(self) -> None:
        self.receive_timeout = self.send_timeout = 0
        self.handle: socket.socket | None = None

    def poll(self, _microseconds: int, _mode: str) -> bool:
        """Whether data, the end or an error can be read at once."""
        if self.handle is None:
            return False
        waiting = select.poll()
        waiting.register(self.handle, select.POLLIN)
        return bool(waiting.poll(0))


def _not_connected() -> v.NetError:
    message = "The operation is not allowed on non-connected sockets."
    return v.NetError("System.InvalidOperationException", message)


class _TcpClient(v.DotNet):
    kind = "System.Net.Sockets.TcpClient"

    def __init__(self, session: Session, *_family: Any) -> None:
        self._session = session
        self.client = _Socket()
        self.receive_timeout = self.send_timeout = 0

    @property
    def connected(self) -> bool:
        return self.client.handle is not None

    async def connect(self, host: Any, port: Any) -> object:
        machine = self._session.process.machine
        address = (await _addresses(self._session, v.text(host)))[0]
        try:
            self.client.handle = await transport.connect(machine, address, v.whole(port))
        except OSError as error:
            raise socket_error(self._session, error) from error
        return v.VOID

    def get_stream(self) -> "_Stream":
        if self.client.handle is None:
            raise _not_connected()
        return _Stream(self._session, self.client.handle)

    def close(self) -> object:
        if self.client.handle is not None:
            self.client.handle.close()
        return v.VOID

    dispose = close


class _Stream(v.DotNet):
    """``NetworkStream``."""

    kind = "System.Net.Sockets.NetworkStream"

    def __init__(self, session: Session, sock: socket.socket) -> None:
        self._session, self._sock = session, sock
        self.read_timeout = self.write_timeout = 0

    async def write(self, data: Any, start: Any = 0, length: Any = None) -> object:
        first, count = v.whole(start), len(data) if length is None else v.whole(length)
        try:
            await asyncio.get_running_loop().sock_sendall(
                self._sock, bytes(data)[first : first + count]
            )
        except OSError as error:
            raise _transport(self._session, "write data to", error) from error
        return v.VOID

    async def receive(self) -> bytes:
        """Return the next data; an IOException after the time-out."""
        try:
            async with asyncio.timeout(self.read_timeout / 1000 if self.read_timeout > 0 else None):
                return await asyncio.get_running_loop().sock_recv(self._sock, _SIZE)
        except OSError as error:
            raise _transport(self._session, "read data from", error) from error

    def flush(self) -> object:
        return v.VOID

    def close(self) -> object:
        self._sock.close()
        return v.VOID


class _StreamReader(v.DotNet):
    kind = "System.IO.StreamReader"

    def __init__(self, _session: Session, stream: _Stream, *_options: Any) -> None:
        self._lines = Lines(stream.receive)

    async def read_line(self) -> str | None:
        """Read a line, ``$null`` at the end."""
        return await self._lines.next()


class _UdpClient(v.DotNet):
    kind = "System.Net.Sockets.UdpClient"

    def __init__(self, session: Session, *_family: Any) -> None:
        self._session = session
        self.client = _Socket()
        self._flow: transport.Conversation | None = None

    async def connect(self, host: Any, port: Any) -> object:
        address = (await _addresses(self._session, v.text(host)))[0]
        try:
            self._flow = transport.Conversation(
                self._session.process.machine, address, v.whole(port)
            )
        except OSError as error:
            raise socket_error(self._session, error) from error
        return v.VOID

    async def send(self, data: Any, length: Any = None) -> int:
        payload = bytes(data)[: len(data) if length is None else v.whole(length)]
        if self._flow is None:
            raise _not_connected()
        try:
            await self._flow.send(payload)
        except OSError as error:
            raise socket_error(self._session, error) from error
        return len(payload)

    async def receive(self, _peer: Any) -> list[int]:
        limit = self.client.receive_timeout
        if self._flow is None:
            raise v.NetError(
                "System.InvalidOperationException", "You must call the Bind method first."
            )
        try:
            async with asyncio.timeout(limit / 1000 if limit > 0 else None):
                return list(await self._flow.receive(_SIZE))
        except OSError as error:
            raise socket_error(self._session, error) from error

    def close(self) -> object:
        if self._flow is not None:
            self._flow.__exit__(None, None, None)
        return v.VOID


class _EndPoint(v.DotNet):
    kind = "System.Net.IPEndPoint"

    def __init__(self, _session: Session, address: Any, port: Any) -> None:
        self.address, self.port = address, v.whole(port)


STATICS: dict[str, dict[str, Callable[..., Any]]] = {
    "net.ipaddress": {
        "parse": lambda _session, value: IpAddress.parsed(v.text(value)),
        "loopback": lambda _session: IpAddress("127.0.0.1"),
    },
    "net.ipendpoint": {"new": _EndPoint},
    "net.sockets.tcpclient": {"new": _TcpClient},
    "net.sockets.udpclient": {"new": _UdpClient},
    "io.streamreader": {"new": _StreamReader},
}
