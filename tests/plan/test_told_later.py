"""Checks of a kube-proxy that is no Pod are planned before its node has told of it."""

from dataclasses import replace
from typing import Any

from nettests.model.facts import Fact, known, unknown
from nettests.model.words import OS
from nettests.plan import build, load
from nettests.resources import suites_path
from tests.facts import cluster_facts

FLOWS = (
    "kube-proxy-on-host",
    "hns-configuration",
    "hns-load-balancers",
    "kube-proxy-configuration",
)


def planned(as_pod: Fact[bool]) -> tuple[set[str], dict[str, str]]:
    """Return cases that are run, and why others are not, where no object tells of kube-proxy on Windows."""
    facts = cluster_facts("win2022-overlay-dsr")
    why: Fact[Any] = unknown("no kube-proxy Pod runs")
    told: dict[str, Any] = {"mode": why, "dsr": why, "version": why, "as_pod": as_pod}
    nodes = tuple(
        replace(one, kube_proxy=replace(one.kube_proxy, **told)) if one.os is OS.WINDOWS else one
        for one in facts.nodes
    )
    flows = load([suites_path()]).select(list(FLOWS)).flows
    plan = build(replace(facts, nodes=nodes), flows)
    skipped = {one.id: one.reason for one in plan.skips}
    return {check.id.split("/")[-1] for check in plan.checks}, {
        name.split("/")[-1]: reason for name, reason in skipped.items()
    }


def test_rules_on_the_node_are_run_and_those_about_a_pod_are_not() -> None:
    """What the mode decides is decided once the node has told it."""
    run, skipped = planned(known(value=False, origin="no kube-proxy Pod runs"))
    assert {"host-proxy-mode", "host-proxy-dsr-gate", "hns-network", "load-balancers"} <= run
    assert "no kube-proxy Pod runs" in skipped["hostname-override"]
    assert "antrea" in skipped["antrea-alone-on-host"]


def test_where_pods_could_not_be_listed_nothing_is_run_on_the_host() -> None:
    """There may be a Pod."""
    run, skipped = planned(unknown("pods is forbidden"))
    assert not run & {"host-proxy-mode", "hns-network", "load-balancers"}
    assert "pods is forbidden" in skipped["host-proxy-mode"]
