"""Services: defaults, IP families, ClusterIP and NodePort allocation, validation.

After the Service registry of kube-apiserver. Addresses and ports are chosen at random from those that are free, above the
part of each range that is reserved for static assignment (KEP-3070, KEP-3668). ``complete`` changes the object that it is given.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address

from nettests.lab.apiserver.settings import ApiSettings, Network
from nettests.lab.apiserver.status import (
    FieldError,
    duplicate,
    invalid_value,
    not_supported,
    required,
)
from nettests.lab.apiserver.validation import dns_label, labels
from nettests.lab.interfaces import Json

_Ports = set[tuple[str, int]]
"""Node ports, each with its protocol."""

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_EXPOSED = ("LoadBalancer", "NodePort")
_OF_EXPOSED = ("externalTrafficPolicy", "healthCheckNodePort")
_AFFINITY_SECONDS = 10800
_FAMILIES = ("IPv4", "IPv6")
_SINGLE, _REQUIRE = "SingleStack", "RequireDualStack"
_NONE = "None"


def fill(service: Json) -> None:
    """Set the defaults of a Service (``SetDefaults_Service``)."""
    spec = service.setdefault("spec", {})
    kind = spec.setdefault("type", "ClusterIP")
    spec.setdefault("sessionAffinity", "None")
    if spec["sessionAffinity"] == "ClientIP":
        config = spec.setdefault("sessionAffinityConfig", {}).setdefault("clientIP", {})
        config.setdefault("timeoutSeconds", _AFFINITY_SECONDS)
    else:
        spec.pop("sessionAffinityConfig", None)
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if port.get("targetPort") in {None, "", 0}:
            port["targetPort"] = port.get("port")
    if kind in _EXPOSED:
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
    if kind != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
    service.setdefault("status", {"loadBalancer": {}})


def complete(
    service: Json, others: Sequence[Json], settings: ApiSettings, before: Json | None = None
) -> list[FieldError]:
    """Allocate addresses and ports that are not stated, and check others; return what is wrong.

    ``others`` are the other stored Services; ``before`` is the stored Service on an update.
    """
    spec = service["spec"]
    if spec["type"] == "ExternalName":
        for field in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            spec.pop(field, None)
        return []
    errors = _choose_families(spec, before["spec"] if before else None, settings)
    if errors:
        return errors
    errors = _cluster_ips(spec, others, settings, before["spec"] if before else {})
    if spec["type"] in _EXPOSED and spec.get("allocateLoadBalancerNodePorts", True):
        errors += _node_ports(spec, others, settings.node_ports)
    if _has_health_check(spec):
        errors += _health_check_port(spec, others, settings.node_ports)
    elif spec["type"] == "ClusterIP":
        for port in spec.get("ports") or ():
            port.pop("nodePort", None)
        for field in (*_OF_EXPOSED, "allocateLoadBalancerNodePorts"):
            spec.pop(field, None)
    return errors


def _has_health_check(spec: Json) -> bool:
    """Whether the Service has a health check port, by which load balancers find local backends."""
    return spec["type"] == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _port_complaint(number: int, protocol: str, taken: _Ports, ports: range) -> str:
    """Return why a stated port cannot be allocated, or ``""``."""
    if number not in ports:
        valid = f"The range of valid ports is {ports.start}-{ports.stop - 1}"
        return f"provided port is not in the valid range. {valid}"
    return "provided port is already allocated" if (protocol, number) in taken else ""


def _health_check_port(spec: Json, others: Sequence[Json], ports: range) -> list[FieldError]:
    number = spec.get("healthCheckNodePort")
    if number and (complaint := _port_complaint(number, "TCP", _used_ports(others), ports)):
        return [invalid_value("spec.healthCheckNodePort", number, complaint)]
    used = _used_ports([*others, {"spec": spec}])
    spec["healthCheckNodePort"] = number or _free_port(used, "TCP", ports)
    return []


def _cluster_ips(
    spec: Json, others: Sequence[Json], settings: ApiSettings, before: Json
) -> list[FieldError]:
    """Give the Service an address of each of its families if it has none."""
    chosen: list[str] = list(spec.get("clusterIPs") or ())
    if _NONE not in chosen:
        used = {
            address
            for other in others
            for address in other["spec"].get("clusterIPs") or ()
            if address != _NONE
        }
        networks = _configured(settings)
        for index, family in enumerate(spec["ipFamilies"]):
            if index >= len(chosen):
                chosen.append(_free_address(used, networks[family]))
            elif chosen[index] not in (before.get("clusterIPs") or ()):
                complaint = _static_address(chosen[index], used, networks[family])
                if complaint:
                    return [invalid_value("spec.clusterIPs", chosen, complaint)]
    spec["clusterIP"] = chosen[0]
    spec["clusterIPs"] = chosen
    return []


def _static_address(chosen: str, used: set[str], network: Network) -> str | None:
    try:
        address = ip_address(chosen)
    except ValueError:
        return "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
    if address not in network or address in {network.network_address, network.broadcast_address}:
        return (
            f"failed to allocate IP {chosen}: the provided IP ({chosen}) is not in the valid range. "
            f"The range of valid IPs is {network}"
        )
    if chosen in used:
        return f"failed to allocate IP {chosen}: provided IP is already allocated"
    return None


def _free_address(used: set[str], network: Network) -> str:
    size = network.num_addresses
    static = min(max(16, size // 16), 256)
    for bounds in ((static + 1, size - 1), (1, static + 1)):
        free = [at for at in range(*bounds) if str(network[at]) not in used] if size < 512 else []
        if free:
            return str(network[random.choice(free)])  # noqa: S311  not a secret
        for _ in range(1000 if size >= 512 else 0):
            address = str(network[random.randrange(*bounds)])  # noqa: S311  not a secret
            if address not in used:
                return address
    raise OverflowError(f"service CIDR {network} is full")


def _node_ports(spec: Json, others: Sequence[Json], ports: range) -> list[FieldError]:
    used = _used_ports(others)
    errors: list[FieldError] = []
    for index, port in enumerate(spec.get("ports") or ()):
        number = port.get("nodePort") or _free_port(used, port["protocol"], ports)
        if complaint := _port_complaint(number, port["protocol"], used, ports):
            errors.append(invalid_value(f"spec.ports[{index}].nodePort", number, complaint))
        port["nodePort"] = number
        used.add((port["protocol"], number))
    return errors


def _used_ports(others: Sequence[Json]) -> _Ports:
    used: _Ports = set()
    for other in others:
        spec = other["spec"]
        used.update(
            (port["protocol"], port["nodePort"])
            for port in spec.get("ports") or ()
            if port.get("nodePort")
        )
        if spec.get("healthCheckNodePort"):
            used.add(("TCP", spec["healthCheckNodePort"]))
    return used


def _free_port(used: _Ports, protocol: str, ports: range) -> int:
    static = min(max(16, len(ports) // 32), 128)
    dynamic = [at for at in ports[static:] if (protocol, at) not in used]
    return random.choice(dynamic or [at for at in ports if (protocol, at) not in used])  # noqa: S311


def _configured(settings: ApiSettings) -> Mapping[str, Network]:
    """Return the Service network of each family, the cluster's default family first."""
    networks = (settings.service_cidr, settings.second_service_cidr)
    return {_family_of(str(network)): network for network in networks if network is not None}


