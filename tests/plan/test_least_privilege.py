"""Least rights: what a run's own Pods request at every level of Pod Security."""

from dataclasses import replace
from typing import Any

import pytest

from nettests.model.check import Plan
from nettests.model.words import OS, Question, VantageKind
from nettests.plan import build
from nettests.plan.least_privilege import limited, pinging_pods
from nettests.plan.pod_security import USER, WINDOWS_USER, forbidden
from tests.manifests.shipped import flows
from tests.plan.clusters import alone, mixed

PLAIN: dict[str, Any] = {"containers": [{"name": "c"}], "initContainers": [{"name": "i"}]}
RUNTIME = {"type": "RuntimeDefault"}


def of_containers(spec: dict[str, Any]) -> list[Any]:
    """Return the contexts of all containers, those that prepare the Pod first."""
    return [one.get("securityContext") for one in (*spec["initContainers"], *spec["containers"])]


def test_on_linux_a_pod_is_nobody_and_holds_nothing() -> None:
    """It runs as a user without files, gains no rights, and drops every capability, in each of its containers."""
    made = limited(PLAIN, OS.LINUX)
    assert made["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": USER,
        "seccompProfile": RUNTIME,
    }
    nothing = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert of_containers(made) == [nothing, nothing]
    assert forbidden(made, OS.LINUX, "restricted") == ""


def test_what_pings_stays_root_and_keeps_one_capability() -> None:
    """Only root may use NET_RAW, which its runtime grants: all others are dropped by name, and none is added."""
    made = limited(PLAIN, OS.LINUX, pings=True)
    assert made["securityContext"] == {"seccompProfile": RUNTIME}
    for context in of_containers(made):
        assert context["capabilities"].keys() == {"drop"}
        assert "CHOWN" in context["capabilities"]["drop"]
        assert not {"ALL", "NET_RAW"} & set(context["capabilities"]["drop"])


def test_on_windows_a_pod_is_no_administrator() -> None:
    """Every Pod that writes no files names its user, residents and those of single checks."""
    made = limited(PLAIN, OS.WINDOWS)
    assert made["securityContext"] == {"windowsOptions": {"runAsUserName": WINDOWS_USER}}
    assert of_containers(made) == [None, None]


def test_a_pod_that_names_the_other_system_has_no_fields_of_its_node() -> None:
    """An API server refuses fields of Windows in a Pod that names Linux, wherever it is sent."""
    spec = PLAIN | {"os": {"name": "linux"}}
    assert limited(spec, OS.WINDOWS) == spec


@pytest.mark.parametrize(
    "own",
    [
        {"securityContext": {}},
        {"containers": [{"name": "c", "securityContext": {}}]},
        {"initContainers": [{"name": "i", "securityContext": {"runAsUser": 0}}]},
        {"containers": [{"name": "c", "image": "coredns:1"}]},
        {"initContainers": [{"name": "i", "image": "coredns:1"}]},
        {"os": {"name": "windows"}},
    ],
)
def test_what_says_something_of_rights_or_images_is_left_alone(own: dict[str, Any]) -> None:
    """It is what the check is about; fields of Linux are not for a Pod that names Windows."""
    spec = PLAIN | own
    assert limited(spec, OS.LINUX) == spec


def test_the_spec_that_was_given_stays_as_it_was() -> None:
    """Other Pods are made of the same one."""
    spec: dict[str, Any] = {"containers": [{"name": "c"}]}
    assert limited(spec, OS.LINUX) != spec
    assert spec == {"containers": [{"name": "c"}]}


def test_pods_that_ping_are_those_of_checks_and_of_controls() -> None:
    """A Pod that only proves something by an echo keeps the right as well; who sends none does not."""
    plan = alone(build(mixed(), flows()))
    pinging = pinging_pods(plan)
    checks = [check for check in plan.checks if check.action.question is Question.PING]
    assert {c.source.probe for c in checks if c.source.kind is VantageKind.POD} <= pinging
    egress = next(check for check in checks if check.flow == "icmp-egress" and check.controls)
    proof = next(c.action for c in egress.controls if c.action.question is Question.PING)
    only = pinging_pods(_of(plan, egress))
    assert {egress.source.probe, proof.source.probe} <= only
    quiet = next(check for check in plan.checks if check.flow == "pod-to-pod-ip")
    assert pinging_pods(_of(plan, quiet)) == frozenset()
    assert pinging_pods(_of(plan, replace(quiet, needs=("ping",)))) == {quiet.source.probe}


def _of(plan: Plan, *checks: Any) -> Plan:
    return replace(plan, checks=checks)


def test_a_vantage_of_another_dns_policy_brings_the_nodes_own_probe() -> None:
    """Chosen alone, its tools are calibrated all the same: at ports that the ordinary probe of the node serves."""
    due = alone(
        build(mixed(), [flow for flow in flows() if flow.name == "dns-policy-host-network"])
    )
    vantages = {one.source.probe: one.source.node for check in due.checks for one in check.each}
    served = {pod.node for pod in due.pods if pod.purpose == "node" and not pod.dns_policy}
    assert vantages
    assert {*vantages.values()} <= served
