"""IP families of a Service: missing fields get defaults, contradictions are refused.

After ``initIPFamilyFields`` and ``ValidateServiceClusterIPsRelatedFields`` of kube-apiserver. ``services`` assigns
addresses afterwards. ``choose`` changes the ``spec`` that it is given.
"""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address

from nettests.lab.apiserver.settings import ApiSettings, Network
from nettests.lab.apiserver.status import FieldError, duplicate, invalid_value, not_supported
from nettests.lab.interfaces import Json

_FAMILIES = ("IPv4", "IPv6")
_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_SINGLE, _REQUIRE = "SingleStack", "RequireDualStack"
_POLICY, _IPS = "spec.ipFamilyPolicy", "spec.clusterIPs"
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
    errors = list(_validate(spec))
    if errors:
        return errors
    if before is not None:
        errors += _released(spec, before)
    errors += _contradicting_policy(spec)
    errors += _inferred_families(spec, settings)
    if errors:
        return errors
    if not headless:
        errors += _unconfigured(spec, settings)
    if not errors:  # the default family first, and both unless SingleStack
        default, *_ = own_families = list(configured(settings))
        families = list(spec.get("ipFamilies") or (default,))
        if spec["ipFamilyPolicy"] != _SINGLE and len(families) == 1:
            every = _FAMILIES if headless else own_families
            families += [family for family in every if family not in families]
        spec["ipFamilies"] = families
    return errors


def _validate(spec: Json) -> Iterator[FieldError]:
    addresses: Sequence[str] = spec.get("clusterIPs") or ()
    families: Sequence[str] = spec.get("ipFamilies") or ()
    if addresses and addresses[0] != spec.get("clusterIP"):
        yield invalid_value(_IPS, addresses, "first value must match `clusterIP`")
    for index, family in enumerate(families):
        field = f"spec.ipFamilies[{index}]"
        if family not in _FAMILIES:
            yield not_supported(field, family, _FAMILIES)
        if family in families[:index]:
            yield duplicate(field, family)
    if spec["ipFamilyPolicy"] not in _POLICIES:
        yield not_supported(_POLICY, spec["ipFamilyPolicy"], _POLICIES)
    if NONE in addresses[:1] and len(addresses) > 1:
        yield invalid_value(_IPS, addresses, "'None' must be the first and only value")
        return
    if len(addresses) > 2:
        yield invalid_value(_IPS, addresses, "may only hold up to 2 values")
    yield from _mismatched(addresses, families)


def _mismatched(addresses: Sequence[str], families: Sequence[str]) -> Iterator[FieldError]:
    if NONE in addresses:
        return
    for index, text in enumerate(addresses):
        try:
            ip_address(text)
        except ValueError:
            detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
            yield invalid_value(f"{_IPS}[{index}]", text, detail)
            return
    if len(addresses) == 2 and _family_of(addresses[0]) == _family_of(addresses[1]):
        yield invalid_value(_IPS, addresses, "may specify no more than one IP for each IP family")
    for index, (address, family) in enumerate(zip(addresses, families, strict=False)):
        if _family_of(address) != family:
            expected = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            yield invalid_value(f"{_IPS}[{index}]", address, expected)


def _released(spec: Json, before: Json) -> Iterator[FieldError]:
    """Release the second family if the policy changed to SingleStack; refuse if only the lists got shorter."""
    for field, what in (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")):
        now, then = spec.get(field) or [], before.get(field) or []
        if spec["ipFamilyPolicy"] == _SINGLE:
            if now == then and len(now) > 1:
                spec[field] = now[:1]
        elif now and len(now) < len(then):
            detail = f"must be '{_SINGLE}' to release the secondary {what}"
            yield invalid_value(_POLICY, spec["ipFamilyPolicy"], detail)


def _contradicting_policy(spec: Json) -> Iterator[FieldError]:
    for field in ("clusterIPs", "ipFamilies"):
        if spec["ipFamilyPolicy"] == _SINGLE and len(spec.get(field) or ()) == 2:
            several = f"when multiple '{field}' are specified"
            detail = f"must be RequireDualStack or PreferDualStack {several}"
            yield invalid_value(_POLICY, _SINGLE, detail)


def _inferred_families(spec: Json, settings: ApiSettings) -> Iterator[FieldError]:
    """Add the families of the stated addresses if none are stated."""
    families: list[str] = spec.get("ipFamilies") or []
    for index, address in enumerate(spec.get("clusterIPs") or ()):
        if address == NONE or index < len(families):
            continue
        family = _family_of(address)
        if family not in configured(settings):
            detail = f"{family} is not configured on this cluster"
            yield invalid_value(f"{_IPS}[{index}]", spec["clusterIPs"], detail)
        else:
            families.append(family)
            spec["ipFamilies"] = families


def _unconfigured(spec: Json, settings: ApiSettings) -> Iterator[FieldError]:
    configured_families = configured(settings)
    if spec["ipFamilyPolicy"] == _REQUIRE and len(configured_families) < 2:
        detail = "this cluster is not configured for dual-stack services"
        yield invalid_value(_POLICY, _REQUIRE, detail)
    for index, family in enumerate(spec.get("ipFamilies") or ()):
        if family not in configured_families:
            detail = "not configured on this cluster"
            yield invalid_value(f"spec.ipFamilies[{index}]", family, detail)
