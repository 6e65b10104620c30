"""Checks that one run alone has say why the other has none, where its document tells it."""

from dataclasses import replace

import pytest

from nettests.compare.difference import UNTOLD, OnlyCheck, difference
from nettests.compare.recorded import End, RecordedCheck, RecordedRun
from nettests.model.words import OS, Verdict
from tests.compare.runs import quiet_run
from tests.facts import cluster_facts

FACTS = cluster_facts("win2019-l2bridge")
RUN = replace(quiet_run(FACTS), checks=(), incidents=())
CHECK = RecordedCheck(
    id="flow/windows-1/linux-1/other-node/tcp",
    flow="flow",
    verdict=Verdict.PASS,
    source=End(role="windows-1", os=OS.WINDOWS, node="win-1"),
    target=End(role="linux-1", os=OS.LINUX, node="linux-1"),
)


def skip(name: str, reason: str = "not here") -> RecordedCheck:
    return RecordedCheck(id=name, flow="flow", verdict=Verdict.SKIPPED, message=reason)


def only(other: RecordedRun, check: RecordedCheck = CHECK) -> OnlyCheck:
    found = difference(replace(RUN, checks=(check,)), other)
    (one,) = found.only_before
    return one


def test_a_flow_that_was_not_planned_is_named() -> None:
    """The other run left it out, or did not know it."""
    other = replace(CHECK, id="x/y", flow="x")
    assert only(replace(RUN, checks=(other,))).reason == "the other run did not plan the flow flow"


def test_a_node_pool_that_is_missing_is_named() -> None:
    """The pool comes before the flow: it explains all its checks."""
    nodes = tuple(one for one in FACTS.nodes if one.pool != "linux-1")
    other = replace(RUN, facts=replace(FACTS, nodes=nodes))
    assert only(other).reason == "the other run has no node pool linux-1"


def test_a_system_that_is_missing_is_named() -> None:
    """Checks of the fleet name systems instead of pools."""
    nodes = tuple(one for one in FACTS.nodes if one.os is OS.LINUX)
    other = replace(RUN, facts=replace(FACTS, nodes=nodes))
    fleet = replace(CHECK, source=End(os=OS.WINDOWS), target=End(os=OS.LINUX))
    assert only(other, fleet).reason == "the other run has no Windows node"


@pytest.mark.parametrize(
    "name",
    [
        "flow",
        "flow/windows-1",
        "flow/windows-1/linux-1/left-out",
        "flow/windows-1/linux-1/other-node/sampled",
    ],
)
def test_a_skip_that_stands_for_it_gives_its_reason(name: str) -> None:
    """A part of the matrix that the other run skipped as a whole."""
    other = replace(RUN, checks=(skip(name),))
    assert only(other).reason == "the other run skipped it: not here"


def test_the_nearest_skip_counts() -> None:
    """Of two that stand for it the one that says more."""
    other = replace(RUN, checks=(skip("flow", "far"), skip("flow/windows-1/linux-1", "near")))
    assert only(other).reason == "the other run skipped it: near"


@pytest.mark.parametrize("name", ["flow/linux-1", "flow/windows-1/windows-1/left-out"])
def test_a_skip_of_something_else_gives_no_reason(name: str) -> None:
    """Where nothing says why, that is said."""
    assert only(replace(RUN, checks=(skip(name),))).reason == UNTOLD


def test_whole_runs_tell_the_reason_of_nearly_all() -> None:
    """A cluster that gained two node pools: their checks say so, in both directions."""
    more = quiet_run(cluster_facts("mixed-builds"))
    found = difference(quiet_run(FACTS), more)
    reasons = [one.reason for one in found.only_after]
    assert sum("has no node pool windows-" in one for one in reasons) > 0.9 * len(reasons)
    back = difference(more, quiet_run(FACTS))
    assert [one.reason for one in back.only_before] == reasons
