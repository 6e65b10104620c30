"""The nodes that are tested, as the user selected them, and the nodes that are about to be removed. Pure.

Used by discovery. A selector is written as for ``kubectl get nodes -l``: ``pool=win``, ``pool!=win``, ``pool``,
joined by commas.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nettests.errors import ManifestError
from nettests.model.facts import ALL, SAMPLE, FleetScope

Object = dict[str, Any]

# samples: pool=win, kubernetes.io/os!=linux, example.com/canary
_PART = re.compile(r"([A-Za-z0-9][A-Za-z0-9./_-]*)(?:(=|==|!=)([A-Za-z0-9._-]*))?")
LEAVING = (
    "ToBeDeletedByClusterAutoscaler",
    "karpenter.sh/disrupted",
    "karpenter.sh/disruption",
    "node.cloudprovider.kubernetes.io/shutdown",
    "node.kubernetes.io/out-of-service",
)
"""Taints by which autoscalers and clouds say that a node is being drained and will go. Sources: the cluster autoscaler's
FAQ, Karpenter's "Disruption", "Well-Known Labels, Annotations and Taints"."""


def scope_of(nodes: Sequence[Object], chosen: str) -> FleetScope:
    """Return the scope of the sweep; ``ManifestError`` if the selection cannot be read."""
    if chosen in {ALL, SAMPLE}:
        return FleetScope(chosen=chosen)
    parts = [_PART.fullmatch(part.strip()) for part in chosen.split(",")]
    if not all(parts):
        raise ManifestError(
            f"the nodes of the fleet cannot be chosen by {chosen!r}",
            hint=f"write {ALL}, {SAMPLE}, or a label selector such as pool=win or kubernetes.io/os!=linux",
        )
    matching = tuple(
        node["metadata"]["name"]
        for node in nodes
        if all(_holds(part, node["metadata"].get("labels") or {}) for part in parts if part)
    )
    return FleetScope(chosen=chosen, nodes=matching)


def _holds(part: re.Match[str], labels: Mapping[str, str]) -> bool:
    key, operator, value = part.groups()
    if operator is None:
        return key in labels
    return (labels.get(key) != value) if operator == "!=" else (labels.get(key) == value)
