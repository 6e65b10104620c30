"""Read ResourceQuotas and LimitRanges: what is left of each limit, and defaults of containers."""

from collections.abc import Iterable, Iterator
from fractions import Fraction

from nettests.model.json_text import Object
from nettests.preflight.demand import quantity
from nettests.preflight.evidence import Quota


def quotas_of(items: Iterable[Object]) -> tuple[Quota, ...]:
    """Return every limit for all Pods, without those scoped to some classes of Pods."""
    return tuple(quota for item in items for quota in _limits(item))


def _limits(item: Object) -> Iterator[Quota]:
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


def defaults_of(items: Iterable[Object]) -> dict[str, Fraction]:
    """Return LimitRanges' values for containers that state nothing: ``requests.cpu`` …"""
    defaults: dict[str, Fraction] = {}
    for item in items:
        for limit in (item.get("spec") or {}).get("limits") or ():
            if limit.get("type") != "Container":
                continue
            limits, requests = limit.get("default") or {}, limit.get("defaultRequest") or {}
            given = {f"limits.{name}": amount for name, amount in limits.items()}
            # A default limit is a default request, too (LimitRanger).
            given |= {f"requests.{name}": amount for name, amount in {**limits, **requests}.items()}
            for name, amount in given.items():
                defaults.setdefault(name, quantity(str(amount)))
    return defaults
