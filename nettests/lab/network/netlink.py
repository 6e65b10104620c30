"""Links, addresses, routes, neighbours and rules of one namespace.

A thin layer over pyroute2 for the worker thread; entries that a node has for every other node go through
``netlink_messages``. All neighbours are permanent: nothing waits for ARP, and a Windows switch can own a MAC
without owning the address.
"""

import errno
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from socket import AF_INET, AF_INET6
from typing import Any

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from nettests.lab.network import kernel, netlink_messages
from nettests.lab.network.namespace import NetworkNamespace
from nettests.lab.topology import Address, Network

_BLACKHOLE = 6
_UNREACHABLE = 7
"""``RTN_UNREACHABLE`` of rtnetlink(7)."""
MAIN_TABLE = 254
_LOCAL_TABLE = 255
_LOCAL_RULE = 100
ANY = IPv4Network("0.0.0.0/0")
ANY_IPV6 = IPv6Network("::/0")


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a veth pair."""

    namespace: NetworkNamespace
    name: str
    mac: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Vxlan:
    """A VXLAN device; ``local`` is the outer source address, in the namespace that creates the device."""

    name: str
    vni: int
    port: int
    local: Address
    mac: str
    mtu: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A route through a neighbour on a link, in a routing table."""

    link: str
    via: Address
    table: int


