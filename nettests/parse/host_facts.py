"""Complete facts by what nodes themselves said: which kube-proxy's mode they have. Pure.

Only what discovery could not read is completed: no answer overrides an object of the API or the cluster profile.
What is no mode is not taken for one, because anything may listen at a port.
"""

from collections.abc import Iterable
from dataclasses import replace

from nettests.model.facts import ClusterFacts, Fact, NodeFacts, known, unknown
from nettests.model.node_reading import NodeReading
from nettests.parse.reading import one_line

PROXY_MODE = "kube-proxy-mode"
MODES = frozenset({"iptables", "ipvs", "nftables", "userspace", "kernelspace"})
"""``--proxy-mode`` of all releases, on Linux and Windows."""


def completed(facts: ClusterFacts, readings: Iterable[NodeReading]) -> ClusterFacts:
    """Return the facts with what was read; an unknown one says why its reading did not help either."""
    found = {one.node: one for one in readings if one.reading == PROXY_MODE}
    nodes = tuple(
        _with_mode(node, found[node.name]) if node.name in found else node for node in facts.nodes
    )
    return replace(facts, nodes=nodes)


def _with_mode(node: NodeFacts, told: NodeReading) -> NodeFacts:
    before = node.kube_proxy.mode
    if before.known:
        return node
    return replace(node, kube_proxy=replace(node.kube_proxy, mode=_mode(before, told)))


def _mode(before: Fact[str], told: NodeReading) -> Fact[str]:
    address = told.command[-1]
    said = told.stdout.strip()
    # sample: nftables
    if told.error is None and told.exit_code == 0 and said in MODES:
        return known(said, f"{address}, read on the node itself")
    # sample: curl: (7) Failed to connect to 127.0.0.1 port 10249 after 0 ms: Couldn't connect to server
    why = told.error or told.stderr.strip() or f"it answers {said!r}, which is no mode"
    return unknown(f"{before.origin}; {address} does not tell it either: {one_line(why)}")
