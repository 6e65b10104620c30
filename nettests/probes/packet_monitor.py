"""The command lines of Packet Monitor in its current and first releases, and free disk space. Pure.

For ``capturing``. ``pktmon`` of Windows Server 2019 (17763) lacks ``status``, ``--capture`` and
``etl2txt``; no older build can be a node. ``tracing.printed`` reads its log.

Sources: Microsoft, "Windows Commands", ``pktmon start``, ``pktmon etl2txt`` (of 2021),
``pktmon start`` with ``--etw``, ``pktmon format`` (of December 2020); ``fsutil volume``.
"""

import re
from enum import Enum
from typing import assert_never

MIB = 1024 * 1024
ROOM_MIB = 256
"""Free space that a capture needs on the drive: as text, a log of some MiB is a dozen times as large."""
ROOM = ("fsutil", "volume", "diskfree", "C:")
# samples: Total free bytes                : 103,079,215,104 ( 96.0 GB)
#          Total # of free bytes        : 103079215104
_FREE = re.compile(r"(?:Total|#)[^:\n]{0,20}free bytes\s*:\s*(\d[\d,.\u00a0]{0,30})")


class Dialect(Enum):
    """The set of options that a release of ``pktmon`` takes."""

    PRESENT = "present"
    FIRST = "first"

    def start(self, log: str, *, packet_bytes: int, log_mib: int) -> tuple[str, ...]:
        """Return the argv that starts a capture into a log."""
        size, most = str(packet_bytes), str(log_mib)
        match self:
            case Dialect.PRESENT:
                words = ("--capture", "--pkt-size", size, "--file-name", log, "--file-size", most)
                return ("pktmon", "start", *words)
            case Dialect.FIRST:
                return ("pktmon", "start", "--etw", "-p", size, "-f", log, "-s", most)
            case _:
                assert_never(self)

    def to_text(self, log: str, text: str) -> tuple[str, ...]:
        """Return the argv that converts a log to text, bytes included."""
        match self:
            case Dialect.PRESENT:
                return ("pktmon", "etl2txt", log, "--out", text, "--hex")
            case Dialect.FIRST:
                return ("pktmon", "format", log, "-o", text, "-x")
            case _:
                assert_never(self)


def free_mib(output: str) -> int | None:
    """Return the free space that ``fsutil`` reports; ``None`` if its output is not understood."""
    match = _FREE.search(output)
    return int(re.sub(r"\D", "", match[1])) // MIB if match else None


def has_filters(output: str) -> bool:
    """Whether ``pktmon filter list`` shows any: each line of one begins with its number."""
    return any(line.strip()[:1].isdigit() for line in output.splitlines())


def is_running(output: str) -> bool | None:
    """Whether ``pktmon status`` shows a capture, by several lines; ``None`` without output.

    Without a capture it prints one sentence, in any language.
    """
    # samples: Packet Monitor is not running.      O Monitor de Pacotes não está em execução.
    #          Collected data:⏎    Packet counters, packet capture⏎⏎Logger name:      PktMon⏎Log file:         C:\\a.etl
    lines = [line for line in output.splitlines() if line.strip()]
    if not lines:
        return None
    return len(lines) > 1 or ":" in lines[0]
