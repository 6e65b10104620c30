"""What a run takes of a namespace's quotas: the number of objects, and the resources of its containers. Pure.

Counted as Kubernetes' quota evaluators count (``pkg/quota/v1/evaluator/core``), by the names of a ResourceQuota:
``pods``, ``services.nodeports``, ``requests.cpu``, ``limits.memory``, ``count/leases.coordination.k8s.io`` … Objects
that controllers make for a run count, too.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nettests.model.service import LOAD_BALANCER
from nettests.model.workload import Workload

Object = dict[str, Any]
Amounts = Mapping[str, Fraction]

_QUOTED = {"Pod": "pods", "Service": "services", "Secret": "secrets"}
"""The kinds that a run makes in its namespace and that have a name of their own in quotas."""
_COUNTED = {
    **_QUOTED,
    "EndpointSlice": "endpointslices.discovery.k8s.io",
    "Lease": "leases.coordination.k8s.io",
    "NetworkPolicy": "networkpolicies.networking.k8s.io",
    **{kind.value: kind.resource for kind in Workload},
}
"""What quotas count as ``count/<resource>.<group>``, of the kinds that a run makes."""
_MADE_BESIDE = {
    Workload.STATEFUL_SET.value: ("controllerrevisions.apps",),
    Workload.DAEMON_SET.value: ("controllerrevisions.apps",),
    Workload.DEPLOYMENT.value: ("replicasets.apps", "replicasets.apps"),
    Workload.CRON_JOB.value: ("jobs.batch",),
}
"""What controllers make of such objects beside Pods; of a Deployment a set for each of its two templates."""
_BARE = ("cpu", "memory", "ephemeral-storage")
"""Resources whose bare name in a quota means their requests."""
_DUAL = frozenset({"PreferDualStack", "RequireDualStack"})
"""A Service of two families has a slice of each."""
_NOTHING = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passing:
    """What comes and goes beside what stands, ``at_once`` of it at the same time: Pods, or what makes them."""

    objects: tuple[Object, ...]
    at_once: int


def needed(
    objects: Iterable[Object], passing: Iterable[Passing] = (), defaults: Amounts | None = None
) -> defaultdict[str, Fraction]:
    """Return what these objects take at most, with what passes beside them.

    ``defaults`` is what a LimitRange gives to containers that state nothing.
    """
    given = defaults or {}
    totals: defaultdict[str, Fraction] = defaultdict(Fraction)
    for item in objects:
        for name, amount in _charge(item, given).items():
            totals[name] += amount
    for group in passing:
        charges = [_charge(item, given) for item in group.objects]
        for name in {name for charge in charges for name in charge}:
            amounts = sorted((charge.get(name, _NOTHING) for charge in charges), reverse=True)
            totals[name] += sum(amounts[: group.at_once], _NOTHING)
    return totals


def left_open(pods: Iterable[Object], resource: str) -> bool:
    """Whether a container of these leaves a resource (``requests.cpu``) open."""
    return any(
        resource not in _stated(container)
        for item in pods
        for container in _containers(item["spec"])
    )


def full_name(resource: str) -> str:
    """Return the name of a quota's resource with its kind: ``cpu`` means ``requests.cpu``."""
    return f"requests.{resource}" if resource in _BARE else resource


def _charge(item: Object, defaults: Amounts) -> dict[str, Fraction]:
    kind, fraction = item["kind"], Fraction(1)
    charges = {f"count/{_COUNTED[kind]}": fraction} if kind in _COUNTED else {}
    if kind in _QUOTED:
        charges[_QUOTED[kind]] = fraction
    for name in _MADE_BESIDE.get(kind, ()):
        charges[f"count/{name}"] = charges.get(f"count/{name}", _NOTHING) + fraction
    if kind == "Pod":
        charges |= _of_pod(item["spec"], defaults)
    return charges | _of_service(item["spec"]) if kind == "Service" else charges


def _of_service(spec: Object) -> dict[str, Fraction]:
    """Return what a Service takes besides itself: node ports, and the endpoints that its controllers write."""
    fraction, kind = Fraction(1), spec.get("type")
    charges: dict[str, Fraction] = {}
    if spec.get("selector"):
        families = 2 if spec.get("ipFamilyPolicy") in _DUAL else 1
        charges["count/endpointslices.discovery.k8s.io"] = Fraction(families)
        charges["count/endpoints"] = fraction
    if kind in {"NodePort", LOAD_BALANCER}:
        charges["services.nodeports"] = Fraction(len(spec["ports"]))
    if kind == LOAD_BALANCER:
        charges["services.loadbalancers"] = fraction
    return charges


def _of_pod(spec: Object, defaults: Amounts) -> dict[str, Fraction]:
    """Add up the containers; init containers run one by one, so that the greatest of them counts."""
    usual = [{**defaults, **_stated(container)} for container in spec["containers"]]
    first = [{**defaults, **_stated(container)} for container in spec.get("initContainers") or ()]
    names = {name for amounts in (*usual, *first) for name in amounts}
    summed = {
        name: max(
            sum((amounts.get(name, _NOTHING) for amounts in usual), _NOTHING),
            max((amounts.get(name, _NOTHING) for amounts in first), default=_NOTHING),
        )
        for name in names
    }
    bare = {name: summed[f"requests.{name}"] for name in _BARE if f"requests.{name}" in summed}
    return summed | bare


def _containers(spec: Object) -> list[Object]:
    return [*(spec.get("initContainers") or ()), *spec["containers"]]


def _stated(container: Object) -> dict[str, Fraction]:
    """Return what a container states: ``requests.cpu`` …; a limit without a request is its request too."""
    resources = container.get("resources") or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    amounts = {f"requests.{name}": amount for name, amount in {**limits, **requests}.items()}
    amounts |= {f"limits.{name}": amount for name, amount in limits.items()}
    return {name: quantity(str(amount)) for name, amount in amounts.items()}


_FACTORS = {
    "": Fraction(1),
    **{unit: Fraction(1, 1000**power) for power, unit in enumerate("mun", 1)},
    **{unit: Fraction(1000**power) for power, unit in enumerate("kMGTPE", 1)},
    **{f"{unit}i": Fraction(1024**power) for power, unit in enumerate("KMGTPE", 1)},
}


def quantity(text: str) -> Fraction:
    """Return a quantity as an exact number (``500m`` = 0.5, ``1Gi``); ``ValueError`` for what is none."""
    # sample: "100", "500m", "1.5Gi", "2e3"
    match = re.fullmatch(r"([+-]?[\d.]+(?:[eE][+-]?\d+)?)([A-Za-z]{0,2})", text.strip())
    if match is None or match[2] not in _FACTORS:
        raise ValueError(f"not a quantity: {text!r}")
    return Fraction(match[1]) * _FACTORS[match[2]]


def spelled(amount: Fraction, resource: str) -> str:
    """Return an amount for people: memory and storage in Mi, everything else as a number."""
    if resource.endswith(("memory", "storage")):
        return f"{float(amount / _FACTORS['Mi']):g}Mi"
    return f"{float(amount):g}"
