"""The ids of a flow's checks as a pattern for people, without a cluster.

``questions`` creates the ids. Words in angle brackets stand for what a cluster provides; braces
list alternatives of the flow.
"""

from collections.abc import Iterable

from nettests.model.check_id import API, EXTERNAL, between, check_id
from nettests.model.target_kinds import Owner, descriptor
from nettests.model.words import Placement, Protocol, Question
from nettests.plan.flow import Backing, Flow, Matrix, NameForm

_POOL = "<pool>"
_OWN_NODE = between(_POOL, _POOL, Placement.SAME_NODE.value)
_OTHER_NODE = between(_POOL, _POOL, Placement.OTHER_NODE.value)
_EITHER = "{" + f"{Placement.SAME_NODE.value},{Placement.OTHER_NODE.value}" + "}"
_BOTH = between(_POOL, _POOL, _EITHER)
_TO_OUTSIDE = between(_POOL, EXTERNAL, Placement.OUTSIDE.value)
_FROM_OUTSIDE = between(EXTERNAL, _POOL, Placement.OUTSIDE.value)
_PATHS = {
    Matrix.PAIRS: _BOTH,
    Matrix.OWN_NODE: _OWN_NODE,
    Matrix.OTHER_NODES: _OTHER_NODE,
    Matrix.EMPTY_NODES: _OTHER_NODE,
    Matrix.POOLS: _BOTH,
    Matrix.POOLS_AT_NODES: _BOTH,
    Matrix.OWN_POOL: _POOL,
    Matrix.SOURCES: _TO_OUTSIDE,
    Matrix.WINDOWS_SOURCES: _TO_OUTSIDE,
    Matrix.NEAREST: _OWN_NODE,
    Matrix.NODES: _FROM_OUTSIDE,
    Matrix.FROM_OUTSIDE: _FROM_OUTSIDE,
    Matrix.ELSEWHERE: _OTHER_NODE,
    Matrix.NO_ENDPOINTS: _POOL,
    Matrix.CLUSTER: API,
    Matrix.MANY_BACKENDS: _BOTH,
    Matrix.EACH: _POOL,
    Matrix.ANOTHER: _POOL,
    Matrix.EACH_WINDOWS: _POOL,
}
_BACKENDS = {Matrix.OWN_NODE, Matrix.OTHER_NODES, Matrix.EMPTY_NODES, Matrix.NODES}


def patterns(flow: Flow) -> tuple[str, ...]:
    """Return the patterns of a flow's check ids: for its paths, and for its names if it has any."""
    outside = descriptor(flow.target).owner is Owner.OUTSIDE
    path = _PATHS[Matrix.SOURCES if outside else flow.matrix]
    if flow.cases:
        return (check_id(flow.name, path, "<case>"),)
    plain = _by_path(flow, path)
    # The family is named if it is not the cluster's first one.
    return (*plain, *(f"{pattern}/<family>" for pattern in plain if flow.each_family))


def _by_path(flow: Flow, path: str) -> tuple[str, ...]:
    backed = flow.matrix in _BACKENDS and flow.backing is not Backing.NOWHERE
    backend = ("<backend>",) if backed else ()
    ids = []
    if flow.question is not Question.RESOLVE:
        label = _labels(flow.names)
        protocols = _any(protocol.value for protocol in flow.protocols)
        ids.append(check_id(flow.name, path, protocols, *backend, *label))
    probed = tuple(name for name in flow.names if name.resolvers)
    if probed:
        resolvers = _any(dict.fromkeys(r.value for name in probed for r in name.resolvers))
        same_node = path.replace(_EITHER, Placement.SAME_NODE.value)
        by_protocol = descriptor(flow.target).name_server
        protocols = _any(
            protocol.value for protocol in (flow.protocols if by_protocol else (Protocol.UDP,))
        )
        ids.append(check_id(flow.name, same_node, protocols, *backend, *_labels(probed), resolvers))
    return tuple(ids)


def _labels(names: Iterable[NameForm]) -> tuple[str, ...]:
    labels = [name.label for name in names if name.label]
    return (_any(labels),) if labels else ()


def _any(words: Iterable[str]) -> str:
    listed = list(words)
    return listed[0] if len(listed) == 1 else "{" + ",".join(listed) + "}"
