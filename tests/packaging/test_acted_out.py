"""What the scripts that act upgrades and nights out take for good: everything as forecast or explained, and nothing besides."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from scripts import nights, upgrade
from scripts.nights import SWINGS, TIMES, HistoryTurn
from scripts.upgrade import STEPS, Compared

FINE: dict[str, Any] = {
    "worse": [],
    "unexplained": [],
    "warnings": [],
    "incidents": [{"what": "gone", "cause": "win-1 is cut off"}],
    "forecast": {
        "changes": {
            "predicted": ["a", "b"],
            "explained": ["c"],
            "unexplained": [],
            "not-judged": [],
        },
        "missed": [],
        "facts": [],
        "warnings": [],
    },
}
MISSED = {"id": "a", "forecast": "lifts", "seen": "limited", "why": "it still shows"}
FACT = {"name": "build", "pool": "windows-1", "before": "17763.1", "after": "20348.1"}


def compared(**forecast: object) -> Compared:
    """Return a comparison whose document differs from a good one in a part of the forecast."""
    document = {**FINE, "forecast": {**FINE["forecast"], **forecast}}
    return upgrade.read_compared("windows", json.dumps(document))


def test_what_was_predicted_or_explained_is_as_forecast() -> None:
    """The line has the figures, without those that are none."""
    found = compared()
    assert found.as_forecast
    assert list(found.lines()) == ["windows: 1 explained, 2 predicted, 0 worse"]


@pytest.mark.parametrize(
    ("forecast", "said"),
    [
        ({"missed": [MISSED]}, "missed: a: lifts; limited; it still shows"),
        ({"changes": {"predicted": [], "unexplained": ["x"]}}, "unexplained: x"),
        ({"facts": [FACT]}, "facts: windows-1 build: 17763.1 → 20348.1"),
        ({"warnings": ["of another cluster"]}, "warnings: of another cluster"),
    ],
)
def test_whatever_was_not_forecast_is_told(forecast: dict[str, object], said: str) -> None:
    """A prediction that was missed, a change that nothing explains, another fact, a warning."""
    found = compared(**forecast)
    assert not found.as_forecast
    assert f"  {said}" in found.lines()


def test_of_many_some_are_told_and_new_causes_before_them() -> None:
    """A fault that breaks fifty checks is one line of its cause."""
    many = replace(compared(), worse=tuple("abcdefg"), incidents=("no route",))
    assert list(many.lines())[1:] == [
        "  incidents: no route",
        *(f"  worse: {one}" for one in "abcd"),
        "  worse: … and 3 more",
    ]


def test_no_change_at_all_is_not_as_forecast() -> None:
    """An upgrade that shows nothing was none."""
    assert not compared(changes={"predicted": []}).as_forecast


def test_a_new_failure_is_not_as_forecast() -> None:
    """Also where a fact explains it: documents expect the change, and it did not come."""
    assert not replace(compared(), worse=("a",)).as_forecast


@pytest.mark.parametrize(
    ("beside", "unexplained", "alone", "good"),
    [
        (["a", "b"], ["a"], ["b", "a"], True),
        (["a", "b"], ["a"], ["a"], False),
        (["a"], ["a"], ["a", "b"], False),
        (["a"], ["c"], ["a"], False),
        ([], [], [], False),
    ],
)
def test_a_fault_is_the_only_new_failure(
    beside: Sequence[str], unexplained: Sequence[str], alone: Sequence[str], *, good: bool
) -> None:
    """Beside the upgrade exactly that is worse which it makes worse by itself, and that is something."""
    one = replace(compared(), worse=tuple(beside), unexplained=tuple(unexplained))
    assert upgrade.fault_alone(one, replace(one, worse=tuple(alone))) is good


def test_the_steps_are_those_of_the_issue() -> None:
    """A new Windows, DSR, an overlay and ten minors, each under a name of its own."""
    assert [one.name for one in STEPS] == ["windows", "dsr", "vxlan", "kubernetes"]


LOST_ROUTE = HistoryTurn(
    state="red",
    first_bad=11,
    flows=frozenset({"pod-to-pod-ip"}),
    checks=("pod-to-pod-ip/linux-1/windows-1/other-node/tcp",),
    reds=frozenset(range(11, 31)),
    facts=("windows-1 build: 17763.1339 → 17763.6532",),
    explained=frozenset({"unexplained"}),
)
NO_DSR = replace(
    LOST_ROUTE,
    first_bad=21,
    flows=frozenset({"dsr-source-address"}),
    facts=("windows-1 DSR: off → on",),
    explained=frozenset({"explained"}),
)
FLAKY = replace(
    LOST_ROUTE,
    state="flaky",
    first_bad=4,
    checks=("pod-to-pod-ip/linux-1/linux-1/other-node/udp",),
    reds=SWINGS,
    facts=(),
)


def test_both_changes_and_the_flaky_path_are_all_that_is_missing() -> None:
    """With them nothing is."""
    assert list(nights.missing([LOST_ROUTE, NO_DSR, FLAKY])) == []
    assert len(list(nights.missing([]))) == 3
    assert [one.first for one in TIMES] == [1, 11, 21]


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        ([replace(LOST_ROUTE, first_bad=12), NO_DSR, FLAKY], "not told: red since night 11"),
        ([LOST_ROUTE, NO_DSR, FLAKY, replace(FLAKY, first_bad=9)], "told besides: flaky since night 9"),
        ([replace(LOST_ROUTE, checks=("pod-to-pod-ip/linux-1/linux-1/other-node/tcp",)), NO_DSR, FLAKY], "only paths to win-1"),
        ([replace(LOST_ROUTE, facts=()), NO_DSR, FLAKY], "the changed build is named"),
        ([LOST_ROUTE, replace(NO_DSR, explained=frozenset({"unexplained"})), FLAKY], "DSR explains it"),
        ([LOST_ROUTE, NO_DSR, replace(FLAKY, reds=frozenset({4, 9}))], "it was red on its nights"),
    ],
)  # fmt: skip
def test_what_a_history_does_not_tell_or_tells_besides_is_said(
    turns: Sequence[HistoryTurn], said: str
) -> None:
    """Another night, another path, another reason: each is named."""
    assert any(said in line for line in nights.missing(turns))


def test_turns_are_read_from_the_document_with_nights_from_one() -> None:
    """Red runs of all checks of a turn are its nights."""
    check = {
        "id": "pod-to-pod-ip/a",
        "flow": "pod-to-pod-ip",
        "verdicts": ["pass", "fail", None, "flaky"],
        "why": {"explained": "unexplained"},
    }
    turn = {"state": "red", "first_bad": 1, "checks": ["pod-to-pod-ip/a"], "facts": [FACT]}
    document = {"clusters": [{"turns": [turn], "checks": [check]}], "left_out": []}
    (found,) = nights.read_turns(json.dumps(document))
    assert (found.first_bad, found.reds) == (2, frozenset({2, 4}))
    assert str(found) == (
        "red since night 2: 1 checks of pod-to-pod-ip, unexplained; changed facts:"
        " windows-1 build: 17763.1 → 20348.1"
    )


def test_a_history_of_several_clusters_is_refused() -> None:
    """The nights are of one, or the script is wrong."""
    with pytest.raises(SystemExit, match="not of one cluster"):
        list(nights.read_turns('{"clusters": [], "left_out": []}'))
