"""Rules about what must run before networking is tested: nodes, Service proxies, network plugins.

A run puts no probe on a node that is not Ready, so none of its network checks can fail. Source:
Kubernetes documentation, "Nodes" and "DaemonSet".
"""

import re

from nettests.model.json_text import Object
from nettests.model.permission import LIST_DAEMON_SETS
from nettests.rules import reduction
from nettests.rules.evidence import Evidence, Finding, finding, name_of, rule
from nettests.rules.node import NODES
from nettests.rules.readings import ApiObjects, Request
from nettests.rules.reduction import KEPT
from nettests.rules.subjects import WINDOWS

AGENT = re.compile(
    r"kube-proxy|flannel|canal|calico-node|antrea-agent|ovnkube-node|hybrid-overlay|aws-node(?!-)|azure-cn[is]|cilium(?!-)"
)
"""Names of DaemonSets that provide Services or a Pod network on their nodes."""
DAEMON_SETS = ApiObjects(
    name="daemon-sets",
    request=lambda _facts, _node: Request(path="/apis/apps/v1/daemonsets"),
    permission=LIST_DAEMON_SETS,
    keep=reduction.items(KEPT["daemon-set"]),
)


@rule(about=(WINDOWS,), reads=(NODES,))
def nodes_ready(evidence: Evidence) -> Finding:
    """Every schedulable node is Ready."""
    nodes = [
        node for node in evidence.items(NODES) if not node.get("spec", {}).get("unschedulable")
    ]
    unready = sorted(node["metadata"]["name"] for node in nodes if not _is_ready(node))
    return finding(
        not unready,
        f"{', '.join(unready)} not Ready" if unready else f"{len(nodes)} nodes, all Ready",
        "that every node which is not cordoned is Ready",
        of=len(nodes),
    )


@rule(about=(WINDOWS,), reads=(DAEMON_SETS,))
def agents_ready(evidence: Evidence) -> Finding:
    """Service proxy and network plugin run on every node that their DaemonSets select."""
    agents = [item for item in evidence.items(DAEMON_SETS) if AGENT.search(name_of(item))]
    lacking = lacking_agents(agents)
    return finding(
        not lacking,
        "; ".join(lacking) or f"{len(agents)} DaemonSets with all their Pods",
        "a Ready Pod of the Service proxy and of the network plugin on every node that their DaemonSets select",
        of=len(agents),
    )


def lacking_agents(daemon_sets: list[Object]) -> list[str]:
    """Return the agents that are not Ready on all of their nodes, as text."""
    lacking = []
    for item in daemon_sets:
        status = item.get("status") or {}
        wanted, ready = status.get("desiredNumberScheduled", 0), status.get("numberReady", 0)
        if AGENT.search(item["metadata"]["name"]) and ready < wanted:
            lacking.append(f"{name_of(item)} is Ready on {ready} of {wanted} nodes")
    return lacking


def _is_ready(node: Object) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or []
    return {"type": "Ready", "status": "True"} in conditions
