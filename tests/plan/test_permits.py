"""What an identity may not do is left out with the permission's name, and nothing else is."""

from collections import Counter
from dataclasses import replace

import pytest

from nettests.model.check import Check
from nettests.model.facts import ClusterFacts
from nettests.model.permission import RUN, reviewed
from nettests.model.versions import KubernetesVersion
from nettests.model.words import CheckClass, Question, VantageKind
from nettests.plan import build, load
from nettests.plan.permissions import needed
from nettests.resources import suites_path
from nettests.rules import RULES
from nettests.rules.node import NODE
from tests.plan.clusters import mixed

FLOWS = load([suites_path()]).flows
NOTHING_LEFT = "no way to a probe is left"


def probed(facts: ClusterFacts) -> dict[str, Check]:
    """Return the checks that are run on a cluster, by id."""
    return {check.id: check for check in build(facts, FLOWS).checks}


def reasons(facts: ClusterFacts) -> dict[str, str]:
    """Return what is left out, with why."""
    return {skip.id: skip.reason for skip in build(facts, FLOWS).skips}


@pytest.mark.parametrize(
    "permission",
    [
        str(one)
        for one in reviewed(KubernetesVersion(1, 20), (), own_namespace=True)
        if one.namespace == RUN
    ],
)
def test_a_denied_permission_costs_exactly_what_needs_it(permission: str) -> None:
    """Each check that is left out needs the permission, and is left out in its name."""
    whole = probed(mixed())
    left = probed(replace(mixed(), denied=(permission,)))
    why = reasons(replace(mixed(), denied=(permission,)))
    gone = whole.keys() - left.keys()
    needing = {
        check_id
        for check_id, check in whole.items()
        if permission in map(str, needed(check.each[0].action, mixed()))
    }
    assert gone == needing
    assert {why[check_id] for check_id in gone} <= {f"this identity may not {permission}"}


def test_who_may_list_no_events_tests_no_restart() -> None:
    """Without them nothing tells for what the kubelet restarted a container."""
    flows = [flow for flow in FLOWS if flow.name == "pod-restarting-probes"]
    enabled = frozenset({CheckClass.COSTLY})
    whole = build(mixed(), flows, enabled)
    left = build(replace(mixed(), denied=("list events",)), flows, enabled)
    gone = {one.id for one in whole.checks} - {one.id for one in left.checks}
    assert gone
    assert all("liveness" in one or "startup" in one for one in gone)
    assert left.checks


MADE = {
    "daemonsets": "daemon-set-pod",
    "jobs": "job-completion",
    "cronjobs": "cron-job-schedule",
}


def of_costly(facts: ClusterFacts) -> tuple[set[str], dict[str, str]]:
    """Return the flows that are run with everything costly, and why others are not."""
    plan = build(facts, FLOWS, frozenset({CheckClass.COSTLY}))
    return {one.flow for one in plan.checks}, {one.flow: one.reason for one in plan.skips}


@pytest.mark.parametrize("verb", ["create", "list", "delete"])
@pytest.mark.parametrize("kind", MADE)
def test_an_object_that_makes_pods_has_to_be_made_found_and_removed(kind: str, verb: str) -> None:
    """Otherwise its Pods would come again after the run, for ever."""
    facts = replace(mixed(), server_version=KubernetesVersion(1, 33))
    whole, _ = of_costly(facts)
    left, why = of_costly(replace(facts, denied=(f"{verb} {kind}",)))
    assert whole - left == {MADE[kind]}
    assert why[MADE[kind]] == f"this identity may not {verb} {kind}"


def test_only_a_roll_out_changes_a_deployment() -> None:
    """And attach opens a stream of its own; without events nobody knows why an object has no Pod."""
    facts = replace(mixed(), server_version=KubernetesVersion(1, 33))
    whole, _ = of_costly(facts)
    for denied, gone in (
        ("update deployments", {"deployment-rollout"}),
        ("create deployments", {"deployment-rollout", "pod-anti-affinity"}),
        ("get pods/attach", {"pod-attach"}),
        (
            "list events",
            {*MADE.values(), "deployment-rollout", "pod-anti-affinity"},
        ),
    ):
        left, _ = of_costly(replace(facts, denied=(denied,)))
        assert whole - left == gone, denied


def test_cron_jobs_are_left_out_where_the_api_does_not_serve_them() -> None:
    """Before 1.21 they were of another version."""
    _, why = of_costly(mixed())
    assert why["cron-job-schedule"] == "Kubernetes 1.20.0 has no CronJobs of version v1: 1.21.0 has"


def test_a_rule_about_pods_brings_one_where_it_may() -> None:
    """Alone it would find no Pod on a node that nobody uses; who may make none looks at those of others."""
    flows = [flow for flow in FLOWS if flow.name == "windows-pod-families"]
    whole = build(mixed(), flows)
    assert [pod.purpose for pod in whole.pods] == ["server"] * len(
        {member.source.node for check in whole.checks for member in check.each}
    )
    without = build(replace(mixed(), denied=("create pods",)), flows)
    assert [check.id for check in without.checks] == [check.id for check in whole.checks]
    assert without.pods == ()


