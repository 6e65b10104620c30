"""Rules about HNS on a Windows node: its network, the endpoints of pods, OutBoundNAT, load balancers.

Read from the cmdlets of the module HostNetworkingService, whose objects have the property names of HNS'
first schema. Sources: "Windows debugging tips", kube-proxy ``pkg/proxy/winkernel``, Microsoft's
``networkhealth.ps1``.
"""

from collections.abc import Iterable, Iterator

from nettests.parse.rules.evidence import Evidence, Finding, Object, UnreadableError, finding
from nettests.parse.rules.kube_proxy import PODS, network_of
from nettests.parse.rules.nat import excepted, exceptions_of, extra, uncovered
from nettests.parse.rules.plugin import of_pod_families

NETWORKS = "hns-networks"
ENDPOINTS = "hns-endpoints"
POLICIES = "hns-policies"
PODS_AFTER = "node-pods-after"
SERVICES = "services"
SERVICES_AFTER = "services-after"
SLICES = "endpoint-slices"
RUN_LABEL = "nettests.dev/run"
"""Services of a run come and go; whether theirs are complete is asked by its flows."""
SERVICE_LABEL = "kubernetes.io/service-name"
PROTOCOLS = {6: "TCP", 17: "UDP"}
MOST_BACKENDS = 64
"""Old builds take no more; whether more are programmed is another rule's matter."""
SHOWN = 5
GATEWAYS = {"l2bridge": 2, "overlay": 1}
"""Which address of the node's range is its Pods' gateway: win-bridge has an endpoint of the host there."""
FIRST_VNI = 4096
HYBRID_OVERLAY_VNI = 4097
VXLAN_PORT = 4789

Frontend = tuple[str, int, str]
"""Address (empty for a NodePort), port and protocol."""


def hns_network(evidence: Evidence) -> Finding:
    """The HNS network that kube-proxy is given exists."""
    wanted = network_of(evidence)
    names = sorted(str(one.get("Name")) for one in evidence.rows(NETWORKS))
    there = bool(wanted) and wanted.lower() in {name.lower() for name in names}
    return finding(
        there,
        f"HNS networks {', '.join(names) or 'none'}",
        f"the one that kube-proxy is given, {wanted or 'which is none'}",
    )


def hns_network_type(evidence: Evidence) -> Finding:
    """Its type is the driver that the plugin's settings promise."""
    # sample: "Name":  "cbr0", "Type":  "L2Bridge"
    kind, driver = str(_network(evidence).get("Type")), evidence.fact("driver")
    return finding(kind.lower() == driver.lower(), f"type {kind}", f"{driver}")


def hns_network_subnet(evidence: Evidence) -> Finding:
    """Its subnet is the node's pod CIDR: after a node has rejoined, an old network may be left."""
    subnets = _network(evidence).get("Subnets") or []
    found = [str(one.get("AddressPrefix")) for one in _listed(subnets)]
    own = [str(one) for one in of_pod_families(evidence, evidence.networks("node-pod-cidrs"))]
    return finding(set(own) <= set(found), f"subnet {', '.join(found)}", f"{', '.join(own)}")


def pod_endpoints(evidence: Evidence) -> Finding:
    """Every pod of the node has an endpoint on kube-proxy's network."""
    name = network_of(evidence)
    networks = {
        str(one.get("IPAddress")): str(one.get("VirtualNetworkName"))
        for one in _local(evidence.rows(ENDPOINTS))
    }
    still_there = set(_pods(evidence, PODS_AFTER))
    pods = dict(one for one in _pods(evidence) if one in still_there)
    if not pods:
        raise UnreadableError("no pod of the pod network runs on the node")
    wrong = [
        f"{pod} ({address}) on {networks.get(address, 'no network')}"
        for address, pod in sorted(pods.items())
        if networks.get(address, "").lower() != name.lower()
    ]
    return finding(
        not wrong,
        _shown(wrong) or f"{len(pods)} endpoints of pods on {name}",
        f"an endpoint on {name} for every pod: kube-proxy looks nowhere else",
    )


