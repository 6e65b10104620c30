"""Which sources meet which targets, and where: the cells of a flow's matrix.

Used by ``places``, the second stage of planning. A cell names nodes, not addresses or protocols; an ordinary pair that this
cluster cannot offer (another node of a role that has one) is a gap with its reason, never silence.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nettests.model.check_id import API, EXTERNAL, SAMPLED, between
from nettests.model.facts import NodeFacts
from nettests.model.words import OS, Placement
from nettests.plan.cast import Cast, Role
from nettests.plan.flow import Backing, Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One place of a matrix.

    ``source`` is ``None`` outside the cluster, ``target`` is ``None`` for what has no node. With
    ``backend`` the target node only owns the address, and the backend's node answers.
    """

    source: NodeFacts | None
    target: NodeFacts | None
    placement: Placement
    backend: NodeFacts | None = None
    backends: Role | None = None
    crowd: Role | None = None
    """The role on whose members many backends stand."""

    @property
    def path(self) -> str:
        """The part of a check's id that says where: ``windows-1/linux-1/other-node``, ``api``."""
        if self.placement is Placement.NOWHERE:
            return self.source.role if self.source else API
        return between(self.source_name, self.target_name, self.placement.value)

    @property
    def source_name(self) -> str:
        """What ids call the source."""
        return self.source.role if self.source else EXTERNAL

    @property
    def target_name(self) -> str:
        """What ids call the target: the pool of its node, or of its backends where they stand for it."""
        over = self.backends or self.crowd
        if over:
            return over.name
        return self.target.role if self.target else EXTERNAL

    @property
    def suffix(self) -> str:
        """The last part of a check's id where the backend's place matters: ``backend-local``."""
        if self.backend is None:
            return ""
        return f"backend-{'local' if self.backend is self.target else self.backend.role}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A place of a matrix that this cluster does not offer."""

    path: str
    reason: str


def cells(
    matrix: Matrix, cast: Cast, backing: Backing = Backing.ANYWHERE
) -> tuple[Cell | Gap, ...]:
    """Return the matrix of a flow over the roles that play, in the order of the roles' names.

    ``backing`` narrows the matrices of NodePorts.
    """
    rule = _NODE_PORTS.get(matrix)
    return tuple(rule(cast, backing) if rule else _RULES[matrix](cast))


def _pairs(cast: Cast) -> Iterator[Cell | Gap]:
    for source in cast.roles:
        for target in cast.met_by(source):
            if source is target:
                yield Cell(source=source.first, target=source.first, placement=Placement.SAME_NODE)
            yield _other(source, target)
        yield from _left_out(cast, source, source.name)


def _other(source: Role, target: Role) -> Cell | Gap:
    node = _elsewhere(target, source.first)
    if node is None:
        return _lone(source)
    return Cell(source=source.first, target=node, placement=Placement.OTHER_NODE)


def _lone(role: Role) -> Gap:
    return Gap(
        path=between(role.name, role.name, Placement.OTHER_NODE.value),
        reason=f"only one usable node of role {role.name}: {role.first.name}",
    )


def _left_out(cast: Cast, source: Role, path: str) -> Iterator[Gap]:
    """Yield what the sampling rule leaves out of the roles that ``source`` could meet."""
    met = cast.met_by(source)
    left = [role.name for role in cast.roles if role not in met]
    if left:
        reason = (
            f"of {len(cast.roles)} roles {source.name} meets {len(met)}, one of each kind; "
            f"left out: {', '.join(left)}"
        )
        yield Gap(path=f"{path}/{SAMPLED}", reason=reason)


def _elsewhere_only(cast: Cast) -> Iterator[Cell | Gap]:
    for source in cast.roles:
        for target in cast.met_by(source):
            yield _other(source, target)
        yield from _left_out(cast, source, source.name)


def _own_node(cast: Cast, backing: Backing) -> Iterator[Cell | Gap]:
    for role in cast.roles:
        yield from _backends(cast, role.first, role.first, Placement.SAME_NODE, backing)
        if backing in _ELSEWHERE:
            yield from _left_out(cast, role, role.name)


def _other_nodes(cast: Cast, backing: Backing) -> Iterator[Cell | Gap]:
    for source in cast.roles:
        for target in cast.met_by(source):
            owner = _elsewhere(target, source.first)
            if owner is None:
                yield _lone(source)
            else:
                yield from _backends(cast, source.first, owner, Placement.OTHER_NODE, backing)
        yield from _left_out(cast, source, source.name)


