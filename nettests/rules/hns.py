"""Rules about HNS on a Windows node: its network, the endpoints of pods, OutBoundNAT, source VIPs.

Read from the cmdlets of the module HostNetworkingService, whose objects have the property names of HNS'
first schema. Sources: "Windows debugging tips", kube-proxy ``pkg/proxy/winkernel``, Microsoft's
``networkhealth.ps1``.
"""

from collections.abc import Iterable, Iterator

from nettests.rules import balancing
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    Object,
    UnreadableError,
    finding,
)
from nettests.rules.kube_proxy import PODS, network_of
from nettests.rules.nat import excepted, exceptions_of, extra, uncovered
from nettests.rules.plugin import of_pod_families

NETWORKS = "hns-networks"
ENDPOINTS = "hns-endpoints"
POLICIES = "hns-policies"
PODS_AFTER = "node-pods-after"
SERVICES = "services"
SERVICES_AFTER = "services-after"
SLICES = "endpoint-slices"
RUN_LABEL = "nettests.dev/run"
"""Services of a run come and go; whether theirs are complete is asked by its flows."""
SERVICE_LABEL = balancing.SERVICE_LABEL
SHOWN = 5
GATEWAYS = {"l2bridge": 2, "overlay": 1}
"""Which address of the node's range is its Pods' gateway: win-bridge has an endpoint of the host there."""
FIRST_VNI = 4096
HYBRID_OVERLAY_VNI = 4097
VXLAN_PORT = 4789


def hns_network(evidence: Evidence) -> Finding:
    """The HNS network that kube-proxy is given exists."""
    wanted = network_of(evidence)
    names = sorted(str(one.get("Name")) for one in evidence.rows(NETWORKS))
    there = bool(wanted) and wanted.lower() in {name.lower() for name in names}
    return finding(
        there,
        f"HNS networks {', '.join(names) or 'none'}",
        f"the one that kube-proxy is given, {wanted or 'which is none'}",
        of=1,
    )


def hns_network_type(evidence: Evidence) -> Finding:
    """Its type is the driver that the plugin's settings promise."""
    # sample: "Name":  "cbr0", "Type":  "L2Bridge"
    kind, driver = str(_network(evidence).get("Type")), evidence.fact("driver")
    return finding(kind.lower() == driver.lower(), f"type {kind}", f"{driver}", of=1)


def hns_network_subnet(evidence: Evidence) -> Finding:
    """Its subnet is the node's pod CIDR: after a node has rejoined, an old network may be left."""
    subnets = _network(evidence).get("Subnets") or []
    found = [str(one.get("AddressPrefix")) for one in _listed(subnets)]
    own = [str(one) for one in of_pod_families(evidence, evidence.networks("node-pod-cidrs"))]
    return finding(
        set(own) <= set(found), f"subnet {', '.join(found)}", f"{', '.join(own)}", of=len(own)
    )


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
        raise NothingThereError("no pod of the pod network runs on the node")
    wrong = [
        f"{pod} ({address}) on {networks.get(address, 'no network')}"
        for address, pod in sorted(pods.items())
        if networks.get(address, "").lower() != name.lower()
    ]
    return finding(
        not wrong,
        shown(wrong) or f"{len(pods)} endpoints of pods on {name}",
        f"an endpoint on {name} for every pod: kube-proxy looks nowhere else",
        of=len(pods),
    )


def outbound_nat(evidence: Evidence) -> Finding:
    """The endpoint of every pod excepts the cluster's networks from OutBoundNAT, and no outside address."""
    needed = excepted(evidence)
    pods = dict(_pods(evidence))
    endpoints = [
        one for one in _local(evidence.rows(ENDPOINTS)) if str(one.get("IPAddress")) in pods
    ]
    if not endpoints:
        raise NothingThereError("no pod of the pod network has an endpoint on the node")
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
        shown(wrong) or f"{len(endpoints)} endpoints with these exceptions",
        f"OutBoundNAT except to {', '.join(map(str, needed))}, and no exception of outside addresses",
        of=len(endpoints),
    )


def nat_unused(evidence: Evidence) -> Finding:
    """No pod is on a network of type NAT: it exists, but nothing crosses nodes from it."""
    known = evidence.rows(NETWORKS)
    if not known:
        raise UnreadableError("HNS shows no network on the node")
    nat = {str(one.get("Name")) for one in known if one.get("Type") == "NAT"}
    pods = dict(_pods(evidence))
    if not pods:
        raise NothingThereError("no pod of the pod network runs on the node")
    networks = {
        pods[str(one.get("IPAddress"))]: str(one.get("VirtualNetworkName"))
        for one in _local(evidence.rows(ENDPOINTS))
        if str(one.get("IPAddress")) in pods
    }
    if not networks:
        raise NothingThereError("no pod of the pod network has an endpoint on the node")
    on_nat = [pod for pod, network in networks.items() if network in nat]
    found = (
        f"{shown(on_nat)} on a NAT network" if on_nat else f"none of {len(networks)} pods on one"
    )
    return finding(not on_nat, found, "no pod on a network of type NAT", of=len(networks))


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
        raise NothingThereError("no pod of the pod network has an endpoint on the node")
    due = {str(network[GATEWAYS[driver]]) for network in own}
    wrong = [f"{pod} by {given}" for pod, given in sorted(found.items()) if given not in due]
    return finding(
        not wrong,
        shown(wrong) or f"{len(found)} pods by {', '.join(sorted(set(found.values())))}",
        f"{' or '.join(sorted(due))} as the gateway on {driver}",
        of=len(found),
    )


def overlay_network_id(evidence: Evidence) -> Finding:
    """HNS carries overlays in VXLAN with a network id from 4096 on, to UDP port 4789."""
    ids, ports = _vxlan(evidence)
    return finding(
        all(number >= FIRST_VNI for number in ids) and ports <= {VXLAN_PORT},
        _vxlan_text(ids, ports),
        f"a network id of {FIRST_VNI} or above, and port {VXLAN_PORT}",
        of=len(ids),
    )


def hybrid_overlay_id(evidence: Evidence) -> Finding:
    """The hybrid overlay of OVN-Kubernetes has one network id everywhere; a network beside it holds the next."""
    ids, ports = _vxlan(evidence)
    return finding(
        HYBRID_OVERLAY_VNI in ids,
        _vxlan_text(ids, ports),
        f"network id {HYBRID_OVERLAY_VNI}",
        of=len(ids),
    )


def empty_source_vip(evidence: Evidence) -> Finding:
    """On l2bridge load balancers have no source VIP, whatever kube-proxy's flag says: HNS takes the node's address."""
    # sample: "ExternalPort":  443, "SourceVIP":  "", "Type":  "ELB", "VIPs":  ["10.96.0.1"]
    shown = [elb for one in evidence.rows(POLICIES) for elb in policies_of(one, "ELB")]
    if not shown:
        raise NothingThereError("HNS shows no load balancer on the node")
    given = sorted({str(elb["SourceVIP"]) for elb in shown if elb.get("SourceVIP")})
    return finding(
        not given,
        f"source VIP {', '.join(given)}" if given else f"{len(shown)} load balancers without one",
        "an empty source VIP in HNS on l2bridge",
        of=len(shown),
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
        yield str(status["podIP"]), name_of(pod)


def name_of(item: Object) -> str:
    """Return namespace and name of an object."""
    return f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"


def shown(problems: list[str]) -> str:
    """Return the first of several problems, and how many more there are."""
    more = len(problems) - SHOWN
    return ", ".join(problems[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _listed(value: object) -> list[Object]:
    """Return a property that PowerShell shows as one object where there is one."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, dict)]
