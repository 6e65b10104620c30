"""Fetch the API objects that facts are read from, concurrently; keep the reason for missing ones.

The I/O of discovery; ``discover`` reads the facts. Only nodes are indispensable. Objects are read
in their documented shape; a refusal is a reason, never an error. ConfigMaps are found by the Pods
and DaemonSets that refer to them, otherwise by the names that installers give them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field

from nettests.cluster import hybrid_overlay, kubeproxy, nodes, permissions, plugin_settings
from nettests.cluster.connecting import server_version
from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.plugins import PluginObjects, plugin_of
from nettests.cluster.shapes import (
    CONFIG_MAP,
    DAEMON_SET,
    IP_POOL,
    NODE,
    POD,
    RUNTIME_CLASS,
    SERVICE,
    SERVICE_CIDR,
    SLICE,
    Shape,
    config_maps_of,
    pod_spec_of,
    shaped,
    shaped_items,
)
from nettests.cluster.threads import threads
from nettests.errors import ClusterError
from nettests.model import permission
from nettests.model.json_text import Object
from nettests.model.permission import CONFIG_MAPS, FLANNEL_CONFIG_MAPS, reviewed
from nettests.model.versions import KubernetesVersion
from nettests.model.words import OS

ConfigMaps = Mapping[str, Future[Object | None]]
"""By ``namespace/name``, while they are being read."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads from one cluster; ``reasons`` has why a path or a named ConfigMap was not read."""

    connection: Connection
    reasons: dict[str, str] = field(default_factory=dict)

    def listed(self, path: str, shape: Shape, *, most: int = 0, **query: str) -> list[Object]:
        """Return the objects of a list, or the ``most`` first ones; none if it is refused."""
        try:
            if most:
                listed = self.connection.get(path, limit=most).get("items") or []
            else:
                listed = self.connection.items(path, **query)
            items, odd = shaped_items(listed, shape, path)
        except ApiError as error:
            self.reasons[path] = error.message
            return []
        if odd:
            self.reasons[path] = odd
        return items

    def one(self, path: str, shape: Shape, name: str = "") -> Object | None:
        """Return one object; ``name`` is its key in ``reasons`` instead of the path."""
        try:
            item, odd = shaped(self.connection.get(path), shape, name or path)
        except ApiError as error:
            self.reasons[name or path] = error.message
            return None
        if odd:
            self.reasons[name or path] = odd
        return item if item.get("metadata", {}).get("name") else None

    def config_maps(self, pool: Executor, names: Sequence[str]) -> ConfigMaps:
        """Start reading ConfigMaps; return a future for each."""
        return {name: pool.submit(self._config_map, name) for name in dict.fromkeys(names)}

    def _config_map(self, name: str) -> Object | None:
        namespace, _, short = name.partition("/")
        path = f"/api/v1/namespaces/{namespace}/configmaps/{short}"
        return self.one(path, CONFIG_MAP, name)


def existing(pending: ConfigMaps) -> Iterator[tuple[str, Object]]:
    """Yield the ConfigMaps that exist, in the order of the requests."""
    for name, request in pending.items():
        if (config_map := request.result()) is not None:
            yield name, config_map


