"""What ``tcpdump`` and ``pktmon`` print → frames. Pure.

Both print a head line for each frame and its bytes in hexadecimal below; pktmon's log ends with a
list of its components. Unknown lines are kept and shown. Text is read instead of capture files
because exec carries it unharmed, and pktmon's own pcapng shows neither component nor drop.

Sources: tcpdump(1); Microsoft, ``pktmon etl2txt``, "Packet Monitor", "Use Packet Monitor to
diagnose packet loss" (``Drop:``) and "PacketMonitorCreateRealtimeStream" (reasons and locations of
drops); captures published on GitHub, some in other languages; the event texts of the provider
Microsoft-Windows-PktMon (20 to 75 for components). What an interface leads to is inferred from its
component's type and MAC address.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from nettests.tracing.packet import Direction, Edge, Frame

FRAMES = 4000
"""The most frames of one text. A flow of a few seconds has dozens, at each of a dozen components."""
FRAME_BYTES = 65536
LINES = 200_000
"""The most lines of one text: up to 18 per frame, and as many again between frames."""
LINE_BYTES = 2000
"""The most characters of one line; the rest is ignored. Head lines have a few hundred."""
UNREAD_SHOWN = 3
LINE_SHOWN = 160
# sample: 1764099000.123456 eth0  Out IP 10.244.1.5.28600 > 10.96.0.10.80: Flags [S], seq 1, win 64240, length 0
_TCPDUMP = re.compile(
    r"(\d{1,12}\.\d{1,9}) (?:(\S{1,64})\s+(In|Out|B|M|P)\s+)?(?:IP6?|ARP|ethertype)\b"
)
# sample: \t0x0010:  40ec 99b9 1725 f0b4 d2
_HEX = re.compile(r"\s*0x[0-9a-f]{4,8}:\s{1,4}((?:[0-9a-f]{2,4} ?){1,16})(?:\s|$)", re.IGNORECASE)
# samples: 23:02:26.539704700 PktGroupId 562949953421500, PktNumber 1, Appearance 1, Direction Tx , Type Ethernet , Component 78, Edge 1, Filter 1, OriginalSize 66, LoggedSize 66
#          [30]0000.0000::2025-03-27 16:10:34.934020500 [Microsoft-Windows-PktMon] Drop: PktGroupId 8444249301423149, PktNumber 1, Appearance 0, Direction Rx , Type IP , Component 49, Filter 1, DropReason INET: transport endpoint was not found , DropLocation 0xE000460A, OriginalSize 402, LoggedSize 148
_PKTMON = re.compile(
    r"(\d\d):(\d\d):(\d\d\.\d{1,9})\s.{0,80}?\b(Drop: )?PktGroupId (\d{1,20}),(.{1,400})"
)
_FIELD = re.compile(
    r"\b(Direction|Type|Component|Edge|DropReason|DropLocation|LoggedSize)\s+([^,]{1,120}?)\s*(?:,|$)"
)
# sample: [00]1234.5678::2025-03-27 16:10:36.000000000 [Microsoft-Windows-PktMon] Component 2, Type Miniport, Name mlx5.sys, Mellanox ConnectX-5 Adapter #2
_COMPONENT = re.compile(
    r"(?:^|\s)Component (\d{1,9}), Type ([^,]{1,60}), Name ([^,]{1,80}),?(.{0,120})"
)
# sample: [00]1234.5678::2025-03-27 16:10:36.000000000 [Microsoft-Windows-PktMon] Property: Component 2, MAC Address = AA-BB-CC-DD-E1-06
_PROPERTY = re.compile(r"Property: Component (\d{1,9}), ([^=]{1,60}) = (.{1,120})")
_MAC = re.compile(r"(?:[0-9a-f]{2}[-:]){5}[0-9a-f]{2}", re.IGNORECASE)
# samples: 7 packets dropped by kernel
#          1 packet dropped by interface
_LOST = re.compile(r"(\d{1,12}) packets? dropped by (?:kernel|interface)\s*$")
# samples: \t40-EC-99-B9-17-25 > F0-B4-D2-5A-D3-E2, ethertype IPv4 (0x0800), length 66: …
#          \tDrop: ip: 192.168.5.88.50005 > 192.168.5.68.50005: UDP, length 374
#          12 packets captured
_EXPECTED = re.compile(
    r"\s|$|tcpdump: |listening on |\d+ packets? |Processing|Formatted file|Converting|.*\[Microsoft-Windows-PktMon\] "
    r"(?:(?:Flow|Drop) Counters|Packet Filter|Nbl|PktMon)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """The frames of a text, and its first few unreadable lines."""

    frames: tuple[Frame, ...]
    unread: tuple[str, ...] = ()
    cut: bool = False
    """Whether there were more frames or lines than the limits."""
    lost: int = 0
    """How many packets the tool reports as lost."""


@dataclass(slots=True)
class _Lines:
    frames: list[Frame] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    head: Frame | None = None
    data: bytearray = field(default_factory=bytearray)
    lost: int = 0

    def begin(self, head: Frame) -> None:
        self.end()
        self.head = head

    def end(self) -> None:
        """Store the current frame, unless it has no bytes."""
        if self.head is not None and self.data:
            self.frames.append(replace(self.head, data=bytes(self.data)))
        self.head, self.data = None, bytearray()

    def rest(self, line: str) -> None:
        """Take a line that begins no frame: bytes, a comment, or something unknown."""
        hex_line = _HEX.match(line)
        if hex_line is not None:
            if self.head is not None and len(self.data) < FRAME_BYTES:
                digits = hex_line[1].replace(" ", "")
                self.data += bytes.fromhex(digits[: len(digits) // 2 * 2])
        elif (lost := _LOST.match(line)) is not None:
            self.lost += int(lost[1])
        elif not _EXPECTED.match(line) and len(self.unread) < UNREAD_SHOWN:
            self.unread.append(line[:LINE_SHOWN])


@dataclass(slots=True)
class _Text:
    """The lines of a text, within limits, because a hostile node may print any amount."""

    text: str
    cut: bool = False
    """Whether there are more lines than the limit."""

    def __iter__(self) -> Iterator[str]:
        at = 0
        for _ in range(LINES):
            if at >= len(self.text):
                return
            end = self.text.find("\n", at)
            end = len(self.text) if end < 0 else end
            yield self.text[at : min(end, at + LINE_BYTES)].rstrip("\r")
            at = end + 1
        self.cut = at < len(self.text)


def read_tcpdump(text: str, *, wire: Iterable[str] = ()) -> Printed:
    """Return the frames that ``tcpdump -i any -nn -tt -x`` printed, each from its IP header on.

    ``wire`` are the interfaces known to lead out of the node; all others then count as leading to
    Pods. If none is known, all are ``UNKNOWN``.
    """
    outward, lines, heads = frozenset(wire), _Lines(), 0
    more = _Text(text)
    for line in more:
        head = _TCPDUMP.match(line)
        if head is None:
            lines.rest(line)
            continue
        if head[3] == "P":  # PACKET_OTHERHOST: seen at this interface, but for another machine
            lines.end()
            continue
        heads += 1
        if heads > FRAMES:
            break
        name = head[2] or ""
        lines.begin(
            Frame(
                time=float(head[1]),
                data=b"",
                interface=name,
                direction=_DIRECTIONS.get(head[3] or "", Direction.UNKNOWN),
                edge=_edge(name, outward),
                ethernet=False,
            )
        )
    lines.end()
    return Printed(
        frames=tuple(lines.frames),
        unread=tuple(lines.unread),
        cut=heads > FRAMES or more.cut,
        lost=lines.lost,
    )


_DIRECTIONS = {"In": Direction.IN, "Out": Direction.OUT, "B": Direction.IN, "M": Direction.IN}


def _edge(name: str, outward: frozenset[str]) -> Edge:
    if not outward or not name or name == "lo":
        return Edge.UNKNOWN
    return Edge.WIRE if name in outward else Edge.POD


@dataclass(slots=True)
class _Component:
    """A component of Windows' network stack, as the end of a log describes it."""

    type: str = ""
    name: str = ""
    mac: str = ""

    @property
    def edge(self) -> Edge:
        """What it leads to: virtual NICs to Pods, others to the wire, except the switch's own."""
        kind, name = self.type.lower(), self.name.lower()
        if "vnic" in kind:
            return Edge.POD
        return (
            Edge.WIRE
            if kind in {"miniport", "netvsc"} and not name.startswith("vms")
            else Edge.UNKNOWN
        )


