"""The service proxy of one node: Services and their endpoints in, the node's rules out.

Endpoints come from EndpointSlices, or from objects of kind Endpoints where ``by_slices`` is off: those
hold only what the endpoint controller found. This is what the container of a kube-proxy pod runs.
Changes that come together are programmed together. What the rules look like is the data plane's business.
"""

from collections.abc import Awaitable, Callable

from nettests.lab.client import Client, Json
from nettests.lab.client.informer import Informer, work_after_changes
from nettests.lab.controllers.service_table import as_slices, service_table
from nettests.lab.interfaces import NodeNetwork
from nettests.lab.topology import Profile, ServiceTable

_GATHER = 0.02
"""Seconds in which changes are gathered; kube-proxy's minSyncPeriod is 1 s by default."""


class ServiceProxy:
    """Keeps the Service rules of ``network`` current; ``programmed`` follows each new table.

    ``synced`` says that there was a first one.
    """

    def __init__(
        self,
        client: Client,
        network: NodeNetwork,
        profile: Profile,
        programmed: Callable[[ServiceTable], Awaitable[None]],
        *,
        by_slices: bool = True,
    ) -> None:
        self._network = network
        self._profile = profile
        self._services = Informer(client, "/api/v1/services")
        self._by_slices = by_slices
        path = "/apis/discovery.k8s.io/v1/endpointslices" if by_slices else "/api/v1/endpoints"
        self._endpoints = Informer(client, path)
        self._tell = programmed
        self._programmed: ServiceTable | None = None
        self.synced = False

    async def run(self) -> None:
        """Program the node until cancelled; rules stay when the proxy goes, as kube-proxy's do."""
        informers = (self._services, self._endpoints)
        await work_after_changes(informers, _GATHER, self._program)

    async def _program(self) -> None:
        table = service_table(self._services.objects.values(), self._slices(), self._profile)
        if table != self._programmed:
            await self._network.program_services(table)
            self._programmed = table
            self.synced = True
            await self._tell(table)

    def _slices(self) -> list[Json]:
        found = list(self._endpoints.objects.values())
        return found if self._by_slices else [part for item in found for part in as_slices(item)]
