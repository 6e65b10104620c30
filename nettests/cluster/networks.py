"""Read cluster-wide networks: Pod and Service CIDRs, DNS address and domain, IP families.

Pure. Sources: kubeadm's and the plugin's ConfigMaps, the Corefile (``corefile``) and Service of
DNS; what none of them has is unknown with the reason, or stated in the cluster profile.
"""

import ipaddress
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from nettests.cluster.corefile import Corefile
from nettests.cluster.shapes import containers_of, data_of
from nettests.errors import ClusterError, ManifestError
from nettests.model.cluster_profile import StatedFacts
from nettests.model.facts import STATED, Address, ExistingService, Fact, Network, known, unknown
from nettests.model.flags import flags_in_arguments
from nettests.model.json_text import Object
from nettests.model.labels import RUN_LABEL
from nettests.model.words import Family
from nettests.model.yaml_text import plain_yaml
from nettests.parse.serving import serves
from nettests.rules.balancing import OTHER_PROXY_LABEL, service_of

KUBEADM = "ConfigMap kube-system/kubeadm-config"


def kubeadm_networking(config_map: Object | None) -> Object:
    """Return ``networking`` of kubeadm's ClusterConfiguration; empty if there is none."""
    try:
        loaded = plain_yaml(data_of(config_map).get("ClusterConfiguration", ""))
    except ManifestError:
        return {}
    networking = loaded.get("networking") if isinstance(loaded, dict) else None
    return networking if isinstance(networking, dict) else {}


def pod_cidrs(
    kubeadm: Object, flannel: Object, of_nodes: Sequence[Network], stated: StatedFacts
) -> Fact[tuple[Network, ...]]:
    """Return the cluster's Pod networks; those of its nodes if nothing names the whole."""
    if stated.pod_cidrs:
        return known(stated.pod_cidrs, STATED)
    of_flannel = (flannel.get("Network"), flannel.get("IPv6Network"))
    for text, origin in (
        (kubeadm.get("podSubnet"), KUBEADM),
        (",".join(map(str, filter(None, of_flannel))), "Flannel's net-conf.json"),
    ):
        networks = _networks(text)
        if networks:
            return known(networks, origin)
    if of_nodes:
        return known(tuple(sorted(set(of_nodes), key=str)), "podCIDRs of the nodes")
    return unknown("neither kubeadm-config, the network plugin nor the nodes name a pod network")


def service_cidrs(
    objects: Sequence[Object],
    kubeadm: Object,
    stated: StatedFacts,
    reason: str = "",
    of_plugin: tuple[str, str] = ("", ""),
) -> Fact[tuple[Network, ...]]:
    """Return the Service networks: actual ones from ServiceCIDRs, else the configured ones.

    ``reason`` says why ServiceCIDRs were not read; the API has them since Kubernetes 1.33
    (KEP-1880). ``of_plugin`` are the networks in the plugin's configuration, and their origin.
    """
    if stated.service_cidrs:
        return known(stated.service_cidrs, STATED)
    named = [
        cidr
        for service_cidr in objects
        if not service_cidr["metadata"].get("deletionTimestamp")
        for cidr in (service_cidr.get("spec") or {}).get("cidrs") or ()
    ]
    networks = _networks(",".join(dict.fromkeys(named)))
    if networks:
        return known(networks, "ServiceCIDRs (networking.k8s.io/v1)")
    for text, origin in ((kubeadm.get("serviceSubnet"), KUBEADM), of_plugin):
        if networks := _networks(text):
            return known(networks, origin)
    why = f"{KUBEADM} does not name serviceSubnet"
    return unknown(f"{why}, and ServiceCIDRs were not read: {reason}" if reason else why)


def cluster_domain(
    corefile: Corefile, kubeadm: Object, stated: StatedFacts, dns_pods: Iterable[Object] = ()
) -> Fact[str]:
    """Return the cluster's DNS domain; Pods' search lists show it, too (``parse.host_facts``)."""
    if stated.cluster_domain:
        return known(stated.cluster_domain, STATED)
    domains, of_kubeadm = corefile.domains, kubeadm.get("dnsDomain")
    if len(domains) == 1:
        return known(domains[0], corefile.origin)
    if of_kubeadm and (not domains or of_kubeadm in domains):
        return known(str(of_kubeadm), KUBEADM)
    if domains:
        return unknown(f"{corefile.origin} serves several domains: {', '.join(domains)}")
    for pod in dns_pods:
        for container in containers_of(pod.get("spec") or {}):
            # sample of kube-dns, GKE's: --domain=cluster.local.
            words = [*(container.get("command") or ()), *(container.get("args") or ())]
            if domain := flags_in_arguments(words).get("domain", "").rstrip("."):
                return known(domain, f"arguments of Pod {pod['metadata']['name']}")
    return unknown(f"kubeadm-config does not name the domain, and {corefile.origin}")


def pod_records(corefile: Corefile) -> Fact[bool]:
    """Return whether CoreDNS answers names made of Pod addresses (``pods`` of its plugin).

    The default is ``disabled``; kubeadm writes ``insecure`` (CoreDNS manual, plugin kubernetes).
    """
    if not corefile.plugins:
        return unknown(corefile.origin)
    modes = {item.pods for item in corefile.plugins if item.domains} or {corefile.plugins[0].pods}
    return known(bool(modes & {"insecure", "verified"}), f"{corefile.origin}: pods {min(modes)}")