NODES = "/api/v1/nodes"
DAEMON_SETS = "/apis/apps/v1/daemonsets"
DNS_SERVICES = "/api/v1/namespaces/kube-system/services"
SERVICES = "/api/v1/services"
SLICES = "/apis/discovery.k8s.io/v1/endpointslices"
KUBERNETES = "/api/v1/namespaces/default/services/kubernetes"
RUNTIME_CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
SERVICE_CIDRS = "/apis/networking.k8s.io/v1/servicecidrs"
IP_POOLS = "/apis/crd.projectcalico.org/v1/ippools"
PODS = "/api/v1/pods"
SYSTEM = "kube-system"
OPENSHIFT_DNS = "openshift-dns/dns-default"
"""The DNS Service on OpenShift, which has a different label (openshift/cluster-dns-operator)."""
CORDONED = 4
"""For how many cordoned Windows nodes Pods are listed: checks need only one such node."""
FIRST = 500
"""How many Services, and EndpointSlices, are read to choose some to dial."""
LOG_BYTES = 65_536
"""A component logs its flags first: more of a log is not needed."""
DNS_LABEL = "k8s-app=kube-dns"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The fetched objects, in their documented shape; ``reasons`` says why something is missing."""

    server_version: KubernetesVersion
    server_git_version: str
    context: str
    nodes: Sequence[Object]
    daemon_sets: Sequence[Object] = ()
    config_maps: Mapping[str, Object] = field(default_factory=dict)
    """By ``namespace/name``; those that Pods and DaemonSets refer to come first."""
    dns_services: Sequence[Object] = ()
    dns_pods: Sequence[Object] = ()
    """The Pods that the Service of the cluster's DNS selects."""
    kubernetes_service: Object | None = None
    services: tuple[Sequence[Object], Sequence[Object]] = ((), ())
    """Services and EndpointSlices; in a large cluster the first ones of both lists."""
    proxy_pods: Mapping[str, Object] = field(default_factory=dict)
    proxy_logs: Mapping[str, str] = field(default_factory=dict)
    """Both by node name."""
    cordoned: Mapping[str, Sequence[Object]] = field(default_factory=dict)
    """The Pods of cordoned Windows nodes by node name, if they may be listed."""
    runtime_classes: Sequence[Object] = ()
    service_cidrs: Sequence[Object] = ()
    ip_pools: Sequence[Object] = ()
    """Calico's."""
    denied: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    namespace: str = ""
    """The existing namespace that a run will use."""


def fetch(connection: Connection, namespace: str = "") -> Snapshot:
    """Fetch the objects that facts are read from, concurrently; only nodes are indispensable."""
    version, git_version = server_version(connection)
    read = Reader(connection)
    with threads(connection, "discover") as pool:
        every_node = pool.submit(_nodes, read)
        named = read.config_maps(pool, (*CONFIG_MAPS, *FLANNEL_CONFIG_MAPS))
        daemon_sets = pool.submit(read.listed, DAEMON_SETS, DAEMON_SET)
        dns = pool.submit(read.listed, DNS_SERVICES, SERVICE, labelSelector=DNS_LABEL)
        kubernetes = pool.submit(read.one, KUBERNETES, SERVICE)
        firsts = pool.submit(_first_services, read)
        classes = pool.submit(read.listed, RUNTIME_CLASSES, RUNTIME_CLASS)
        has_cidrs = version >= permission.SERVICE_CIDRS
        cidrs = pool.submit(read.listed, SERVICE_CIDRS, SERVICE_CIDR) if has_cidrs else None
        by_space = _system_pods(read, daemon_sets.result())
        objects = PluginObjects(nodes=every_node.result(), daemon_sets=daemon_sets.result())
        plugin = plugin_of(objects).value or ""
        denied = pool.submit(_denied, connection, version, plugin, namespace)
        of_plugin = read.config_maps(pool, _of_plugin(plugin, objects))
        has_pools = any(objects.of_plugin("calico"))
        pools = pool.submit(read.listed, IP_POOLS, IP_POOL) if has_pools else None
        pods = _proxy_pods(by_space)
        logs = pool.submit(_logs, read, pods)
        services = dns.result() or _other_dns(read, dict(existing(of_plugin)))
        dns_pods = [pod for service in services for pod in _selected(read, service, by_space)]
        wanted = tuple(dict.fromkeys((*_of_dns(services, dns_pods), *_of_proxies(pods.values()))))
        new = [name for name in wanted if name not in named and name not in of_plugin]
        maps = dict(existing({**read.config_maps(pool, new), **of_plugin, **named}))
        return Snapshot(
            server_version=version,
            server_git_version=git_version,
            context=connection.context,
            nodes=every_node.result(),
            daemon_sets=daemon_sets.result(),
            config_maps={
                name: maps[name] for name in dict.fromkeys((*wanted, *maps)) if name in maps
            },
            dns_services=services,
            dns_pods=dns_pods,
            kubernetes_service=kubernetes.result(),
            services=firsts.result(),
            proxy_pods=pods,
            proxy_logs=logs.result(),
            cordoned=_on_cordoned(pool, read, every_node.result()),
            runtime_classes=classes.result(),
            service_cidrs=cidrs.result() if cidrs is not None else (),
            ip_pools=pools.result() if pools is not None else (),
            denied=denied.result(),
            reasons=read.reasons,
            namespace=namespace,
        )


