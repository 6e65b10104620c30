"""A kubelet's API client that can be paused, as if its process were stopped: nothing is sent or received.

Pending requests are sent when it resumes, as by a process that continues.
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
        """Yield watch events; while the gate is closed they wait."""
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
