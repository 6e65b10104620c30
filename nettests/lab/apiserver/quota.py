"""Resource quantities, ResourceQuota and LimitRange.

Quantities are formatted as by ``k8s.io/apimachinery/pkg/api/resource``, for the units that pods and quotas use.
ResourceQuota follows the quota evaluators and the admission plugin of kube-apiserver, with their messages, for counts
of objects, Services and the cpu and memory of pods; scoped quotas are ignored. LimitRange follows the LimitRanger
plugin for the types Container and Pod. Only reads the store: ``background`` writes the status of quotas.
"""

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from nettests.lab.apiserver import resources
from nettests.lab.apiserver.status import forbidden
from nettests.lab.apiserver.store import Store
from nettests.lab.interfaces import Json

QUOTAS = "resourcequotas"
_UNITS = {
    "m": Fraction(1, 1000),
    "": Fraction(1),
    **{unit: Fraction(1000 ** (index + 1)) for index, unit in enumerate("kMGTPE")},
    **{f"{unit}i": Fraction(1024 ** (index + 1)) for index, unit in enumerate("KMGTPE")},
}
# samples: 2, 0.5, 10m, 512Mi
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)(m|[kMGTPE]|[KMGTPE]i|)")
_COMPUTE = ("requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
_ALIASES = {"cpu": "requests.cpu", "memory": "requests.memory"}
_ENDED = ("Succeeded", "Failed")


def _read(text: object) -> Fraction:
    """Parse a quantity; invalid text counts as 0, because values are stored unchecked."""
    match = _QUANTITY.fullmatch(str(text))
    return Fraction(match[1]) * _UNITS[match[2]] if match else Fraction(0)


def spelled(amount: Fraction, resource: str) -> str:
    """Return a quantity as quotas show it: memory in binary units, others in thousandths."""
    if amount.denominator != 1:
        return f"{int(amount * 1000)}m"
    whole = int(amount)
    if resource.endswith("memory"):
        for unit in ("Gi", "Mi", "Ki"):
            if whole and whole % int(_UNITS[unit]) == 0:
                return f"{whole // int(_UNITS[unit])}{unit}"
    return str(whole)


def _charge(resource: resources.Resource, item: Json) -> dict[str, Fraction]:
    costs = {f"count/{resource.qualified}": Fraction(1)}
    if resource.plural in {"configmaps", "secrets", "services", QUOTAS}:
        costs[resource.plural] = Fraction(1)
    if resource.key == resources.SERVICES.key:
        kind, ports = item["spec"].get("type", "ClusterIP"), item["spec"].get("ports") or ()
        exposed = kind in {"NodePort", "LoadBalancer"}
        costs["services.nodeports"] = Fraction(len(ports) if exposed else 0)
        costs["services.loadbalancers"] = Fraction(kind == "LoadBalancer")
    if resource.key == resources.PODS.key and item.get("status", {}).get("phase") not in _ENDED:
        spec, costs["pods"] = item["spec"], Fraction(1)
        # init containers run one after the other, so the largest counts
        for name in _COMPUTE:
            initial = [_amount(each, name) for each in spec.get("initContainers") or ()]
            together = sum((_amount(each, name) for each in spec["containers"]), Fraction(0))
            costs[name] = max(together, *initial) if initial else together
    return costs


def _amount(container: Json, name: str) -> Fraction:
    return _read(_stated(container, name) or "0")


def _stated(container: Json, name: str) -> object:
    kind, _, resource = name.partition(".")
    return ((container.get("resources") or {}).get(kind) or {}).get(resource)


def _every_container(spec: Json) -> tuple[Json, ...]:
    return (*(spec.get("initContainers") or ()), *spec["containers"])


def admit(resource: resources.Resource, item: Json, store: Store) -> None:
    """Raise ``ApiError`` if a quota of the namespace has no room for a new object."""
    namespace, name = item["metadata"].get("namespace", ""), item["metadata"].get("name", "")
    for record in store.records(QUOTAS, namespace):
        if why := _refusal(record.body, resource, item, store):
            raise forbidden(resource, name, why)


def _refusal(quota: Json, resource: resources.Resource, item: Json, store: Store) -> str:
    hard, name = _hard(quota), quota["metadata"]["name"]
    costs = _charge(resource, item)
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
        ",".join(f"{key}={spelled(amounts[key], key)}" for key in over)
        for amounts in (concerned, used, hard)
    )
    return f"exceeded quota: {name}, requested: {requested}, used: {present}, limited: {limited}"


