"""Which sizes a path carries, from echoes: all, a hole, a clamp, or no fragments. Pure.

Used by ``observe`` for the answers of ``probes.size_search``. A size passes if it was answered at
least once; otherwise it is lost.
"""

from collections.abc import Sequence
from itertools import pairwise

from nettests.model.check import Check
from nettests.model.measured import PathSize, SizeFinding
from nettests.model.observation import Raw
from nettests.model.words import Question
from nettests.parse.read import positive

BYTES = "bytes"
"""The key in ``Raw.context`` for the size of the IP packet that was sent, or ``stream``."""
ACCIDENT = 1
"""One lost echo is tolerated; another check measures how much a path loses."""
ROUND = "round"
"""The key in ``Raw.context`` for the round in which it was sent, from 1."""
STREAM = "stream"
"""64 KiB over TCP."""


def read_sizes(check: Check, raws: Sequence[Raw]) -> PathSize | None:
    """Return which sizes the path carries; ``None`` if no answer has a size."""
    echoes = [
        (int(raw.context[BYTES]), raw) for raw in raws if raw.context.get(BYTES, STREAM) != STREAM
    ]
    if not echoes:
        return None
    passed = {size for size, raw in echoes if positive(raw, Question.REACH)}
    lost = {size for size, _ in echoes} - passed
    streams = [positive(raw, Question.REACH) for raw in raws if raw.context.get(BYTES) == STREAM]
    stream = streams[-1] if streams else None
    finding, largest = _finding(echoes, passed, lost)
    if finding is SizeFinding.HOLE and _splits_only(largest, check.action.size, stream):
        finding = SizeFinding.FRAGMENTS
    return PathSize(
        finding=finding,
        passes=largest,
        vanishes=min(lost, default=0),
        mtu=check.action.size,
        streams=stream,
    )


def _finding(
    echoes: Sequence[tuple[int, Raw]], passed: set[int], lost: set[int]
) -> tuple[SizeFinding, int]:
    """Return the finding, and the largest size that passed (in a clamp: unfragmented)."""
    if not passed:
        return SizeFinding.SILENT, 0
    largest = max(passed)
    if not lost:
        return _by_first_round(echoes, largest)
    return (SizeFinding.LOSS if min(lost) < largest else SizeFinding.HOLE), largest


def _splits_only(largest: int, mtu: int | None, streams: bool | None) -> bool:  # noqa: FBT001 - a value
    """Whether everything that was lost had been sent in fragments, as exceeding the sender's MTU.

    If that MTU is unknown, TCP decides, whose segments are not fragmented.
    """
    return largest >= mtu if mtu is not None else bool(streams)


def _by_first_round(echoes: Sequence[tuple[int, Raw]], largest: int) -> tuple[SizeFinding, int]:
    """Tell by the first round a path that needed "packet too big" from one that carries every size.

    After that message the sender fragments larger packets.
    """
    first = {
        size: positive(raw, Question.REACH) for size, raw in echoes if raw.context[ROUND] == "1"
    }
    late = [size for size, answered in first.items() if not answered]
    if len(late) <= ACCIDENT:
        return SizeFinding.WHOLE, largest
    at_once = sorted(first.items())
    falls = sum(before and not after for (_, before), (_, after) in pairwise(at_once))
    rises = any(not before and after for (_, before), (_, after) in pairwise(at_once))
    if falls != 1 or rises:
        return SizeFinding.LOSS, largest
    return SizeFinding.CLAMP, max(size for size, answered in at_once if answered)
