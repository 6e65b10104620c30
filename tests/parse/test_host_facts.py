"""What a node says of itself completes what discovery could not read, and overrides nothing."""

from dataclasses import replace

import pytest

from nettests.model.facts import ClusterFacts, Fact, known, unknown
from nettests.model.node_reading import NodeReading
from nettests.parse.host_facts import MODES, PROXY_MODE, completed
from tests.facts import cluster_facts

WHY = "no kube-proxy Pod runs on node win-1: it may be a host service"
ADDRESS = "http://127.0.0.1:10249/proxyMode"


def without_mode(mode: Fact[str] | None = None) -> ClusterFacts:
    """Return a cluster of which one node's mode is as given, unknown unless told otherwise."""
    facts = cluster_facts("win2022-l2bridge-dsr")
    nodes = tuple(
        replace(one, kube_proxy=replace(one.kube_proxy, mode=mode or unknown(WHY)))
        if one.name == "win-1"
        else one
        for one in facts.nodes
    )
    return replace(facts, nodes=nodes)


def told(stdout: str = "", code: int | None = 0, stderr: str = "", **more: str) -> NodeReading:
    """Return what win-1 was probed, and its answer."""
    return NodeReading(
        node="win-1",
        reading=PROXY_MODE,
        probe="node-windows-1-1",
        command=("curl.exe", ADDRESS),
        exit_code=code,
        stdout=stdout,
        stderr=stderr,
        **more,
    )


def mode_of(facts: ClusterFacts, *readings: NodeReading) -> Fact[str]:
    return completed(facts, readings).node("win-1").kube_proxy.mode


@pytest.mark.parametrize("mode", sorted(MODES))
def test_a_mode_is_known_with_its_source(mode: str) -> None:
    """kube-proxy answers with the bare word, which ends with or without a line feed."""
    for text in (mode, f"{mode}\n"):
        assert mode_of(without_mode(), told(text)) == known(
            mode, f"{ADDRESS}, read on the node itself"
        )


@pytest.mark.parametrize(
    ("reading", "why"),
    [
        (told("<html>404</html>"), "which is no mode"),
        (told(""), "which is no mode"),
        (told("", 7, "curl: (7) Failed to connect"), "curl: (7) Failed to connect"),
        (told("kernelspace", 28, "curl: (28) timed out"), "timed out"),
        (told("kernelspace", 0, error="the exec lost its exit code"), "lost its exit code"),
    ],
)
def test_what_is_no_mode_leaves_it_unknown_and_says_so(reading: NodeReading, why: str) -> None:
    """Anything may listen at a port, and nothing may."""
    found = mode_of(without_mode(), reading)
    assert found.value is None
    assert found.origin.startswith(f"{WHY}; {ADDRESS} does not tell it either: ")
    assert why in found.origin


def test_a_mode_that_is_known_stays() -> None:
    """Whoever stated it, or wherever it was read, knew of the whole cluster."""
    stated = known("kernelspace", "cluster profile")
    facts = without_mode(stated)
    assert completed(facts, [told("userspace")]) == facts


def test_other_nodes_and_facts_stay() -> None:
    """One node's answer speaks of that node."""
    before, after = without_mode(), completed(without_mode(), [told("kernelspace")])
    assert after.node("win-2") == before.node("win-2")
    assert replace(after, nodes=()) == replace(before, nodes=())


def test_the_address_is_the_last_word_that_was_probed() -> None:
    """Options stand before it."""
    probed = replace(told("ipvs"), command=("curl.exe", "-sS", ADDRESS))
    assert mode_of(without_mode(), probed) == known("ipvs", f"{ADDRESS}, read on the node itself")
