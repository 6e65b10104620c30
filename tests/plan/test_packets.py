"""Checks of class ``packets``: which there are, what they need, and what they are refused for before anything is created."""

from dataclasses import replace
from ipaddress import ip_address

import pytest

from nettests.model.check import Plan
from nettests.model.cluster_profile import CAPTURE, Images
from nettests.model.facts import ClusterFacts, ExternalTarget, known, unknown
from nettests.model.words import OS, CheckClass, Question
from nettests.plan import build, load
from nettests.plan.images import needed_images
from nettests.resources import suites_path
from tests.plan import clusters

FLOWS = load([suites_path() / "test_packets.py"]).flows


def mixed() -> ClusterFacts:
    """Return a cluster with a server outside that reports client addresses."""
    outside = ExternalTarget(
        address=ip_address("198.51.100.10"), tcp_port=80, reports_client_address=True
    )
    return replace(clusters.mixed(), external_target=outside)


def planned(facts: ClusterFacts) -> Plan:
    return build(facts, FLOWS, (CheckClass.PACKETS,))


def reasons(facts: ClusterFacts) -> set[str]:
    """Return why checks between nodes are left out."""
    plan = planned(facts)
    assert not [one for one in plan.checks if one.source.os is OS.WINDOWS]
    return {one.reason for one in plan.skips if "windows-1" in one.id}


def test_off_by_default() -> None:
    """Without the class each is a skip that names the option."""
    plan = build(mixed(), FLOWS)
    assert plan.checks == ()
    assert all(one.reason.endswith("--enable=packets") for one in plan.skips)


def test_one_connection_for_each_pair_of_pools_and_outwards_from_windows() -> None:
    """Ids name node pools; each is one TCP connection to another node."""
    plan = planned(mixed())
    assert {one.action.question for one in plan.checks} == {Question.WITNESS}
    assert {one.id for one in plan.checks} >= {
        "witnessed-pod-to-pod/windows-1/linux-1/other-node/tcp",
        "witnessed-service/linux-1/windows-1/other-node/tcp",
        "witnessed-outbound-nat/windows-1/external/outside/tcp",
    }
    assert not [one for one in plan.checks if one.id.startswith("witnessed-outbound-nat/linux")]
    assert all(one.source.node != one.target.node for one in plan.each)


@pytest.mark.parametrize("denied", ["create pods", "delete pods", "get pods/exec"])
def test_a_missing_permission_is_named(denied: str) -> None:
    """Who may not make, remove or enter Pods captures nothing."""
    assert reasons(replace(mixed(), denied=(denied,))) == {f"this identity may not {denied}"}


def test_a_level_of_pod_security_is_named() -> None:
    """Below privileged no Pod sees the packets of its node."""
    (why,) = reasons(replace(mixed(), pod_security=known("baseline", "test")))
    assert "Pod Security level 'baseline' forbids hostNetwork and HostProcess" in why


def test_a_node_without_host_process_is_named() -> None:
    """Where a Windows node is an end, also of a connection that a Linux Pod makes."""
    facts = mixed()
    nodes = tuple(
        replace(one, host_process=unknown("it was not read")) if one.os is OS.WINDOWS else one
        for one in facts.nodes
    )
    why = reasons(replace(facts, nodes=nodes))
    assert all("HostProcess containers" in one for one in why)
    left = {one.id for one in planned(replace(facts, nodes=nodes)).checks}
    assert not [one for one in left if "windows" in one]


def test_what_userspace_mode_opens_itself_is_not_captured() -> None:
    """A Service is left out where kube-proxy of the client's node connects to the backend; Pods are captured there."""
    facts = mixed()
    nodes = tuple(
        replace(node, kube_proxy=replace(node.kube_proxy, mode=known("userspace", "its arguments")))
        if node.os is OS.WINDOWS
        else node
        for node in facts.nodes
    )
    plan = planned(replace(facts, nodes=nodes))
    skipped = {skip.id: skip.reason for skip in plan.skips}
    assert "connection of its own" in skipped["witnessed-service/windows-1/linux-1/other-node/tcp"]
    assert {check.id for check in plan.checks} >= {
        "witnessed-pod-to-pod/windows-1/linux-1/other-node/tcp",
        "witnessed-service/linux-1/windows-1/other-node/tcp",
    }


@pytest.mark.parametrize(
    ("images", "image"),
    [
        (Images(), CAPTURE),
        (Images(registry="m"), "m/nicolaka/netshoot:v0.13"),
        (Images(registry="m", capture="x/tools:1"), "x/tools:1"),
    ],
    ids=["usual", "of a registry", "stated"],
)
def test_the_image_that_captures_is_among_those_to_mirror(images: Images, image: str) -> None:
    """For Linux nodes; on Windows the probes' image runs the node's own tool."""
    facts = mixed()
    (found,) = [one for one in needed_images(planned(facts), facts, images) if one.image == image]
    assert {facts.node(name).os for name in found.nodes} == {OS.LINUX}
    assert "witnessed-pod-to-pod" in found.purpose
