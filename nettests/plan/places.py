"""The cells of each flow on this cluster, and skips for missing nodes.

Second stage of planning. ``questions`` decides what is tested in a cell.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nettests.model.check import Skip
from nettests.model.facts import ClusterFacts
from nettests.plan.cell import Cell, Gap
from nettests.plan.flow import Flow, Matrix
from nettests.plan.matrix import cells
from nettests.plan.node_pools import NodePools


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One flow in one cell of its matrix."""

    flow: Flow
    cell: Cell


def places(
    flows: Iterable[Flow], node_pools: NodePools, facts: ClusterFacts
) -> Iterator[Place | Skip]:
    """Yield the cells of every flow, by the flows' names, and a skip for each missing one."""
    for flow in sorted(flows, key=lambda flow: flow.name):
        if flow.dual_stack and len(facts.families) < 2:
            yield flow.skipped(flow.name, f"the cluster has {facts.families[0]} only")
            continue
        yield from _absences(flow, node_pools)
        for cell in cells(flow, node_pools):
            if isinstance(cell, Gap):
                yield flow.skipped(f"{flow.name}/{cell.path}", cell.reason)
            else:
                yield Place(flow=flow, cell=cell)


def _absences(flow: Flow, node_pools: NodePools) -> Iterator[Skip]:
    if flow.matrix is Matrix.CLUSTER:
        return  # the API server is tested with any nodes
    for who, reason in node_pools.absent:
        yield flow.skipped(f"{flow.name}/{who}", reason)