def test_without_create_pods_only_reading_is_left() -> None:
    """What stands or is tried out in a namespace takes pods."""
    left = probed(replace(mixed(), denied=("create pods",)))
    assert left
    assert {(check.action.question, check.source.kind) for check in left.values()} == {
        (Question.INSPECT, VantageKind.API)
    }


@pytest.mark.parametrize(
    "permission", ["create namespaces", "delete namespaces", "list namespaces"]
)
def test_who_cannot_make_and_remove_a_namespace_creates_nothing(permission: str) -> None:
    """A namespace that cannot be removed again is not made either."""
    left = probed(replace(mixed(), denied=(permission,)))
    assert {check.action.question for check in left.values()} == {Question.INSPECT}


def test_addresses_of_load_balancers_take_listing_services() -> None:
    """Who may not list Services never learns what a load balancer was assigned; all else is probed."""
    exposed = (CheckClass.EXPOSED,)
    plan = build(replace(mixed(), denied=("list services",)), FLOWS, exposed)
    whole = build(mixed(), FLOWS, exposed)
    gone = {check.id for check in whole.checks} - {check.id for check in plan.checks}
    assert gone == {
        check.id
        for check in whole.checks
        for action in [check.each[0].action]
        if action.target.settings and action.target.settings.type == "LoadBalancer"
    }
    reasons = {skip.reason for skip in plan.skips if skip.id in gone}
    assert reasons == {"this identity may not list services"}


def test_in_an_existing_namespace_none_is_made() -> None:
    """Rights over namespaces are not needed there; rights to delete pods are."""
    facts = replace(mixed(), namespace="staging", denied=("create namespaces", "delete namespaces"))
    assert probed(facts).keys() == probed(mixed()).keys()
    denied = probed(replace(facts, denied=("delete pods",)))
    left = {check.action.question for check in denied.values()}
    assert left == {Question.INSPECT, Question.ADMIT}  # a dry run leaves nothing to delete


def test_without_exec_probes_are_reached_over_the_other_channels() -> None:
    """Only what needs a process is left out."""
    left = probed(replace(mixed(), denied=("get pods/exec",)))
    assert not [c for c in left.values() if c.source.kind is VantageKind.NODE]
    assert [c for c in left.values() if c.source.kind is VantageKind.POD]


def test_without_any_channel_no_probe_is_probed() -> None:
    """The reason names all three ways in; questions from outside the cluster go on."""
    facts = replace(mixed(), denied=("get pods/exec", "get pods/portforward", "get pods/proxy"))
    left = probed(facts)
    assert not [c for c in left.values() if c.source.kind in {VantageKind.POD, VantageKind.NODE}]
    assert [c for c in left.values() if c.source.kind is VantageKind.EXTERNAL]
    counted = Counter(reason for reason in reasons(facts).values() if NOTHING_LEFT in reason)
    (reason,) = counted
    assert "get pods/portforward, get pods/proxy, get pods/exec" in reason


def test_from_135_on_exec_takes_create_too() -> None:
    """An identity that may only ``get`` is left without processes by a newer API server."""
    newer = replace(mixed(), server_version=KubernetesVersion(1, 35), denied=("create pods/exec",))
    older = replace(newer, server_version=KubernetesVersion(1, 34))
    assert len(probed(newer)) < len(probed(older)) == len(probed(replace(newer, denied=())))


def test_a_rule_whose_readings_are_denied_is_left_out() -> None:
    """What a rule reads from the API server is taken from its own readings."""
    plan = build(replace(mixed(), denied=("get nodes",)), FLOWS)
    gone = {skip.id for skip in plan.skips if skip.reason == "this identity may not get nodes"}
    rules = {name for name, rule in RULES.items() if NODE in rule.reads}
    assert gone
    assert {check_id.rpartition("/")[2] for check_id in gone} <= rules
    assert not [c for c in plan.checks if c.action.case and c.action.case.label in rules]


@pytest.mark.parametrize(
    ("namespace", "verb", "left_out"),
    [("", "create", True), ("staging", "delete", True), ("", "delete", False)],
)
def test_who_may_make_no_network_policy_tests_none(
    namespace: str, verb: str, *, left_out: bool
) -> None:
    """In a namespace of others it has to go again; the run's own takes it along."""
    reviews = map(str, reviewed(KubernetesVersion(1, 33), (), own_namespace=not namespace))
    denied = tuple(one for one in reviews if one.startswith(verb) and "networkpolicies" in one)
    facts = replace(mixed(), namespace=namespace, denied=denied)
    flows = [flow for flow in FLOWS if flow.name == "network-policy"]
    whole = build(facts, flows, frozenset(CheckClass))
    assert (not whole.checks) is left_out
    if left_out:
        assert "networkpolicies" in " ".join(one.reason for one in whole.skips)
