"""Missing permissions as RBAC roles that grant them. Pure; the user creates the bindings."""

from collections import defaultdict
from collections.abc import Iterable

from nettests.model.json_text import Object
from nettests.model.permission import EVERYWHERE, Permission

NAME = "nettests-missing"


def roles(missing: Iterable[Permission]) -> list[Object]:
    """Return the smallest roles that grant what is missing, one per namespace, in order.

    The name of a run's own namespace is not known before, so its permissions need a ClusterRole.
    """
    by_place: defaultdict[str, list[Permission]] = defaultdict(list)
    for permission in missing:
        by_place["" if permission.namespace == EVERYWHERE else permission.namespace].append(
            permission
        )
    return [_role(place, by_place[place]) for place in sorted(by_place)]


def _role(namespace: str, missing: list[Permission]) -> Object:
    verbs: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for permission in missing:
        # A list or creation cannot be restricted to a name.
        name = permission.name if permission.verb == "get" else ""
        if permission.verb not in verbs[permission.group, permission.resource, name]:
            verbs[permission.group, permission.resource, name].append(permission.verb)
    metadata = {"name": NAME, **({"namespace": namespace} if namespace else {})}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role" if namespace else "ClusterRole",
        "metadata": metadata,
        "rules": [_rule(*key, words) for key, words in verbs.items()],
    }


def _rule(group: str, resource: str, name: str, verbs: list[str]) -> Object:
    rule: Object = {"apiGroups": [group], "resources": [resource]}
    return {**rule, **({"resourceNames": [name]} if name else {}), "verbs": verbs}
