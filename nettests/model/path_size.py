"""Which packet sizes pass on a path, from a search with echoes of many sizes. Pure.

``parse.path_mtu`` makes it from a check's answers; ``judge`` and incidents read it and name the size and the MTU that
would fit. What was expected is not known here.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never


class SizeFinding(StrEnum):
    """What the sizes that passed, and those that did not, show about the path."""

    WHOLE = "whole"
    """Every size passed, including fragmented ones."""
    HOLE = "hole"
    """Packets above a size within the Pods' MTU vanish silently, and smaller ones pass."""
    CLAMP = "clamp"
    """Packets above a size were lost until ICMP reached the sender, and passed in fragments after that."""
    FRAGMENTS = "fragments"
    """Every unfragmented packet passes; fragmented ones do not arrive."""
    LOSS = "loss"
    """Some sizes were lost and larger ones passed: size is not the reason."""
    SILENT = "silent"
    """No size passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathSize:
    """The largest IP packet that passed, in bytes, and the smallest that did not; 0 where there is none.

    ``mtu`` is that of the Pods' interfaces, if known. ``streams`` says whether 64 KiB passed over TCP, which limits its
    segments to what both ends' interfaces carry; ``None`` if that was not tried.
    """

    finding: SizeFinding
    passes: int
    vanishes: int
    mtu: int | None = None
    streams: bool | None = None

    def __str__(self) -> str:
        """Return it for people, without its end."""
        match self.finding:
            case SizeFinding.WHOLE:
                return f"packets of up to {self.passes:,} bytes arrive"
            case SizeFinding.HOLE:
                return f"packets above {self.passes:,} bytes vanish, and smaller ones arrive"
            case SizeFinding.CLAMP:
                return f"packets above {self.passes:,} bytes arrive only once the sender was told that they are too large"
            case SizeFinding.FRAGMENTS:
                return f"packets of up to {self.passes:,} bytes arrive, and fragments of larger ones do not"
            case SizeFinding.LOSS:
                return "some sizes were lost, and larger ones arrived"
            case SizeFinding.SILENT:
                return "packets of no size arrived"
            case _:
                assert_never(self.finding)

    @property
    def beside(self) -> str:
        """What TCP carries besides, if that was tried."""
        if self.streams is None:
            return ""
        return "64 KiB over TCP arrive" if self.streams else "64 KiB over TCP do not arrive either"
