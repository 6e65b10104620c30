"""Discovery: fetch what the cluster says of itself, and read facts from it.

``fetch`` is the I/O and keeps what it could not read, with the reason; ``facts_of`` is pure and turns
the recorded objects and the cluster profile into ``ClusterFacts``. Nothing is guessed.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from nettests.cluster import cni, kubeproxy, networks, nodes, permissions, plugin_settings
from nettests.cluster.connecting import server_version
from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.fleet import scope_of
from nettests.errors import ClusterError
from nettests.model import permission
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
from nettests.model.permission import CONFIG_MAPS, FLANNEL_CONFIG_MAPS, reviewed
from nettests.model.versions import KubernetesVersion
from nettests.model.words import OS

Object = dict[str, Any]

DAEMON_SETS = "/apis/apps/v1/daemonsets"
DNS_SERVICES = "/api/v1/namespaces/kube-system/services"
KUBERNETES = "/api/v1/namespaces/default/services/kubernetes"
RUNTIME_CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
SERVICE_CIDRS = "/apis/networking.k8s.io/v1/servicecidrs"
LOG_BYTES = 65_536
"""A component prints its flags first: no more of a log is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What was fetched, as the API gave it; ``reasons`` says why something is missing."""

    server_version: KubernetesVersion
    server_git_version: str
    context: str
    nodes: Sequence[Object]
    daemon_sets: Sequence[Object] = ()
    config_maps: Mapping[str, Object] = field(default_factory=dict)
    dns_services: Sequence[Object] = ()
    kubernetes_service: Object | None = None
    system_pods: Sequence[Object] = ()
    """The Pods of kube-system."""
    proxy_pods: Mapping[str, Object] = field(default_factory=dict)
    proxy_logs: Mapping[str, str] = field(default_factory=dict)
    """Both by node name."""
    runtime_classes: Sequence[Object] = ()
    service_cidrs: Sequence[Object] = ()
    denied: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    namespace: str = ""
    """The existing namespace that a run is to use."""


def discover(connection: Connection, profile: ClusterProfile, namespace: str = "") -> ClusterFacts:
    """Return all that plans and conditions depend on; ``ClusterError`` without readable nodes.

    ``namespace`` is the existing one that a run is to use, empty where it makes its own.
    """
    return facts_of(fetch(connection, namespace), profile)


def fetch(connection: Connection, namespace: str = "") -> Snapshot:
    """Fetch the objects that facts are read from, side by side; only nodes are indispensable."""
    version, git_version = server_version(connection)
    reasons: dict[str, str] = {}
    with ThreadPoolExecutor(connection.bounds.requests_open, "discover") as pool:
        every_node = pool.submit(_nodes, connection)
        of_all = _config_maps(pool, connection, (*CONFIG_MAPS, *FLANNEL_CONFIG_MAPS), reasons)
        daemon_sets = pool.submit(_listed, connection, DAEMON_SETS, reasons)
        dns = pool.submit(
            _listed, connection, DNS_SERVICES, reasons, labelSelector="k8s-app=kube-dns"
        )
        kubernetes = pool.submit(_found, connection, KUBERNETES, reasons)
        classes = pool.submit(_listed, connection, RUNTIME_CLASSES, reasons)
        has_cidrs = version >= permission.SERVICE_CIDRS
        cidrs = pool.submit(_listed, connection, SERVICE_CIDRS, reasons) if has_cidrs else None
        plugin = cni.plugin_of(daemon_sets.result()).value or ""
        on_windows = plugin_settings.FLANNEL_ON_WINDOWS if plugin == "flannel" else ()
        own = (*plugin_settings.CONFIG_MAPS.get(plugin, ()), *on_windows)
        of_plugin = _config_maps(pool, connection, own, reasons)
        denied = pool.submit(_denied, connection, version, plugin, namespace)
        by_space = _system_pods(connection, daemon_sets.result(), reasons)
        pods = _proxy_pods(by_space)
        logs = pool.submit(_logs, connection, pods, reasons)
        return Snapshot(
            server_version=version,
            server_git_version=git_version,
            context=connection.context,
            nodes=every_node.result(),
            daemon_sets=daemon_sets.result(),
            config_maps={**dict(_found_of(of_all)), **dict(_found_of(of_plugin))},
            dns_services=dns.result(),
            kubernetes_service=kubernetes.result(),
            system_pods=by_space["kube-system"],
            proxy_pods=pods,
            proxy_logs=logs.result(),
            runtime_classes=classes.result(),
            service_cidrs=cidrs.result() if cidrs is not None else (),
            denied=denied.result(),
            reasons=reasons,
            namespace=namespace,
        )


def _platform(known_nodes: Sequence[Object], profile: ClusterProfile) -> Fact[str]:
    stated = profile.facts.platform
    return known(stated, STATED) if stated else nodes.platform_of(known_nodes)


def _plugin(
    snapshot: Snapshot, known_nodes: Sequence[Object], profile: ClusterProfile
) -> tuple[Object | None, CniFacts]:
    """Flannel's ConfigMap, and what the cluster's objects say of its network plugin."""
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
    """Read the facts from what was fetched; what the profile states overrides it."""
    known_nodes = [node for node in snapshot.nodes if nodes.os_of(node) is not None]
    if not known_nodes:
        raise ClusterError("the cluster has no Linux or Windows node", hint="add a node first")
    places = nodes.places(known_nodes, profile.pools)
    kubeadm = networks.kubeadm_networking(snapshot.config_maps.get("kube-system/kubeadm-config"))
    flannel, plugin = _plugin(snapshot, known_nodes, profile)
    of_nodes = [network for node in known_nodes for network in nodes.pod_cidrs_of(node)]
    pod_cidrs = networks.pod_cidrs(kubeadm, cni.flannel_network(flannel), of_nodes, profile.facts)
    read = [
        _node(one, places[nodes.name_of(one)], snapshot, profile, plugin) for one in known_nodes
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


def _denied(
    connection: Connection, version: KubernetesVersion, plugin: str, namespace: str
) -> tuple[str, ...]:
    flannel = FLANNEL_CONFIG_MAPS[:1] if plugin in {"", "flannel"} else ()
    config_maps = (*CONFIG_MAPS, *flannel, *plugin_settings.CONFIG_MAPS.get(plugin, ()))
    own = plugin_settings.PERMISSIONS.get(plugin, ())
    wanted = reviewed(version, config_maps, own_namespace=not namespace, of_plugin=own)
    return tuple(str(one) for one in permissions.denied(connection, wanted, namespace))


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
        zone=nodes.zone_of(node),
    )


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


def _nodes(connection: Connection) -> list[Object]:
    try:
        return connection.items("/api/v1/nodes")
    except ApiError as error:
        if error.status == 403:
            raise ClusterError(
                f"the nodes cannot be listed: {error.message}",
                hint="grant manifests/rbac/discovery.yaml, or use a context that may list nodes",
            ) from error
        raise


def _config_maps(
    pool: Executor, connection: Connection, names: Sequence[str], reasons: dict[str, str]
) -> dict[str, Future[Object | None]]:
    """Begin to read ConfigMaps; return what comes of each."""
    return {name: pool.submit(_config_map, connection, name, reasons) for name in names}


def _found_of(pending: Mapping[str, Future[Object | None]]) -> Iterator[tuple[str, Object]]:
    """Yield what was found, in the order in which it was requested."""
    for name, one in pending.items():
        if (found := one.result()) is not None:
            yield name, found


def _config_map(connection: Connection, name: str, reasons: dict[str, str]) -> Object | None:
    namespace, _, short = name.partition("/")
    path = f"/api/v1/namespaces/{namespace}/configmaps/{short}"
    return _found(connection, path, reasons, name)


def _found(
    connection: Connection, path: str, reasons: dict[str, str], name: str = ""
) -> Object | None:
    try:
        return connection.get(path)
    except ApiError as error:
        reasons[name or path] = error.message
        return None


def _listed(
    connection: Connection, path: str, reasons: dict[str, str], **query: str
) -> list[Object]:
    try:
        return connection.items(path, **query)
    except ApiError as error:
        reasons[path] = error.message
        return []


def _system_pods(
    connection: Connection, daemon_sets: Sequence[Object], reasons: dict[str, str]
) -> dict[str, list[Object]]:
    """Return the Pods of kube-system, and of the namespaces where kube-proxy has DaemonSets."""
    spaces = {"kube-system"} | {
        item["metadata"]["namespace"]
        for item in daemon_sets
        if item["metadata"]["name"].startswith("kube-proxy")
    }
    return {
        space: _listed(connection, f"/api/v1/namespaces/{space}/pods", reasons)
        for space in sorted(spaces)
    }


def _proxy_pods(by_space: Mapping[str, Sequence[Object]]) -> dict[str, Object]:
    """Return kube-proxy's running Pod by node: of DaemonSets, and static ones of kube-system."""
    found: dict[str, Object] = {}
    for pods in by_space.values():
        for pod in pods:
            node = pod.get("spec", {}).get("nodeName")
            if node and pod["metadata"]["name"].startswith("kube-proxy"):
                found[node] = pod
    return found


def _logs(
    connection: Connection, pods: Mapping[str, Object], reasons: dict[str, str]
) -> dict[str, str]:
    def read(item: tuple[str, Object]) -> tuple[str, str]:
        node, pod = item
        meta = pod["metadata"]
        try:
            text = connection.text(
                f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/log",
                container=pod["spec"]["containers"][0]["name"],
                limitBytes=LOG_BYTES,
            )
        except ApiError as error:
            reasons[f"log/{node}"] = f"kube-proxy's log cannot be read: {error.message}"
            return node, ""
        return node, text

    with ThreadPoolExecutor(connection.bounds.requests_open, "logs") as pool:
        return dict(pool.map(read, sorted(pods.items())))
