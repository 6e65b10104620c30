"""Fetch the API objects that facts are read from, concurrently, and keep the reason for each that cannot be read.

The I/O of discovery; ``discover`` reads the facts. Only the nodes are indispensable.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

from nettests.cluster import cni, nodes, permissions, plugin_settings
from nettests.cluster.connecting import server_version
from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.threads import threads
from nettests.errors import ClusterError
from nettests.model import permission
from nettests.model.permission import CONFIG_MAPS, FLANNEL_CONFIG_MAPS, reviewed
from nettests.model.versions import KubernetesVersion
from nettests.model.words import OS

Object = dict[str, Any]
DAEMON_SETS = "/apis/apps/v1/daemonsets"
DNS_SERVICES = "/api/v1/namespaces/kube-system/services"
KUBERNETES = "/api/v1/namespaces/default/services/kubernetes"
RUNTIME_CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
SERVICE_CIDRS = "/apis/networking.k8s.io/v1/servicecidrs"
PODS = "/api/v1/pods"
CORDONED = 4
"""The Pods of so many cordoned Windows nodes are listed: one of them is enough for what is tested there."""
LOG_BYTES = 65_536
"""A component logs its flags first: no more of a log is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The fetched objects, as the API returned them; ``reasons`` says why an object is missing."""

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
    cordoned: Mapping[str, Sequence[Object]] = field(default_factory=dict)
    """The Pods of cordoned Windows nodes by node name, as far as they may be listed."""
    runtime_classes: Sequence[Object] = ()
    service_cidrs: Sequence[Object] = ()
    denied: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    namespace: str = ""
    """The existing namespace that a run will use."""


def fetch(connection: Connection, namespace: str = "") -> Snapshot:
    """Fetch the objects that facts are read from, concurrently; only nodes are indispensable."""
    version, git_version = server_version(connection)
    reasons: dict[str, str] = {}
    with threads(connection, "discover") as pool:
        every_node = pool.submit(_nodes, connection)
        of_all = _config_maps(pool, connection, (*CONFIG_MAPS, *FLANNEL_CONFIG_MAPS), reasons)
        daemon_sets = pool.submit(_listed, connection, DAEMON_SETS, reasons)
        dns = pool.submit(
            _listed, connection, DNS_SERVICES, reasons, labelSelector="k8s-app=kube-dns"
        )
        kubernetes = pool.submit(_read, connection, KUBERNETES, reasons)
        classes = pool.submit(_listed, connection, RUNTIME_CLASSES, reasons)
        has_cidrs = version >= permission.SERVICE_CIDRS
        cidrs = pool.submit(_listed, connection, SERVICE_CIDRS, reasons) if has_cidrs else None
        plugin = cni.plugin_of(daemon_sets.result()).value or ""
        on_windows = plugin_settings.FLANNEL_ON_WINDOWS if plugin == "flannel" else ()
        names = (*plugin_settings.CONFIG_MAPS.get(plugin, ()), *on_windows)
        of_plugin = _config_maps(pool, connection, names, reasons)
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
            config_maps={**dict(_existing(of_all)), **dict(_existing(of_plugin))},
            dns_services=dns.result(),
            kubernetes_service=kubernetes.result(),
            system_pods=by_space["kube-system"],
            proxy_pods=pods,
            proxy_logs=logs.result(),
            cordoned=_on_cordoned(pool, connection, every_node.result(), reasons),
            runtime_classes=classes.result(),
            service_cidrs=cidrs.result() if cidrs is not None else (),
            denied=denied.result(),
            reasons=reasons,
            namespace=namespace,
        )


def _denied(
    connection: Connection, version: KubernetesVersion, plugin: str, namespace: str
) -> tuple[str, ...]:
    flannel = FLANNEL_CONFIG_MAPS[:1] if plugin in {"", "flannel"} else ()
    config_maps = (*CONFIG_MAPS, *flannel, *plugin_settings.CONFIG_MAPS.get(plugin, ()))
    of_plugin = plugin_settings.PERMISSIONS.get(plugin, ())
    wanted = reviewed(version, config_maps, own_namespace=not namespace, of_plugin=of_plugin)
    return tuple(str(missing) for missing in permissions.denied(connection, wanted, namespace))


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
    """Start reading ConfigMaps; return a future for each."""
    return {name: pool.submit(_config_map, connection, name, reasons) for name in names}


def _existing(pending: Mapping[str, Future[Object | None]]) -> Iterator[tuple[str, Object]]:
    """Yield the ConfigMaps that exist, in the order in which they were requested."""
    for name, request in pending.items():
        if (config_map := request.result()) is not None:
            yield name, config_map


def _config_map(connection: Connection, name: str, reasons: dict[str, str]) -> Object | None:
    namespace, _, short = name.partition("/")
    path = f"/api/v1/namespaces/{namespace}/configmaps/{short}"
    return _read(connection, path, reasons, name)


def _read(
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


def _on_cordoned(
    pool: Executor, connection: Connection, every_node: Sequence[Object], reasons: dict[str, str]
) -> dict[str, list[Object]]:
    """Return the Pods of a few Windows nodes that are Ready and cordoned; a list that is refused leaves its node out."""
    names = [
        nodes.name_of(node)
        for node in every_node
        if nodes.os_of(node) is OS.WINDOWS and nodes.ready(node) and not nodes.schedulable(node)
    ]
    pending = {
        name: pool.submit(_pods_on, connection, name, reasons) for name in sorted(names)[:CORDONED]
    }
    listings = {name: listing.result() for name, listing in pending.items()}
    return {name: pods for name, pods in listings.items() if pods is not None}


def _pods_on(connection: Connection, node: str, reasons: dict[str, str]) -> list[Object] | None:
    try:
        return connection.items(PODS, fieldSelector=f"spec.nodeName={node}")
    except ApiError as error:
        reasons[f"{PODS}/{node}"] = error.message
        return None


def _proxy_pods(by_space: Mapping[str, Sequence[Object]]) -> dict[str, Object]:
    """Return kube-proxy's running Pod by node: of DaemonSets, and static ones of kube-system."""
    by_node: dict[str, Object] = {}
    for pods in by_space.values():
        for pod in pods:
            node = pod.get("spec", {}).get("nodeName")
            if node and pod["metadata"]["name"].startswith("kube-proxy"):
                by_node[node] = pod
    return by_node


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

    with threads(connection, "logs") as pool:
        return dict(pool.map(read, sorted(pods.items())))
