"""Strips and charts: each run has its cell in one common column, and axes hold what they show."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.history.drawing import (
    HEIGHT,
    NARROWEST,
    STRIP,
    WIDE,
    WIDEST,
    Columns,
    counts_chart,
    durations_chart,
    nice_top,
    strip,
    ticks,
    worst,
)
from nettests.history.trends import ClusterHistory, ReadRun, history_of
from nettests.model.words import Verdict
from tests.history.story import NIGHTS, altered, nights, whole

VERDICTS = st.lists(st.sampled_from([*Verdict, None]), min_size=1, max_size=60)
# sample: "M48 0h24v20h-24z"
RECTANGLE = re.compile(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z")
ACCEPTED = {Verdict.PASS, Verdict.LIMITED, Verdict.RECORDED, Verdict.KNOWN_BUG}


def rectangles(path: str) -> list[tuple[float, float, float, float]]:
    """Return left, top, width and height of what a path draws."""
    assert RECTANGLE.sub("", path) == ""
    return [(float(a), float(b), float(c), float(d)) for a, b, c, d in RECTANGLE.findall(path)]


@pytest.mark.parametrize("number", [1, 30, 33, 34, 100, 365, 1000])
def test_columns_are_as_wide_as_there_is_room(number: int) -> None:
    """Neither wider than a cell looks good nor narrower than one can be seen."""
    columns = Columns(number=number)
    assert NARROWEST <= columns.pitch <= WIDEST
    assert columns.width <= max(WIDE + number * 0.01, NARROWEST * number)
    assert columns.left(number - 1) < columns.middle(number - 1) < columns.width
    assert columns.lines.count("M") == number - 1


@given(VERDICTS)
def test_every_run_has_exactly_one_cell_of_its_verdict(verdicts: list[Verdict | None]) -> None:
    """Cells of a strip cover the runs that planned the check, each once, and no others."""
    columns = Columns(number=len(verdicts))
    cells: dict[int, str] = {}
    for layer in strip(verdicts, columns).layers:
        for left, top, wide, high in rectangles(layer.squares):
            assert (top, high) == (0, STRIP)
            for at in range(round(left / columns.pitch), round((left + wide) / columns.pitch)):
                assert at not in cells
                cells[at] = layer.name
    expected = {
        at: "good" if one in ACCEPTED else one.value for at, one in enumerate(verdicts) if one
    }
    assert cells == expected


def test_verdicts_are_told_apart_by_shape_too() -> None:
    """What is not as documented has a sign of its own, for who does not tell colours apart."""
    odd = [one for one in Verdict if one not in ACCEPTED]
    layers = strip([*odd, Verdict.PASS], Columns(number=6)).layers
    signs = {one.name: re.sub(r"M[\d.]+ \d+", "", one.shapes, count=1) for one in layers}
    assert signs.pop("good") == ""
    assert len(set(signs.values())) == len(odd)
    assert all(signs.values())


def test_narrow_cells_have_no_signs() -> None:
    """They would run into each other; colours differ in lightness as well."""
    layers = strip([Verdict.FAIL] * 200, Columns(number=200)).layers
    assert [one.shapes for one in layers] == [""]


def test_good_nights_beside_each_other_are_one_rectangle() -> None:
    """A year in order is a hundred bytes."""
    (layer,) = strip([Verdict.PASS] * 365, Columns(number=365)).layers
    assert len(rectangles(layer.squares)) == 1


def test_the_worst_of_a_flow_hides_nothing() -> None:
    """In each run the most urgent verdict of its checks; what was skipped is worth least."""
    one = (Verdict.PASS, Verdict.SKIPPED, Verdict.UNKNOWN, None, None)
    other = (Verdict.FAIL, Verdict.PASS, Verdict.FLAKY, Verdict.LIMITED, None)
    assert worst([one, other]) == [
        *(Verdict.FAIL, Verdict.PASS, Verdict.UNKNOWN, Verdict.LIMITED, None),
    ]


def test_bars_are_as_high_as_their_counts() -> None:
    """Eight red checks are half of an axis of twenty, in the column of their run."""
    columns = Columns(number=NIGHTS)
    chart = counts_chart(whole(), columns)
    (fail,) = chart.bars
    assert fail.name == "fail"
    red = [sum(one.verdicts[at] is Verdict.FAIL for one in whole().checks) for at in range(NIGHTS)]
    top = float(chart.grid[-1].text)
    bars = {round(left // columns.pitch): high for left, _, _, high in rectangles(fail.path)}
    assert bars == {
        at: pytest.approx(HEIGHT * count / top, abs=0.1) for at, count in enumerate(red) if count
    }


def test_bars_of_one_run_stand_on_each_other() -> None:
    """Failed, flaky and unknown checks of a run are one stack, no higher than the chart."""
    run = whole().runs[0]
    kinds = (Verdict.FAIL, Verdict.FLAKY, Verdict.FLAKY, Verdict.UNKNOWN)
    checks = tuple(replace(one, verdict=kind) for one, kind in zip(run.run.checks, kinds, strict=False))  # fmt: skip
    chart = counts_chart(of(replace(run, run=replace(run.run, checks=checks))), Columns(number=1))
    boxes = [rectangles(one.path)[0] for one in chart.bars]
    assert [one.name for one in chart.bars] == ["fail", "flaky", "unknown"]
    ends = [(top, top + high) for _, top, _, high in boxes]
    assert ends[0][1] == HEIGHT
    assert [upper[1] for upper in ends[1:]] == pytest.approx([lower[0] for lower in ends[:-1]])
    assert ends[-1][0] >= 0


def of(*runs: ReadRun) -> ClusterHistory:
    (found,) = history_of(runs).clusters
    return found


@pytest.mark.parametrize("seconds", [None, -5.0])
def test_a_run_whose_duration_is_not_known_is_a_gap_in_the_line(seconds: float | None) -> None:
    """It has no end, or the clock was set back while it ran: it did not take zero seconds."""
    runs = nights(range(5))
    runs[2] = altered(runs[2], seconds=seconds)
    chart = durations_chart(runs, Columns(number=5))
    assert chart.line.count("M") == chart.area.count("z") == 2
    assert len(chart.dots) == 4


def test_durations_are_read_at_the_axis() -> None:
    """Each dot stands at its seconds between zero and the end of the axis; long runs are told in minutes."""
    runs = [altered(one, seconds=at * 100.0) for at, one in enumerate(nights(range(1, 6)), 1)]
    chart = durations_chart(runs, Columns(number=5))
    assert [line.text for line in chart.grid] == ["5 min", "10 min"]
    assert [y for _, y in chart.dots] == pytest.approx([HEIGHT * (1 - at / 6) for at in range(1, 6)], abs=0.01)  # fmt: skip
    short = durations_chart(nights(range(3)), Columns(number=3))
    assert [line.text for line in short.grid] == ["20 s", "40 s"]


def test_runs_that_all_broke_off_have_an_empty_chart() -> None:
    """No division by what is not there."""
    runs = [altered(one, seconds=None) for one in nights(range(3))]
    chart = durations_chart(runs, Columns(number=3))
    assert (chart.line, chart.dots) == ("", ())
    assert counts_chart(of(nights([0])[0]), Columns(number=1)).bars == ()


@given(st.floats(min_value=0, max_value=1e7, allow_nan=False))
def test_an_axis_ends_above_what_it_shows(largest: float) -> None:
    """And not so far above that nothing is seen of it."""
    top = nice_top(largest)
    assert top >= largest
    assert largest < 0.01 or top <= largest * 2.5
    assert nice_top(largest, whole=True) >= 2


@pytest.mark.parametrize("number", [1, 2, 9, 10, 30])
def test_dates_stand_below_their_runs_and_beside_each_other(number: int) -> None:
    """The newest run always has its date; no date touches the next."""
    columns = Columns(number=number)
    found = list(ticks(nights(range(number)), columns))
    assert found[0].text == nights([number - 1])[0].run.run.started[5:10]
    places = [one.x for one in found]
    assert all(left - right >= 24 for left, right in pairwise(places))
    assert len(found) <= 9
