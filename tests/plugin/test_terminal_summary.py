"""The last lines of a run name the nodes or the pairs that an incident is about."""

from dataclasses import replace
from pathlib import Path

from nettests.parse.unread import Unread
from nettests.plugin.reporter import NAMED, SHOWN, _incident_lines, _unread
from nettests.report import build_results
from tests.report.sweep import swept
from tests.report.test_members import one_way

CHECK = "pod-to-pod-ip/windows-1/linux-1/other-node/tcp"


def test_each_check_of_the_fleet_is_told_with_its_members() -> None:
    """Who reads nothing but the terminal knows which pair to look at."""
    results = swept(one_way)
    lines = [line for line, _ in _incident_lines(results.incidents[0], results)]
    assert lines[0] == (
        "Packets from win-3 to linux-2 get no answer: 6 checks (6 fail), at 1 node or pair of nodes"
    )
    assert f"  fail {CHECK}: win-3 → linux-2" in lines


def test_of_many_members_the_first_are_named() -> None:
    """A node that is dead has dozens: a line stays a line."""
    results = swept(one_way)
    labels = [f"win-{number} → linux-2" for number in range(1, 9)]
    many = replace(results.incidents[0], members=tuple(f"{CHECK}#{label}" for label in labels))
    lines = [line for line, _ in _incident_lines(many, results)]
    assert f"  fail {CHECK}: {', '.join(labels[:NAMED])}, … and {8 - NAMED} more" in lines


def test_texts_that_no_parser_knows_are_told_with_the_command() -> None:
    """Tool, system and text of the first ones, how many more there are, and how to send them."""
    one = Unread(tool="ping", client_os="windows", text="Zeit\nüberschreitung", checks=("a/b",))
    results = replace(build_results(()), unread=(one,) * (SHOWN + 2))
    lines = [line for line, _ in _unread(results, Path("reports/x"))]
    assert lines[0] == f"{SHOWN + 2} tool answers not understood, in 1 check:"
    assert lines[1] == "  ping on windows: Zeit überschreitung"
    assert lines[-2] == "  … and 2 more, in the report"
    assert "nettests export reports/x" in lines[-1]
    assert [*_unread(build_results(()), Path("x"))] == []
