"""Rules about the HNS network of Pods and their endpoints on it: gateway, OutBoundNAT, DNS.

Sources: "Windows debugging tips", kube-proxy ``pkg/proxy/winkernel``, Flannel's ``backends.md``,
OVN-Kubernetes' hybrid overlay, containernetworking/plugins, Microsoft's "Outbound NAT for Windows
node pools" of AKS (``--disable-windows-outbound-nat``).
"""

from collections.abc import Mapping

from nettests.model import ports
from nettests.model.dns_names import NAMESPACE_DOMAIN
from nettests.rules.cni import policies_in_files
from nettests.rules.cni_files import CNI_READINGS
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    UnreadableError,
    finding,
    rule,
)
from nettests.rules.hns import Endpoint, Network, endpoints, networks, of_kind, shown, shown_by
from nettests.rules.kube_proxy import NETWORK_GIVEN, PROXY_LOG, network_of
from nettests.rules.nat import excepted, exceptions_of, extra, uncovered
from nettests.rules.pods import PODS, PODS_AFTER, of_pod_families, running_pods
from nettests.rules.subjects import (
    FLANNEL,
    HNS,
    KERNELSPACE,
    KUBE_PROXY,
    OVERLAY,
    OVN_KUBERNETES,
    VXLAN,
)

HYBRID_OVERLAY_VNI = 4097
NETWORKS = shown_by("Get-HnsNetwork", "hns-networks")


@rule(about=(KUBE_PROXY, KERNELSPACE), reads=(PODS, PROXY_LOG, *NETWORK_GIVEN, NETWORKS))
def hns_network(evidence: Evidence) -> Finding:
    """The HNS network that kube-proxy is configured with exists."""
    wanted = network_of(evidence)
    names = sorted(network.name for network in networks(evidence, NETWORKS))
    exists = bool(wanted) and wanted.lower() in {name.lower() for name in names}
    return finding(
        exists,
        f"HNS networks {', '.join(names) or 'none'}",
        f"the one that kube-proxy is given, {wanted or 'which is none'}",
        of=1,
    )


@rule(about=(KUBE_PROXY, KERNELSPACE, HNS), reads=(PODS, PROXY_LOG, *NETWORK_GIVEN, NETWORKS))
def hns_network_type(evidence: Evidence) -> Finding:
    """Its type is the driver implied by the plugin's settings."""
    # sample: "Name":  "cbr0", "Type":  "L2Bridge"
    network, driver = _network(evidence), evidence.fact("driver")
    return finding(network.is_of(driver), f"type {network.kind}", f"{driver}", of=1)


@rule(about=(KUBE_PROXY, KERNELSPACE, FLANNEL), reads=(PODS, PROXY_LOG, *NETWORK_GIVEN, NETWORKS))
def hns_network_subnet(evidence: Evidence) -> Finding:
    """Its subnet is the node's pod CIDR; an old network may remain after a node has rejoined."""
    prefixes = [subnet.prefix for subnet in _network(evidence).subnets]
    pod_cidrs = [
        str(family) for family in of_pod_families(evidence, evidence.networks("node-pod-cidrs"))
    ]
    return finding(
        set(pod_cidrs) <= set(prefixes),
        f"subnet {', '.join(prefixes)}",
        f"{', '.join(pod_cidrs)}",
        of=len(pod_cidrs),
    )


@rule(about=(KUBE_PROXY, KERNELSPACE, HNS), reads=(PODS, PROXY_LOG, *NETWORK_GIVEN, NETWORKS))
def hns_network_adapter(evidence: Evidence) -> Finding:
    """It is on the adapter with the node's address, not on another one of the node."""
    management = _network(evidence).management
    if not management:
        raise NothingThereError("HNS' second schema does not show the address of its adapter")
    addresses = evidence.fact("node-addresses").split(",")
    return finding(
        management in addresses,
        f"ManagementIP {management}",
        f"an address of the node, {', '.join(addresses)}",
        of=1,
    )


@rule(about=(OVERLAY, VXLAN), reads=(NETWORKS,))
def overlay_network_id(evidence: Evidence) -> Finding:
    """HNS overlay networks use VXLAN with a network id (VNI) of at least 4096, to UDP port 4789."""
    ids, used = _vxlan(evidence)
    return finding(
        all(number >= ports.FIRST_VNI for number in ids) and used <= {ports.VXLAN},
        _vxlan_text(ids, used),
        f"a network id of {ports.FIRST_VNI} or above, and port {ports.VXLAN}",
        of=len(ids),
    )


@rule(about=(OVERLAY, OVN_KUBERNETES), reads=(NETWORKS,))
def hybrid_overlay_id(evidence: Evidence) -> Finding:
    """OVN-Kubernetes' hybrid overlay has one VNI everywhere; a second network has the next."""
    ids, used = _vxlan(evidence)
    return finding(
        HYBRID_OVERLAY_VNI in ids,
        _vxlan_text(ids, used),
        f"network id {HYBRID_OVERLAY_VNI}",
        of=len(ids),
    )


