"""Read cluster-wide networks: pod and service CIDRs, DNS address and domain, IP families.

Pure. kubeadm's ConfigMap, the network plugin's own, CoreDNS's Corefile and the DNS Service are read;
what none of them says is unknown with the reason, or stated in the cluster profile.
"""

import ipaddress
import re
from collections.abc import Sequence
from typing import Any

from nettests.errors import ManifestError
from nettests.model.cluster_profile import StatedFacts
from nettests.model.facts import STATED, Address, Fact, Network, known, unknown
from nettests.model.words import Family
from nettests.model.yaml_text import plain_yaml
from nettests.parse.serving import serves

Object = dict[str, Any]

KUBEADM = "ConfigMap kube-system/kubeadm-config"


def kubeadm_networking(config_map: Object | None) -> Object:
    """Return ``networking`` of kubeadm's ClusterConfiguration; empty if there is none."""
    text = ((config_map or {}).get("data") or {}).get("ClusterConfiguration", "")
    try:
        loaded = plain_yaml(text)
    except ManifestError:
        return {}
    networking = loaded.get("networking") if isinstance(loaded, dict) else None
    return networking if isinstance(networking, dict) else {}


def pod_cidrs(
    kubeadm: Object, flannel: Object, of_nodes: Sequence[Network], stated: StatedFacts
) -> Fact[tuple[Network, ...]]:
    """Return the cluster's pod networks; those of its nodes if nothing names the whole."""
    if stated.pod_cidrs:
        return known(stated.pod_cidrs, STATED)
    for text, origin in (
        (kubeadm.get("podSubnet"), KUBEADM),
        (_both(flannel.get("Network"), flannel.get("IPv6Network")), "Flannel's net-conf.json"),
    ):
        networks = _networks(text)
        if networks:
            return known(networks, origin)
    if of_nodes:
        return known(tuple(sorted(set(of_nodes), key=str)), "podCIDRs of the nodes")
    return unknown("neither kubeadm-config, the network plugin nor the nodes name a pod network")


def _both(first: object, second: object) -> str:
    return ",".join(str(text) for text in (first, second) if text)


def service_cidrs(
    objects: Sequence[Object], kubeadm: Object, stated: StatedFacts, reason: str = ""
) -> Fact[tuple[Network, ...]]:
    """Return the Service networks: the API's objects show the actual ones, kubeadm the configured ones.

    ``reason`` says why ServiceCIDRs were not read; the API has them from Kubernetes 1.33 on (KEP-1880).
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
    networks = _networks(kubeadm.get("serviceSubnet"))
    if networks:
        return known(networks, KUBEADM)
    why = f"{KUBEADM} does not name serviceSubnet"
    return unknown(f"{why}, and ServiceCIDRs were not read: {reason}" if reason else why)


def cluster_domain(corefile: Object | None, kubeadm: Object, stated: StatedFacts) -> Fact[str]:
    """Return the cluster's DNS domain."""
    if stated.cluster_domain:
        return known(stated.cluster_domain, STATED)
    text = ((corefile or {}).get("data") or {}).get("Corefile", "")
    # sample line of a Corefile: kubernetes cluster.local in-addr.arpa ip6.arpa {
    match = re.search(r"^\s*kubernetes\s+([\w.-]+?)\.?\s", text, re.MULTILINE)
    if match is not None:
        return known(match[1], "ConfigMap kube-system/coredns")
    if kubeadm.get("dnsDomain"):
        return known(str(kubeadm["dnsDomain"]), KUBEADM)
    return unknown("neither CoreDNS's Corefile nor kubeadm-config names the domain")


def pod_records(corefile: Object | None) -> Fact[bool]:
    """Return whether CoreDNS answers names made of pod addresses (``pods`` of its kubernetes plugin).

    Its default is ``disabled``; kubeadm writes ``insecure`` (CoreDNS manual, plugin kubernetes).
    """
    origin = "ConfigMap kube-system/coredns"
    text = ((corefile or {}).get("data") or {}).get("Corefile", "")
    if not re.search(r"^\s*kubernetes\s", text, re.MULTILINE):
        return unknown(f"{origin} cannot be read, or does not configure the kubernetes plugin")
    # sample line of a Corefile: pods insecure
    match = re.search(r"^\s*pods\s+(\w+)", text, re.MULTILINE)
    mode = match[1] if match else "disabled"
    return known(mode in {"insecure", "verified"}, f"{origin}: pods {mode}")


def dns_address(services: Sequence[Object], stated: StatedFacts) -> Fact[Address]:
    """Return the address of the cluster's DNS Service (label ``k8s-app=kube-dns``)."""
    if stated.dns_address:
        return known(stated.dns_address, STATED)
    for service in services:
        address = service.get("spec", {}).get("clusterIP")
        if address and address != "None":
            name = f"{service['metadata']['namespace']}/{service['metadata']['name']}"
            return known(ipaddress.ip_address(address), f"Service {name}")
    return unknown("no Service has the label k8s-app=kube-dns")


def dns_pods(pods: Sequence[Object]) -> Fact[tuple[Address, ...]]:
    """Return the addresses of the DNS's serving Pods in kube-system (label ``k8s-app=kube-dns``).

    Those are its Service's endpoints: Pods that are ready and not being deleted.
    """
    addresses = [
        ipaddress.ip_address(pod["status"]["podIP"])
        for pod in pods
        if (pod["metadata"].get("labels") or {}).get("k8s-app") == "kube-dns" and serves(pod)
    ]
    if addresses:
        return known(tuple(sorted(addresses, key=str)), "Pods with the label k8s-app=kube-dns")
    return unknown("no ready Pod of kube-system has the label k8s-app=kube-dns")


def kubernetes_address(service: Object | None, reason: str) -> Fact[Address]:
    """Return the address of the Service ``kubernetes``; ``reason`` says why it was not read."""
    address = ((service or {}).get("spec") or {}).get("clusterIP")
    if not address:
        return unknown(reason or "Service default/kubernetes has no address")
    return known(ipaddress.ip_address(address), "Service default/kubernetes")


def families(
    pods: Fact[tuple[Network, ...]],
    of_nodes: Sequence[Network],
    nodes: Sequence[Address],
    kubernetes: Address | None,
) -> tuple[Family, ...]:
    """Return the IP families of pods (``podCIDRs`` of nodes too), or of nodes where both are unknown.

    The cluster's primary family comes first: that of the Service ``kubernetes``, which has one only.
    """
    versions = {network.version for network in (*(pods.value or ()), *of_nodes)} or {
        address.version for address in nodes
    }
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
