"""``pktmon``: filters, a capture that continues after the command, its log as text. An emulation, with real packets.

It captures at the ports of the node's virtual switch, each of which is a component in the log, and logs packets that a rule of the
switch drops, as reported by the node's network. Those are logged at the switch's extension (VFP), with the closest reason and
location of Packet Monitor's lists; no document says which ones VFP uses. Of dropped packets only the headers are known. Packets lost
otherwise enter and do not leave, without a line. Sources: Microsoft, ``pktmon`` in "Windows Commands",
"PacketMonitorCreateRealtimeStream" (PKTMON_DROP_REASON, PKTMON_DROP_LOCATION), "TCP/IP packet loss" (a line with ``Drop:``); output
that no document shows is made up.
"""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from nettests.lab.interfaces import DropCause, Dropped, Hns, Process
from nettests.lab.programs import packets
from nettests.lab.programs.terminal import err, out
from nettests.lab.programs.windows import texts

Logged = packets.Taken | Dropped
_SWITCH_EXTENSION = 5
"""The component of VFP; the switch's ports have numbers from 10 on."""
_REASONS = {
    DropCause.NO_DESTINATION: ("UnicastNoDestination", 0xE0006063),
    DropCause.FOREIGN_ADDRESS: ("Ipv4Guard", 0xE0006000),
    DropCause.NO_FLOW: ("InvalidPacket", 0xE0006058),
    DropCause.NO_ROOM: ("Resources", 0xE0006000),
    DropCause.POLICY: ("FailedSecurityPolicy", 0xE0006000),
    DropCause.UNKNOWN: ("Unknown", 0xE0006000),
}
"""PKTMON_DROP_REASON without its prefix, and PKTMON_DROP_LOCATION: VFP's default forwarding without a destination, a packet that
cannot create a unified flow, or an unknown location."""


def log_lines(log: Sequence[Logged], size: int, hns: Hns | None) -> Iterator[str]:
    """Yield a log's lines: frames at their components, drops, and finally the components; ``size`` bytes of each packet (0: all)."""
    names = dict.fromkeys(frame.interface for frame in log if isinstance(frame, packets.Taken))
    numbers = {name: number for number, name in enumerate(names, _SWITCH_EXTENSION + 5)}
    for group, frame in enumerate(sorted(log, key=lambda each: each.time), 1):
        yield _head(group, frame, size, numbers)
        ethernet = not isinstance(frame, Dropped) or frame.ethernet
        headers = packets.heads(frame.data[packets.ETHERNET :] if ethernet else frame.data)
        description = packets.described(headers) if headers else ""
        ends = f"{_dashes(frame.data[6:12])} > {_dashes(frame.data[:6])}"
        words = f"{ends}, ethertype IPv4 (0x0800), length {_length(frame)}: {description}"
        yield f"\t{'Drop: ' if isinstance(frame, Dropped) else ''}{words if ethernet else f'ip: {description}'}"
        yield from packets.hexadecimal(frame.data[: size or len(frame.data)])
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
    """Return the length of a frame; for dropped packets it is read from the headers."""
    if isinstance(frame, packets.Taken):
        return len(frame.data)
    start = packets.ETHERNET if frame.ethernet else 0
    headers = packets.heads(frame.data[start:])
    return start + headers.length if headers else len(frame.data)


def _cards(hns: Hns | None) -> Callable[[str], tuple[str, str, str]]:
    endpoints = hns.endpoints() if hns is not None else []
    macs = {str(each.get("IPAddress", "")): str(each.get("MacAddress", "")) for each in endpoints}
    by_port = {f"pod-{'-'.join(ip.split('.')[2:])}": mac for ip, mac in macs.items() if ip}

    def card(name: str) -> tuple[str, str, str]:
        if name in by_port:
            return "Container vNIC", "vmswitch.sys", by_port[name]
        if name == "host":
            return "Host vNIC", "vmswitch.sys", ""
        uplink = name == "uplink"
        return ("Miniport", "netvsc.sys", "") if uplink else ("Protocol", "vfpext.sys", "")

    return card


