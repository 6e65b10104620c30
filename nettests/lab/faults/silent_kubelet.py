"""The fault of a silent kubelet: its process stops, and the node controller notices.

Containers, rules and packets are not affected. Used by ``faults``.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from nettests.lab.client import Client
from nettests.lab.controllers.node_lifecycle import mark_found, mark_lost
from nettests.lab.node.agent import NodeAgent

CONTROLLER = "node-controller"


class Silence:
    """Silences kubelets of one lab; ``agents`` and ``clients`` are those of its nodes and components."""

    def __init__(self, agents: Mapping[str, NodeAgent], clients: Callable[[str], Client]) -> None:
        self._agents = agents
        self._clients = clients

    async def begin(self, node: str, grace: float) -> Callable[[], Awaitable[None]]:
        """Stop a node's kubelet, which is noticed after ``grace`` seconds; return what resumes it."""
        agent = self._agents[node]
        agent.hold()
        marking = asyncio.create_task(self._mark_lost_after(node, grace))

        async def undo() -> None:
            marking.cancel()
            with suppress(asyncio.CancelledError):
                await marking
            async with self._clients(CONTROLLER) as client:
                await mark_found(client, node)
            await agent.go_on()

        return undo

    async def _mark_lost_after(self, node: str, grace: float) -> None:
        await asyncio.sleep(grace)
        async with self._clients(CONTROLLER) as client:
            await mark_lost(client, node)
