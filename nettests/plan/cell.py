"""Cells of a flow's matrix: a pair of places to test, or a gap that this cluster does not offer. Values.

Made by ``matrix`` and ``watching``, used by all later stages of planning.
"""

from dataclasses import dataclass

from nettests.model.check_id import API, EXTERNAL, across, between
from nettests.model.facts import NodeFacts
from nettests.model.words import Placement, Protocol
from nettests.plan.node_pools import NodePool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One place of a matrix.

    ``source`` is ``None`` outside the cluster, ``target`` is ``None`` without a node. With
    ``backend`` the target node only owns the address, and the backend's node answers.
    """

    source: NodeFacts | None
    target: NodeFacts | None
    placement: Placement
    backend: NodeFacts | None = None
    backends: NodePool | None = None
    many_backends: NodePool | None = None
    """The node pool whose members run many backends."""
    member: str = ""
    """The label of a member of the fleet: the cells of one pair of systems make one check."""
    of_pool: bool = False
    """Whether it is a member of a node pool's check: then the cells of one pair of node pools make one check."""
    protocols: tuple[Protocol, ...] = ()
    """The flow's protocols that are tested there; empty for all of them."""
    beside: int = 1
    """For a member of a node pool's check: the number of the node pool's members."""

    @property
    def path(self) -> str:
        """The place in a check's id: ``windows-1/linux-1/other-node``, ``windows/linux``, ``api``."""
        if self.of_pool and self.backends is None:
            return self.source_name
        if self.member and not self.of_pool:
            return across(end.os.value for end in (self.source, self.target) if end)
        if self.placement is Placement.NOWHERE:
            return self.source.pool if self.source else API
        return between(self.source_name, self.target_name, self.placement.value)

    @property
    def source_name(self) -> str:
        """The source's name in ids."""
        return self.source.pool if self.source else EXTERNAL

    @property
    def target_name(self) -> str:
        """The target's name in ids: the pool of its node, or of its backends if they stand for it."""
        over = self.backends or self.many_backends
        if over:
            return over.name
        return self.target.pool if self.target else EXTERNAL

    @property
    def suffix(self) -> str:
        """The last part of a check's id if the backend's place matters: ``backend-local``."""
        if self.backend is None:
            return ""
        return f"backend-{'local' if self.backend is self.target else self.backend.pool}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A place of a matrix that this cluster does not have."""

    path: str
    reason: str