class Netlink:
    """Configures the namespace it was opened in; see ``configure``."""

    def __init__(self, routes: Any) -> None:
        self._routes = routes
        self._indexes: dict[str, int] = {}

    def _index(self, name: str) -> int:
        if name not in self._indexes:
            self._indexes[name] = socket.if_nametoindex(name)
        return self._indexes[name]

    up = staticmethod(kernel.raise_link)

    def veth(self, near: End, far: End, mtu: int) -> None:
        """Create a veth pair from here to another namespace; this end is brought up."""
        peer = {"ifname": far.name, "address": far.mac, "mtu": mtu, "net_ns_fd": far.namespace.fd}
        self._routes.link(
            "add", ifname=near.name, kind="veth", address=near.mac, mtu=mtu, peer=peer
        )
        self.up(near.name)

    def bridge(self, name: str) -> None:
        """Create a bridge that sends no packets of its own: no spanning tree, no IGMP."""
        self._routes.link("add", ifname=name, kind="bridge", br_mcast_snooping=0)
        self.up(name)

    def enslave(self, port: str, bridge: str) -> None:
        """Make ``port`` a port of ``bridge``."""
        self._routes.link("set", index=self._index(port), master=self._index(bridge))

    def silence_port(self, port: str) -> None:
        """Turn off learning and flooding at a port of a bridge."""
        names = ("LEARNING", "UNICAST_FLOOD", "MCAST_FLOOD", "BCAST_FLOOD")
        off = {f"IFLA_BRPORT_{name}": 0 for name in names}
        self._routes.brport("set", index=self._index(port), **off)

    def vxlan(self, device: Vxlan, into: NetworkNamespace | None = None) -> None:
        """Create a VXLAN device without learning; ``into`` puts it in another namespace.

        The outer packets stay here, with their route, source address and UDP socket.
        """
        placed = {} if into is None else {"net_ns_fd": into.fd}
        self._routes.link(
            "add",
            ifname=device.name,
            kind="vxlan",
            address=device.mac,
            mtu=device.mtu,
            vxlan_id=device.vni,
            vxlan_port=device.port,
            vxlan_local=str(device.local),
            vxlan_learning=False,
            **placed,
        )

    def size(self, name: str) -> int:
        """Return the MTU of a link."""
        return int(self._routes.link("get", index=self._index(name))[0].get_attr("IFLA_MTU"))

    def resize(self, name: str, mtu: int) -> None:
        """Set the MTU of a link."""
        self._routes.link("set", index=self._index(name), mtu=mtu)

    def delete(self, name: str) -> None:
        """Remove a link, and with it its other end and its routes."""
        self._routes.link("del", index=self._index(name))

    def address(self, name: str, address: Address, length: int | None = None) -> None:
        """Give a link an address, as /32 or /128 unless ``length`` is given."""
        length = address.max_prefixlen if length is None else length
        self._routes.addr("add", index=self._index(name), address=str(address), prefixlen=length)

    def drop_address(self, name: str, address: Address) -> None:
        """Remove a /32 or /128 address from a link."""
        length = address.max_prefixlen
        self._routes.addr("del", index=self._index(name), address=str(address), prefixlen=length)

    def neighbours(self, name: str, macs: Iterable[tuple[Address, str]]) -> None:
        """Set permanent MACs of many neighbours."""
        index = self._index(name)
        netlink_messages.send(
            [netlink_messages.neighbour(index, address, mac) for address, mac in macs]
        )

    def forwarding_entries(self, name: str, peers: Iterable[tuple[str, Address]]) -> None:
        """Add to a VXLAN device the outer address for each MAC."""
        index = self._index(name)
        netlink_messages.send(
            [netlink_messages.forwarding_entry(index, mac, peer) for mac, peer in peers]
        )

    def routes_through(
        self, name: str, ways: Iterable[tuple[Network, Address]], *, table: int = MAIN_TABLE
    ) -> None:
        """Route many networks through ``name``, each by a neighbour, which need not be on a connected network."""
        index = self._index(name)
        netlink_messages.send(
            [netlink_messages.route(index, destination, via, table) for destination, via in ways]
        )

    def route(
        self,
        destination: Network,
        link: str,
        *,
        via: Address | None = None,
        table: int = MAIN_TABLE,
    ) -> None:
        """Route ``destination`` through ``link``; ``via`` need not be on a connected network."""
        if via is not None:
            self.routes_through(link, [(destination, via)], table=table)
            return
        index = self._index(link)
        self._routes.route("add", dst=str(destination), oif=index, table=table, scope="link")

    def lead(self, destination: Network, link: str, via: Address) -> None:
        """Route ``destination`` to a neighbour on ``link``, replacing its route."""
        way = {"oif": self._index(link), "gateway": str(via), "flags": ["onlink"]}
        self._routes.route("replace", dst=str(destination), **way)

    def forget(self, destination: Network) -> None:
        """Remove the route to ``destination``; no error if it was removed with its link."""
        try:
            self._routes.route("del", dst=str(destination))
        except NetlinkError as failure:
            if failure.code != errno.ESRCH:
                raise

    def routes_to(self, destination: Network) -> tuple[Route, ...]:
        """Return the routes to exactly this network through a neighbour, in all tables."""
        routes = self._routes.route("dump", family=_family(destination.network_address))
        return tuple(
            Route(
                link=self._name(route.get_attr("RTA_OIF")),
                via=ip_address(route.get_attr("RTA_GATEWAY")),
                table=route.get_attr("RTA_TABLE"),
            )
            for route in routes
            if route["dst_len"] == destination.prefixlen
            and route.get_attr("RTA_DST") == str(destination.network_address)
            and route.get_attr("RTA_GATEWAY")
        )

    def withdraw(self, destination: Network, route: Route) -> None:
        """Remove one route."""
        self._routes.route("del", dst=str(destination), table=route.table)

    def _name(self, index: int) -> str:
        return str(self._routes.link("get", index=index)[0].get_attr("IFLA_IFNAME"))

    def blackhole(self, destination: Network) -> None:
        """Drop packets to ``destination`` silently."""
        self._routes.route("add", dst=str(destination), type=_BLACKHOLE)

    def unreachable(self, destination: Network) -> None:
        """Refuse packets to ``destination`` with "no route to host", for other senders by ICMP."""
        self._routes.route("add", dst=str(destination), type=_UNREACHABLE)

    def route_marked(self, mark: int, table: int, *, end: bool = False) -> None:
        """Look up packets with all bits of ``mark`` in ``table`` first; with ``end`` no longer."""
        self._routes.rule(
            "del" if end else "add", priority=50, fwmark=mark, fwmask=mark, table=table
        )

    def route_own_ports(
        self, address: Address, protocol: int, ports: tuple[int, int], table: int, *, end: bool
    ) -> None:
        """Route this namespace's own packets to its own ``ports`` by ``table``; with ``end`` no longer."""
        self._routes.rule(
            "del" if end else "add",
            family=_family(address),
            priority=10,
            iifname="lo",
            dst=str(address),
            dst_len=address.max_prefixlen,
            ip_proto=protocol,
            dport_range="{}:{}".format(*ports),
            table=table,
        )

    def demote_local_table(self, like: Address) -> None:
        """Let rules come before the table of local addresses, which the kernel looks up first by default.

        Each family has its own rules; this changes those of the family of ``like``.
        """
        family = _family(like)
        self._routes.rule("add", family=family, priority=_LOCAL_RULE, table=_LOCAL_TABLE)
        self._routes.rule("del", family=family, priority=0, table=_LOCAL_TABLE)


def await_carrier(end: End) -> None:
    """Wait until an end of a veth pair carries packets; the other must be up. On the worker thread only."""
    with kernel.inside_network(end.namespace.fd):
        kernel.await_carrier(end.name)


@contextmanager
def configure(namespace: NetworkNamespace) -> Iterator[Netlink]:
    """Open a namespace for configuration. On the worker thread only."""
    with kernel.inside_network(namespace.fd), IPRoute() as routes:
        yield Netlink(routes)


def anywhere(like: Address) -> Network:
    """Return the network of all addresses in the family of ``like``."""
    return ANY if like.version == 4 else ANY_IPV6


def _family(address: Address) -> int:
    return AF_INET if address.version == 4 else AF_INET6