def dns_address(services: Sequence[Object], stated: StatedFacts, reason: str = "") -> Fact[Address]:
    """Return the address of the cluster's DNS Service; ``reason`` says why Services were not read."""
    if stated.dns_address:
        return known(stated.dns_address, STATED)
    for service in services:
        name = f"{service['metadata'].get('namespace', '')}/{service['metadata']['name']}"
        address = address_of((service.get("spec") or {}).get("clusterIP"))
        if address is not None:
            return known(address, f"Service {name}")
    names = ", ".join(service["metadata"]["name"] for service in services)
    missing = (
        f"Service {names} has no address" if names else "no Service has the label k8s-app=kube-dns"
    )
    return unknown(reason or missing)


def dns_pods(pods: Sequence[Object]) -> Fact[tuple[Address, ...]]:
    """Return the addresses of the DNS Service's endpoints: Pods that are ready and not deleted."""
    serving = (address_of(pod["status"]["podIP"]) for pod in pods if serves(pod))
    addresses = [address for address in serving if address is not None]
    if addresses:
        return known(tuple(sorted(addresses, key=str)), "Pods of the cluster's DNS Service")
    return unknown("the cluster's DNS Service selects no ready Pod that may be read")


def address_of(text: object) -> Address | None:
    """Return the address in a text, or ``None``."""
    try:
        return ipaddress.ip_address(text) if isinstance(text, str) else None
    except ValueError:
        return None


def kubernetes_address(service: Object | None, reason: str) -> Fact[Address]:
    """Return the address of the Service ``kubernetes``; ``reason`` says why it was not read."""
    address = address_of(((service or {}).get("spec") or {}).get("clusterIP"))
    if address is None:
        return unknown(reason or "Service default/kubernetes has no address")
    return known(address, "Service default/kubernetes")


OTHERS = 4
"""How many other Services are dialled from every node."""


def existing_services(
    *,
    of_cluster: Iterable[Object],
    others: Iterable[Object],
    slices: Iterable[Object],
    of_windows: Collection[Address],
    family: int,
) -> Fact[tuple[ExistingService, ...]]:
    """Return the cluster's own Services, and a few others that every node must reach alike.

    Left out are those of runs, without ready endpoints, of another proxy, with a traffic policy, or
    with an endpoint in a Windows node's host network, for Pods there
    (kubernetes/kubernetes#126795).
    """
    dialled = {each.name: replace(each, own=True) for each in _with_address(of_cluster, family)}
    serving: dict[str, set[object]] = {}
    for item in slices:
        for endpoint in item.get("endpoints") or ():
            if (endpoint.get("conditions") or {}).get("ready") is not False:
                serving.setdefault(service_of(item), set()).update(
                    map(address_of, endpoint.get("addresses") or ())
                )
    usual = (
        service
        for service in others
        if not {RUN_LABEL, OTHER_PROXY_LABEL} & (service["metadata"].get("labels") or {}).keys()
        and (service.get("spec") or {}).get("internalTrafficPolicy") != "Local"
        and not service["metadata"].get("deletionTimestamp")
    )
    usable = [
        each
        for each in sorted(_with_address(usual, family), key=lambda each: each.name)
        if each.name not in dialled
        and serving.get(each.name)
        and not serving[each.name] & {*of_windows}
    ]
    listed = (*dialled.values(), *usable[:OTHERS])
    return (
        known(listed, "Services and EndpointSlices")
        if listed
        else unknown("no Service with a TCP port could be read")
    )


def _with_address(services: Iterable[Object], family: int) -> Iterator[ExistingService]:
    """Yield Services with their ClusterIP of a family and their first TCP port."""
    for service in services:
        spec, metadata = service.get("spec") or {}, service["metadata"]
        addresses = map(address_of, spec.get("clusterIPs") or [spec.get("clusterIP")])
        address = next((each for each in addresses if each and each.version == family), None)
        tcp = (
            port.get("port")
            for port in spec.get("ports") or ()
            if port.get("protocol", "TCP") == "TCP"
        )
        if (
            address
            and (port := next(filter(None, tcp), None))
            and spec.get("type") != "ExternalName"
        ):
            name = f"{metadata.get('namespace', '')}/{metadata['name']}"
            yield ExistingService(name=name, address=address, port=port)


def families(
    pods: Fact[tuple[Network, ...]],
    of_nodes: Sequence[Network],
    nodes: Sequence[Address],
    kubernetes: Address | None,
) -> tuple[Family, ...]:
    """Return the IP families of Pods (``podCIDRs`` of nodes, too), or of nodes if unknown.

    The primary family comes first: that of the Service ``kubernetes``, which is single-stack.
    ``ClusterError`` if nothing shows a family.
    """
    versions = {network.version for network in (*(pods.value or ()), *of_nodes)}
    versions |= {address.version for address in nodes} if not versions else set()
    versions |= {kubernetes.version} if kubernetes is not None and not versions else set()
    if not versions:
        raise ClusterError(
            "the cluster's IP family is not known: no node has an address or a Pod CIDR",
            hint="wait until nodes report their addresses, or state facts.podCIDRs in the cluster profile",
        )
    primary = kubernetes.version if kubernetes is not None else 4
    by_version = {4: Family.IPV4, 6: Family.IPV6}
    ordered = sorted(versions, key=lambda version: (version != primary, version))
    return tuple(by_version[version] for version in ordered)


def _networks(text: object) -> tuple[Network, ...]:
    parts = [part for part in str(text or "").split(",") if part.strip()]
    try:
        return tuple(ipaddress.ip_network(part.strip()) for part in parts)
    except ValueError:
        return ()