def read_pktmon(text: str) -> Printed:
    """Return the frames in a log of ``pktmon etl2txt --hex``.

    Its encoding is undocumented: zero bytes between ASCII characters mean UTF-16.
    """
    text = text.replace("\0", "")
    lines = _Lines()
    components: dict[str, _Component] = {}
    heads = 0
    more = _Text(text)
    for line in more:
        if (head := _PKTMON.search(line)) is not None:
            heads += 1
            if heads <= FRAMES:
                lines.begin(_pktmon_head(head))
            else:
                lines.end()
        elif (about := _PROPERTY.search(line)) is not None:
            if mac := _MAC.search(about[3]):
                components.setdefault(about[1], _Component()).mac = mac[0].replace("-", ":").lower()
        elif (about := _COMPONENT.search(line)) is not None:
            component = components.setdefault(about[1], _Component())
            component.type, component.name = about[2].strip(), about[3].strip()
        else:
            lines.rest(line)
    lines.end()
    frames = tuple(_placed(frame, components) for frame in lines.frames)
    return Printed(frames=frames, unread=tuple(lines.unread), cut=heads > FRAMES or more.cut)


def _pktmon_head(head: re.Match[str]) -> Frame:
    hours, minutes, seconds = int(head[1]), int(head[2]), float(head[3])
    fields = dict(_FIELD.findall(head[6]))
    way = fields.get("Direction", "")
    return Frame(
        time=3600.0 * hours + 60.0 * minutes + seconds,
        data=b"",
        interface=fields.get("Component", ""),
        direction={"Rx": Direction.IN, "Tx": Direction.OUT}.get(way, Direction.UNKNOWN),
        ethernet=fields.get("Type", "Ethernet") == "Ethernet",
        drop=_reason(fields) if head[4] or "DropReason" in fields else "",
        edge_id=fields.get("Edge", ""),
    )


def _reason(fields: dict[str, str]) -> str:
    at = fields.get("DropLocation", "")
    return fields.get("DropReason", "no reason stated") + (f" ({at})" if at else "")


def _placed(frame: Frame, components: dict[str, _Component]) -> Frame:
    """Set a frame's component and edge; at a Pod's NIC, set the direction by its MAC address."""
    component = components.get(frame.interface)
    if component is None:
        return replace(frame, interface=f"component {frame.interface}" if frame.interface else "")
    named = replace(frame, interface=f"{component.name} ({frame.interface})", edge=component.edge)
    if component.edge is not Edge.POD:
        return named
    to, sender = frame.data[:6].hex(":"), frame.data[6:12].hex(":")
    way = {to: Direction.OUT, sender: Direction.IN}.get(component.mac, Direction.UNKNOWN)
    return replace(named, direction=way if frame.ethernet else Direction.UNKNOWN)
