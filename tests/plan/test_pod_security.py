"""Levels of Pod Security: what is skipped, and what is run all the same."""

import json
from dataclasses import replace
from typing import Any

import pytest

from nettests.model.check import Plan
from nettests.model.facts import known
from nettests.model.versions import KubernetesVersion
from nettests.model.words import OS, CheckClass, Outcome, Question, VantageKind
from nettests.plan import build
from nettests.plan.pod_security import forbidden, secured
from tests.facts import cluster_facts
from tests.manifests.shipped import flows

PROFILE = "win2022-overlay-dsr"


def planned(level: str) -> tuple[Any, Plan]:
    """Return facts and plan of a run of every class in a namespace of that level."""
    facts = replace(cluster_facts(PROFILE), namespace="closed", pod_security=known(level, "test"))
    return facts, build(facts, flows(), frozenset(CheckClass))


@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_what_needs_a_node_s_network_is_skipped_with_the_level(level: str) -> None:
    """No check or control has a node's vantage, and the skips name what is forbidden."""
    _, plan = planned(level)
    sources = [
        action.source.kind
        for c in plan.checks
        for action in (c.action, *(k.action for k in c.controls))
    ]
    assert VantageKind.POD in sources
    assert VantageKind.NODE not in sources
    reasons = {skip.reason for skip in plan.skips if skip.flow == "node-to-pod"}
    assert reasons == {
        f"the namespace's Pod Security level '{level}' forbids hostNetwork and HostProcess"
    }


def test_linux_pods_do_not_ping_in_a_restricted_namespace() -> None:
    """They may not have NET_RAW; Windows pods ping each other all the same."""
    _, plan = planned("restricted")
    actions = [
        action for c in plan.checks for action in (c.action, *(k.action for k in c.controls))
    ]
    pinging = {action.source.os for action in actions if action.question is Question.PING}
    assert pinging == {OS.WINDOWS}
    outside = {
        skip.id.split("/")[1]: skip.reason for skip in plan.skips if skip.flow == "icmp-egress"
    }
    assert outside["linux-1"].endswith("that ping needs")
    assert outside["windows-1"].endswith("the ping that this one is compared with")


def test_a_privileged_namespace_changes_nothing() -> None:
    """The same checks as in a namespace of the run's own, but for the flow that makes one of another level."""
    facts, plan = planned("privileged")
    own = build(replace(facts, namespace=""), flows(), frozenset(CheckClass))
    missing = {check.flow for check in own.checks} - {check.flow for check in plan.checks}
    assert missing == {"windows-pod-restricted"}
    assert plan.checks == tuple(check for check in own.checks if check.flow not in missing)
    assert [skip for skip in plan.skips if skip.flow not in missing] == list(own.skips)


def test_objects_that_validation_rejects_are_tested_about_all_the_same() -> None:
    """Validation comes before admission, so that only counter-cases have to be let in."""
    _, plan = planned("restricted")
    rejected = [
        check.action.case
        for check in plan.checks
        if check.action.case and check.action.case.outcome is Outcome.REJECTED
    ]
    assert any(json.loads(case.object)["spec"].get("hostPID") for case in rejected)


def test_what_a_pod_says_of_itself_is_kept() -> None:
    """Contexts are filled in only where the pod has none; what contradicts the level is forbidden."""
    spec = {"containers": [{"name": "c"}], "securityContext": {"runAsUser": 0}}
    assert secured(spec, OS.LINUX, "restricted")["securityContext"]["runAsUser"] == 0
    assert forbidden(spec, OS.LINUX, "restricted") == "runAsUser: 0"
    assert forbidden(spec, OS.LINUX, "baseline") == ""