def _network(evidence: Evidence) -> Network:
    name = network_of(evidence)
    for network in networks(evidence, NETWORKS):
        if network.name.lower() == name.lower():
            return network
    raise UnreadableError(f"the node has no HNS network {name or '(kube-proxy is given none)'}")


def _vxlan(evidence: Evidence) -> tuple[set[int], set[int]]:
    """Return the VNIs and UDP ports of overlay networks; the default port if none is set."""
    # samples: {"Type": "VSID", "VSID": 4096} of a subnet, {"Type": "VxlanPort", "Port": 4789} of the network
    #          {"Type": "VSID", "Settings": {"IsolationId": 4096}}
    overlays = [network for network in networks(evidence, NETWORKS) if network.is_of("overlay")]
    ids = {
        int(policy["VSID"] if "VSID" in policy else policy["IsolationId"])
        for network in overlays
        for subnet in network.subnets
        for policy in of_kind(subnet.policies, "VSID")
    }
    if not ids:
        raise UnreadableError("no HNS network of type Overlay shows a network id")
    used = {
        int(policy["Port"])
        for network in overlays
        for policy in of_kind(network.policies, "VxlanPort")
    }
    return ids, used


def _vxlan_text(ids: set[int], ports: set[int]) -> str:
    network_ids = f"network id {', '.join(map(str, sorted(ids)))}"
    return f"{network_ids}, port {', '.join(map(str, sorted(ports))) or 'not given'}"


GATEWAYS = {"l2bridge": 2, "overlay": 1}
"""Index in the node's pod CIDR of the Pods' gateway; for win-bridge it is a host endpoint."""
NAT = "OutBoundNAT"
SWITCHED_OFF_BY_USERS = frozenset({"azure-cni"})
"""Plugins whose operators can switch OutBoundNAT off."""
ENDPOINTS = shown_by("Get-HnsEndpoint", "hns-endpoints")


@rule(
    about=(KUBE_PROXY, KERNELSPACE), reads=(PODS, PROXY_LOG, *NETWORK_GIVEN, ENDPOINTS, PODS_AFTER)
)
def pod_endpoints(evidence: Evidence) -> Finding:
    """Every Pod of the node has an endpoint on kube-proxy's network."""
    name = network_of(evidence)
    on = {
        address: _network_of(endpoint) for address, endpoint in _local_endpoints(evidence).items()
    }
    still_there = set(running_pods(evidence, PODS_AFTER))
    pods = dict(pod for pod in running_pods(evidence) if pod in still_there)
    if not pods:
        raise NothingThereError("no pod of the pod network runs on the node")
    wrong = [
        f"{pod} ({address}) on {on.get(address, 'no network')}"
        for address, pod in sorted(pods.items())
        if on.get(address, "").lower() != name.lower()
    ]
    return finding(
        not wrong,
        shown(wrong) or f"{len(pods)} endpoints of pods on {name}",
        f"an endpoint on {name} for every pod: kube-proxy looks nowhere else",
        of=len(pods),
    )


@rule(about=(HNS,), reads=(PODS, ENDPOINTS, *CNI_READINGS))
def outbound_nat(evidence: Evidence) -> Finding:
    """Every Pod's endpoint excepts cluster networks from OutBoundNAT, no external address."""
    needed = excepted(evidence)
    endpoints_by_pod = _of_pods(evidence)
    if not any(any(of_kind(each.policies, NAT)) for each in endpoints_by_pod.values()):
        _refuse_if_switched_off(evidence)
    wrong = []
    for pod, endpoint in endpoints_by_pod.items():
        lists = [list(exceptions_of(policy)) for policy in of_kind(endpoint.policies, NAT)]
        entries = [entry for listed in lists for entry in listed]
        missing, foreign = uncovered(needed, entries), extra(evidence, entries)
        problems = [f"lacks {', '.join(missing)}"] if missing else []
        problems += [f"excepts {', '.join(foreign)}"] if foreign else []
        if problems or not lists:
            what = " and ".join(problems) if lists else "has no OutBoundNAT"
            wrong.append(f"{pod} {what}")
    return finding(
        not wrong,
        shown(wrong) or f"{len(endpoints_by_pod)} endpoints with these exceptions",
        f"OutBoundNAT except to {', '.join(map(str, needed))}, and no exception of outside addresses",
        of=len(endpoints_by_pod),
    )


def _refuse_if_switched_off(evidence: Evidence) -> None:
    """Raise ``NothingThereError`` if Calico's pools or AKS' node pool disable outbound NAT."""
    if evidence.facts.get("nat") == "off":
        raise NothingThereError("OutBoundNAT is switched off for all destinations")
    if evidence.facts.get("plugin") not in SWITCHED_OFF_BY_USERS:
        return
    try:
        configured = any(policies_in_files(evidence, {NAT.lower()}))
    except UnreadableError:
        configured = False
    if not configured:
        raise NothingThereError(
            "no Pod has OutBoundNAT, nor does a CNI configuration name it: outbound NAT is disabled for this node pool"
        )


