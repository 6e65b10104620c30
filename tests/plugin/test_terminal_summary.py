"""The last lines of a run name the nodes or the pairs that an incident is about."""

from nettests.model.words import OS
from nettests.plugin.terminal_summary import NAMED, _told
from tests.report.sweep import swept
from tests.report.test_members import dead, one_way


def test_each_check_of_the_fleet_is_told_with_its_members() -> None:
    """Who reads nothing but the terminal knows which pair to look at."""
    results = swept(one_way)
    lines = [line for line, _ in _told(results.incidents[0], results)]
    assert lines[0] == (
        "Packets from node win-3 → linux-2 get no answer: 4 checks (4 fail), 4 members"
    )
    assert "  fail fleet-pod-to-pod/windows/linux/tcp: win-3 → linux-2" in lines


def test_of_many_members_the_first_are_named() -> None:
    """A node that is dead has dozens: a line stays a line."""
    results = swept(
        lambda action: dead(action) and {action.source.os, action.target.os} == {OS.WINDOWS}
    )
    lines = [line for line, _ in _told(results.incidents[0], results)]
    (told,) = (one for one in lines if "fleet-nodeport/windows/windows/tcp" in one)
    assert told.count(" → ") == NAMED
    assert told.endswith(f", … and {14 - NAMED} more")
