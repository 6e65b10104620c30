"""A kubelet's client that can be held, as if its process had been stopped: nothing is sent, nothing is heard.

What was about to be sent goes out when it is let go, as it does from a process that goes on.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping

from nettests.lab.client import Client, Json


class GatedClient(Client):
    """A client that waits while ``gate`` is not set."""

    def __init__(self, base_url: str, token: str, *, agent: str) -> None:
        super().__init__(base_url, token, agent=agent)
        self.gate = asyncio.Event()
        self.gate.set()

    async def watch(self, path: str, resource_version: str, **query: str) -> AsyncIterator[Json]:
        """Yield watch events; while the gate is closed they are not heard."""
        async for event in super().watch(path, resource_version, **query):
            await self.gate.wait()
            yield event

    async def _send(
        self,
        method: str,
        path: str,
        *,
        body: Json | None = None,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Json:
        await self.gate.wait()
        return await super()._send(method, path, body=body, query=query, content_type=content_type)
