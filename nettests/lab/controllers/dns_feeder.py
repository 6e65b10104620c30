"""Keeps the cluster's DNS server current with Services, EndpointSlices and namespaces of the API.

This is what the container of the CoreDNS pod runs beside the server itself.
"""

import asyncio

from nettests.lab.client import Client, Json
from nettests.lab.dns.server import ClusterDns
from nettests.lab.dns.view import view_from_objects
from nettests.lab.informer import Informer

_GATHER = 0.01


class DnsFeeder:
    """Gives ``server`` a new view after each change; ``fed`` says that it has had the first."""

    def __init__(self, client: Client, server: ClusterDns, domain: str) -> None:
        self._server = server
        self._domain = domain
        self._services = Informer(client, "/api/v1/services")
        self._slices = Informer(client, "/apis/discovery.k8s.io/v1/endpointslices")
        self._namespaces = Informer(client, "/api/v1/namespaces")
        self._changed = asyncio.Event()
        self.fed = False

    async def run(self) -> None:
        """Follow the API until cancelled."""
        informers = (self._services, self._slices, self._namespaces)
        for informer in informers:
            informer.subscribe(self._note)
        async with asyncio.TaskGroup() as group:
            for informer in informers:
                group.create_task(informer.run())
            for informer in informers:
                await informer.synced.wait()
            self._changed.set()
            await self._work()

    def _note(self, _key: str, _old: Json | None, _new: Json | None) -> None:
        self._changed.set()

    async def _work(self) -> None:
        while True:
            await self._changed.wait()
            await asyncio.sleep(_GATHER)
            self._changed.clear()
            view = view_from_objects(
                self._services.objects.values(),
                self._slices.objects.values(),
                self._domain,
                namespaces=self._namespaces.objects,
            )
            self._server.update(view)
            self.fed = True
