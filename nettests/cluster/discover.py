"""Discovery: read facts from what the cluster reports.

``snapshot`` does the I/O. ``facts_of`` is pure: objects and the cluster profile → ``ClusterFacts``.
Nothing is guessed: a fact that no object shows is unknown, with the reason.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from nettests.cluster import (
    cni,
    hybrid_overlay,
    kubeproxy,
    networks,
    nodes,
    plugin_settings,
    policies,
)
from nettests.cluster.connection import Connection
from nettests.cluster.corefile import corefile_of
from nettests.cluster.nodes import scope_of
from nettests.cluster.plugins import PluginObjects
from nettests.cluster.snapshot import (
    DAEMON_SETS,
    DNS_SERVICES,
    KUBERNETES,
    NODES,
    PODS,
    RUNTIME_CLASSES,
    SERVICE_CIDRS,
    Snapshot,
    fetch,
)
from nettests.errors import ClusterError
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import (
    STATED,
    ClusterFacts,
    CniFacts,
    ExistingService,
    Fact,
    Network,
    NodeFacts,
    known,
    unknown,
)
from nettests.model.json_text import Object
from nettests.model.words import OS


def discover(connection: Connection, profile: ClusterProfile, namespace: str = "") -> ClusterFacts:
    """Return all facts of plans and conditions; ``ClusterError`` if nodes are unreadable.

    ``namespace`` is the existing one that a run will use, empty if it creates its own.
    """
    return facts_of(fetch(connection, namespace), profile)


def _plugin_objects(
    snapshot: Snapshot, known_nodes: Sequence[Object], platform: Fact[str]
) -> PluginObjects:
    return PluginObjects(
        nodes=known_nodes,
        daemon_sets=snapshot.daemon_sets,
        config_maps=snapshot.config_maps,
        ip_pools=snapshot.ip_pools,
        platform=platform,
        reason=snapshot.reasons.get(DAEMON_SETS, ""),
    )


def facts_of(snapshot: Snapshot, profile: ClusterProfile) -> ClusterFacts:
    """Read the facts from a snapshot; facts stated in the cluster profile override it."""
    known_nodes = [node for node in snapshot.nodes if nodes.os_of(node) is not None]
    if not known_nodes:
        raise ClusterError("the cluster has no Linux or Windows node", hint="add a node first")
    places = nodes.places(known_nodes, profile.pools)
    kubeadm = networks.kubeadm_networking(snapshot.config_maps.get("kube-system/kubeadm-config"))
    corefile = corefile_of(snapshot.config_maps)
    stated = profile.facts.platform
    platform = known(stated, STATED) if stated else nodes.platform_of(known_nodes)
    objects = _plugin_objects(snapshot, known_nodes, platform)
    plugin = cni.facts_of(objects, profile.facts)
    _, flannel = cni.flannel_config_map(snapshot.config_maps)
    of_nodes = [network for node in known_nodes for network in nodes.pod_cidrs_of(node)]
    pod_cidrs = networks.pod_cidrs(kubeadm, cni.flannel_network(flannel), of_nodes, profile.facts)
    cluster = _Cluster(snapshot=snapshot, profile=profile, plugin=plugin, objects=objects)
    read = [_node(node, places[nodes.name_of(node)], cluster) for node in known_nodes]
    all_addresses = [address for node in known_nodes for address in nodes.addresses_of(node)]
    kubernetes = networks.kubernetes_address(
        snapshot.kubernetes_service, snapshot.reasons.get(KUBERNETES, "")
    )
    served = networks.families(pod_cidrs, of_nodes, all_addresses, kubernetes.value)
    return ClusterFacts(
        server_version=snapshot.server_version,
        server_git_version=snapshot.server_git_version,
        context=snapshot.context,
        nodes=tuple(sorted(read, key=lambda node: (node.pool, node.member))),
        cni=plugin,
        pod_cidrs=pod_cidrs,
        service_cidrs=_service_cidrs(snapshot, kubeadm, profile),
        families=served,
        dns_address=networks.dns_address(
            snapshot.dns_services, profile.facts, snapshot.reasons.get(DNS_SERVICES, "")
        ),
        cluster_domain=networks.cluster_domain(corefile, kubeadm, profile.facts, snapshot.dns_pods),
        external_target=profile.external_target,
        external_vantage=profile.external_vantage,
        external_udp=profile.external_vantage == "direct" or profile.external_udp_proxy is not None,
        denied=snapshot.denied,
        namespace=snapshot.namespace,
        pod_records=networks.pod_records(corefile),
        dns_pods=networks.dns_pods(snapshot.dns_pods),
        kubernetes_address=kubernetes,
        runtime_classes=nodes.steering_classes(
            snapshot.runtime_classes, snapshot.reasons.get(RUNTIME_CLASSES, "")
        ),
        existing_services=_existing_services(snapshot, profile, read, served[0].version),
        platform=platform,
        fleet=scope_of(known_nodes, profile.fleet_nodes, profile.excluded_nodes),
        scale=profile.scale,
    )


def _existing_services(
    snapshot: Snapshot, profile: ClusterProfile, read: Sequence[NodeFacts], family: int
) -> Fact[tuple[ExistingService, ...]]:
    if not profile.existing_services:
        return unknown("existingServices is false in the cluster profile")
    services, slices = snapshot.services
    windows = [node for node in read if node.os is OS.WINDOWS]
    return networks.existing_services(
        of_cluster=[*filter(None, [snapshot.kubernetes_service]), *snapshot.dns_services],
        others=services,
        slices=slices,
        of_windows=[address for node in windows for address in node.addresses],
        family=family,
    )


def _service_cidrs(
    snapshot: Snapshot, kubeadm: Object, profile: ClusterProfile
) -> Fact[tuple[Network, ...]]:
    why = snapshot.reasons.get(SERVICE_CIDRS, "")
    of_plugin = hybrid_overlay.service_networks(snapshot.config_maps)
    return networks.service_cidrs(snapshot.service_cidrs, kubeadm, profile.facts, why, of_plugin)


def _proxy_sources(
    name: str, os: OS, snapshot: Snapshot, plugin: CniFacts
) -> kubeproxy.ProxySources:
    pod = snapshot.proxy_pods.get(name)
    config, origin = kubeproxy.config_of(pod, snapshot.config_maps)
    unread = [
        snapshot.reasons[reference]
        for reference in kubeproxy.references_of(pod)
        if reference in snapshot.reasons
    ]
    replaced = plugin_settings.serves_services(plugin.plugin, os, snapshot.config_maps)
    served_by_it = plugin.plugin.known and plugin.plugin.value != plugin_settings.MAY_REPLACE
    return kubeproxy.ProxySources(
        pod=pod,
        log=snapshot.proxy_logs.get(name, ""),
        config=config,
        config_origin=origin,
        reason="; ".join(
            filter(None, (snapshot.reasons.get(f"log/{name}"), *unread, _no_pod(name, snapshot)))
        ),
        absent=pod is None and not _unlisted(snapshot),
        replaced=replaced,
        server=snapshot.server_version if served_by_it else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cluster:
    """What a node's facts depend on besides its object."""

    snapshot: Snapshot
    profile: ClusterProfile
    plugin: CniFacts
    objects: PluginObjects


