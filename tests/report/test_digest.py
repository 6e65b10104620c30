"""The digest of the facts tells clusters apart by what verdicts depend on, and by nothing else."""

from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network

import pytest

from nettests.model.facts import ClusterFacts, NodeFacts, known
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.report.results import facts_digest
from tests.report.cluster import FACTS


def with_node(**changes: object) -> ClusterFacts:
    last: NodeFacts = replace(FACTS.nodes[-1], **changes)  # type: ignore[arg-type]
    return replace(FACTS, nodes=(*FACTS.nodes[:-1], last))


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(lambda: replace(FACTS, context="other"), id="kubeconfig context"),
        pytest.param(lambda: replace(FACTS, denied=("create pods",)), id="permissions"),
        pytest.param(lambda: with_node(name="aks-win-000042"), id="node name"),
        pytest.param(lambda: with_node(ready=False), id="readiness"),
        pytest.param(lambda: with_node(schedulable=False), id="cordon"),
        pytest.param(lambda: with_node(addresses=(IPv4Address("172.30.0.99"),)), id="node address"),
        pytest.param(
            lambda: with_node(pod_cidrs=(IPv4Network("10.244.9.0/24"),)), id="node's pod network"
        ),
        pytest.param(
            lambda: with_node(build=known(WindowsBuild(17763, 1339), "elsewhere")), id="origin"
        ),
    ],
)
def test_what_no_verdict_depends_on_leaves_the_digest(facts: Callable[[], ClusterFacts]) -> None:
    """A reimaged node, another identity or another place to read a fact is the same cluster."""
    assert facts_digest(facts()) == facts_digest(FACTS)


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(
            lambda: replace(FACTS, server_version=KubernetesVersion(1, 30, 0)), id="version"
        ),
        pytest.param(
            lambda: with_node(build=known(WindowsBuild(17763, 5000), "node")), id="patch level"
        ),
        pytest.param(lambda: with_node(cni_driver=known("overlay", "node")), id="driver"),
        pytest.param(lambda: replace(FACTS, nodes=FACTS.nodes[:-1]), id="number of nodes"),
        pytest.param(
            lambda: replace(FACTS, pod_cidrs=known((IPv4Network("10.1.0.0/16"),), "x")),
            id="pod network",
        ),
    ],
)
def test_what_verdicts_depend_on_changes_the_digest(facts: Callable[[], ClusterFacts]) -> None:
    """An upgrade, a patch or another setting is another digest."""
    assert facts_digest(facts()) != facts_digest(FACTS)


def test_the_digest_names_its_algorithm() -> None:
    """The digest is SHA-256 in hexadecimal, with its name in front."""
    algorithm, _, value = facts_digest(FACTS).partition(":")
    assert algorithm == "sha256"
    assert len(bytes.fromhex(value)) == 32
