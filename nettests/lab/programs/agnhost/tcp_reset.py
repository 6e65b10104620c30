"""``agnhost tcp-reset``: accepts connections and resets them."""

import asyncio
import socket
import struct

from nettests.lab.interfaces import Process
from nettests.lab.programs.golang.flags import Flag, Kind, Parsed
from nettests.lab.programs.sockets import tcp

FLAGS = {"port": Flag(Kind.INT, 8080)}
_CLOSE_WITH_RESET = struct.pack("ii", 1, 0)


async def run(process: Process, options: Parsed) -> int:
    """Reset every connection until killed."""
    loop = asyncio.get_running_loop()
    with tcp.listen(process.machine.namespace, options.number("port")) as listener:
        while True:
            connection, _ = await loop.sock_accept(listener)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _CLOSE_WITH_RESET)
            connection.close()