BASELINE: list[tuple[dict[str, Any], str]] = [
    ({"hostNetwork": True}, "hostNetwork"),
    ({"hostPID": True, "hostIPC": True}, "hostPID, hostIPC"),
    ({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}, "a hostPath volume"),
    ({"securityContext": {"sysctls": [{"name": "kernel.msgmax"}]}}, "sysctl kernel.msgmax"),
    ({"securityContext": {"sysctls": [{"name": "net.ipv4.ping_group_range"}]}}, ""),
    ({"securityContext": {"windowsOptions": {"hostProcess": True}}}, "hostProcess"),
    ({"securityContext": {"windowsOptions": {"hostProcess": False}}}, ""),
    ({"securityContext": {"seLinuxOptions": {"user": "u"}}}, "seLinuxOptions"),
    ({"securityContext": {"seLinuxOptions": {"level": "s0"}}}, ""),
    ({"securityContext": {"seccompProfile": {"type": "Unconfined"}}}, "seccompProfile Unconfined"),
]
OF_CONTAINERS: list[tuple[dict[str, Any], str]] = [
    ({"securityContext": {"privileged": True}}, "privileged"),
    ({"securityContext": {"capabilities": {"add": ["NET_RAW"]}}}, "capability NET_RAW"),
    ({"securityContext": {"capabilities": {"add": ["CHOWN"]}}}, ""),
    ({"securityContext": {"procMount": "Unmasked"}}, "procMount"),
    ({"securityContext": {"procMount": "Default"}}, ""),
    ({"ports": [{"containerPort": 80, "hostPort": 80}]}, "hostPort"),
    ({"ports": [{"containerPort": 80}]}, ""),
]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        *(({"containers": [{"name": "c"}], **own}, reason) for own, reason in BASELINE),
        *(({"containers": [{"name": "c", **own}]}, reason) for own, reason in OF_CONTAINERS),
        *(({"initContainers": [{"name": "c", **own}]}, reason) for own, reason in OF_CONTAINERS),
    ],
)
def test_what_baseline_forbids(spec: dict[str, Any], reason: str) -> None:
    """Each field of the standard is named, of the Pod and of every kind of container; what it allows is not."""
    assert forbidden(spec, OS.LINUX, "baseline") == reason
    assert forbidden(spec, OS.LINUX, "privileged") == ""


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        ({}, ""),
        ({"hostNetwork": True}, "hostNetwork"),
        ({"volumes": [{"name": "v", "nfs": {}}, {"name": "w", "emptyDir": {}}]}, "volume v"),
        ({"securityContext": {"runAsNonRoot": False}}, "runAsNonRoot: false"),
        (
            {"containers": [{"name": "c", "securityContext": {"allowPrivilegeEscalation": True}}]},
            "allowPrivilegeEscalation",
        ),
        (
            {"containers": [{"securityContext": {"capabilities": {"drop": ["CHOWN"]}}}]},
            "capabilities that are not dropped",
        ),
        (
            {"containers": [{"securityContext": {"capabilities": {"add": ["CHOWN"]}}}]},
            "capability CHOWN",
        ),
        (
            {"containers": [{"securityContext": {"capabilities": {"add": ["NET_BIND_SERVICE"]}}}]},
            "",
        ),
        (
            {
                "os": {"name": "windows"},
                "containers": [{"securityContext": {"allowPrivilegeEscalation": True}}],
            },
            "",
        ),
        (
            {"ephemeralContainers": [{"name": "e", "securityContext": {"runAsUser": 0}}]},
            "runAsUser: 0",
        ),
    ],
)
def test_what_restricted_forbids(own: dict[str, Any], reason: str) -> None:
    """Beyond baseline: root, rights that grow, and volumes; of a Pod that names Windows no field of Linux."""
    spec = {"containers": [{"name": "c"}], **own}
    assert forbidden(spec, OS.LINUX, "restricted") == reason


@pytest.mark.parametrize(
    ("name", "node", "windows", "linux"),
    [
        ("", OS.LINUX, False, True),
        ("", OS.WINDOWS, True, True),
        ("linux", OS.WINDOWS, False, True),
        ("windows", OS.LINUX, True, False),
    ],
)
def test_contexts_are_those_of_the_pods_system_and_its_nodes(
    name: str, node: OS, *, windows: bool, linux: bool
) -> None:
    """A Pod without a system of its own gets fields of both on a Windows node, which ignores those of Linux."""
    spec = {"containers": [{"name": "c"}], **({"os": {"name": name}} if name else {})}
    made = secured(spec, node, "restricted")
    assert ("windowsOptions" in made["securityContext"]) is windows
    assert ("runAsUser" in made["securityContext"]) is linux
    assert ("securityContext" in made["containers"][0]) is linux
    assert made["securityContext"]["runAsNonRoot"] is True
    assert secured(spec, node, "baseline") == spec


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"namespace": "closed"},
            "namespace closed is not the run's own: it makes none of another level",
        ),
        (
            {"server_version": KubernetesVersion(1, 22)},
            "Kubernetes 1.22.0 enforces no Pod Security levels: 1.23.0 does",
        ),
    ],
)
def test_levels_are_run_where_a_run_makes_namespaces_that_enforce_them(
    changes: dict[str, Any], reason: str
) -> None:
    """In a namespace of others, and before 1.23, the flow is skipped, and says why."""
    facts = cluster_facts(PROFILE)
    flow = "windows-pod-restricted"
    assert [c.flow for c in build(facts, flows()).checks].count(flow) == 2
    plan = build(replace(facts, **changes), flows())
    assert {skip.reason for skip in plan.skips if skip.flow == flow} == {reason}
    assert flow not in {check.flow for check in plan.checks}