def _of_plugin(plugin: str, objects: PluginObjects) -> tuple[str, ...]:
    """Return the ConfigMaps that the plugin's DaemonSets refer to, and those of installers.

    With other plugins, Calico's are read as well: a policy engine names the plugin.
    """
    with_settings = {*plugin_settings.CONFIG_MAPS, "flannel"}
    referred = (
        name
        for daemon in sorted({"calico", plugin if plugin in with_settings else "calico"})
        for item in objects.of_plugin(daemon)
        for name in config_maps_of(pod_spec_of(item), item["metadata"].get("namespace", ""))
    )
    on_windows = plugin_settings.FLANNEL_ON_WINDOWS if plugin == "flannel" else ()
    return (*referred, *plugin_settings.CONFIG_MAPS.get(plugin, ()), *on_windows)


def _first_services(read: Reader) -> tuple[Sequence[Object], Sequence[Object]]:
    return (
        read.listed(SERVICES, SERVICE, most=FIRST),
        read.listed(SLICES, SLICE, most=FIRST),
    )


def _other_dns(read: Reader, config_maps: Mapping[str, Object]) -> list[Object]:
    """Return the DNS Service if none has the usual label: the plugin's or OpenShift's."""
    named = hybrid_overlay.dns_service(config_maps) or OPENSHIFT_DNS
    namespace, _, name = named.partition("/")
    service = read.one(f"/api/v1/namespaces/{namespace}/services/{name}", SERVICE)
    return [service] if service is not None else []


def _selected(
    read: Reader, service: Object, by_space: Mapping[str, Sequence[Object]]
) -> Sequence[Object]:
    namespace = service["metadata"].get("namespace", SYSTEM)
    selector = (service.get("spec") or {}).get("selector") or {}
    if not selector:
        return ()
    if namespace not in by_space:
        labels = ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
        return read.listed(f"/api/v1/namespaces/{namespace}/pods", POD, labelSelector=labels)
    return [
        pod
        for pod in by_space[namespace]
        if selector.items() <= (pod["metadata"].get("labels") or {}).items()
    ]


def _of_dns(services: Iterable[Object], pods: Iterable[Object]) -> Iterator[str]:
    """Yield the ConfigMaps of the DNS Pods, and the one named like the Service, as in charts."""
    for pod in pods:
        yield from config_maps_of(pod.get("spec") or {}, pod["metadata"].get("namespace", ""))
    for service in services:
        yield f"{service['metadata'].get('namespace', SYSTEM)}/{service['metadata']['name']}"


def _of_proxies(pods: Iterable[Object]) -> Iterator[str]:
    for pod in pods:
        yield from config_maps_of(pod.get("spec") or {}, pod["metadata"].get("namespace", ""))
    yield from kubeproxy.CONFIG_MAPS