def _node(node: Object, place: nodes.Place, cluster: _Cluster) -> NodeFacts:
    snapshot, profile, plugin = cluster.snapshot, cluster.profile, cluster.plugin
    name = nodes.name_of(node)
    os = nodes.os_of(node) or OS.LINUX
    info = (node.get("status") or {}).get("nodeInfo") or {}
    stated = (
        profile.facts.kube_proxy_windows if os is OS.WINDOWS else profile.facts.kube_proxy_linux
    )
    sources = _proxy_sources(name, os, snapshot, plugin)
    annotations = node["metadata"].get("annotations") or {}
    facts = NodeFacts(
        name=name,
        os=os,
        pool=place.pool,
        member=place.member,
        build=nodes.build_of(node),
        os_image=info.get("osImage", ""),
        kernel=info.get("kernelVersion", ""),
        architecture=info.get("architecture", ""),
        kubelet=nodes.kubelet_of(node),
        runtime=nodes.runtime_of(node),
        addresses=nodes.addresses_of(node),
        pod_cidrs=nodes.pod_cidrs_of(node),
        kubelet_port=nodes.kubelet_port_of(node),
        ready=nodes.ready(node),
        schedulable=nodes.schedulable(node),
        taints=nodes.taints_of(node),
        kube_proxy=kubeproxy.facts_of(os, name, sources, stated),
        cni_driver=cni.driver_of(os, annotations, plugin, profile.facts, cluster.objects.platform),
        host_process=nodes.host_process_of(node),
        hostname=nodes.hostname_of(node),
        left_out=nodes.left_out(node, profile),
        firewall=_firewall(os, profile),
        empty=_empty(name, snapshot),
        policies=policies.enforced(os, cluster.objects),
        zone=nodes.zone_of(node),
    )
    # Unknown facts say which fields of Node objects have undocumented types.
    odd = snapshot.reasons.get(NODES, "")
    if not odd:
        return facts
    reasons: dict[str, Any] = {
        name: unknown(f"{fact.origin}; {odd}")
        for name in ("build", "kubelet", "runtime", "host_process", "zone")
        if not (fact := getattr(facts, name)).known
    }
    return replace(facts, **reasons)


def _empty(name: str, snapshot: Snapshot) -> Fact[bool]:
    """Return whether a cordoned Windows node has no Pods in the pod network; keep no Pod names."""
    pods = snapshot.cordoned.get(name)
    if pods is None:
        why = snapshot.reasons.get(f"{PODS}/{name}")
        return unknown(why or "only of cordoned Windows nodes it is read")
    count = sum(1 for _ in nodes.of_own_network(pods))
    return known(not count, f"Pods with addresses of their own: {count or 'none'}")


def _firewall(os: OS, profile: ClusterProfile) -> Fact[bool]:
    if os is not OS.WINDOWS:
        return unknown("a matter of Windows nodes")
    if profile.facts.windows_firewall is None:
        return unknown(
            "the API does not tell it; state facts.windowsFirewall in the cluster profile"
        )
    return known(profile.facts.windows_firewall, STATED)


def _unlisted(snapshot: Snapshot) -> str:
    """Return why Pods in kube-system could not be listed, or nothing."""
    return snapshot.reasons.get("/api/v1/namespaces/kube-system/pods", "")


def _no_pod(node: str, snapshot: Snapshot) -> str:
    if node in snapshot.proxy_pods:
        return ""
    return _unlisted(snapshot) or (
        f"no kube-proxy Pod runs on node {node}: it may be a host service, or replaced; "
        "state facts.kubeProxy in the cluster profile"
    )
