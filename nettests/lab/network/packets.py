"""The packets that a fault affects, as nft expressions. Pure.

A selection has to match plain packets and packets inside VXLAN. nft 1.0 has no names for inner headers, so
they are matched at fixed offsets behind the outer UDP header; neither Flannel's outer packets nor pods' inner
ones carry IP options. The fault modules decide where a rule is loaded.
"""

from dataclasses import dataclass

from nettests.lab.errors import LabError

PROTOCOLS = {"tcp": 6, "udp": 17, "icmp": 1}
_VXLAN = 50
"""Bytes from the start of the outer IP packet to that of the inner one: IPv4, UDP, VXLAN, Ethernet."""
_INNER_PROTOCOL = 8 * (8 + 8 + 14 + 9)
_INNER_PORT = 8 * (8 + 8 + 14 + 20 + 2)
"""Bits from the outer UDP header to the inner protocol and destination port."""
_INNER_FRAGMENT, _INNER_SOURCE_PORT = 8 * (8 + 8 + 14 + 6), 8 * (8 + 8 + 14 + 20)
_OFFSET = 0x1FFF
"""The mask of the fragment offset, which is 0 in first fragments and whole packets."""
_DICE = 10_000
_SEED = "seed 0x7"
"""Routers and Linux hash both ports of a flow to choose among paths (RFC 2992; fib_multipath_hash_policy 1)."""
_LAST_PORT = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class Packets:
    """Selects packets by content; fields that are not set match anything.

    ``protocol`` is ``tcp``, ``udp`` or ``icmp``; ``port`` a destination port or a range ``30000-32767``;
    ``larger_than`` counts bytes of the IP packet. ``flows`` selects one in so many TCP or UDP flows by a hash of
    their ports, like one of several equal-cost paths; ``fragments`` selects all but first fragments.
    """

    protocol: str = ""
    port: str = ""
    source_port: str = ""
    larger_than: int = 0
    flows: int = 0
    fragments: bool = False

    def __post_init__(self) -> None:
        if self.protocol and self.protocol not in PROTOCOLS:
            raise LabError(
                f'There is no protocol "{self.protocol}" to strike.',
                hint=f"Protocols: {', '.join(PROTOCOLS)}.",
            )
        for port in filter(None, (self.port, self.source_port)):
            if self.protocol == "icmp" or not _is_range(port):
                raise LabError(
                    f'"{port}" is no port of {self.protocol or "TCP or UDP"}.',
                    hint="Name a port, 80, or a range, 30000-32767, of TCP or UDP.",
                )

    @property
    def all(self) -> bool:
        """Whether every packet matches."""
        return self == Packets()


def plain(packets: Packets) -> str:
    """Return the expression for packets that are not encapsulated; empty if all match."""
    words = []
    if packets.protocol:
        # ICMP of both families in one rule
        kinds = "{ icmp, ipv6-icmp }" if packets.protocol == "icmp" else packets.protocol
        words.append(f"meta l4proto {kinds}")
    elif packets.port or packets.source_port or packets.flows:
        words.append("meta l4proto { tcp, udp }")
    if packets.port:
        words.append(f"th dport {packets.port}")
    if packets.source_port:
        words.append(f"th sport {packets.source_port}")
    if packets.flows:
        words.append(f"jhash @th,0,32 mod {packets.flows} {_SEED} 0")
    if packets.larger_than:
        words.append(f"meta length > {packets.larger_than}")
    if packets.fragments:
        words.append(f"ip frag-off & {_OFFSET} != 0")
    return " ".join(words)


def encapsulated(packets: Packets, vxlan_port: int) -> str:
    """Return the expression for IPv4 packets inside VXLAN packets."""
    words = [f"udp dport {vxlan_port}"]
    if packets.protocol:
        words.append(f"@th,{_INNER_PROTOCOL},8 {PROTOCOLS[packets.protocol]}")
    if packets.port:
        words.append(f"@th,{_INNER_PORT},16 {packets.port}")
    if packets.source_port:
        words.append(f"@th,{_INNER_SOURCE_PORT},16 {packets.source_port}")
    if packets.flows:
        words.append(f"@th,{_INNER_PROTOCOL},8 {{ 6, 17 }}")
        words.append(f"jhash @th,{_INNER_SOURCE_PORT},32 mod {packets.flows} {_SEED} 0")
    if packets.fragments:
        words.append(f"@th,{_INNER_FRAGMENT},16 & {_OFFSET} != 0")
    if packets.larger_than:
        words.append(f"meta length > {packets.larger_than + _VXLAN}")
    return " ".join(words)


def rules(packets: Packets, vxlan_port: int | None, where: str, verdict: str) -> tuple[str, ...]:
    """Return the rules that give the packets a verdict; with ``vxlan_port`` also those inside VXLAN.

    VXLAN packets themselves never match, though they are UDP, and larger.
    """
    if vxlan_port is None or packets.all:
        return (_joined(where, plain(packets), verdict),)
    return (
        _joined(where, encapsulated(packets, vxlan_port), verdict),
        _joined(where, f"udp dport {vxlan_port} return"),
        _joined(where, plain(packets), verdict),
    )


def share(rate: float) -> str:
    """Return the expression that matches a random share of packets; empty for all of them."""
    return "" if rate >= 1 else f"numgen random mod {_DICE} < {round(rate * _DICE)}"


def _is_range(port: str) -> bool:
    first, dash, last = port.partition("-")
    ends = [first, last] if dash else [first]
    if not all(end.isdecimal() and 0 < int(end) <= _LAST_PORT for end in ends):
        return False
    return not dash or int(first) <= int(last)


def _joined(*words: str) -> str:
    return " ".join(word for word in words if word)