def _stamp(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
    return f"[00]0004.0300::{whole}.{int(seconds % 1 * 1_000_000_000):09d}"


def _dashes(address: bytes) -> str:
    return address.hex("-").upper()


_PROTOCOLS = {"tcp": packets.TCP, "udp": packets.UDP, "icmp": packets.ICMP}
_FIRST_BUILD = 17763
"""The build with Packet Monitor's first release: ``--etw`` and ``format``, and no ``status``."""
_TODAY = {"-p": "--pkt-size", "-f": "--file-name", "-s": "--file-size"}
_VXLAN = 4789
_USUAL_SIZE = 128
_MOST_BYTES = 512 * 1024 * 1024
_MIB = 1024 * 1024
_HEAD = 160
"""Bytes that a log adds to each packet."""
MONITOR = "pktmon"
"""The key of the monitor in ``Disk.background``."""


_say = partial(texts.say, "pktmon")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filter:
    """A filter, all conditions of which have to match; with ``tunnel``, a VXLAN port, also the inner packet."""

    protocol: int | None = None
    ports: tuple[int, ...] = ()
    addresses: tuple[str, ...] = ()
    tunnel: int | None = None

    def matches(self, packet: packets.Heads) -> bool:
        if self._matches_heads(packet):
            return True
        inner = packets.heads(packet.inner) if self.tunnel in packet.ports else None
        return inner is not None and self._matches_heads(inner)

    def _matches_heads(self, packet: packets.Heads) -> bool:
        if self.protocol is not None and packet.protocol != self.protocol:
            return False
        ends = {packet.source, packet.destination}
        return set(self.ports) <= set(packet.ports) and set(self.addresses) <= ends


@dataclass(slots=True)
class Monitor:
    """Packet Monitor of one node: its filters, and the running capture."""

    filters: list[_Filter] = field(default_factory=list)
    sniffer: packets.Sniffer | None = None
    file: str = ""
    size: int = 0
    most: int = _MOST_BYTES
    logged: int = 0
    taken: list[Logged] = field(default_factory=list)
    logs: dict[str, list[Logged]] = field(default_factory=dict)
    unwatch: Callable[[], Awaitable[None]] | None = None

    def take(self, frame: packets.Taken) -> None:
        """Log a frame that matches a filter, up to the size of the log."""
        if not frame.other_host:
            self._keep(frame, frame.data[packets.ETHERNET :])

    def drop(self, dropped: Dropped) -> None:
        """Log a dropped packet that matches a filter, up to the size of the log."""
        self._keep(dropped, dropped.data[packets.ETHERNET :] if dropped.ethernet else dropped.data)

    def _keep(self, frame: Logged, packet: bytes) -> None:
        headers = packets.heads(packet)
        if headers is None or self.logged > self.most:
            return
        if not self.filters or any(each.matches(headers) for each in self.filters):
            self.logged += _HEAD + min(len(frame.data), self.size or len(frame.data))
            self.taken.append(frame)

    def end(self) -> None:
        """Read the waiting frames, then stop."""
        if self.sniffer is not None:
            self.sniffer.__exit__(None, None, None)
            self.sniffer = None

    @property
    def ports(self) -> frozenset[int]:
        """The ports of its filters; empty if one of them matches all ports."""
        each = [pattern.ports for pattern in self.filters if pattern.protocol != packets.ICMP]
        return frozenset(port for ports in each for port in ports) if all(each) else frozenset()


async def run(process: Process, words: Sequence[str]) -> int:
    """Run one of pktmon's commands; 1 for those that the lab does not provide."""
    node = process.machine.node
    if node is None or node.switch is None:
        why = "Failed to connect to the Packet Monitor driver: 0x5\nAccess is denied.\n"
        await err(process, why)
        return 1
    if process.machine.user.upper() != r"NT AUTHORITY\SYSTEM":
        await err(process, f"{texts.of(process.machine.locale).system(5)}\n")
        return 5
    monitor = node.disk.background.setdefault(MONITOR, Monitor())
    assert isinstance(monitor, Monitor), "the name is pktmon's own"
    if (process.machine.build or 0) == _FIRST_BUILD:
        words = _translated(words)
    match list(words):
        case ["filter", *rest]:
            return await _filter(process, monitor, rest)
        case ["start", "--capture", *rest]:
            return await _start(process, monitor, rest)
        case ["stop"]:
            return await _stop(process, monitor)
        case ["status"]:
            state = "running" if monitor.sniffer else "idle"
            await out(process, f"{_say(process, state, file=monitor.file)}\n")
            return 0
        case ["etl2txt", log, "--out", text, "--hex"]:
            return await _etl2txt(process, monitor, log, text)
    command = " ".join(word for word in words if word != "--")
    await err(process, f"Unknown command '{command}'. See pktmon help.\n")
    return 1


def _translated(words: Sequence[str]) -> Sequence[str]:
    """Translate the options of the first releases into today's; options that these lacked are made unknown."""
    match list(words):
        case ["start", "--etw", *rest]:
            return ["start", "--capture", *(_TODAY.get(option, option) for option in rest)]
        case ["format", log, "-o", text, "-x"]:
            return ["etl2txt", log, "--out", text, "--hex"]
        case ["start" | "status" | "etl2txt", *_]:
            return ["--", *words]
    return words


async def _filter(process: Process, monitor: Monitor, words: Sequence[str]) -> int:
    match words:
        case ["remove"]:
            monitor.filters.clear()
            await out(process, "Removed all filters.\n")
        case ["list"]:
            rows = "".join(f" {at} {pattern}\n" for at, pattern in enumerate(monitor.filters, 1))
            await out(process, _say(process, "filters", rows=rows) if rows else "No filters.\n")
        case ["add", *rest]:
            pattern = _read_filter(rest)
            if pattern is None:
                await err(process, f"Unexpected parameter: {' '.join(rest)}\n")
                return 1
            monitor.filters.append(pattern)
            await out(process, "Filter added.\n")
        case _:
            await err(process, "See pktmon filter help.\n")
            return 1
    return 0


def _read_filter(words: Sequence[str]) -> _Filter | None:
    """Parse ``NAME -t TCP -p 28600 -i 10.0.0.1 -e 4789``; ``None`` if it is invalid."""
    rest = list(words[1:] if words and not words[0].startswith("-") else words)
    protocol, tunnel = None, None
    ports: list[int] = []
    addresses: list[str] = []
    while rest:
        option = rest.pop(0)
        values = []
        while rest and not rest[0].startswith("-"):
            values.append(rest.pop(0))
        match option, values:
            case "-t", [name] if name.lower() in _PROTOCOLS:
                protocol = _PROTOCOLS[name.lower()]
            case "-p", [_] | [_, _] if all(digits.isdecimal() for digits in values):
                ports = [int(digits) for digits in values]
            case "-i", [_] | [_, _]:
                addresses = values
            case "-e", [] | [_] if all(digits.isdecimal() for digits in values):
                tunnel = int(values[0]) if values else _VXLAN
            case _:
                return None
    return _Filter(protocol=protocol, ports=tuple(ports), addresses=tuple(addresses), tunnel=tunnel)


async def _start(process: Process, monitor: Monitor, words: Sequence[str]) -> int:
    if monitor.sniffer is not None:
        await err(process, "Packet Monitor is already started.\n")
        return 1
    arguments = dict(zip(words[::2], words[1::2], strict=False))
    node = process.machine.node
    unknown = arguments.keys() - {"--pkt-size", "--file-name", "--file-size"}
    if node is None or node.switch is None or unknown:
        await err(process, "Unexpected parameter. See pktmon start help.\n")
        return 1
    monitor.size = int(arguments.get("--pkt-size", _USUAL_SIZE))
    monitor.file = arguments.get("--file-name", "PktMon.etl").lower()
    monitor.most = int(arguments.get("--file-size", "512")) * _MIB
    monitor.logged, monitor.taken = 0, []
    monitor.sniffer = packets.Sniffer(node.switch, monitor.take, ethernet=True)
    monitor.sniffer.__enter__()
    try:
        monitor.unwatch = await node.witness_drops(monitor.drop, monitor.ports)
    except BaseException:
        monitor.end()
        raise
    await out(process, f"{_say(process, 'started', file=monitor.file)}\n")
    return 0


async def _stop(process: Process, monitor: Monitor) -> int:
    if monitor.sniffer is None:
        await err(process, f"{_say(process, 'idle')}\n")
        return 1
    monitor.end()
    if monitor.unwatch is not None:
        await monitor.unwatch()
        monitor.unwatch = None
    monitor.logs[monitor.file] = monitor.taken
    process.machine.disk.files[monitor.file] = "(binary)\n"
    await out(process, f"{_say(process, 'stopped')}\n")
    return 0


async def _etl2txt(process: Process, monitor: Monitor, log: str, text: str) -> int:
    frames, node = monitor.logs.get(log.lower()), process.machine.node
    disk = process.machine.disk
    if node is None or frames is None or log.lower() not in disk.files:
        why = "Failed to open the log file: 0x2\nThe system cannot find the file specified.\n"
        await err(process, why)
        return 1
    disk.files[text.lower()] = "\n".join(log_lines(frames, monitor.size, node.hns)) + "\n"
    await out(process, f"Processing...\n\nFormatted file:  {text}\n")
    return 0