def _nodes(cast: Cast, backing: Backing) -> Iterator[Cell | Gap]:
    for role in cast.roles:
        yield from _backends(cast, None, role.first, Placement.OUTSIDE, backing)
        if backing in _ELSEWHERE:
            yield from _left_out(cast, role, f"{EXTERNAL}/{role.name}")


_ELSEWHERE = frozenset({Backing.ANYWHERE, Backing.ELSEWHERE})
"""Backings that meet other roles."""


def _backends(
    cast: Cast,
    source: NodeFacts | None,
    owner: NodeFacts,
    placement: Placement,
    backing: Backing,
) -> Iterator[Cell]:
    """Yield one cell for a backend on the owner of the address, and one for each role elsewhere."""
    places: list[NodeFacts | None] = [None] if backing is Backing.NOWHERE else []
    if backing in {Backing.ANYWHERE, Backing.LOCAL}:
        places.append(owner)
    if backing in _ELSEWHERE:
        elsewhere = (_elsewhere(role, owner) for role in cast.met_by(cast.role_of(owner)))
        places.extend(node for node in elsewhere if node is not None)
    for backend in places:
        yield Cell(source=source, target=owner, placement=placement, backend=backend)


def _roles(cast: Cast) -> Iterator[Cell | Gap]:
    for source in cast.roles:
        for target in cast.met_by(source):
            alone = source is target and len(target.members) == 1
            yield Cell(
                source=source.first,
                target=None,
                placement=Placement.SAME_NODE if alone else Placement.OTHER_NODE,
                backends=target,
            )
        yield from _left_out(cast, source, source.name)


def _crowd(cast: Cast) -> Iterator[Cell | Gap]:
    for source in cast.roles:
        alone = source is cast.crowd and len(source.members) == 1
        yield Cell(
            source=source.first,
            target=None,
            placement=Placement.SAME_NODE if alone else Placement.OTHER_NODE,
            crowd=cast.crowd,
        )


def _sources(cast: Cast) -> Iterator[Cell | Gap]:
    for source in cast.roles:
        yield Cell(source=source.first, target=None, placement=Placement.OUTSIDE)


def _windows_sources(cast: Cast) -> Iterator[Cell | Gap]:
    for role in cast.roles:
        if role.os is OS.WINDOWS:
            yield Cell(source=role.first, target=None, placement=Placement.OUTSIDE)


def _from_outside(cast: Cast) -> Iterator[Cell | Gap]:
    for role in cast.roles:
        yield Cell(source=None, target=role.first, placement=Placement.OUTSIDE)


def _own_role(cast: Cast) -> Iterator[Cell | Gap]:
    for role in cast.roles:
        yield Cell(source=role.first, target=role.first, placement=Placement.SAME_NODE)


def _nobody(cast: Cast) -> Iterator[Cell | Gap]:
    for role in cast.roles:
        yield Cell(source=role.first, target=None, placement=Placement.NOWHERE)


def _cluster(_cast: Cast) -> Iterator[Cell | Gap]:
    yield Cell(source=None, target=None, placement=Placement.NOWHERE)


def _each(cast: Cast) -> Iterator[Cell | Gap]:
    for role in cast.roles:
        yield Cell(source=role.first, target=role.first, placement=Placement.NOWHERE)


def _each_windows(cast: Cast) -> Iterator[Cell | Gap]:
    for role in cast.roles:
        if role.os is OS.WINDOWS:
            yield Cell(source=role.first, target=role.first, placement=Placement.NOWHERE)


def _elsewhere(role: Role, node: NodeFacts) -> NodeFacts | None:
    """Return the role's first member that is not ``node``."""
    return next((member for member in role.members if member is not node), None)


_RULES: dict[Matrix, Callable[[Cast], Iterator[Cell | Gap]]] = {
    Matrix.PAIRS: _pairs,
    Matrix.ELSEWHERE: _elsewhere_only,
    Matrix.ROLES: _roles,
    Matrix.SOURCES: _sources,
    Matrix.WINDOWS_SOURCES: _windows_sources,
    Matrix.NEAREST: _own_role,
    Matrix.NOBODY: _nobody,
    Matrix.FROM_OUTSIDE: _from_outside,
    Matrix.CLUSTER: _cluster,
    Matrix.CROWD: _crowd,
    Matrix.EACH: _each,
    Matrix.EACH_WINDOWS: _each_windows,
}
_NODE_PORTS: dict[Matrix, Callable[[Cast, Backing], Iterator[Cell | Gap]]] = {
    Matrix.OWN_NODE: _own_node,
    Matrix.OTHER_NODES: _other_nodes,
    Matrix.NODES: _nodes,
}
