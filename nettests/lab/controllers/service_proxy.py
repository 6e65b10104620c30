"""The service proxy of one node: Services and their endpoints in, the node's rules out.

Endpoints come from EndpointSlices, or from objects of kind Endpoints where ``by_slices`` is off: those
hold only what the endpoint controller found. This is what the container of a kube-proxy pod runs.
Changes that come together are programmed together. What the rules look like is the data plane's business.
"""

import asyncio
from collections.abc import Awaitable, Callable

from nettests.lab.client import Client
from nettests.lab.client.informer import Informer, work_after_changes
from nettests.lab.controllers.shared_tables import NodeTable, SharedPorts
from nettests.lab.interfaces import NodeNetwork
from nettests.lab.topology import ServiceTable

_GATHER_A_NODE = 0.005
_GATHER_AT_MOST = 1.0
"""Seconds in which changes are gathered: 20 ms with four nodes, and with 200 what kube-proxy's minSyncPeriod is.

All proxies of a lab share one process, and each looks at its whole table after each change.
"""
_TURN_SECONDS = 0.5


def seconds_gathered(nodes: int) -> float:
    """Return for how long the proxies of a cluster gather changes."""
    return min(_GATHER_A_NODE * nodes, _GATHER_AT_MOST)


class ServiceProxy:
    """Keeps the Service rules of ``network`` current; ``programmed`` follows each new table.

    ``synced`` says that there was a first one; ``shared`` is what it has in common with the proxies of other nodes.
    """

    def __init__(
        self,
        client: Client,
        network: NodeNetwork,
        shared: SharedPorts,
        programmed: Callable[[ServiceTable], Awaitable[None]],
        *,
        gather: float,
        by_slices: bool = True,
    ) -> None:
        self._network = network
        self._turns = shared.turns
        self._gather = gather
        self._services = Informer(client, "/api/v1/services")
        path = "/apis/discovery.k8s.io/v1/endpointslices" if by_slices else "/api/v1/endpoints"
        self._endpoints = Informer(client, path)
        self._table = NodeTable(shared, self._services, self._endpoints)
        self._tell = programmed
        self._programmed: ServiceTable | None = None
        self.synced = False

    async def run(self) -> None:
        """Program the node until cancelled; rules stay when the proxy goes, as kube-proxy's do."""
        informers = (self._services, self._endpoints)
        await work_after_changes(informers, self._gather, self._program)

    async def _program(self) -> None:
        work: asyncio.Task[None] | None = None
        try:
            async with self._turns:
                table = self._table.current()
                if table == self._programmed:
                    return
                work = asyncio.create_task(self._network.program_services(table))
                # A node whose rules are slow holds up no other.
                await asyncio.wait({work}, timeout=_TURN_SECONDS)
            await work
        finally:
            if work is not None:
                work.cancel()
        self._programmed = table
        self.synced = True
        await self._tell(table)
