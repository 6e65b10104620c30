"""Discovery: read facts from what the cluster reports.

``snapshot`` does the I/O. ``facts_of`` is pure: recorded objects and the cluster profile → ``ClusterFacts``. Nothing is
guessed: a fact that no object shows is unknown, with the reason.
"""

from collections.abc import Sequence

from nettests.cluster import cni, kubeproxy, networks, nodes, plugin_settings
from nettests.cluster.connection import Connection
from nettests.cluster.fleet import scope_of
from nettests.cluster.snapshot import (
    KUBERNETES,
    PODS,
    RUNTIME_CLASSES,
    SERVICE_CIDRS,
    Object,
    Snapshot,
    fetch,
)
from nettests.errors import ClusterError
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import (
    STATED,
    ClusterFacts,
    CniFacts,
    Fact,
    Network,
    NodeFacts,
    known,
    unknown,
)
from nettests.model.permission import FLANNEL_CONFIG_MAPS
from nettests.model.words import OS


def discover(connection: Connection, profile: ClusterProfile, namespace: str = "") -> ClusterFacts:
    """Return all facts that plans and conditions depend on; ``ClusterError`` without readable nodes.

    ``namespace`` is the existing one that a run will use, empty if it creates its own.
    """
    return facts_of(fetch(connection, namespace), profile)


def _platform(known_nodes: Sequence[Object], profile: ClusterProfile) -> Fact[str]:
    stated = profile.facts.platform
    return known(stated, STATED) if stated else nodes.platform_of(known_nodes)


def _plugin(
    snapshot: Snapshot, known_nodes: Sequence[Object], profile: ClusterProfile
) -> tuple[Object | None, CniFacts]:
    """Return Flannel's ConfigMap, and the facts of the network plugin from the cluster's objects."""
    name = _flannel_config_map(snapshot)
    flannel = snapshot.config_maps.get(name)
    plugin = cni.facts_of(
        snapshot.daemon_sets,
        flannel,
        f"ConfigMap {name}",
        profile.facts,
        snapshot.config_maps,
        nodes=known_nodes,
    )
    return flannel, plugin


def facts_of(snapshot: Snapshot, profile: ClusterProfile) -> ClusterFacts:
    """Read the facts from a snapshot; facts stated in the cluster profile override it."""
    known_nodes = [node for node in snapshot.nodes if nodes.os_of(node) is not None]
    if not known_nodes:
        raise ClusterError("the cluster has no Linux or Windows node", hint="add a node first")
    places = nodes.places(known_nodes, profile.pools)
    kubeadm = networks.kubeadm_networking(snapshot.config_maps.get("kube-system/kubeadm-config"))
    flannel, plugin = _plugin(snapshot, known_nodes, profile)
    of_nodes = [network for node in known_nodes for network in nodes.pod_cidrs_of(node)]
    pod_cidrs = networks.pod_cidrs(kubeadm, cni.flannel_network(flannel), of_nodes, profile.facts)
    read = [
        _node(node, places[nodes.name_of(node)], snapshot, profile, plugin) for node in known_nodes
    ]
    all_addresses = [address for node in known_nodes for address in nodes.addresses_of(node)]
    kubernetes = networks.kubernetes_address(
        snapshot.kubernetes_service, snapshot.reasons.get(KUBERNETES, "")
    )
    return ClusterFacts(
        server_version=snapshot.server_version,
        server_git_version=snapshot.server_git_version,
        context=snapshot.context,
        nodes=tuple(sorted(read, key=lambda node: (node.pool, node.member))),
        cni=plugin,
        pod_cidrs=pod_cidrs,
        service_cidrs=_service_cidrs(snapshot, kubeadm, profile),
        families=networks.families(pod_cidrs, of_nodes, all_addresses, kubernetes.value),
        dns_address=networks.dns_address(snapshot.dns_services, profile.facts),
        cluster_domain=networks.cluster_domain(
            snapshot.config_maps.get("kube-system/coredns"), kubeadm, profile.facts
        ),
        external_target=profile.external_target,
        external_vantage=profile.external_vantage,
        external_udp=profile.external_vantage == "direct" or profile.external_udp_proxy is not None,
        denied=snapshot.denied,
        namespace=snapshot.namespace,
        pod_records=networks.pod_records(snapshot.config_maps.get("kube-system/coredns")),
        dns_pods=networks.dns_pods(snapshot.system_pods),
        kubernetes_address=kubernetes,
        runtime_classes=nodes.steering_classes(
            snapshot.runtime_classes, snapshot.reasons.get(RUNTIME_CLASSES, "")
        ),
        platform=_platform(known_nodes, profile),
        fleet=scope_of(known_nodes, profile.fleet_nodes),
        scale=profile.scale,
    )


def _service_cidrs(
    snapshot: Snapshot, kubeadm: Object, profile: ClusterProfile
) -> Fact[tuple[Network, ...]]:
    why = snapshot.reasons.get(SERVICE_CIDRS, "")
    return networks.service_cidrs(snapshot.service_cidrs, kubeadm, profile.facts, why)


def _flannel_config_map(snapshot: Snapshot) -> str:
    present = (name for name in FLANNEL_CONFIG_MAPS if name in snapshot.config_maps)
    return next(present, FLANNEL_CONFIG_MAPS[0])


def _node(
    node: Object,
    place: nodes.Place,
    snapshot: Snapshot,
    profile: ClusterProfile,
    plugin: CniFacts,
) -> NodeFacts:
    name = nodes.name_of(node)
    os = nodes.os_of(node) or OS.LINUX
    info = node["status"]["nodeInfo"]
    stated = (
        profile.facts.kube_proxy_windows if os is OS.WINDOWS else profile.facts.kube_proxy_linux
    )
    sources = kubeproxy.ProxySources(
        pod=snapshot.proxy_pods.get(name),
        log=snapshot.proxy_logs.get(name, ""),
        config=kubeproxy.config_of(snapshot.config_maps.get("kube-system/kube-proxy")),
        reason=snapshot.reasons.get(f"log/{name}") or _no_pod(name, snapshot),
        absent=name not in snapshot.proxy_pods and not _unlisted(snapshot),
        replaced=plugin_settings.serves_services(plugin.plugin.value, snapshot.config_maps),
    )
    annotations = node["metadata"].get("annotations") or {}
    return NodeFacts(
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
        cni_driver=cni.driver_of(os, annotations, plugin, profile.facts),
        host_process=nodes.host_process_of(node),
        hostname=nodes.hostname_of(node),
        left_out=nodes.left_out(node, profile),
        firewall=_firewall(os, profile),
        empty=_empty(name, snapshot),
        zone=nodes.zone_of(node),
    )


def _empty(name: str, snapshot: Snapshot) -> Fact[bool]:
    """Return whether a cordoned Windows node has no Pod but those on its own network; the names of others' are not kept."""
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
    """Return why Pods of system components could not be listed, or nothing."""
    return snapshot.reasons.get("/api/v1/namespaces/kube-system/pods", "")


def _no_pod(node: str, snapshot: Snapshot) -> str:
    if node in snapshot.proxy_pods:
        return ""
    return _unlisted(snapshot) or (
        f"no kube-proxy Pod runs on node {node}: it may be a host service, or replaced; "
        "state facts.kubeProxy in the cluster profile"
    )
