"""Which nodes a check depends on."""

from dataclasses import replace
from ipaddress import ip_address

from nettests.model.check import Check
from nettests.model.facts import known
from nettests.plan import build
from nettests.plan.selection import nodes_by_pod, nodes_of
from tests.facts import cluster_facts
from tests.manifests.shipped import flows
from tests.plan.clusters import alone

DNS = ip_address("10.244.1.7")
FACTS = replace(
    cluster_facts("win2022-l2bridge-dsr"), dns_pods=known((DNS,), "Pods with the label k8s-app")
)
PLAN = alone(build(FACTS, flows()))


def of(check_id: str) -> frozenset[str]:
    """Return the nodes of one check of the plan."""
    check: Check = next(one for one in PLAN.checks if one.id == check_id)
    return nodes_of(check, nodes_by_pod(PLAN.pods), FACTS)


def dns_node() -> str:
    """Return the node whose pod network holds the DNS's Pod."""
    return next(node.name for node in FACTS.nodes if any(DNS in net for net in node.pod_cidrs))


def test_a_path_depends_on_both_of_its_ends() -> None:
    """The probe's node and the target's."""
    assert of("pod-to-pod-ip/linux-1/windows-1/other-node/tcp") == {"linux-1", "win-1"}
    assert of("pod-to-pod-ip/windows-1/windows-1/other-node/tcp") == {"win-1", "win-2"}


def test_a_service_depends_on_the_nodes_of_its_backends() -> None:
    """Of all of them, where it spreads over a node pool."""
    assert of("service-distribution/linux-1/windows-1/other-node/tcp") >= {"win-1", "win-2"}


def test_a_name_depends_on_the_node_of_the_dns() -> None:
    """An address does not."""
    names = of("pod-to-service-fqdn/windows-1/windows-1/same-node/tcp")
    assert dns_node() in names
    assert dns_node() not in of("pod-to-service-clusterip/windows-1/windows-1/same-node/tcp")


def test_what_is_sent_to_the_api_depends_on_no_node() -> None:
    """Admission is none of theirs."""
    assert of("windows-pod-admitted/api/hostNetwork") == frozenset()
