"""LimitRange: default resources of containers, and limits that a namespace enforces.

After the LimitRanger admission plugin, in its words, for the types Container and Pod. Pure; changes the pod that it
is given.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from nettests.lab.apiserver import quantities

Json = dict[str, Any]


def fill(pod: Json, ranges: Iterable[Json]) -> None:
    """Give every container the default limits and requests of the namespace where it states none."""
    spec = pod["spec"]
    for limit in _limits(ranges, "Container"):
        default = limit.get("default") or {}
        requests = {**default, **(limit.get("defaultRequest") or {})}
        for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
            resources = container.setdefault("resources", {})
            for kind, defaults in (("limits", default), ("requests", requests)):
                if defaults:
                    resources[kind] = {**defaults, **(resources.get(kind) or {})}


def refusal(pod: Json, ranges: Iterable[Json]) -> str:
    """Return why the namespace does not take the pod, or nothing."""
    ranges, spec = list(ranges), pod["spec"]
    violations: list[str] = []
    for limit in _limits(ranges, "Container"):
        for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
            violations += _compared(limit, "Container", container.get("resources") or {})
    for limit in _limits(ranges, "Pod"):
        violations += _compared(limit, "Pod", _sums(spec["containers"]))
    if len(violations) > 1:
        return f"[{', '.join(violations)}]"
    return violations[0] if violations else ""


def _compared(limit: Json, kind: str, resources: Json) -> Iterator[str]:
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    for name, least in (limit.get("min") or {}).items():
        rule = f"minimum {name} usage per {kind} is {least}"
        if name not in requests:
            yield f"{rule}.  No request is specified"
        elif quantities.read(requests[name]) < quantities.read(least):
            yield f"{rule}, but request is {requests[name]}"
    for name, most in (limit.get("max") or {}).items():
        rule = f"maximum {name} usage per {kind} is {most}"
        if name not in limits:
            yield f"{rule}.  No limit is specified"
        elif quantities.read(limits[name]) > quantities.read(most):
            yield f"{rule}, but limit is {limits[name]}"


def _sums(containers: Iterable[Json]) -> Json:
    """Add up what containers state; what one of them leaves open counts as nothing."""
    totals: Json = {"requests": {}, "limits": {}}
    for container in containers:
        for kind, sums in totals.items():
            for name, text in ((container.get("resources") or {}).get(kind) or {}).items():
                total = quantities.read(sums.get(name, "0")) + quantities.read(text)
                sums[name] = quantities.spelled(total, name)
    return totals


def _limits(ranges: Iterable[Json], kind: str) -> Iterator[Json]:
    for item in ranges:
        for limit in (item.get("spec") or {}).get("limits") or ():
            if limit.get("type") == kind:
                yield limit
