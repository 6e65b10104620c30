"""Several faults at once: which go together, and how a run under them is judged."""

from dataclasses import replace

import pytest

from nettests.lab.selftest.combining import JOINED, combined, restored
from nettests.lab.selftest.judging import Judged, Problem, judge
from nettests.lab.selftest.named_faults import Checks
from nettests.lab.selftest.runs import Incident
from tests.lab.selftest.made import CAUSE, CHECKS, HEALTHY, PROFILE, fault, run

SEEDS = range(40)


@pytest.mark.parametrize("profile", ["win2022-overlay-dsr", "antrea-transparent", "fleet"])
def test_a_seed_chooses_two_to_four_faults_of_a_profile(profile: str) -> None:
    """It chooses the same ones again, each at nodes of its own, and their names alone bring them back."""
    chosen = [combined(profile, seed) for seed in SEEDS]
    assert {len(each.parts) for each in chosen} == {2, 3, 4}
    for each in chosen:
        assert restored(each.name, profile) == each
        assert each.name.split(JOINED) == [part.name for part in each.parts]
        assert each.injections == tuple(one for part in each.parts for one in part.injections)
    assert combined(profile, 3) == chosen[3]
    assert len({each.name for each in chosen}) > len(SEEDS) / 2


def test_no_fault_of_a_combination_hides_another() -> None:
    """A node that is cut off has no other fault of its own; faults of the whole DNS do not come together."""
    for seed in SEEDS:
        parts = combined("win2022-overlay-dsr", seed).parts
        options = [part.injections[0].options for part in parts]
        for part, given in zip(parts, options, strict=True):
            if part.name.startswith(("node-cut-off", "other-vni")):
                assert sum(given["node"] in each.values() for each in options) == 1, part.name
        assert sum(part.name.startswith(("dns-down", "dns-loses")) for part in parts) <= 1


FIRST = fault(name="a@1")
SECOND = fault(name="b@1", must=(Checks(flow="dns-*"),), names=("dns",))


def judged(*incidents: Incident, red: tuple[str, ...] = ("pod-to-pod-ip/a", "names/a")) -> Judged:
    whole = replace(FIRST, name="a@1+b@1", must=(*FIRST.must, *SECOND.must), parts=(FIRST, SECOND))
    return judge(whole, PROFILE, HEALTHY, run(*red, incidents=incidents))


DNS = Incident(cause="Cluster DNS does not answer", traits=(), checks=("names/a",))
ECHO = Incident(cause="Another sentence", traits=(), checks=())


def test_each_fault_is_named_by_another_of_as_many_leading_incidents() -> None:
    """In whatever order; one that is named behind them counts as not named."""
    assert (judged(DNS, CAUSE).word, judged(CAUSE, DNS).parts_named) == ("detected", 2)
    late = judged(CAUSE, ECHO, DNS)
    assert (late.problems, late.parts_named, late.echoes) == ((Problem.WRONG_CAUSE,), 1, 1)
    assert judged(CAUSE, CAUSE).parts_named == 1


def test_each_fault_has_to_turn_something() -> None:
    """What one of them turned does not stand for the other."""
    half = judged(CAUSE, DNS, red=("pod-to-pod-ip/a",))
    assert (half.problems, half.missed) == ((Problem.UNDETECTED,), ("dns-*",))


def test_more_than_one_further_incident_a_fault_is_a_problem() -> None:
    """One cause that is told in many ways hides the others; checks that stand alone do not count."""
    assert judged(CAUSE, DNS, ECHO, ECHO).word == "detected"
    assert judged(CAUSE, DNS, ECHO, ECHO, ECHO).problems == (Problem.ECHOED,)
    alone = replace(ECHO, explained=False)
    assert judged(CAUSE, DNS, alone, alone, alone).word == "detected"


@pytest.mark.parametrize(
    ("traits", "passing", "contradicted"),
    [
        ((("remote-node", "win-2"),), "linux-1 → win-2", True),
        ((("remote-node", "win-2"),), "win-2 → win-2", False),
        ((("remote-node", "win-2"),), "linux-1 → win-1", False),
        ((("remote-node", "win-2"), ("protocol", "udp")), "linux-1 → win-2", False),
        ((("direction", "win-1 → win-2"),), "win-2 → win-1", False),
        ((("link", "win-1 ↔ win-2"),), "win-2 → win-1", True),
        ((("remote-node", "win-2"), ("target", "Pod")), "linux-1 → win-2", False),
    ],
)
def test_a_cause_is_contradicted_by_a_pair_that_passed(
    traits: tuple[tuple[str, str], ...], passing: str, contradicted: bool
) -> None:
    """Where it says that nothing passes between nodes, and a Pod of one reached a Pod of the other."""
    checks = (replace(CHECKS[1], protocol="tcp", passing=(passing,)), CHECKS[0])
    under = replace(run("pod-to-pod-ip/a"), incidents=(replace(CAUSE, traits=traits),))
    under = replace(under, checks=(*checks, *under.checks))
    judgement = judge(fault(), PROFILE, HEALTHY, under)
    assert (Problem.CONTRADICTED in judgement.problems) is contradicted
