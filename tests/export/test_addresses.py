"""Addresses under other names: who shares a prefix still does, what an address is stays, and nothing comes back by guessing."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.export.pseudonyms import AddressMap, read_address

KEY, OTHER = b"k" * 32, b"o" * 32
MAP = AddressMap(KEY)
LEFT = [
    ip_network(text)
    for text in (
        *("192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),
        *("168.63.129.16/32", "2001:db8::/32"),
    )
]
"""Narrow ranges that stay as they are, in the midst of others that do not."""


def of_somebody(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address, or the IPv4 address that it holds, is in none of those ranges."""
    held = address
    if isinstance(address, IPv6Address) and int(address) >> 32 in {0xFFFF, 0x64_FF9B << 64}:
        held = IPv4Address(int(address) & 0xFFFF_FFFF)
    return not any(held in network for network in LEFT)


V4, V6 = st.ip_addresses(v=4), st.ip_addresses(v=6)
V4_OF_SOMEBODY, V6_OF_SOMEBODY = V4.filter(of_somebody), V6.filter(of_somebody)


def shared(one: IPv4Address | IPv6Address, other: IPv4Address | IPv6Address) -> int:
    """Return how many leading bits two addresses share."""
    return one.max_prefixlen - (int(one) ^ int(other)).bit_length()


@given(V4_OF_SOMEBODY, V4_OF_SOMEBODY)
def test_addresses_share_as_many_bits_as_before(one: IPv4Address, other: IPv4Address) -> None:
    """Any two IPv4 addresses: so subnets stay subnets, and different addresses stay different."""
    assert shared(MAP.address(one), MAP.address(other)) == shared(one, other)


@given(V6_OF_SOMEBODY, V6_OF_SOMEBODY)
def test_ipv6_addresses_share_as_many_bits_as_before(one: IPv6Address, other: IPv6Address) -> None:
    """Any two IPv6 addresses, those that hold an IPv4 address too."""
    assert shared(MAP.address(one), MAP.address(other)) == shared(one, other)


@given(st.integers(0, 2**17 - 1), st.integers(0, 32))
def test_an_address_stays_in_its_network(bits: int, prefix: int) -> None:
    """A network's other name holds the other name of each of its addresses."""
    address = IPv4Address(int(IPv4Address("10.244.0.0")) + bits)
    network = ip_network((address, prefix), strict=False)
    other = MAP.network(network.network_address, prefix)
    assert MAP.address(address) in ip_network((other, prefix))


@given(V4)
def test_what_an_address_is_stays(address: IPv4Address) -> None:
    """Private, link-local, loopback, multicast and documentation addresses stay what they are."""
    other = MAP.address(address)
    for said in ("is_private", "is_loopback", "is_link_local", "is_multicast", "is_reserved"):
        assert getattr(other, said) == getattr(address, said)
    for kind in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "192.0.2.0/24"):
        assert (other in ip_network(kind)) == (address in ip_network(kind))


@given(V4)
def test_the_last_part_stays(address: IPv4Address) -> None:
    """The gateway of a subnet is its first or second address, as before."""
    assert int(MAP.address(address)) & 0xFF == int(address) & 0xFF


@pytest.mark.parametrize(
    "text",
    [
        *("0.0.0.0", "127.0.0.1", "169.254.169.254", "255.255.255.0", "224.0.0.251"),
        *("192.0.2.53", "198.51.100.10", "168.63.129.16", "::", "::1", "2001:db8::53", "ff02::1"),
    ],
)
def test_what_is_everybody_s_is_left(text: str) -> None:
    """Addresses that are the same in every cluster tell nothing and stay."""
    assert MAP.address(ip_address(text)) == ip_address(text)


@pytest.mark.parametrize("key", [KEY, OTHER])
@pytest.mark.parametrize(
    ("text", "range_"),
    [
        ("203.0.114.77", "203.0.112.0/22"),
        ("192.0.3.4", "192.0.0.0/22"),
        ("198.51.101.9", "198.51.100.0/22"),
        ("168.63.129.17", "168.63.128.0/22"),
        ("2001:db9::1", "2001:db8::/31"),
    ],
)
def test_an_address_beside_documentation_is_another_one(text: str, range_: str, key: bytes) -> None:
    """What is not everybody's is somebody's, however near: neither it nor its range can be read."""
    assert AddressMap(key).address(ip_address(text)) not in ip_network(range_)


def test_the_ipv4_address_in_one_of_nat64_is_another_one() -> None:
    """It is whose address a Pod without IPv4 reaches."""
    held = MAP.address(ip_address("64:ff9b::34b2:d04"))
    assert held != ip_address("64:ff9b::34b2:d04")
    assert int(held) & 0xFFFF_FFFF == int(MAP.address(ip_address("52.178.13.4")))


@given(st.sets(V4, max_size=30))
def test_no_two_addresses_become_one(addresses: set[IPv4Address]) -> None:
    """Those beside documentation neither."""
    assert len({MAP.address(one) for one in addresses}) == len(addresses)


def test_a_network_of_one_cluster_is_not_recognised() -> None:
    """Usual networks of Pods, nodes and Services change, each key in its own way."""
    texts = [
        "10.244.3.5",
        "172.30.17.13",
        "192.168.178.20",
        "52.178.13.4",
        "fd00:10:244::5",
        "2a00:1450:4001::8a",
    ]
    one = [MAP.address(ip_address(text)) for text in texts]
    other = [AddressMap(OTHER).address(ip_address(text)) for text in texts]
    assert all(a != ip_address(text) for a, text in zip(one, texts, strict=True))
    assert sum(a != b for a, b in zip(one, other, strict=True)) >= 5


def test_equal_keys_make_equal_names() -> None:
    """A bundle is made of one key, whatever comes first."""
    again = AddressMap(KEY)
    assert again.address(ip_address("10.1.2.3")) == MAP.address(ip_address("10.1.2.3"))


def test_a_network_has_no_bits_behind_its_prefix() -> None:
    """A network is read strictly by whoever reads the bundle; an interface keeps its own address."""
    assert int(MAP.network(IPv4Address("10.244.0.0"), 16)) & 0xFFFF == 0
    assert int(MAP.network(IPv4Address("10.244.3.7"), 16)) & 0xFF == 7


def test_an_ipv4_address_in_an_ipv6_address_is_the_same_other_one() -> None:
    """What a dual-stack listener saw is compared with the IPv4 address of a Pod."""
    mapped = MAP.address(ip_address("::ffff:10.244.3.5"))
    assert isinstance(mapped, IPv6Address)
    assert mapped.ipv4_mapped == MAP.address(ip_address("10.244.3.5"))


def test_what_is_no_address_is_none() -> None:
    """Four numbers above 255 are a version."""
    assert read_address("10.0.17763.1339") is None
    assert read_address("10.0.0.1") == ip_address("10.0.0.1")
