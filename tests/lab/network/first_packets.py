"""What a Pod gets that is sent as soon as it is attached; runs in the isolated child."""

import asyncio
import socket

from nettests.lab.network.node import Node
from tests.lab.network.requests_of_pods import PATIENCE, POD_PORT


async def first_datagram(node: Node, uid: str) -> bool:
    """Attach a Pod, send it a datagram from its node at once, and return whether that came."""
    with node.host.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        pod = await node.attach_pod(uid)
        with pod.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
            server.bind(("0.0.0.0", POD_PORT))
            client.sendto(b"first", (str(pod.address), POD_PORT))
            try:
                async with asyncio.timeout(PATIENCE):
                    return await asyncio.get_running_loop().sock_recv(server, 10) == b"first"
            except TimeoutError:
                return False
