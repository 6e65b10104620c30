"""Connections made inside a namespace of the lab: real ``connect()`` calls, and nothing else."""

import asyncio
import socket

from nettests.lab.interfaces import Duplex, Namespace
from nettests.lab.programs.sockets.addresses import family

_LIMIT = 2**18


async def connect(namespace: Namespace, address: str, port: int) -> Duplex:
    """Open a TCP connection from ``namespace``; ``OSError`` when it fails."""
    sock = namespace.socket(family(address), socket.SOCK_STREAM)
    try:
        await asyncio.get_running_loop().sock_connect(sock, (address, port))
        reader, writer = await asyncio.open_connection(sock=sock, limit=_LIMIT)
    except BaseException:
        sock.close()
        raise
    return Duplex(reader=reader, writer=writer)


def listen(namespace: Namespace, address: str, port: int) -> socket.socket:
    """Return a listening TCP socket that lives in ``namespace``; of IPv6 alone at its addresses."""
    sock = namespace.socket(family(address), socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family(address) is socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind((address, port))
        sock.listen(128)
    except BaseException:
        sock.close()
        raise
    return sock


class NodeDialer:
    """Opens connections from one namespace: the API server's way to pods, nodes and Services."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace

    async def dial(self, address: str, port: int) -> Duplex:
        """Connect to ``address``; ``OSError`` when it fails."""
        return await connect(self._namespace, address, port)
