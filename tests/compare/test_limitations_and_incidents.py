"""Limitations that came, went or moved, and incidents that are new, gone or still there."""

from dataclasses import replace

from nettests.compare.difference import Moved, difference
from nettests.compare.recorded import RecordedRun
from nettests.model.words import Outcome
from nettests.report.results import Incident
from tests.compare.runs import but, quiet_run, recorded, results
from tests.facts import cluster_facts

OLD, NEW = cluster_facts("win2019-l2bridge"), cluster_facts("win2022-l2bridge-dsr")
QUIET = quiet_run(OLD)
SHOW_SOURCES = {"dsr-source-address", "witnessed-service"}
"""Flows of Services in which servers see another source address without DSR."""


def test_limitations_come_and_go_with_their_facts() -> None:
    """DSR takes the one about source addresses away, and leaves another one open: each with its checks and causes."""
    found = {one.id: one for one in difference(QUIET, quiet_run(NEW)).limitations}
    went = found["dsr-source-ip-non-dsr"]
    assert (went.what, went.gained, went.with_checks) == (Moved.WENT, (), False)
    assert {one.partition("/")[0] for one in went.lost} == SHOW_SOURCES
    assert [str(one) for one in went.causes] == ["source DSR: off → on"]
    assert went.sources
    assert {one.what for one in found.values()} >= {Moved.CAME, Moved.WENT}


def test_the_other_way_round_they_go_and_come() -> None:
    """What came one way went the other way, with the same checks."""
    there = {one.id: one for one in difference(QUIET, quiet_run(NEW)).limitations}
    back = {one.id: one for one in difference(quiet_run(NEW), QUIET).limitations}
    mirror = {Moved.CAME: Moved.WENT, Moved.WENT: Moved.CAME, Moved.MOVED: Moved.MOVED}
    assert {name: mirror[one.what] for name, one in there.items()} == {
        name: one.what for name, one in back.items()
    }
    assert all((one.gained, one.lost) == (back[n].lost, back[n].gained) for n, one in there.items())


def without(run: RecordedRun, limitation: str, *, keep: int) -> RecordedRun:
    """The run with only the first checks that a limitation decides left to it."""
    checks, left = [], keep
    for check in run.checks:
        if check.limitation_id == limitation:
            left -= 1
            checks.append(check if left >= 0 else replace(check, limitation=None))
        else:
            checks.append(check)
    return replace(run, checks=tuple(checks))


def test_a_limitation_that_decides_fewer_checks_moved() -> None:
    """It is still there, and the checks that it no longer decides are named."""
    (moved,) = difference(QUIET, without(QUIET, "dsr-source-ip-non-dsr", keep=2)).limitations
    assert (moved.what, moved.gained) == (Moved.MOVED, ())
    decided = [one for one in QUIET.checks if one.limitation_id == "dsr-source-ip-non-dsr"]
    assert len(moved.lost) == len(decided) - 2


def test_a_limitation_of_checks_that_one_run_alone_has_came_with_them() -> None:
    """An added pool brings its limitations; those that decide more of the same kind did not move."""
    fewer = [one for one in QUIET.checks if one.flow not in SHOW_SOURCES]
    (came,) = difference(replace(QUIET, checks=tuple(fewer)), QUIET).limitations
    assert (came.id, came.what, came.with_checks) == ("dsr-source-ip-non-dsr", Moved.CAME, True)
    gone = tuple(f"{flow}/windows-1/w" for flow in SHOW_SOURCES)
    some = [one for one in QUIET.checks if not one.id.startswith(gone)]
    assert len(some) < len(QUIET.checks)
    assert difference(replace(QUIET, checks=tuple(some)), QUIET).limitations == ()


def with_incidents(*incidents: Incident) -> RecordedRun:
    return replace(QUIET, checks=(), incidents=incidents)


def incident(cause: str, *checks: str, explained: bool = True, node: str = "win-1") -> Incident:
    return Incident(
        cause=cause,
        traits={"node": node},
        checks=checks,
        next_step="look",
        explained=explained,
    )


def test_an_incident_is_joined_by_cause_and_traits() -> None:
    """The same cause at another node is another incident; more checks of the same are not."""
    before = with_incidents(incident("a", "1"), incident("b", "2"))
    after = with_incidents(incident("a", "1", "3"), incident("b", "2", node="win-2"))
    found = [
        (one.what, one.cause, len(one.checks_after)) for one in difference(before, after).incidents
    ]
    assert found == [("same", "a", 2), ("new", "b", 1), ("gone", "b", 0)]


def test_what_nothing_explains_is_joined_by_its_checks() -> None:
    """Its words are those of one run."""
    before = with_incidents(incident("expected x, observed y at 10.0.0.1", "1", explained=False))
    after = with_incidents(incident("expected x, observed y at 10.0.0.2", "1", explained=False))
    assert [one.what for one in difference(before, after).incidents] == ["same"]


def test_an_incident_of_a_real_fault_is_new_and_then_gone() -> None:
    """A cluster whose Windows nodes stop reaching Linux Pods has one new incident; repaired, it is gone."""
    broken = recorded(results(OLD, but("pod-to-pod-ip", Outcome.TIMED_OUT, "windows-1/linux-1")))
    (new,) = difference(QUIET, broken).incidents
    assert (new.what, new.checks_before) == ("new", ())
    assert {one.partition("/")[0] for one in new.checks_after} == {"pod-to-pod-ip"}
    (gone,) = difference(broken, QUIET).incidents
    assert (gone.what, gone.checks_before) == ("gone", new.checks_after)