@rule(about=(), reads=(PODS, NETWORKS, ENDPOINTS))
def nat_unused(evidence: Evidence) -> Finding:
    """No Pod is on a network of type NAT, from which nothing reaches other nodes."""
    hns_networks = networks(evidence, NETWORKS)
    if not hns_networks:
        raise UnreadableError("HNS shows no network on the node")
    nat = {network.name for network in hns_networks if network.is_nat}
    if not dict(running_pods(evidence)):
        raise NothingThereError("no pod of the pod network runs on the node")
    used = {pod: _network_of(endpoint) for pod, endpoint in _of_pods(evidence).items()}
    on_nat = [pod for pod, network in used.items() if network in nat]
    observed = f"{shown(on_nat)} on a NAT network" if on_nat else f"none of {len(used)} pods on one"
    return finding(not on_nat, observed, "no pod on a network of type NAT", of=len(used))


@rule(about=(HNS, FLANNEL), reads=(PODS, ENDPOINTS))
def pod_gateway(evidence: Evidence) -> Finding:
    """Pods' gateway is the second address of their subnet with win-bridge, the first with win-overlay."""
    driver, pod_cidrs = evidence.fact("driver"), evidence.networks("node-pod-cidrs")
    if driver not in GATEWAYS:
        raise UnreadableError(f"the documents name no gateway of {driver} networks")
    gateways = {pod: endpoint.gateway for pod, endpoint in _of_pods(evidence).items()}
    documented = {str(network[GATEWAYS[driver]]) for network in pod_cidrs}
    wrong = [
        f"{pod} by {given}" for pod, given in sorted(gateways.items()) if given not in documented
    ]
    return finding(
        not wrong,
        shown(wrong) or f"{len(gateways)} pods by {', '.join(sorted(set(gateways.values())))}",
        f"{' or '.join(sorted(documented))} as the gateway on {driver}",
        of=len(gateways),
    )


@rule(about=(HNS,), reads=(PODS, ENDPOINTS))
def pod_dns_settings(evidence: Evidence) -> Finding:
    """The plugin gives Pods the cluster's DNS, with the suffix of their own namespace first."""
    if not {"dns-address", "cluster-domain"} <= evidence.facts.keys():
        raise NothingThereError("the address or the domain of the cluster's DNS is not known")
    server, domain = evidence.fact("dns-address"), evidence.fact("cluster-domain")
    spaces = _namespaces_of_cluster_dns(evidence)
    of_spaces = {
        address: endpoint
        for address, endpoint in _local_endpoints(evidence).items()
        if address in spaces
    }
    if not of_spaces:
        raise NothingThereError(
            "no pod with the DNS policy ClusterFirst has an endpoint on the node"
        )
    wrong = []
    for address, endpoint in of_spaces.items():
        name, space = spaces[address]
        servers, suffix = endpoint.dns_servers, endpoint.dns_suffix
        if server not in servers:
            wrong.append(f"{name} with {', '.join(servers) or 'none'}")
        elif suffix != NAMESPACE_DOMAIN.format(namespace=space, domain=domain):
            wrong.append(f"{name} with the suffix {suffix or '(none)'}")
    return finding(
        not wrong,
        shown(wrong) or f"{len(of_spaces)} endpoints with both",
        f"{server} as the DNS of pods, and as the first suffix their namespace's domain below {domain}",
        of=len(of_spaces),
    )


def _namespaces_of_cluster_dns(evidence: Evidence) -> dict[str, tuple[str, str]]:
    running = dict(running_pods(evidence))
    return {
        address: (running[address], str(pod["metadata"]["namespace"]))
        for pod in evidence.items(PODS)
        if (address := str(pod.get("status", {}).get("podIP", ""))) in running
        and pod["spec"].get("dnsPolicy") == "ClusterFirst"
    }


def _of_pods(evidence: Evidence) -> Mapping[str, Endpoint]:
    pods = dict(running_pods(evidence))
    by_pod = {
        pods[address]: endpoint
        for address, endpoint in _local_endpoints(evidence).items()
        if address in pods
    }
    if not by_pod:
        raise NothingThereError("no pod of the pod network has an endpoint on the node")
    return by_pod


def _local_endpoints(evidence: Evidence) -> Mapping[str, Endpoint]:
    return {
        endpoint.addresses[0]: endpoint
        for endpoint in endpoints(evidence, ENDPOINTS)
        if not endpoint.remote and endpoint.addresses
    }


def _network_of(endpoint: Endpoint) -> str:
    if endpoint.network is None:
        raise UnreadableError("HNS names the network of an endpoint by its id alone")
    return endpoint.network
