"""The ServiceAccount of a Job, its published role, and the bindings. Pure.

The rules are those in ``manifests/rbac``; nothing else is granted.
"""

import copy
from collections.abc import Iterable, Iterator, Mapping

from nettests.job.validation import Role, Wanted
from nettests.model.json_text import Object
from nettests.model.labels import APP_LABEL, ENFORCED_LEVEL_LABEL, INSTANCE_LABEL, MANAGED_BY_LABEL

Roles = Mapping[Role, Iterable[Object]]
"""The objects in a role's file."""

_RBAC = "rbac.authorization.k8s.io"
PRODUCT = "nettests"


def labels(wanted: Wanted) -> dict[str, str]:
    """Return the labels that select all objects of a Job."""
    return {APP_LABEL: PRODUCT, INSTANCE_LABEL: wanted.name, MANAGED_BY_LABEL: PRODUCT}


def identity(wanted: Wanted, roles: Roles) -> list[Object]:
    """Return namespace, ServiceAccount, roles and bindings, in order of creation."""
    return [*_place(wanted), *_grants(wanted, roles)]


def _place(wanted: Wanted) -> Iterator[Object]:
    if wanted.own_namespace:
        # Labels of the product, not of one Job: other Jobs may use it, too.
        marks = {APP_LABEL: PRODUCT, MANAGED_BY_LABEL: PRODUCT, ENFORCED_LEVEL_LABEL: "restricted"}
        yield {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": wanted.namespace, "labels": marks},
        }
    yield {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": _metadata(wanted, wanted.name, wanted.namespace),
        # Its Pod mounts the token explicitly, so no other Pod gets it by accident.
        "automountServiceAccountToken": False,
    }


def _grants(wanted: Wanted, roles: Roles) -> Iterator[Object]:
    needed = [Role.DISCOVERY] if wanted.role is Role.DISCOVERY else [Role.DISCOVERY, wanted.role]
    for role in needed:
        for published in roles[role]:
            item = copy.deepcopy(published)
            cluster_wide = item["kind"] == "ClusterRole"
            metadata = item["metadata"]
            marks = {APP_LABEL: PRODUCT, MANAGED_BY_LABEL: PRODUCT}
            place = {} if cluster_wide else {"namespace": wanted.namespace}
            item["metadata"] = {"name": metadata["name"], **place, **metadata, "labels": marks}
            yield item
            yield _binding(wanted, item)


def _binding(wanted: Wanted, role: Object) -> Object:
    """Return the binding of a role to the ServiceAccount, in the role's namespace."""
    name, place = role["metadata"]["name"], role["metadata"].get("namespace", "")
    # Jobs in the same or other namespaces must not overwrite each other's bindings.
    owner = wanted.name if place == wanted.namespace else f"{wanted.namespace}.{wanted.name}"
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": f"{role['kind']}Binding",
        "metadata": _metadata(wanted, f"{name}.{owner}", place),
        "roleRef": {"apiGroup": _RBAC, "kind": role["kind"], "name": name},
        "subjects": [
            {"kind": "ServiceAccount", "name": wanted.name, "namespace": wanted.namespace}
        ],
    }


def _metadata(wanted: Wanted, name: str, namespace: str) -> Object:
    place = {"namespace": namespace} if namespace else {}
    return {"name": name, **place, "labels": labels(wanted)}