def _family_of(address: str) -> str:
    return "IPv6" if ":" in address else "IPv4"


def _choose_families(spec: Json, before: Json | None, settings: ApiSettings) -> list[FieldError]:
    """Fill in policy and families (``initIPFamilyFields``); ``before`` is the stored spec on an update. Return what is wrong."""
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
    headless = spec.get("clusterIP") == _NONE and not spec.get("selector")
    spec.setdefault("ipFamilyPolicy", before_policy or (_REQUIRE if headless else _SINGLE))
    if before is not None and spec["ipFamilyPolicy"] == _SINGLE:  # the second family is released
        for field in ("clusterIPs", "ipFamilies"):
            if spec.get(field) == before.get(field):
                spec[field] = (spec.get(field) or [])[:1]
    families = list(spec.get("ipFamilies") or ())
    if errors := list(_contradictions(spec["ipFamilyPolicy"], families)):
        return errors
    stated = [address for address in spec.get("clusterIPs") or () if address != _NONE]
    families += map(_family_of, stated[len(families) :])
    errors = [] if headless else list(_unconfigured(spec["ipFamilyPolicy"], families, settings))
    if not errors:  # the default family first, and both unless SingleStack
        default, *_ = own_families = list(_configured(settings))
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
    configured_families = _configured(settings)
    if policy == _REQUIRE and len(configured_families) < 2:
        detail = "this cluster is not configured for dual-stack services"
        yield invalid_value("spec.ipFamilyPolicy", _REQUIRE, detail)
    for index, family in enumerate(families):
        if family not in configured_families:
            detail = "not configured on this cluster"
            yield invalid_value(f"spec.ipFamilies[{index}]", family, detail)


