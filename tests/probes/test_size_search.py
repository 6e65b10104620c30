"""The search for the largest packet: real echoes on loopback, which carries all, and paths that do not."""

import json
import re
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from nettests.model.channel import HttpAnswer
from nettests.model.check import Check, Control
from nettests.model.measured import SizeFinding
from nettests.model.words import Outcome, Protocol, Question, TargetKind
from nettests.parse.path_mtu import BYTES, STREAM
from nettests.probes.size_search import IN_FRAGMENTS, SIZES, first_sizes
from tests.probes.conftest import Bench
from tests.probes.made import action, check

PROBE = "probe-windows-1-1"
HEADERS = 28
TARGET = Control(proves="target", action=action(PROBE, TargetKind.POD_IP, Protocol.UDP))
LOST = HttpAnswer(
    status=200,
    body=json.dumps({"errors": ["read udp 10.244.3.5:5->10.244.1.5:18081: i/o timeout"]}),
)


def searching(mtu: int | None = 1500) -> Check:
    """Return a check that searches a path between Pods of an MTU."""
    probed = action(PROBE, TargetKind.POD_IP, Protocol.UDP)
    return check(replace(probed, question=Question.PATH_MTU, size=mtu), TARGET)


def carrying(bench: Bench, limit: int, *, told_after: int = 10**6, tcp: bool = False) -> None:
    """Lose echoes of more than ``limit`` bytes, until so many were lost; and large requests over TCP, unless they pass."""
    lost: list[int] = []

    def hook(path: str) -> HttpAnswer | None:
        query = {key: values[0] for key, values in parse_qs(urlsplit(path).query).items()}
        if query["protocol"] != "udp":
            return LOST if len(path) > limit and not tcp else None
        size = len(query["request"]) + HEADERS
        if size <= limit or len(lost) >= told_after:
            return None
        lost.append(size)
        return LOST

    bench.dialling[PROBE].hook = hook


def sizes(bench: Bench, probed: Check) -> list[str]:
    """Return which sizes were sent, in the journal's order."""
    return [raw.context[BYTES] for raw in bench.raws(probed.id) if BYTES in raw.context]


def test_a_path_that_carries_all_takes_one_round(bench: Bench) -> None:
    """Every size is sent once, nothing else, and the journal holds names in the place of payloads."""
    probed = searching()
    bench.observe(probed)
    assert sorted(map(int, sizes(bench, probed))) == sorted(first_sizes(1500))
    seen = bench.seen(probed)
    assert seen.path_size is not None
    assert (seen.outcome, seen.path_size.finding) == (Outcome.REPLIED, SizeFinding.WHOLE)
    raws = bench.raws(probed.id)
    assert {raw.purpose for raw in raws} == {"check"}
    assert all(re.search(r"payload\.\d+", raw.stdout) and len(raw.stdout) < 100 for raw in raws)


@pytest.mark.parametrize("limit", [1399, 1400, 1433, 1492, 600])
def test_a_hole_is_found_to_the_byte(bench: Bench, limit: int) -> None:
    """Two rounds between the largest that passed and the smallest that did not find the limit; controls pass."""
    carrying(bench, limit)
    probed = searching()
    bench.observe(probed)
    seen = bench.seen(probed)
    assert seen.path_size is not None
    found = seen.path_size
    assert (seen.outcome, found.finding) == (Outcome.TIMED_OUT, SizeFinding.HOLE)
    assert 0 <= limit - found.passes <= 3
    assert found.vanishes > limit
    assert [control.ok for control in seen.controls] == [True]
    assert sizes(bench, probed)[-1] == STREAM


def test_fragments_that_are_lost_are_told_from_a_hole_by_the_mtu(bench: Bench) -> None:
    """All that fits into the Pods' MTU passes: what is lost was sent in fragments."""
    carrying(bench, 1500)
    probed = searching(1500)
    bench.observe(probed)
    seen = bench.seen(probed)
    assert seen.path_size is not None
    assert (seen.outcome, seen.path_size.finding) == (Outcome.REPLIED, SizeFinding.FRAGMENTS)
    assert (seen.path_size.passes, seen.path_size.vanishes) == (1500, 1501)


def test_a_clamp_passes_once_the_sender_was_told(bench: Bench) -> None:
    """What was lost in the first round passes in the second: there is nothing to search for any more."""
    above = sum(size > 1400 for size in first_sizes(1500))
    carrying(bench, 1400, told_after=above)
    probed = searching()
    bench.observe(probed)
    seen = bench.seen(probed)
    assert seen.path_size is not None
    assert (seen.path_size.finding, seen.path_size.passes) == (SizeFinding.CLAMP, 1400)
    assert STREAM not in sizes(bench, probed)


def test_a_dead_path_is_not_searched(bench: Bench) -> None:
    """Where no size passes there is nothing to search between."""
    carrying(bench, 0)
    probed = searching()
    bench.observe(probed)
    assert len(sizes(bench, probed)) == len(first_sizes(1500))
    assert bench.seen(probed).outcome is Outcome.TIMED_OUT


@pytest.mark.parametrize(("mtu", "more"), [(None, set()), (1430, {1429, 1430}), (9001, set())])
def test_the_mtu_that_is_known_is_tried_too(mtu: int | None, more: set[int]) -> None:
    """Beside the usual sizes, that of the Pods' interfaces, unless agnhost's buffers do not hold it."""
    assert first_sizes(mtu) == {*SIZES, IN_FRAGMENTS, *more}
