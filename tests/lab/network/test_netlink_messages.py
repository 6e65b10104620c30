"""Entries for the kernel as pyroute2 reads them, and how they share buffers."""

import struct
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

import pytest
from pyroute2.netlink.rtnl.ndmsg import ndmsg
from pyroute2.netlink.rtnl.rtmsg import rtmsg

from nettests.lab.network import netlink_messages

MAC = "00:15:5d:1e:00:0c"
ACKNOWLEDGE = 0x4


def _headers(buffer: bytes) -> list[tuple[int, int, int, int]]:
    """Return length, type, flags and number of each message in a buffer."""
    found, at = [], 0
    while at < len(buffer):
        length, kind, flags, number, _ = struct.unpack_from("=IHHII", buffer, at)
        found.append((length, kind, flags, number))
        at += length
    assert at == len(buffer)
    return found


def _read(entry: netlink_messages.Entry, kind: type) -> dict[str, object]:
    """Return fields and attributes of the only message as pyroute2 decodes it."""
    ((buffer, _),) = netlink_messages.packed([entry])
    message = kind(buffer)
    message.decode()
    return {
        **{name: message[name] for name in message if name != "attrs"},
        **dict(message["attrs"]),
    }


@pytest.mark.parametrize("address", [IPv4Address("172.30.0.11"), IPv6Address("fd00::b")])
def test_a_neighbour_is_permanent(address: IPv4Address | IPv6Address) -> None:
    """Address, MAC and interface are as given, and the entry never ages."""
    read = _read(netlink_messages.neighbour(7, address, MAC), ndmsg)
    assert (read["ifindex"], read["state"]) == (7, 0x80)
    assert (read["NDA_DST"], read["NDA_LLADDR"]) == (str(address), MAC)


def test_a_forwarding_entry_is_the_devices_own() -> None:
    """It belongs to the device (self), not to a bridge above it, and nobody is asked for it."""
    read = _read(netlink_messages.forwarding_entry(7, MAC, IPv4Address("172.30.0.11")), ndmsg)
    assert (read["family"], read["flags"], read["state"]) == (7, 0x02, 0x80 | 0x40)
    assert (read["NDA_DST"], read["NDA_LLADDR"]) == ("172.30.0.11", MAC)


@pytest.mark.parametrize(
    ("network", "via"),
    [
        (IPv4Network("10.244.9.0/24"), IPv4Address("172.30.0.19")),
        (IPv6Network("fd00:10:244:9::/64"), IPv6Address("fd00:172:30::13")),
    ],
)
def test_a_route_names_its_neighbour_and_table(
    network: IPv4Network | IPv6Network, via: IPv4Address | IPv6Address
) -> None:
    """The neighbour need not be on a connected network (onlink)."""
    read = _read(netlink_messages.route(7, network, via, 100), rtmsg)
    assert (read["dst_len"], read["type"], read["flags"]) == (network.prefixlen, 1, 4)
    assert (read["RTA_DST"], read["RTA_GATEWAY"]) == (str(network.network_address), str(via))
    assert (read["RTA_OIF"], read["RTA_TABLE"]) == (7, 100)


def test_many_entries_fill_few_buffers_and_the_last_of_each_is_acknowledged() -> None:
    """A thousand neighbours are numbered in order; only the last of a buffer asks for an answer."""
    entries = [netlink_messages.neighbour(7, IPv4Address(n), MAC) for n in range(1, 1001)]
    buffers = list(netlink_messages.packed(entries))
    assert len(buffers) == 2
    headers = [_headers(buffer) for buffer, _ in buffers]
    assert [one[3] for each in headers for one in each] == list(range(1, 1001))
    for (_, last), each in zip(buffers, headers, strict=True):
        assert [one[3] for one in each if one[2] & ACKNOWLEDGE] == [last]


def test_answers_are_told_apart_by_number_and_error() -> None:
    """Of a refusal and an acknowledgement in one buffer each has its own number."""
    refused = struct.pack("=IHHIIi", 20, 2, 0, 3, 0, -17)
    done = struct.pack("=IHHIIi", 20, 2, 0, 9, 0, 0)
    assert list(netlink_messages.answers(refused + done)) == [(3, 17), (9, 0)]
