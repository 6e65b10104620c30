"""Strategic merge patch: lists of objects are merged by a key instead of replaced.

Which lists, and by which key, are the ``patchMergeKey`` annotations of the Kubernetes API types. The
directives ``$patch``, ``$deleteFromPrimitiveList``, ``$setElementOrder`` and ``$retainKeys`` are those of
the "Strategic Merge Patch" document of sig-api-machinery. Pure.
"""

import copy
from typing import Any

from nettests.lab.apiserver.schema import types

Json = dict[str, Any]

MERGE_KEYS: dict[tuple[str, str], str] = {
    ("PodSpec", "containers"): "name",
    ("PodSpec", "initContainers"): "name",
    ("PodSpec", "ephemeralContainers"): "name",
    ("PodSpec", "volumes"): "name",
    ("PodSpec", "imagePullSecrets"): "name",
    ("PodSpec", "hostAliases"): "ip",
    ("PodSpec", "topologySpreadConstraints"): "topologyKey",
    ("PodSpec", "schedulingGates"): "name",
    ("Container", "env"): "name",
    ("Container", "ports"): "containerPort",
    ("Container", "volumeMounts"): "mountPath",
    ("Container", "volumeDevices"): "devicePath",
    ("PodStatus", "conditions"): "type",
    ("PodStatus", "podIPs"): "ip",
    ("NodeStatus", "conditions"): "type",
    ("NodeStatus", "addresses"): "type",
    ("NamespaceStatus", "conditions"): "type",
    ("DeploymentStatus", "conditions"): "type",
    ("DaemonSetStatus", "conditions"): "type",
    ("ReplicaSetStatus", "conditions"): "type",
    ("StatefulSetStatus", "conditions"): "type",
    ("ServiceSpec", "ports"): "port",
    ("ServiceStatus", "conditions"): "type",
    ("ServiceAccount", "secrets"): "name",
    ("ServiceAccount", "imagePullSecrets"): "name",
    ("ObjectMeta", "ownerReferences"): "uid",
}
PRIMITIVE_MERGES = frozenset({("ObjectMeta", "finalizers"), ("NodeSpec", "podCIDRs")})
_DIRECTIVE = "$patch"
_ORDER = "$setElementOrder/"
_DELETE = "$deleteFromPrimitiveList/"
_RETAIN = "$retainKeys"


def merge(original: Json, patch: Json, type_name: str) -> Json:
    """Return ``original`` with ``patch`` applied as an object of ``type_name`` (empty: untyped)."""
    if patch.get(_DIRECTIVE) == "replace":
        return {key: copy.deepcopy(item) for key, item in patch.items() if key != _DIRECTIVE}
    if patch.get(_DIRECTIVE) == "delete":
        return {}
    result = dict(original)
    if (retained := patch.get(_RETAIN)) is not None:
        result = {key: item for key, item in result.items() if key in retained}
    for key, item in patch.items():
        if key.startswith(_DELETE):
            _delete_primitives(result, key.removeprefix(_DELETE), item)
        elif not key.startswith("$"):
            _merge_field(result, key, item, type_name)
    for key, order in patch.items():
        if key.startswith(_ORDER):
            _reorder(result, key.removeprefix(_ORDER), order, type_name)
    return result


def _merge_field(result: Json, key: str, item: Any, type_name: str) -> None:
    declared = types().get(type_name, {}).get(key, "any")
    current = result.get(key)
    if item is None:
        result.pop(key, None)
    elif isinstance(item, dict):
        base = current if isinstance(current, dict) else {}
        result[key] = merge(base, item, declared.removeprefix("{}"))
    elif isinstance(item, list) and isinstance(current, list):
        result[key] = _merge_list(current, item, type_name, key, declared.removeprefix("[]"))
    elif isinstance(item, list):
        result[key] = _without_directives(item)
    else:
        result[key] = item


def _merge_list(
    current: list[Any], patch: list[Any], owner: str, key: str, element: str
) -> list[Any]:
    merge_key = MERGE_KEYS.get((owner, key))
    if merge_key is None:
        if (owner, key) in PRIMITIVE_MERGES:
            return [*current, *(item for item in patch if item not in current)]
        return _without_directives(patch)
    if any(item.get(_DIRECTIVE) == "replace" for item in patch):
        return _without_directives(patch)
    result = list(current)
    for item in patch:
        at = next(
            (i for i, old in enumerate(result) if old.get(merge_key) == item.get(merge_key)), -1
        )
        if item.get(_DIRECTIVE) == "delete":
            result = [old for old in result if old.get(merge_key) != item.get(merge_key)]
        elif at >= 0:
            result[at] = merge(result[at], item, element)
        else:
            result.append(merge({}, item, element))
    return result


def _without_directives(items: list[Any]) -> list[Any]:
    kept = [item for item in items if not (isinstance(item, dict) and _DIRECTIVE in item)]
    return copy.deepcopy(kept)


def _delete_primitives(result: Json, key: str, gone: list[Any]) -> None:
    if isinstance(result.get(key), list):
        result[key] = [item for item in result[key] if item not in gone]


def _reorder(result: Json, key: str, order: list[Any], type_name: str) -> None:
    items = result.get(key)
    if not isinstance(items, list):
        return
    merge_key = MERGE_KEYS.get((type_name, key))
    wanted = [item.get(merge_key) if isinstance(item, dict) else item for item in order]

    def rank(item: Any) -> int:
        value = item.get(merge_key) if isinstance(item, dict) else item
        return wanted.index(value) if value in wanted else len(wanted)

    result[key] = sorted(items, key=rank)
