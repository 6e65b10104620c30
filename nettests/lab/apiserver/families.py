"""IP families of a Service: missing ones are defaulted, contradictions are refused.

After ``initIPFamilyFields`` and ``ValidateServiceClusterIPsRelatedFields`` of kube-apiserver. Addresses are assigned
afterwards, by ``services``. ``choose`` changes the ``spec`` it is given.
"""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import Any

from nettests.lab.apiserver.settings import ApiSettings, Network
from nettests.lab.apiserver.status import FieldError, duplicate, invalid_value, not_supported

Json = dict[str, Any]

_FAMILIES = ("IPv4", "IPv6")
_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_SINGLE, _REQUIRE = "SingleStack", "RequireDualStack"
_POLICY, _IPS = "spec.ipFamilyPolicy", "spec.clusterIPs"
NONE = "None"


def configured(settings: ApiSettings) -> Mapping[str, Network]:
    """Return the Service network of each family, the cluster's default family first."""
    networks = (settings.service_cidr, settings.second_service_cidr)
    return {
        family_of(str(network.network_address)): network
        for network in networks
        if network is not None
    }


def family_of(address: str) -> str:
    """Return the family of an address."""
    return "IPv6" if ":" in address else "IPv4"


def choose(spec: Json, before: Json | None, settings: ApiSettings) -> list[FieldError]:
    """Fill in policy and families; ``before`` is the stored Service's spec when it is updated."""
    _name_addresses(spec)
    if before is not None and _prefers_as_before(spec, before):
        return []
    spec.setdefault("ipFamilyPolicy", _default_policy(spec, before))
    errors = list(_validate(spec))
    if errors:
        return errors
    if before is not None:
        errors += _released(spec, before)
    errors += _contradicting_policy(spec)
    errors += _inferred_families(spec, settings)
    if errors:
        return errors
    if spec.get("clusterIP") == NONE and not spec.get("selector"):
        _complete_families(spec, _FAMILIES, next(iter(configured(settings))))
        return []
    errors += _unconfigured(spec, settings)
    if not errors:
        _complete_families(spec, tuple(configured(settings)), next(iter(configured(settings))))
    return errors


def _name_addresses(spec: Json) -> None:
    """Let ``clusterIP`` and ``clusterIPs`` agree where only one of them was written."""
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    elif spec.get("clusterIPs") and not spec.get("clusterIP"):
        spec["clusterIP"] = spec["clusterIPs"][0]


def _prefers_as_before(spec: Json, before: Json) -> bool:
    """Whether nothing was said about families: PreferDualStack does not follow the cluster."""
    same = ("clusterIPs", "ipFamilies", "ipFamilyPolicy")
    if before.get("ipFamilyPolicy") != "PreferDualStack":
        return False
    return all(spec.get(field) == before.get(field) for field in same)


def _default_policy(spec: Json, before: Json | None) -> str:
    if before is not None and before.get("ipFamilyPolicy"):
        return str(before["ipFamilyPolicy"])
    headless = spec.get("clusterIP") == NONE
    return _REQUIRE if headless and not spec.get("selector") else _SINGLE


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
    """Yield what is wrong with chosen addresses beside the chosen families."""
    if NONE in addresses:
        return
    for index, text in enumerate(addresses):
        try:
            ip_address(text)
        except ValueError:
            detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
            yield invalid_value(f"{_IPS}[{index}]", text, detail)
            return
    if len(addresses) == 2 and family_of(addresses[0]) == family_of(addresses[1]):
        yield invalid_value(_IPS, addresses, "may specify no more than one IP for each IP family")
    for index, (address, family) in enumerate(zip(addresses, families, strict=False)):
        if family_of(address) != family:
            expected = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            yield invalid_value(f"{_IPS}[{index}]", address, expected)


def _released(spec: Json, before: Json) -> Iterator[FieldError]:
    """Give the second family up when the policy says so; refuse when only the lists became shorter."""
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
            detail = (
                f"must be RequireDualStack or PreferDualStack when multiple '{field}' are specified"
            )
            yield invalid_value(_POLICY, _SINGLE, detail)


def _inferred_families(spec: Json, settings: ApiSettings) -> Iterator[FieldError]:
    """Add the families of addresses that were chosen without naming one."""
    families: list[str] = spec.get("ipFamilies") or []
    for index, address in enumerate(spec.get("clusterIPs") or ()):
        if address == NONE or index < len(families):
            continue
        family = family_of(address)
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
            yield invalid_value(
                f"spec.ipFamilies[{index}]", family, "not configured on this cluster"
            )


def _complete_families(spec: Json, configured_families: Sequence[str], default: str) -> None:
    """Begin with the default family, and add the missing one to what is not SingleStack."""
    families = list(spec.get("ipFamilies") or (default,))
    if spec["ipFamilyPolicy"] != _SINGLE and len(families) == 1:
        families += [family for family in configured_families if family not in families]
    spec["ipFamilies"] = families
