"""netexec's UDP server: ``hostname``, ``echo <text>``, ``clientip``, ``serverport``; silence otherwise.

Commands are folded to lower case before they are read, so an echo is lower-cased too.
"""

import asyncio
import contextlib
import socket

from nettests.lab.interfaces import Process
from nettests.lab.programs.agnhost.serving import ListenError
from nettests.lab.programs.golang.klog import Log
from nettests.lab.programs.sockets import addresses, udp
from nettests.lab.programs.sockets.texts import Call, call_text

_DATAGRAM = 2048


class DatagramServer:
    """Listens on any number of addresses of one port; ``ready`` once one listens."""

    def __init__(self, process: Process, log: Log, port: int) -> None:
        self._process = process
        self._log = log
        self._port = port
        self._sockets: list[socket.socket] = []

    @property
    def ready(self) -> bool:
        """netexec is ready only when its UDP server runs."""
        return bool(self._sockets)

    async def listen(self, address: str) -> None:
        """Bind one address (all when empty); ``ListenError`` when the port is taken."""
        place = addresses.join(address, self._port)
        try:
            self._sockets.append(udp.bind(self._process.machine.namespace, self._port, address))
        except OSError as error:
            machine = self._process.machine
            text = call_text(machine.os, Call.BIND, error, machine.message_locale)
            raise ListenError(
                f"Error occurred: failed to create listener for UDP address {place}:"
                f"listen udp {place}: {text}"
            ) from error
        await self._log.line(f"Started UDP server on port {address} {self._port}")

    def start(self) -> list["asyncio.Task[None]"]:
        """Serve every bound address in a task of its own."""
        return [asyncio.create_task(self._serve(sock)) for sock in self._sockets]

    def close(self) -> None:
        """Close the sockets."""
        for sock in self._sockets:
            sock.close()

    async def _serve(self, sock: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            data, peer = await loop.sock_recvfrom(sock, _DATAGRAM)
            reply = await self._reply(data, addresses.text(peer))
            if reply is not None:
                with contextlib.suppress(ConnectionError):
                    await loop.sock_sendto(sock, reply.encode(), peer)

    async def _reply(self, data: bytes, peer: str) -> str | None:
        command = data.decode(errors="replace").strip().lower()
        if command == "hostname":
            await self._log.line("Sending udp hostName response")
            return self._process.machine.hostname
        if command.startswith("echo "):
            text = command.partition(" ")[2]
            await self._log.line(f"Echoing {text} to UDP client {peer}")
            return text
        if command == "clientip":
            await self._log.line(f"Sending clientip back to UDP client {peer}")
            return peer
        if command == "serverport":
            await self._log.line(f"Sending server port to UDP client {self._port}")
            return str(self._port)
        if command:
            await self._log.line(f"Unknown UDP command received from {peer}: {command}")
        return None