def _denied(
    connection: Connection, version: KubernetesVersion, plugin: str, namespace: str
) -> tuple[str, ...]:
    flannel = FLANNEL_CONFIG_MAPS[:1] if plugin in {"", "flannel"} else ()
    config_maps = (*CONFIG_MAPS, *flannel, *plugin_settings.CONFIG_MAPS.get(plugin, ()))
    of_plugin = plugin_settings.PERMISSIONS.get(plugin, ())
    wanted = reviewed(version, config_maps, own_namespace=not namespace, of_plugin=of_plugin)
    return tuple(str(missing) for missing in permissions.denied(connection, wanted, namespace))


def _nodes(read: Reader) -> list[Object]:
    try:
        listed = read.connection.items(NODES)
    except ApiError as error:
        if error.status == 403:
            raise ClusterError(
                f"the nodes cannot be listed: {error.message}",
                hint="grant manifests/rbac/discovery.yaml, or use a context that may list nodes",
            ) from error
        raise
    nodes, odd = shaped_items(listed, NODE, NODES)
    if odd:
        read.reasons[NODES] = odd
    return nodes


def _system_pods(read: Reader, daemon_sets: Sequence[Object]) -> dict[str, list[Object]]:
    """Return the Pods of kube-system, and of namespaces with DaemonSets of kube-proxy."""
    spaces = {SYSTEM} | {
        item["metadata"].get("namespace", SYSTEM)
        for item in daemon_sets
        if item["metadata"]["name"].startswith("kube-proxy")
    }
    return {space: read.listed(f"/api/v1/namespaces/{space}/pods", POD) for space in sorted(spaces)}


def _on_cordoned(
    pool: Executor, read: Reader, every_node: Sequence[Object]
) -> dict[str, list[Object]]:
    """Return the Pods of a few Ready, cordoned Windows nodes, if they may be listed."""
    names = [
        nodes.name_of(node)
        for node in every_node
        if nodes.os_of(node) is OS.WINDOWS and nodes.ready(node) and not nodes.schedulable(node)
    ]
    pending = {name: pool.submit(_pods_on, read, name) for name in sorted(names)[:CORDONED]}
    listings = {name: listing.result() for name, listing in pending.items()}
    return {name: pods for name, pods in listings.items() if pods is not None}


def _pods_on(read: Reader, node: str) -> list[Object] | None:
    """Return the Pods of a node; ``None`` if one is malformed: it may be in the host network."""
    key = f"{PODS}/{node}"
    try:
        listed = read.connection.items(PODS, fieldSelector=f"spec.nodeName={node}")
    except ApiError as error:
        read.reasons[key] = error.message
        return None
    pods, odd = shaped_items(listed, POD, PODS)
    if odd:
        read.reasons[key] = odd
    return None if odd else pods


def _proxy_pods(by_space: Mapping[str, Sequence[Object]]) -> dict[str, Object]:
    """Return kube-proxy's running Pod by node: of DaemonSets, and static ones in kube-system."""
    by_node: dict[str, Object] = {}
    for pods in by_space.values():
        for pod in pods:
            node = pod.get("spec", {}).get("nodeName")
            if node and pod["metadata"]["name"].startswith("kube-proxy"):
                by_node[node] = pod
    return by_node


def _container_of(pod: Object) -> str:
    names = [item.get("name", "") for item in (pod.get("spec") or {}).get("containers") or ()]
    return next((name for name in names if kubeproxy.COMMAND in name), next(iter(names), ""))


def _logs(read: Reader, pods: Mapping[str, Object]) -> dict[str, str]:
    def log_of(item: tuple[str, Object]) -> tuple[str, str]:
        node, pod = item
        meta = pod["metadata"]
        try:
            text = read.connection.text(
                f"/api/v1/namespaces/{meta.get('namespace', SYSTEM)}/pods/{meta['name']}/log",
                container=_container_of(pod),
                limitBytes=LOG_BYTES,
            )
        except ApiError as error:
            read.reasons[f"log/{node}"] = f"kube-proxy's log cannot be read: {error.message}"
            return node, ""
        return node, text

    with threads(read.connection, "logs") as pool:
        return dict(pool.map(log_of, sorted(pods.items())))
