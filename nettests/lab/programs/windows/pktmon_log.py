"""The text of a log of ``pktmon``: each frame at its component, what was dropped and why, and what the components
are. Pure but for the time.

A component is a port of the node's virtual switch; what the switch dropped is logged at its extension (VFP), with
the reason and location of Packet Monitor's lists that the cause comes nearest to: which ones VFP takes, no
document says. Of what was dropped the headers alone are known. What was lost otherwise came in and did not leave,
and no line says so.

Sources: Microsoft, "PacketMonitorCreateRealtimeStream" (PKTMON_DROP_REASON, PKTMON_DROP_LOCATION), "TCP/IP packet
loss" (a line with ``Drop:``); where no document shows an output, it is made up.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from nettests.lab.interfaces import DropCause, Dropped, Hns
from nettests.lab.programs.packets import ETHERNET, Taken, described, heads, hexadecimal

Logged = Taken | Dropped
_SWITCH_EXTENSION = 5
"""The component of VFP, which decides on what passes the switch's ports; those have numbers from 10 on."""
_REASONS = {
    DropCause.NO_DESTINATION: ("UnicastNoDestination", 0xE0006063),
    DropCause.FOREIGN_ADDRESS: ("Ipv4Guard", 0xE0006000),
    DropCause.NO_FLOW: ("InvalidPacket", 0xE0006058),
    DropCause.NO_ROOM: ("Resources", 0xE0006000),
    DropCause.POLICY: ("FailedSecurityPolicy", 0xE0006000),
    DropCause.UNKNOWN: ("Unknown", 0xE0006000),
}
"""PKTMON_DROP_REASON without its prefix, and PKTMON_DROP_LOCATION: VFP's default forwarding without a destination, its unified
flow that no packet of the kind makes, or its unknown place."""


def log_lines(log: Sequence[Logged], size: int, hns: Hns | None) -> Iterator[str]:
    """Yield a log's text, of each packet ``size`` bytes (0 for all): each frame at its component, what was dropped, and at the end what the components are."""
    names = dict.fromkeys(frame.interface for frame in log if isinstance(frame, Taken))
    numbers = {name: number for number, name in enumerate(names, _SWITCH_EXTENSION + 5)}
    for group, frame in enumerate(sorted(log, key=lambda each: each.time), 1):
        yield _head(group, frame, size, numbers)
        ethernet = not isinstance(frame, Dropped) or frame.ethernet
        headers = heads(frame.data[ETHERNET:] if ethernet else frame.data)
        description = described(headers) if headers else ""
        ends = f"{_dashes(frame.data[6:12])} > {_dashes(frame.data[:6])}"
        words = f"{ends}, ethertype IPv4 (0x0800), length {_length(frame)}: {description}"
        yield f"\t{'Drop: ' if isinstance(frame, Dropped) else ''}{words if ethernet else f'ip: {description}'}"
        yield from hexadecimal(frame.data[: size or len(frame.data)])
    now = f"{_stamp(time.time())} [Microsoft-Windows-PktMon]"
    if any(isinstance(frame, Dropped) for frame in log):
        yield f"{now} Component {_SWITCH_EXTENSION}, Type Filter, Name vfpext.sys, Microsoft Azure VFP Switch Extension"
    cards = _cards(hns)
    for name, number in numbers.items():
        kind, driver, mac = cards(name)
        yield f"{now} Component {number}, Type {kind}, Name {driver}, {name}"
        if mac:
            yield f"{now} Property: Component {number}, MAC Address = {mac}"


def _head(group: int, frame: Logged, size: int, numbers: Mapping[str, int]) -> str:
    logged = min(len(frame.data), size or len(frame.data))
    begin = f"{_stamp(frame.time)} [Microsoft-Windows-PktMon] "
    number = f"PktGroupId {group}, PktNumber 1, Appearance"
    sizes = f"OriginalSize {_length(frame)}, LoggedSize {logged}"
    if isinstance(frame, Dropped):
        reason, location = _REASONS[frame.cause]
        kind = "Ethernet" if frame.ethernet else "IP"
        where = f"DropReason {reason} , DropLocation 0x{location:08X}"
        return f"{begin}Drop: {number} 0, Direction Rx , Type {kind} , Component {_SWITCH_EXTENSION}, Filter 1, {where}, {sizes}"
    way = "Tx" if frame.out else "Rx"
    return f"{begin}{number} 1, Direction {way} , Type Ethernet , Component {numbers[frame.interface]}, Edge 1, Filter 1, {sizes}"


def _length(frame: Logged) -> int:
    """Return how long a frame was; of what was dropped the headers alone are known, and what they say."""
    if isinstance(frame, Taken):
        return len(frame.data)
    start = ETHERNET if frame.ethernet else 0
    headers = heads(frame.data[start:])
    return start + headers.length if headers else len(frame.data)


def _cards(hns: Hns | None) -> Callable[[str], tuple[str, str, str]]:
    """Return a function that gives type, driver and MAC address of a port of the switch."""
    endpoints = hns.endpoints() if hns is not None else []
    by_port = {
        f"pod-{'-'.join(str(endpoint['IPAddress']).split('.')[2:])}": str(
            endpoint.get("MacAddress", "")
        )
        for endpoint in endpoints
        if endpoint.get("IPAddress")
    }

    def card(name: str) -> tuple[str, str, str]:
        if name in by_port:
            return "Container vNIC", "vmswitch.sys", by_port[name]
        if name == "host":
            return "Host vNIC", "vmswitch.sys", ""
        return (
            ("Miniport", "netvsc.sys", "") if name == "uplink" else ("Protocol", "vfpext.sys", "")
        )

    return card


def _stamp(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
    return f"[00]0004.0300::{whole}.{int(seconds % 1 * 1_000_000_000):09d}"


def _dashes(address: bytes) -> str:
    return address.hex("-").upper()
