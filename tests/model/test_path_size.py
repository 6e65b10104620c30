"""What is told of the sizes that a path carries."""

import pytest

from nettests.model.measured import PathSize, SizeFinding

TOLD = {
    SizeFinding.WHOLE: "packets of up to 1,400 bytes arrive",
    SizeFinding.HOLE: "packets above 1,400 bytes vanish, and smaller ones arrive",
    SizeFinding.CLAMP: "packets above 1,400 bytes arrive only once the sender was told that they are too large",
    SizeFinding.FRAGMENTS: "packets of up to 1,400 bytes arrive, and fragments of larger ones do not",
    SizeFinding.LOSS: "some sizes were lost, and larger ones arrived",
    SizeFinding.SILENT: "packets of no size arrived",
}


@pytest.mark.parametrize("finding", SizeFinding)
def test_each_finding_is_told(finding: SizeFinding) -> None:
    """A size is named where it says something, with its thousands apart."""
    assert str(PathSize(finding=finding, passes=1400, vanishes=1450)) == TOLD[finding]


@pytest.mark.parametrize(
    ("streams", "told"),
    [
        (None, ""),
        (True, "64 KiB over TCP arrive"),
        (False, "64 KiB over TCP do not arrive either"),
    ],
)
def test_what_tcp_carries_is_told_where_it_was_tried(streams: bool | None, told: str) -> None:
    """TCP cuts its segments to the interface: it may pass where datagrams do not."""
    size = PathSize(finding=SizeFinding.HOLE, passes=1400, vanishes=1450, streams=streams)
    assert size.over_tcp == told
