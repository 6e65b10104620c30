"""What HNS of one Windows node holds: load balancers by their ids, and the endpoints that kube-proxy made or deleted.

Kept by ``proxier``, which decides what there is; it outlives kube-proxy's process. Stateful, without side effects.
"""

from collections.abc import Iterable
from dataclasses import replace

from nettests.lab.network.winkernel.load_balancer import Host, LoadBalancer
from nettests.lab.topology import Address


class Hns:
    """The load balancers of one node, of both families; kube-proxy's memory goes with its process, this stays."""

    def __init__(self) -> None:
        self._held: dict[int, LoadBalancer] = {}
        self._next = 0
        self.remote: dict[Address, str] = {}
        """Remote endpoints by address, which kube-proxy makes for backends elsewhere; one recreated has another id."""
        self.lost: set[str] = set()
        """Endpoints of Pods of this node that kube-proxy deleted, because a slice named another node."""

    @property
    def balancers(self) -> tuple[LoadBalancer, ...]:
        """The load balancers, in order of creation."""
        return tuple(self._held.values())

    @property
    def numbers(self) -> tuple[int, ...]:
        """Their ids, in the same order."""
        return tuple(self._held)

    def create(self, balancer: LoadBalancer, limit: int) -> int | None:
        """Return the id; ``None`` where HNS refuses ("invalid number of destinations")."""
        if len(balancer.backends) > limit:
            return None
        self._next += 1
        self._held[self._next] = balancer
        return self._next

    def change(self, number: int, balancer: LoadBalancer, limit: int) -> bool:
        """Replace a load balancer; say whether HNS took it."""
        if number not in self._held or len(balancer.backends) > limit:
            return False
        self._held[number] = balancer
        return True

    def reach(self, addresses: Iterable[Address]) -> None:
        """Make a remote endpoint for each address that has none."""
        for address in sorted(set(addresses) - self.remote.keys(), key=int):
            self._next += 1
            self.remote[address] = f"{address}/{self._next}"

    def lose(self, addresses: Iterable[Address], host: Host) -> None:
        """Delete the local endpoints at addresses that slices no longer list for other nodes.

        kube-proxy counts who uses remote endpoints alone, and looks them up in HNS by the address: an endpoint of
        a Pod here goes, too, where a slice by hand did not name its node.
        """
        self.lost |= {host.endpoints[address] for address in addresses if address in host.endpoints}

    def without_lost(self, host: Host) -> Host:
        """Return the node without deleted endpoints; endpoints that the plugin removed are forgotten."""
        self.lost &= set(host.endpoints.values())
        there = {
            address: number for address, number in host.endpoints.items() if number not in self.lost
        }
        return replace(host, endpoints=there)

    def delete(self, number: int) -> None:
        """Delete a load balancer, if it is there."""
        self._held.pop(number, None)
