"""Read ResourceQuotas and LimitRanges: what is left of each limit, and what containers are given unasked."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from nettests.preflight.evidence import Quota

Object = dict[str, Any]

_FACTORS = {
    "": 1.0,
    "n": 1e-9,
    "u": 1e-6,
    "m": 1e-3,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
    "Pi": 2.0**50,
    "Ei": 2.0**60,
}


def quantity(text: str) -> float:
    """Return a quantity as a number (``500m`` = 0.5, ``1Gi``); ``ValueError`` for what is none."""
    # sample: "100", "500m", "1.5Gi", "2e3"
    found = re.fullmatch(r"([+-]?[\d.]+(?:[eE][+-]?\d+)?)([A-Za-z]{0,2})", text.strip())
    if found is None or found[2] not in _FACTORS:
        raise ValueError(f"not a quantity: {text!r}")
    return float(found[1]) * _FACTORS[found[2]]


def quotas_of(items: Iterable[Object]) -> tuple[Quota, ...]:
    """Return every limit that concerns all pods; what is scoped to some classes of pods is left out."""
    return tuple(quota for item in items for quota in _of_one(item))


def _of_one(item: Object) -> Iterator[Quota]:
    spec, status = item.get("spec") or {}, item.get("status") or {}
    if spec.get("scopes") or spec.get("scopeSelector"):
        return
    used = status.get("used") or {}
    for resource, hard in (status.get("hard") or spec.get("hard") or {}).items():
        yield Quota(
            name=f"ResourceQuota {item['metadata']['name']}",
            resource=resource,
            hard=quantity(str(hard)),
            used=quantity(str(used.get(resource, "0"))),
        )


def defaults_of(items: Iterable[Object]) -> frozenset[str]:
    """Return what LimitRanges give to containers that say nothing: ``requests.cpu``, ``limits.memory`` …"""
    found: set[str] = set()
    for item in items:
        for limit in (item.get("spec") or {}).get("limits") or ():
            if limit.get("type") != "Container":
                continue
            found |= {f"limits.{name}" for name in limit.get("default") or ()}
            # A default limit is a default request too (LimitRanger).
            found |= {f"requests.{name}" for name in limit.get("default") or ()}
            found |= {f"requests.{name}" for name in limit.get("defaultRequest") or ()}
    return frozenset(found)