def outbound_nat(evidence: Evidence) -> Finding:
    """The endpoint of every pod excepts the cluster's networks from OutBoundNAT, and no outside address."""
    needed = excepted(evidence)
    pods = dict(_pods(evidence))
    endpoints = [
        one for one in _local(evidence.rows(ENDPOINTS)) if str(one.get("IPAddress")) in pods
    ]
    if not endpoints:
        raise UnreadableError("no pod of the pod network has an endpoint on the node")
    wrong = []
    for one in endpoints:
        lists = [list(exceptions_of(policy)) for policy in policies_of(one, "OutBoundNAT")]
        entries = [entry for listed in lists for entry in listed]
        missing, foreign = uncovered(needed, entries), extra(evidence, entries)
        told = [f"lacks {', '.join(missing)}"] if missing else []
        told += [f"excepts {', '.join(foreign)}"] if foreign else []
        if told or not lists:
            what = " and ".join(told) if lists else "has no OutBoundNAT"
            wrong.append(f"{pods[str(one['IPAddress'])]} {what}")
    return finding(
        not wrong,
        _shown(wrong) or f"{len(endpoints)} endpoints with these exceptions",
        f"OutBoundNAT except to {', '.join(map(str, needed))}, and no exception of outside addresses",
    )


def nat_unused(evidence: Evidence) -> Finding:
    """No pod is on a network of type NAT: it exists, but nothing crosses nodes from it."""
    nat = {str(one.get("Name")) for one in evidence.rows(NETWORKS) if one.get("Type") == "NAT"}
    pods = dict(_pods(evidence))
    if not pods:
        raise UnreadableError("no pod of the pod network runs on the node")
    on_nat = [
        pods[str(one.get("IPAddress"))]
        for one in _local(evidence.rows(ENDPOINTS))
        if str(one.get("IPAddress")) in pods and str(one.get("VirtualNetworkName")) in nat
    ]
    found = f"{_shown(on_nat)} on a NAT network" if on_nat else f"none of {len(pods)} pods on one"
    return finding(not on_nat, found, "no pod on a network of type NAT")


def pod_gateway(evidence: Evidence) -> Finding:
    """Pods' gateway is the second address of their subnet with win-bridge, the first with win-overlay."""
    driver, own = evidence.fact("driver"), evidence.networks("node-pod-cidrs")
    if driver not in GATEWAYS:
        raise UnreadableError(f"the documents name no gateway of {driver} networks")
    pods = dict(_pods(evidence))
    found = {
        pods[str(one.get("IPAddress"))]: str(one.get("GatewayAddress"))
        for one in _local(evidence.rows(ENDPOINTS))
        if str(one.get("IPAddress")) in pods
    }
    if not found:
        raise UnreadableError("no pod of the pod network has an endpoint on the node")
    due = {str(network[GATEWAYS[driver]]) for network in own}
    wrong = [f"{pod} by {given}" for pod, given in sorted(found.items()) if given not in due]
    return finding(
        not wrong,
        _shown(wrong) or f"{len(found)} pods by {', '.join(sorted(set(found.values())))}",
        f"{' or '.join(sorted(due))} as the gateway on {driver}",
    )


def overlay_network_id(evidence: Evidence) -> Finding:
    """HNS carries overlays in VXLAN with a network id from 4096 on, to UDP port 4789."""
    ids, ports = _vxlan(evidence)
    return finding(
        all(number >= FIRST_VNI for number in ids) and ports <= {VXLAN_PORT},
        _vxlan_text(ids, ports),
        f"a network id of {FIRST_VNI} or above, and port {VXLAN_PORT}",
    )


def hybrid_overlay_id(evidence: Evidence) -> Finding:
    """The hybrid overlay of OVN-Kubernetes has one network id everywhere; a network beside it holds the next."""
    ids, ports = _vxlan(evidence)
    return finding(
        HYBRID_OVERLAY_VNI in ids, _vxlan_text(ids, ports), f"network id {HYBRID_OVERLAY_VNI}"
    )


def load_balancers(evidence: Evidence) -> Finding:
    """HNS has a load balancer at the ClusterIP of every Service port with backends.

    Those of Services with externalTrafficPolicy Local and backends on other nodes alone are another rule's:
    versions of kube-proxy are documented to leave them out.
    """
    afar = _backed_afar(evidence)
    return _complete(evidence, [one for one in _staying(evidence) if _name(one) not in afar])


def local_policy_load_balancers(evidence: Evidence) -> Finding:
    """externalTrafficPolicy Local takes no load balancer from the ClusterIP where no backend is local."""
    afar = _backed_afar(evidence)
    return _complete(evidence, [one for one in _staying(evidence) if _name(one) in afar])


