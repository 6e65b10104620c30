"""What a run takes from a namespace's quotas: objects, and resources of containers. Pure.

Counted like Kubernetes' quota evaluators (``pkg/quota/v1/evaluator/core``), by resource names of a
ResourceQuota: ``pods``, ``services.nodeports``, ``requests.cpu``, ``limits.memory``,
``count/leases.coordination.k8s.io`` … Objects that controllers create for a run count, too.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from nettests.model.json_text import Object
from nettests.model.service import LOAD_BALANCER
from nettests.model.workload import Workload

Amounts = Mapping[str, Fraction]

_QUOTED = {"Pod": "pods", "Service": "services", "Secret": "secrets"}
"""Kinds that a run creates in its namespace and that quotas count by plain names."""
_COUNTED = {
    **_QUOTED,
    "EndpointSlice": "endpointslices.discovery.k8s.io",
    "Lease": "leases.coordination.k8s.io",
    "NetworkPolicy": "networkpolicies.networking.k8s.io",
    **{kind.value: kind.resource for kind in Workload},
}
"""What quotas count as ``count/<resource>.<group>``, of the kinds that a run creates."""
_MADE_BESIDE = {
    Workload.STATEFUL_SET.value: ("controllerrevisions.apps",),
    Workload.DAEMON_SET.value: ("controllerrevisions.apps",),
    Workload.DEPLOYMENT.value: ("replicasets.apps", "replicasets.apps"),
    Workload.CRON_JOB.value: ("jobs.batch",),
}
"""What controllers create besides Pods; a Deployment's two templates give two sets."""
_BARE = ("cpu", "memory", "ephemeral-storage")
"""Resources whose bare name in a quota means requests."""
_DUAL = frozenset({"PreferDualStack", "RequireDualStack"})
"""A Service with two families has an EndpointSlice for each."""
_NOTHING = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passing:
    """Temporary objects, Pods or their controllers; at most ``at_once`` exist at the same time."""

    objects: tuple[Object, ...]
    at_once: int


def needed(
    objects: Iterable[Object], passing: Iterable[Passing] = (), defaults: Amounts | None = None
) -> defaultdict[str, Fraction]:
    """Return the maximum that these objects take, together with temporary ones.

    ``defaults`` are a LimitRange's values for containers that state nothing.
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
    """Whether a container of these Pods does not state a resource (``requests.cpu``)."""
    return any(
        resource not in _stated(container)
        for item in pods
        for container in (*(item["spec"].get("initContainers") or ()), *item["spec"]["containers"])
    )


def full_name(resource: str) -> str:
    """Return the full name of a quota's resource: ``cpu`` means ``requests.cpu``."""
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
    """Return what a Service takes besides itself: node ports, and its endpoint objects."""
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
    """Add up the containers; of init containers, which run one by one, only the maximum counts."""
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


def _stated(container: Object) -> dict[str, Fraction]:
    """Return what a container states: ``requests.cpu`` …; a limit is the default of its request."""
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
    """Return a quantity as an exact number (``500m`` = 0.5, ``1Gi``); ``ValueError`` if invalid."""
    # sample: "100", "500m", "1.5Gi", "2e3"
    match = re.fullmatch(r"([+-]?[\d.]+(?:[eE][+-]?\d+)?)([A-Za-z]{0,2})", text.strip())
    if match is None or match[2] not in _FACTORS:
        raise ValueError(f"not a quantity: {text!r}")
    return Fraction(match[1]) * _FACTORS[match[2]]


def spelled(amount: Fraction, resource: str) -> str:
    """Return an amount in words: memory and storage in Mi, everything else as a number."""
    if resource.endswith(("memory", "storage")):
        return f"{float(amount / _FACTORS['Mi']):g}Mi"
    return f"{float(amount):g}"