def validate(service: Json) -> list[FieldError]:
    """Return what is wrong with the type, ports and selector of a Service (with defaults set)."""
    spec = service["spec"]
    errors = list(_ports(spec))
    if spec["type"] not in _TYPES:
        errors.append(not_supported("spec.type", spec["type"], _TYPES))
    return errors + labels(spec.get("selector") or {}, "spec.selector")


def _ports(spec: Json) -> Iterator[FieldError]:
    ports = spec.get("ports") or []
    if not ports and spec.get("clusterIP") != "None" and spec["type"] != "ExternalName":
        yield required("spec.ports")
    names: set[str] = set()
    numbers: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        field = f"spec.ports[{index}]"
        name, number = port.get("name", ""), port.get("port", 0)
        if not name and len(ports) > 1:
            yield required(f"{field}.name")
        elif name and (complaint := dns_label(name)):
            yield invalid_value(f"{field}.name", name, complaint)
        elif name and name in names:
            yield duplicate(f"{field}.name", name)
        if not 0 < number < 65536:
            yield invalid_value(f"{field}.port", number, "must be between 1 and 65535, inclusive")
        if port["protocol"] not in {"TCP", "UDP", "SCTP"}:
            yield not_supported(f"{field}.protocol", port["protocol"], ("SCTP", "TCP", "UDP"))
        if (port["protocol"], number) in numbers:
            yield duplicate(field, {"protocol": port["protocol"], "port": number})
        names.add(name)
        numbers.add((port["protocol"], number))


def keep(old: Json, new: Json) -> list[FieldError]:
    """Copy fields that an update omits from the stored Service; refuse a changed ClusterIP."""
    before, after = old["spec"], new["spec"]
    if "ExternalName" in {before["type"], after["type"]}:
        return []
    had = before["clusterIP"]
    chosen = after.get("clusterIP") or next(iter(after.get("clusterIPs") or ()), had)
    if chosen != had:
        return [invalid_value("spec.clusterIPs[0]", [chosen], "may not change once set")]
    after["clusterIP"] = had
    for field in ("clusterIPs", "ipFamilies"):
        after[field] = list(after.get(field) or before[field])
    after.setdefault("ipFamilyPolicy", before["ipFamilyPolicy"])
    node_ports = {
        (port.get("protocol", "TCP"), port["port"]): port.get("nodePort")
        for port in before.get("ports") or ()
    }
    if _has_health_check(before) and _has_health_check(after):
        after.setdefault("healthCheckNodePort", before.get("healthCheckNodePort"))
    elif after.get("healthCheckNodePort") == before.get("healthCheckNodePort"):
        after.pop("healthCheckNodePort", None)
    for port in after.get("ports") or ():
        number = node_ports.get((port.get("protocol", "TCP"), port.get("port")))
        if number and after["type"] in _EXPOSED:
            port.setdefault("nodePort", number)
    return []
