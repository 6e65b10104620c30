"""IP families of a Service: missing fields get defaults, contradictions and families that the cluster lacks are refused.

After ``initIPFamilyFields`` of kube-apiserver. ``services`` assigns addresses afterwards. ``choose`` changes the ``spec``
that it is given.
"""

from collections.abc import Iterator, Mapping, Sequence

from nettests.lab.apiserver.settings import ApiSettings, Network
from nettests.lab.apiserver.status import FieldError, duplicate, invalid_value
from nettests.lab.interfaces import Json

_FAMILIES = ("IPv4", "IPv6")
_SINGLE, _REQUIRE = "SingleStack", "RequireDualStack"
NONE = "None"


def configured(settings: ApiSettings) -> Mapping[str, Network]:
    """Return the Service network of each family, the cluster's default family first."""
    networks = (settings.service_cidr, settings.second_service_cidr)
    return {_family_of(str(network)): network for network in networks if network is not None}


def _family_of(address: str) -> str:
    return "IPv6" if ":" in address else "IPv4"


def choose(spec: Json, before: Json | None, settings: ApiSettings) -> list[FieldError]:
    """Fill in policy and families; ``before`` is the stored spec on an update. Return what is wrong."""
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    elif spec.get("clusterIPs") and not spec.get("clusterIP"):
        spec["clusterIP"] = spec["clusterIPs"][0]
    fields, before_policy = ("clusterIPs", "ipFamilies", "ipFamilyPolicy"), ""
    if before is not None:
        before_policy = before.get("ipFamilyPolicy") or ""
        unsaid = all(spec.get(field) == before.get(field) for field in fields)
        if before_policy == "PreferDualStack" and unsaid:  # it does not follow the cluster
            return []
    headless = spec.get("clusterIP") == NONE and not spec.get("selector")
    spec.setdefault("ipFamilyPolicy", before_policy or (_REQUIRE if headless else _SINGLE))
    if before is not None and spec["ipFamilyPolicy"] == _SINGLE:  # the second family is released
        for field in ("clusterIPs", "ipFamilies"):
            if spec.get(field) == before.get(field):
                spec[field] = (spec.get(field) or [])[:1]
    families = list(spec.get("ipFamilies") or ())
    if errors := list(_contradictions(spec["ipFamilyPolicy"], families)):
        return errors
    stated = [address for address in spec.get("clusterIPs") or () if address != NONE]
    families += map(_family_of, stated[len(families) :])
    errors = [] if headless else list(_unconfigured(spec["ipFamilyPolicy"], families, settings))
    if not errors:  # the default family first, and both unless SingleStack
        default, *_ = own_families = list(configured(settings))
        families = families or [default]
        if spec["ipFamilyPolicy"] != _SINGLE and len(families) == 1:
            every = _FAMILIES if headless else own_families
            families += [family for family in every if family not in families]
        spec["ipFamilies"] = families
    return errors


def _contradictions(policy: str, families: Sequence[str]) -> Iterator[FieldError]:
    """After ``ValidateServiceClusterIPsRelatedFields``: what the suites test."""
    for index, family in enumerate(families):
        if family in families[:index]:
            yield duplicate(f"spec.ipFamilies[{index}]", family)
    if policy == _SINGLE and len(families) == 2:
        detail = (
            "must be RequireDualStack or PreferDualStack when multiple 'ipFamilies' are specified"
        )
        yield invalid_value("spec.ipFamilyPolicy", _SINGLE, detail)


def _unconfigured(
    policy: str, families: Sequence[str], settings: ApiSettings
) -> Iterator[FieldError]:
    configured_families = configured(settings)
    if policy == _REQUIRE and len(configured_families) < 2:
        detail = "this cluster is not configured for dual-stack services"
        yield invalid_value("spec.ipFamilyPolicy", _REQUIRE, detail)
    for index, family in enumerate(families):
        if family not in configured_families:
            detail = "not configured on this cluster"
            yield invalid_value(f"spec.ipFamilies[{index}]", family, detail)
