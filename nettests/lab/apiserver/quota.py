"""ResourceQuota: what an object is charged, whether it exceeds a quota, and a quota's usage.

After the quota evaluators and the admission plugin of kube-apiserver, in its words, for counts of objects, Services
and the cpu and memory of pods. Scoped quotas are left alone. Reads the store, writes nothing: ``quota_controller``
keeps the status of quotas.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from nettests.lab.apiserver import quantities, resources
from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.status import forbidden
from nettests.lab.apiserver.store import Store

Json = dict[str, Any]

_COMPUTE = ("requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
_ALIASES = {"cpu": "requests.cpu", "memory": "requests.memory"}
_ENDED = ("Succeeded", "Failed")
QUOTAS = "resourcequotas"


def charge(resource: Resource, item: Json) -> dict[str, Fraction]:
    """Return what an object costs, by the names that quotas have for it."""
    unit = Fraction(1)
    costs = {f"count/{resource.qualified}": unit}
    if resource.plural in {"configmaps", "secrets", "services", "resourcequotas"}:
        costs[resource.plural] = unit
    if resource.key == resources.SERVICES.key:
        costs |= _service(item["spec"])
    if resource.key == resources.PODS.key and item.get("status", {}).get("phase") not in _ENDED:
        costs |= {"pods": unit, **_pod(item["spec"])}
    return costs


def _service(spec: Json) -> dict[str, Fraction]:
    kind = spec.get("type", "ClusterIP")
    ports = len(spec.get("ports") or ()) if kind in {"NodePort", "LoadBalancer"} else 0
    return {
        "services.nodeports": Fraction(ports),
        "services.loadbalancers": Fraction(kind == "LoadBalancer"),
    }


def _pod(spec: Json) -> dict[str, Fraction]:
    """Add up the containers; init containers run one by one, so that the greatest of them counts."""
    return {
        name: max(
            sum((_amount(container, name) for container in spec["containers"]), Fraction(0)),
            max(
                (_amount(container, name) for container in spec.get("initContainers") or ()),
                default=Fraction(0),
            ),
        )
        for name in _COMPUTE
    }


def _amount(container: Json, name: str) -> Fraction:
    return quantities.read(_stated(container, name) or "0")


def _stated(container: Json, name: str) -> object:
    kind, _, resource = name.partition(".")
    return ((container.get("resources") or {}).get(kind) or {}).get(resource)


def admit(resource: Resource, item: Json, store: Store) -> None:
    """Raise ``ApiError`` if a quota of the namespace has no room for a new object."""
    namespace, name = item["metadata"].get("namespace", ""), item["metadata"].get("name", "")
    for record in store.records(QUOTAS, namespace):
        why = _refusal(record.body, resource, item, store)
        if why:
            raise forbidden(resource, name, why)


def _refusal(quota: Json, resource: Resource, item: Json, store: Store) -> str:
    hard, name = _hard(quota), quota["metadata"]["name"]
    costs = charge(resource, item)
    concerned = {
        key: costs[_ALIASES.get(key, key)] for key in hard if _ALIASES.get(key, key) in costs
    }
    if resource.key == resources.PODS.key and (lacking := _unstated(item["spec"], concerned)):
        return f"failed quota: {name}: must specify {'; '.join(lacking)}"
    used = used_of(quota, store)
    over = sorted(key for key, cost in concerned.items() if cost and used[key] + cost > hard[key])
    if not over:
        return ""
    requested, present, limited = (
        ",".join(f"{key}={quantities.spelled(amounts[key], key)}" for key in over)
        for amounts in (concerned, used, hard)
    )
    return f"exceeded quota: {name}, requested: {requested}, used: {present}, limited: {limited}"


def _unstated(spec: Json, concerned: Iterable[str]) -> list[str]:
    """Return which containers leave open what a quota limits: ``requests.cpu for: a,b``."""
    unstated = []
    every = (*(spec.get("initContainers") or ()), *spec["containers"])
    for key in sorted(concerned):
        name = _ALIASES.get(key, key)
        if name not in _COMPUTE:
            continue
        lacking = [
            str(container["name"]) for container in every if _stated(container, name) is None
        ]
        if lacking:
            unstated.append(f"{key} for: {','.join(lacking)}")
    return unstated


def _hard(quota: Json) -> dict[str, Fraction]:
    spec = quota.get("spec") or {}
    if spec.get("scopes") or spec.get("scopeSelector"):
        return {}
    return {key: quantities.read(text) for key, text in (spec.get("hard") or {}).items()}


def used_of(quota: Json, store: Store) -> dict[str, Fraction]:
    """Return what the objects of a quota's namespace cost, for each name that it limits."""
    used = dict.fromkeys(_hard(quota), Fraction(0))
    namespace = quota["metadata"]["namespace"]
    for key in list(store.keys()):
        resource = resources.of_key(key)
        for record in store.records(key, namespace) if resource.namespaced and used else ():
            costs = charge(resource, record.body)
            for name in used:
                used[name] += costs.get(_ALIASES.get(name, name), Fraction(0))
    return used