def stale_load_balancers(evidence: Evidence) -> Finding:
    """HNS has no load balancer for what is no Service."""
    there = set(_frontends(evidence.rows(POLICIES)))
    services = (*evidence.items(SERVICES), *evidence.items(SERVICES_AFTER))
    known = {one for service in services for one in _ports(service)}
    stale = [f"a stale one for {_spelled(one)}" for one in sorted(there - known)]
    return finding(
        not stale,
        _shown(stale) or f"{len(there)} load balancers, all of Services",
        "no load balancer for what is no Service",
    )


def empty_source_vip(evidence: Evidence) -> Finding:
    """On l2bridge load balancers have no source VIP, whatever kube-proxy's flag says: HNS takes the node's address."""
    # sample: "ExternalPort":  443, "SourceVIP":  "", "Type":  "ELB", "VIPs":  ["10.96.0.1"]
    shown = [elb for one in evidence.rows(POLICIES) for elb in policies_of(one, "ELB")]
    if not shown:
        raise UnreadableError("HNS shows no load balancer on the node")
    given = sorted({str(elb["SourceVIP"]) for elb in shown if elb.get("SourceVIP")})
    return finding(
        not given,
        f"source VIP {', '.join(given)}" if given else f"{len(shown)} load balancers without one",
        "an empty source VIP in HNS on l2bridge",
    )


def policies_of(item: Object, kind: str) -> Iterator[Object]:
    """Yield the policies of a type; ``Settings`` holds the values in the newer schema."""
    for policy in _listed(item.get("Policies") or []):
        if str(policy.get("Type")).lower() == kind.lower():
            yield policy.get("Settings") or policy


def _network(evidence: Evidence) -> Object:
    name = network_of(evidence)
    for one in evidence.rows(NETWORKS):
        if str(one.get("Name")).lower() == name.lower():
            return one
    raise UnreadableError(f"the node has no HNS network {name or '(kube-proxy is given none)'}")


def _vxlan(evidence: Evidence) -> tuple[set[int], set[int]]:
    """Return network ids and UDP ports of the overlay networks; a port that none gives is the usual."""
    # samples: "Subnets": [{"Policies": [{"Type": "VSID", "VSID": 4096}]}],
    #          "Policies": [{"Type": "VxlanPort", "Port": 4789}]
    networks = [one for one in evidence.rows(NETWORKS) if str(one.get("Type")) == "Overlay"]
    subnets = [subnet for one in networks for subnet in _listed(one.get("Subnets") or [])]
    ids = {int(policy["VSID"]) for one in subnets for policy in policies_of(one, "VSID")}
    if not ids:
        raise UnreadableError("no HNS network of type Overlay shows a network id")
    ports = {int(policy["Port"]) for one in networks for policy in policies_of(one, "VxlanPort")}
    return ids, ports


def _vxlan_text(ids: set[int], ports: set[int]) -> str:
    told = f"network id {', '.join(map(str, sorted(ids)))}"
    return f"{told}, port {', '.join(map(str, sorted(ports))) or 'not given'}"


def _local(endpoints: Iterable[Object]) -> Iterator[Object]:
    return (one for one in endpoints if not one.get("IsRemoteEndpoint"))


def _pods(evidence: Evidence, reading: str = PODS) -> Iterator[tuple[str, str]]:
    """Yield address and name of the node's running pods that are in the pod network."""
    for pod in evidence.items(reading):
        status = pod.get("status") or {}
        if status.get("phase") != "Running" or pod["spec"].get("hostNetwork"):
            continue
        if pod["metadata"].get("deletionTimestamp") or not status.get("podIP"):
            continue
        yield str(status["podIP"]), _name(pod)


def _frontends(lists: Iterable[Object]) -> Iterator[Frontend]:
    # sample: {"ExternalPort":  443, "InternalPort":  6443, "IsDSR":  false, "Protocol":  6,
    #          "SourceVIP":  "10.244.3.2", "Type":  "ELB", "VIPs":  ["10.96.0.1"]}
    for one in lists:
        for policy in policies_of(one, "ELB"):
            protocol = PROTOCOLS.get(policy.get("Protocol", 0), "?")
            vips = policy.get("VIPs") or [""]
            for vip in vips if isinstance(vips, list) else [vips]:
                yield str(vip), int(policy["ExternalPort"]), protocol


