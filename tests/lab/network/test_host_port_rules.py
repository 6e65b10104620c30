"""Rules of host ports in each family: which mappings a table takes, and how they are written."""

from ipaddress import IPv4Address, IPv6Address

from nettests.lab.interfaces import PortMapping
from nettests.lab.network.host_ports import port_mappings_table, portmap_table
from nettests.lab.network.tables import Table

ANY = PortMapping(protocol="tcp", host_port=19180, container_port=8080)
POD, NODE = IPv6Address("fd00::5"), IPv6Address("fd01::1")


def rules_of(table: Table) -> str:
    """Return all rules of a table."""
    return "\n".join(rule for chain in table.chains.values() for rule in chain.rules)


def test_ipv6_is_written_with_brackets_and_without_loopback() -> None:
    """The kernel routes no translated packets of ::1, so that portmap serves it in IPv4 alone."""
    for table in (
        portmap_table(((POD, ANY),), NODE),
        port_mappings_table(((POD, ANY),), NODE, from_host=False),
    ):
        assert table.family == "ip6"
        assert "ip6 daddr { fd01::1 } tcp dport 19180 dnat to [fd00::5]:8080" in rules_of(table)
        assert "127.0.0.1" not in rules_of(table)


def test_ipv4_keeps_its_loopback_on_linux() -> None:
    """There a host port answers at 127.0.0.1 too."""
    table = portmap_table(((IPv4Address("10.0.0.5"), ANY),), IPv4Address("172.30.0.1"))
    assert table.family == "ip"
    assert "{ 172.30.0.1, 127.0.0.1 }" in rules_of(table)
