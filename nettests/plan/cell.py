"""Cells of a flow's matrix: two nodes to test, or a gap that this cluster does not offer. Values.

Created by ``matrix``, used by all later stages. The cells of a pair of node pools are the members
of one check.
"""

from dataclasses import dataclass

from nettests.model.check_id import API, EXTERNAL, between
from nettests.model.facts import NodeFacts
from nettests.model.words import Placement
from nettests.plan.node_pools import NodePool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One place of a matrix.

    ``source`` is ``None`` outside the cluster, ``target`` is ``None`` without a node. With
    ``backend``, the target node only owns the address, and the backend's node answers.
    """

    source: NodeFacts | None
    target: NodeFacts | None
    placement: Placement
    backend: NodeFacts | None = None
    backends: NodePool | None = None
    many_backends: NodePool | None = None
    """The node pool whose members run many backends."""
    of_source: bool = False
    """Whether the check is only about the source's node pool, whichever node is its target."""
    member_count: int = 1
    """How many members the check has."""

    @property
    def path(self) -> str:
        """The place in a check's id: ``windows-1/linux-1/other-node``, ``windows-1``, ``api``."""
        if self.of_source:
            return self.source_name
        if self.placement is Placement.NOWHERE:
            return self.source.pool if self.source else API
        return between(self.source_name, self.target_name, self.placement.value)

    @property
    def label(self) -> str:
        """The name of this member of its check: ``win-3 → linux-2``, or its only node."""
        ends = [self.source.name if self.source else EXTERNAL]
        if self.target is not None and not self.of_source:
            ends.append(self.target.name)
        one_node = self.placement is Placement.NOWHERE
        return ends[0] if one_node else " → ".join(ends)

    @property
    def source_name(self) -> str:
        """The source's name in ids."""
        return self.source.pool if self.source else EXTERNAL

    @property
    def target_name(self) -> str:
        """The target's name in ids: the pool of its node, or of its backends if it has several."""
        over = self.backends or self.many_backends
        if over:
            return over.name
        return self.target.pool if self.target else EXTERNAL

    @property
    def suffix(self) -> str:
        """The last part of a check's id if the place of the backend matters: ``backend-local``."""
        if self.backend is None:
            return ""
        return f"backend-{'local' if self.backend is self.target else self.backend.pool}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A place of a matrix that this cluster does not have."""

    path: str
    reason: str
