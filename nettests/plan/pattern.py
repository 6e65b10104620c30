"""How the ids of a flow's checks are made, as a pattern for people: no cluster is needed to say it.

Beside ``questions``, which makes the ids. Words in angle brackets stand for what a cluster gives; braces
list what the flow gives.
"""

from collections.abc import Iterable

from nettests.model.target_kinds import Owner, descriptor
from nettests.model.words import Protocol, Question
from nettests.plan.flow import Backing, Flow, Matrix, NameForm

_PATHS = {
    Matrix.PAIRS: "<role>/<role>/{same-node,other-node}",
    Matrix.OWN_NODE: "<role>/<role>/same-node",
    Matrix.OTHER_NODES: "<role>/<role>/other-node",
    Matrix.ROLES: "<role>/<role>/{same-node,other-node}",
    Matrix.SOURCES: "<role>/external/outside",
    Matrix.WINDOWS_SOURCES: "<role>/external/outside",
    Matrix.NEAREST: "<role>/<role>/same-node",
    Matrix.NODES: "external/<role>/outside",
    Matrix.FROM_OUTSIDE: "external/<role>/outside",
    Matrix.ELSEWHERE: "<role>/<role>/other-node",
    Matrix.NOBODY: "<role>",
    Matrix.CLUSTER: "api",
    Matrix.CROWD: "<role>/<role>/{same-node,other-node}",
    Matrix.EACH: "<role>",
    Matrix.EACH_WINDOWS: "<role>",
}
_BACKENDS = {Matrix.OWN_NODE, Matrix.OTHER_NODES, Matrix.NODES}


def patterns(flow: Flow) -> tuple[str, ...]:
    """Return the patterns of a flow's check ids: one of its paths, one of its names where it has them."""
    outside = descriptor(flow.target).owner is Owner.OUTSIDE
    path = _PATHS[Matrix.SOURCES if outside else flow.matrix]
    if flow.cases:
        return (f"{flow.name}/{path}/<case>",)
    found = _by_path(flow, path)
    # The family is named where it is not the cluster's first one.
    return (*found, *(f"{one}/<family>" for one in found if flow.each_family))


def _by_path(flow: Flow, path: str) -> tuple[str, ...]:
    backed = flow.matrix in _BACKENDS and flow.backing is not Backing.NOWHERE
    backend = ("<backend>",) if backed else ()
    found = []
    if flow.question is not Question.RESOLVE:
        label = _labels(flow.names)
        protocols = _any(protocol.value for protocol in flow.protocols)
        found.append("/".join((flow.name, path, protocols, *backend, *label)))
    asked = tuple(name for name in flow.names if name.resolvers)
    if asked:
        resolvers = _any(dict.fromkeys(r.value for name in asked for r in name.resolvers))
        own = path.replace("{same-node,other-node}", "same-node")
        by_protocol = descriptor(flow.target).name_server
        protocols = _any(one.value for one in (flow.protocols if by_protocol else (Protocol.UDP,)))
        parts = (flow.name, own, protocols, *backend, *_labels(asked), resolvers)
        found.append("/".join(parts))
    return tuple(found)


def _labels(names: Iterable[NameForm]) -> tuple[str, ...]:
    labels = [name.label for name in names if name.label]
    return (_any(labels),) if labels else ()


def _any(words: Iterable[str]) -> str:
    listed = list(words)
    return listed[0] if len(listed) == 1 else "{" + ",".join(listed) + "}"
