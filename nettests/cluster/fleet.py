"""The nodes that are tested, as the user selected them, and the nodes that are about to be removed. Pure.

Used by discovery. Nodes are chosen by their names, joined by commas, or by a selector as for ``kubectl get nodes -l``:
``pool=win``, ``pool!=win``, ``pool``, joined by commas.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nettests.errors import ManifestError
from nettests.model.facts import ALL, SAMPLE, FleetScope
from nettests.model.nearest import nearest

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


def scope_of(nodes: Sequence[Object], chosen: str, excluded: Iterable[str] = ()) -> FleetScope:
    """Return the scope of a run; ``ManifestError`` if the selection cannot be read, or names what is not there."""
    labels = {node["metadata"]["name"]: node["metadata"].get("labels") or {} for node in nodes}
    for name in excluded:
        if name not in labels:
            raise ManifestError(
                f"--exclude-node: the cluster has no node {name!r}", hint=_near(name, labels)
            )
    if chosen in {ALL, SAMPLE}:
        return FleetScope(chosen=chosen)
    words = [word.strip() for word in chosen.split(",")]
    if labels.keys() >= {*words}:
        return FleetScope(chosen=chosen, nodes=tuple(name for name in labels if name in words))
    parts = [_PART.fullmatch(word) for word in words]
    if not all(parts):
        raise ManifestError(
            f"the nodes of the fleet cannot be chosen by {chosen!r}",
            hint=f"write {ALL}, {SAMPLE}, names of nodes, or a label selector such as pool=win or kubernetes.io/os!=linux",
        )
    for part in sorted(filter(None, parts), key=lambda part: part[1] in labels):
        if not part[2] and not any(part[1] in of_node for of_node in labels.values()):
            named = part[1] in labels
            raise ManifestError(
                f"--nodes={chosen}: {part[1]} is {'a node' if named else 'no node'}, and no node has such a label",
                hint="name nodes, or labels, not both" if named else _near(part[1], labels),
            )
    matching = (
        name for name, of in labels.items() if all(_holds(part, of) for part in parts if part)
    )
    return FleetScope(chosen=chosen, nodes=tuple(matching))


def _near(name: str, names: Iterable[str]) -> str:
    return nearest(name, names, what="nodes", most=3)


def _holds(part: re.Match[str], labels: Mapping[str, str]) -> bool:
    key, operator, value = part.groups()
    if operator is None:
        return key in labels
    return (labels.get(key) != value) if operator == "!=" else (labels.get(key) == value)
