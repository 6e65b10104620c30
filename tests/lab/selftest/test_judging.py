"""A harness that overlooks a fault, blames others or names another cause fails the selftest."""

from dataclasses import replace
from typing import Any

import pytest

from nettests.lab.selftest.judging import Judged, Problem, judge
from nettests.lab.selftest.named_faults import Checks
from nettests.lab.selftest.runs import Incident, Run
from tests.lab.selftest.made import CAUSE, HEALTHY, PROFILE, fault, run


def judged(under: Run, left: tuple[str, ...] = (), **changes: object) -> Judged:
    """Judge a run under the usual fault."""
    return judge(fault(**changes), PROFILE, HEALTHY, under, left)


def test_a_fault_that_all_is_said_of_is_detected() -> None:
    """What must turned, nothing unrelated did, and the leading incident names the node."""
    found = judged(run("pod-to-pod-ip/a", "nodeport/a"))
    assert (found.word, found.detected, found.named) == ("detected", True, True)
    assert found.turned == (("pod-to-pod-ip", 1, 2), ("nodeport-from-external", 1, 1))


@pytest.mark.parametrize("verdict", ["fail", "flaky", "unknown", "lifted"])
def test_each_verdict_that_requests_attention_is_red(verdict: str) -> None:
    """Whatever somebody has to look at counts as noticed."""
    assert judged(run("pod-to-pod-ip/a", verdict=verdict)).detected


@pytest.mark.parametrize("verdict", ["pass", "limited", "recorded", "known-bug"])
def test_no_other_verdict_is(verdict: str) -> None:
    """A green run under a fault has overlooked it."""
    found = judged(run("pod-to-pod-ip/a", verdict=verdict))
    assert found.problems == (Problem.UNDETECTED,)
    assert found.missed == ("pod-to-pod-ip * → win-2",)


def test_what_must_turn_is_looked_at_one_by_one() -> None:
    """One declaration that nothing turned of is enough."""
    both = (Checks(flow="pod-to-pod-ip", target="win-2"), Checks(flow="dns-*"))
    found = judged(run("pod-to-pod-ip/a"), must=both)
    assert (found.problems, found.missed) == ((Problem.UNDETECTED,), ("dns-*",))


def test_an_unrelated_red_check_is_named() -> None:
    """A check that was neither to turn nor allowed to."""
    found = judged(run("pod-to-pod-ip/a", "pod-to-pod-ip/b"))
    assert (found.problems, found.unrelated) == ((Problem.UNRELATED,), ("pod-to-pod-ip/b",))
    assert found.detected


def test_another_cause_is_wrong() -> None:
    """The first incident counts, also if a later one says it."""
    other = Incident(cause="Cluster DNS does not answer", traits=(), checks=())
    found = judged(run("pod-to-pod-ip/a", incidents=(other, CAUSE)))
    assert (found.problems, found.cause) == (
        (Problem.WRONG_CAUSE,),
        "Cluster DNS does not answer",
    )
    assert judged(run("pod-to-pod-ip/a", incidents=())).problems == (Problem.WRONG_CAUSE,)


def test_a_cause_may_be_said_in_several_words_and_by_its_traits() -> None:
    """One of several words will do; all that are requested have to be there, whatever their case."""
    silent = replace(CAUSE, cause="Packets get no answer")
    found = run("pod-to-pod-ip/a", incidents=(silent,))
    assert judged(found, names=("WIN-2|win-1", "packets")).named
    assert not judged(found, names=("win-2", "udp")).named


def test_what_was_red_without_the_fault_is_no_news() -> None:
    """A check that is red in the healthy run neither detects nor disturbs."""
    sick = replace(HEALTHY, checks=run("pod-to-pod-ip/b").checks)
    found = judge(fault(), PROFILE, sick, run("pod-to-pod-ip/a", "pod-to-pod-ip/b"))
    assert found.word == "detected"


def test_a_declaration_of_nothing_is_a_mistake() -> None:
    """What must turn has to be checks that this profile runs."""
    found = judged(run("pod-to-pod-ip/a"), must=(Checks(flow="pod-to-pod-pi"),))
    assert Problem.MISDECLARED in found.problems
    assert not found.detected


def test_what_stays_red_without_the_fault_was_not_mended() -> None:
    """It is told apart from what the harness did."""
    assert judged(run("pod-to-pod-ip/a"), left=("pod-to-pod-ip/a",)).word == "not mended"


def test_a_run_without_results_has_noticed_nothing() -> None:
    """Whatever it ended with."""
    found = judged(Run(exit_code=2, seconds=900, problem="interrupted after 900 s"))
    assert found.problems == (Problem.BROKEN,)
    assert not found.detected
    assert found.detail == "interrupted after 900 s"


def test_a_blind_fault_is_no_problem_and_its_detection_is_said() -> None:
    """Unrelated checks and causes are not required of it."""
    assert judged(run(), blind="nothing looks", must=(), names=()).word == "blind"
    seen = judged(run("pod-to-pod-ip/b"), blind="nothing looks", must=(), names=())
    assert (seen.word, seen.problems) == ("blind, and detected", ())


RECOVERED: dict[str, Any] = {"recovered": "no end after", "must": (), "may": (), "names": ()}
TOLD = "probe probe-windows-1-1: no end after 8 s; run again: ping 10.0.0.1"


def test_a_run_recovers_if_all_is_green_and_an_event_says_what_it_got_over() -> None:
    """Nothing had to turn, and what happened is not passed over in silence."""
    found = judged(run(events=("a probe came up", TOLD)), **RECOVERED)
    assert (found.word, found.problems, found.detected) == ("recovered", (), True)


def test_a_recovery_of_which_no_event_speaks_is_a_problem() -> None:
    """A green run that met nothing, or hid it, proves no recovery."""
    found = judged(run(events=("a probe came up",)), **RECOVERED)
    assert (found.word, found.problems) == ("not told", (Problem.UNTOLD,))


def test_a_red_check_is_no_recovery() -> None:
    """Whatever the events say."""
    found = judged(run("pod-to-pod-ip/a", events=(TOLD,)), **RECOVERED)
    assert found.problems == (Problem.UNRELATED,)
    assert found.unrelated == ("pod-to-pod-ip/a",)


def with_members(*nodes: str) -> Run:
    """Return a run in which one check of many nodes is red, on these of them."""
    whole = replace(
        run("pod-to-pod-ip/a").checks[0], id="changed/a", flow="changed", source="", target=""
    )
    red = tuple(replace(whole, id=f"changed/a#{one}", source=one) for one in nodes)
    return replace(run(), checks=(replace(whole, members=red),), incidents=(CAUSE,))


def test_a_check_of_many_nodes_turns_where_its_members_do() -> None:
    """A member of the node that is broken has to be red, and one of another node is unrelated."""
    wanted = Checks(flow="changed", source="win-2")
    assert judged(with_members("win-2"), must=(wanted,)).word == "detected"
    found = judged(with_members("win-1"), must=(wanted,))
    assert (Problem.UNDETECTED in found.problems, found.missed) == (True, (str(wanted),))
    both = judged(with_members("win-1", "win-2"), must=(wanted,))
    assert both.unrelated == ("changed/a",)
