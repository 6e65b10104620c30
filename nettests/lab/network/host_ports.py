"""hostPort: nft rules for CNI's capability ``portMappings``.

On Linux these are the rules of the ``portmap`` plugin; on Windows a PortMapping policy of the pod's HNS
endpoint, which the switch applies to packets that enter by its ports. ``thresholds`` decides which
plugins map ports. Pure functions render the rules; ``HostPorts`` loads them.
"""

from collections.abc import Callable, Sequence
from ipaddress import IPv4Address

from nettests.lab.interfaces import Namespace, PortMapping
from nettests.lab.network import nft
from nettests.lab.network.tables import Chain, Table, place, word
from nettests.lab.network.winkernel.load_balancer import Port
from nettests.lab.topology import Address

TABLE = "host-ports"
LOOPBACK = IPv4Address("127.0.0.1")

Mapped = tuple[tuple[Address, PortMapping], ...]
"""Host ports, each with the address of the pod behind it."""


class HostPorts:
    """The host ports of one node in the family of ``like``. On the worker thread only.

    ``rendered`` renders mappings as a table; ``routed`` is called with them after every change.
    """

    def __init__(
        self,
        namespace: Namespace,
        rendered: Callable[[Mapped], Table],
        routed: Callable[[Mapped], None] = lambda _: None,
        *,
        like: Address,
    ) -> None:
        self._version = like.version
        self._rendered = rendered
        self._routed = routed
        self._mapped: Mapped = ()
        self._rules = nft.LoadedTable(namespace, Table(name=TABLE, family=word(like)))

    def change_to(self, mapped: Mapped) -> None:
        """Load the rules for ``mapped``; does nothing if they are unchanged."""
        mapped = tuple(
            (pod, mapping)
            for pod, mapping in mapped
            if {pod.version, (mapping.host_ip or pod).version} == {self._version}
        )
        if mapped == self._mapped:
            return
        self._rules.change_to(self._rendered(mapped))
        self._routed(mapped)
        self._mapped = mapped


def portmap_table(mapped: Mapped, node_address: Address) -> Table:
    """Return the rules of ``portmap`` on Linux, for the node's address and 127.0.0.1.

    Packets from a pod to itself, and from loopback, are masqueraded so that the replies come back.
    """
    pods = sorted({address for address, _ in mapped})
    ip = word(node_address)
    loopback = (LOOPBACK,) if node_address.version == LOOPBACK.version else ()
    to_pods = _translations(mapped, (node_address, *loopback))
    back = tuple(
        f"{ip} saddr {{ {', '.join(map(str, (*loopback, pod)))} }} {ip} daddr {pod} masquerade fully-random"
        for pod in pods
    )
    chains = {
        "from-elsewhere": Chain(hook="type nat hook prerouting priority -99", rules=to_pods),
        "from-the-node": Chain(hook="type nat hook output priority -99", rules=to_pods),
        "back": Chain(hook="type nat hook postrouting priority 99", rules=back),
    }
    return Table(name=TABLE, family=word(node_address), chains=chains)


def port_mappings_table(mapped: Mapped, node_address: Address, *, from_host: bool) -> Table:
    """Return the rules of PortMapping policies on a Windows node's switch.

    ``from_host`` (NatFlagsLocalRoutedVip) applies them to the host's own packets too. A policy for
    127.0.0.1 never matches, because such packets do not enter the switch.
    """
    ports = (Port.UPLINK, Port.POD, *((Port.HOST,) if from_host else ()))
    rules = tuple(
        f'iifname "{port}" {rule}'
        for port in ports
        for rule in _translations(mapped, (node_address,))
    )
    hook = "type nat hook prerouting priority -99"
    return Table(
        name=TABLE,
        family=word(node_address),
        chains={"port-mappings": Chain(hook=hook, rules=rules)},
    )


def _translations(mapped: Mapped, usual: Sequence[Address]) -> tuple[str, ...]:
    """Return one rule for each mapping; ``usual`` are its addresses if it has no ``hostIP``."""
    return tuple(
        f"{word(pod)} daddr {{ {', '.join(map(str, usual if mapping.host_ip is None else (mapping.host_ip,)))} }} "
        f"{mapping.protocol} dport {mapping.host_port} dnat to {place(pod, mapping.container_port)}"
        for pod, mapping in mapped
    )
