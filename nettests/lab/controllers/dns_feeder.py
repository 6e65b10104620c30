"""Updates the cluster's DNS server from Services, EndpointSlices and namespaces of the API.

The container of the CoreDNS pod runs it beside the server.
"""

from nettests.lab.client import Client
from nettests.lab.client.informer import Informer, work_after_changes
from nettests.lab.dns.server import ClusterDns
from nettests.lab.dns.zone import view_from_objects


class DnsFeeder:
    """Gives ``server`` a new view after changes; ``fed`` is set after the first."""

    def __init__(self, client: Client, server: ClusterDns, domain: str, *, gather: float) -> None:
        self._server = server
        self._domain = domain
        self._gather = gather
        self._services = Informer(client, "/api/v1/services")
        self._slices = Informer(client, "/apis/discovery.k8s.io/v1/endpointslices")
        self._namespaces = Informer(client, "/api/v1/namespaces")
        self.fed = False

    async def run(self) -> None:
        """Follow the API until cancelled."""
        informers = (self._services, self._slices, self._namespaces)
        await work_after_changes(informers, self._gather, self._feed)

    async def _feed(self) -> None:
        view = view_from_objects(
            self._services.objects.values(),
            self._slices.objects.values(),
            self._domain,
            namespaces=self._namespaces.objects,
        )
        self._server.update(view)
        self.fed = True