def _unstated(spec: Json, concerned: Iterable[str]) -> list[str]:
    """Return the containers without a value that a quota requires: ``requests.cpu for: a,b``."""
    unstated = []
    for key in sorted(concerned):
        name = _ALIASES.get(key, key)
        lacking = [
            str(container["name"])
            for container in _every_container(spec)
            if name in _COMPUTE and _stated(container, name) is None
        ]
        if lacking:
            unstated.append(f"{key} for: {','.join(lacking)}")
    return unstated


def _hard(quota: Json) -> dict[str, Fraction]:
    spec = quota.get("spec") or {}
    if spec.get("scopes") or spec.get("scopeSelector"):
        return {}
    return {key: _read(text) for key, text in (spec.get("hard") or {}).items()}


def used_of(quota: Json, store: Store) -> dict[str, Fraction]:
    """Return the usage of a quota's namespace, for each resource that it limits."""
    used = dict.fromkeys(_hard(quota), Fraction(0))
    namespace = quota["metadata"]["namespace"]
    for key in list(store.keys()):
        resource = resources.of_key(key)
        for record in store.records(key, namespace) if resource.namespaced and used else ():
            costs = _charge(resource, record.body)
            for name in used:
                used[name] += costs.get(_ALIASES.get(name, name), Fraction(0))
    return used


def fill_limits(pod: Json, ranges: Iterable[Json]) -> None:
    """Set the namespace's default limits and requests where containers have none."""
    for limit in _limits(ranges, "Container"):
        default = limit.get("default") or {}
        requests = {**default, **(limit.get("defaultRequest") or {})}
        for container in _every_container(pod["spec"]):
            stated = container.setdefault("resources", {})
            for kind, usual in (("limits", default), ("requests", requests)):
                if usual:
                    stated[kind] = {**usual, **(stated.get(kind) or {})}


def limits_refusal(pod: Json, ranges: Iterable[Json]) -> str:
    """Return why a namespace's LimitRanges refuse the pod, or ``""``."""
    ranges, spec = list(ranges), pod["spec"]
    violations: list[str] = []
    for limit in _limits(ranges, "Container"):
        for container in _every_container(spec):
            violations += _compared(limit, "Container", container.get("resources") or {})
    for limit in _limits(ranges, "Pod"):
        violations += _compared(limit, "Pod", _sums(spec["containers"]))
    if len(violations) > 1:
        return f"[{', '.join(violations)}]"
    return violations[0] if violations else ""


def _compared(limit: Json, kind: str, stated: Json) -> Iterator[str]:
    for word, what, bounds, sign in (
        ("minimum", "request", limit.get("min"), 1),
        ("maximum", "limit", limit.get("max"), -1),
    ):
        amounts = stated.get(f"{what}s") or {}
        for name, bound in (bounds or {}).items():
            rule = f"{word} {name} usage per {kind} is {bound}"
            if name not in amounts:
                yield f"{rule}.  No {what} is specified"
            elif sign * _read(amounts[name]) < sign * _read(bound):
                yield f"{rule}, but {what} is {amounts[name]}"


def _sums(containers: Iterable[Json]) -> Json:
    """Return the sums over containers; missing values count as 0."""
    totals: Json = {"requests": {}, "limits": {}}
    for container in containers:
        for kind, sums in totals.items():
            for name, text in ((container.get("resources") or {}).get(kind) or {}).items():
                sums[name] = spelled(_read(sums.get(name, "0")) + _read(text), name)
    return totals


def _limits(ranges: Iterable[Json], kind: str) -> Iterator[Json]:
    for item in ranges:
        for limit in (item.get("spec") or {}).get("limits") or ():
            if limit.get("type") == kind:
                yield limit