def _ports(service: Object) -> Iterator[Frontend]:
    """Yield every frontend that kube-proxy may make of a Service."""
    spec, status = service["spec"], service.get("status") or {}
    ingress = (status.get("loadBalancer") or {}).get("ingress") or []
    addresses = [
        *(spec.get("clusterIPs") or [spec.get("clusterIP")]),
        *(spec.get("externalIPs") or []),
    ]
    addresses += [item.get("ip") for item in ingress]
    for port in spec.get("ports") or []:
        protocol = port.get("protocol", "TCP")
        yield from ((str(address), int(port["port"]), protocol) for address in addresses if address)
        if port.get("nodePort"):
            yield "", int(port["nodePort"]), protocol
    if spec.get("healthCheckNodePort"):
        yield from ((str(one), int(spec["healthCheckNodePort"]), "TCP") for one in addresses if one)


def _cluster_ports(service: Object) -> Iterator[Frontend]:
    address = str(service["spec"]["clusterIP"])
    for port in service["spec"].get("ports") or []:
        if port.get("protocol", "TCP") in PROTOCOLS.values():
            yield address, int(port["port"]), port.get("protocol", "TCP")


def _complete(evidence: Evidence, services: Iterable[Object]) -> Finding:
    """Compare the load balancers that are there with those that are due for these Services."""
    there, backed = set(_frontends(evidence.rows(POLICIES))), _backed(evidence)
    due = {one for item in services if _is_due(item, backed) for one in _cluster_ports(item)}
    missing = [f"no load balancer for {_spelled(one)}" for one in sorted(due - there)]
    return finding(
        not missing,
        _shown(missing) or f"{len(there)} load balancers for {len(due)} Service ports due",
        "a load balancer for every one of these Service ports that has backends",
    )


def _staying(evidence: Evidence) -> list[Object]:
    """Return the Services that were there before the load balancers were read, and after."""
    after = {_name(one) for one in evidence.items(SERVICES_AFTER)}
    return [one for one in evidence.items(SERVICES) if _name(one) in after]


def _backed_afar(evidence: Evidence) -> set[str]:
    """Return the Services with externalTrafficPolicy Local that have no backend on this node."""
    local = {
        _service_of(item)
        for item in evidence.items(SLICES)
        for endpoint in item.get("endpoints") or []
        if endpoint.get("nodeName") == evidence.fact("node")
    }
    policed = {
        _name(one)
        for one in evidence.items(SERVICES)
        if one["spec"].get("externalTrafficPolicy") == "Local"
    }
    return policed - local


def _service_of(item: Object) -> str:
    """Return the Service that an EndpointSlice belongs to."""
    metadata = item["metadata"]
    return f"{metadata['namespace']}/{(metadata.get('labels') or {}).get(SERVICE_LABEL)}"


def _backed(evidence: Evidence) -> dict[str, int]:
    """Return how many ready backends Services have that this node can balance to."""
    own = set(evidence.fact("node-addresses").split(","))
    found: dict[str, set[str]] = {}
    for item in evidence.items(SLICES):
        for endpoint in item.get("endpoints") or []:
            if (endpoint.get("conditions") or {}).get("ready", True):
                addresses = set(endpoint["addresses"]) - own
                found.setdefault(_service_of(item), set()).update(addresses)
    return {service: len(addresses) for service, addresses in found.items()}


def _is_due(service: Object, backed: dict[str, int]) -> bool:
    spec, labels = service["spec"], service["metadata"].get("labels") or {}
    headless = spec.get("clusterIP") in {None, "", "None"}
    local_only = spec.get("internalTrafficPolicy") == "Local"
    if headless or local_only or RUN_LABEL in labels or ":" in str(spec.get("clusterIP")):
        return False
    return 0 < backed.get(_name(service), 0) <= MOST_BACKENDS


def _name(item: Object) -> str:
    return f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"


def _spelled(one: Frontend) -> str:
    return f"{one[0] or 'NodePort'}:{one[1]}/{one[2]}"


def _shown(problems: list[str]) -> str:
    more = len(problems) - SHOWN
    return ", ".join(problems[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _listed(value: object) -> list[Object]:
    """Return a property that PowerShell shows as one object where there is one."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, dict)]
