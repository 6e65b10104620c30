"""Permissions that a run may need, as the API server authorises them: verb, resource, namespace.

Discovery reviews them, planning skips checks without them, and ``preflight`` explains them.
``plan.permissions`` maps checks to permissions.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nettests.model.versions import KubernetesVersion
from nettests.model.workload import Workload

RUN = "{run}"
"""Placeholder for the run's namespace: its own, or the existing one that the user chose."""
EVERYWHERE = "*"
"""All namespaces."""
SYSTEM = "kube-system"
SERVICE_CIDRS = KubernetesVersion(1, 33, 0)
"""The API has Service CIDRs from this version on (KEP-1880)."""
CREATE_TO_CONNECT = KubernetesVersion(1, 35)
"""A WebSocket for exec or port-forward needs ``create`` besides ``get`` from this version on."""

_APPS = "apps"
_DISCOVERY = "discovery.k8s.io"


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """One verb on one resource (``pods/exec`` with its subresource) in one place.

    ``namespace`` is empty for cluster-scoped resources; ``name`` narrows it to one object.
    """

    verb: str
    resource: str
    group: str = ""
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        name = f" {self.name}" if self.name not in {"", RUN} else ""
        places = {"": "", RUN: "", EVERYWHERE: " in all namespaces"}
        place = places.get(self.namespace, f" in namespace {self.namespace}")
        return f"{self.verb} {self.resource}{name}{place}"

    def within(self, namespace: str) -> "Permission":
        """Replace the placeholder by ``namespace``."""
        return Permission(
            verb=self.verb,
            resource=self.resource,
            group=self.group,
            namespace=namespace if self.namespace == RUN else self.namespace,
            name=namespace if self.name == RUN else self.name,
        )


def _run(verb: str, resource: str, group: str = "") -> Permission:
    return Permission(verb=verb, resource=resource, group=group, namespace=RUN)


LIST_NODES = Permission(verb="list", resource="nodes")
GET_NODE = Permission(verb="get", resource="nodes")
LIST_ALL_PODS = Permission(verb="list", resource="pods", namespace=EVERYWHERE)
LIST_ALL_SERVICES = Permission(verb="list", resource="services", namespace=EVERYWHERE)
LIST_ALL_SLICES = Permission(
    verb="list", resource="endpointslices", group=_DISCOVERY, namespace=EVERYWHERE
)
LIST_DAEMON_SETS = Permission(verb="list", resource="daemonsets", group=_APPS, namespace=EVERYWHERE)
LIST_SERVICE_CIDRS = Permission(verb="list", resource="servicecidrs", group="networking.k8s.io")
LIST_IP_POOLS = Permission(verb="list", resource="ippools", group="crd.projectcalico.org")
"""Calico's pools, whose modes decide how packets between nodes are encapsulated."""
LIST_IPAM_CONFIGS = Permission(verb="list", resource="ipamconfigs", group="crd.projectcalico.org")
"""Calico's ``strictAffinity``, which Windows nodes need."""
OF_CALICO = (LIST_IP_POOLS, LIST_IPAM_CONFIGS)
LIST_WEBHOOKS = tuple(
    Permission(verb="list", resource=resource, group="admissionregistration.k8s.io")
    for resource in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
)
"""Webhooks that change or refuse Pods."""
SECRETS = "secrets"
LIST_RUNTIME_CLASSES = Permission(verb="list", resource="runtimeclasses", group="node.k8s.io")
SYSTEM_PODS = Permission(verb="list", resource="pods", namespace=SYSTEM)
SYSTEM_LOGS = Permission(verb="get", resource="pods/log", namespace=SYSTEM)
SYSTEM_SERVICES = Permission(verb="list", resource="services", namespace=SYSTEM)
KUBERNETES_SERVICE = Permission(
    verb="get", resource="services", namespace="default", name="kubernetes"
)
CREATE_NAMESPACE = Permission(verb="create", resource="namespaces")
LIST_NAMESPACES = Permission(verb="list", resource="namespaces")
DELETE_NAMESPACE = Permission(verb="delete", resource="namespaces")
READ_NAMESPACE = Permission(verb="get", resource="namespaces", namespace=RUN, name=RUN)
CREATE_POD = _run("create", "pods")
LIST_PODS = _run("list", "pods")
WATCH_PODS = _run("watch", "pods")
DELETE_POD = _run("delete", "pods")
POD_LOG = _run("get", "pods/log")
POD_PROXY = _run("get", "pods/proxy")
UPDATE_DEPLOYMENT = _run("update", Workload.DEPLOYMENT.plural, Workload.DEPLOYMENT.group)
CREATE_SERVICE = _run("create", "services")
GET_SERVICE = _run("get", "services")
UPDATE_SERVICE = _run("update", "services")
LIST_SERVICES = _run("list", "services")
DELETE_SERVICE = _run("delete", "services")
_COORDINATION = "coordination.k8s.io"
CREATE_LEASE = _run("create", "leases", _COORDINATION)
GET_LEASE = _run("get", "leases", _COORDINATION)
UPDATE_LEASE = _run("update", "leases", _COORDINATION)
LIST_LEASES = _run("list", "leases", _COORDINATION)
DELETE_LEASE = _run("delete", "leases", _COORDINATION)
HOLDING = (CREATE_LEASE, GET_LEASE, UPDATE_LEASE)
"""For the Lease that guards a run's namespace."""
_NETWORKING = "networking.k8s.io"
CREATE_POLICY = _run("create", "networkpolicies", _NETWORKING)
LIST_POLICIES = _run("list", "networkpolicies", _NETWORKING)
DELETE_POLICY = _run("delete", "networkpolicies", _NETWORKING)
LIST_EVENTS = _run("list", "events")
LIST_SLICES = _run("list", "endpointslices", _DISCOVERY)
CREATE_SLICE = _run("create", "endpointslices", _DISCOVERY)
WATCH_SLICES = _run("watch", "endpointslices", _DISCOVERY)

CONFIG_MAPS = ("kube-system/kube-proxy", "kube-system/kubeadm-config", "kube-system/coredns")
"""ConfigMaps that facts of every cluster come from."""
FLANNEL_CONFIG_MAPS = ("kube-flannel/kube-flannel-cfg", "kube-system/kube-flannel-cfg")


def config_map(name: str) -> Permission:
    """Return the permission to read the ConfigMap ``namespace/name``."""
    namespace, _, short = name.partition("/")
    return Permission(verb="get", resource="configmaps", namespace=namespace, name=short)


PULL_SECRET = "nettests-pull"  # noqa: S105 - its name
"""The Secret in a run's own namespace with which its Pods pull images."""


def copying(secret: str) -> tuple[Permission, ...]:
    """Return the permissions to copy pull Secret ``namespace/name`` to a run's namespace.

    Without a name: to create one there.
    """
    namespace, _, name = secret.partition("/")
    read = Permission(verb="get", resource=SECRETS, namespace=namespace, name=name)
    return (*((read,) if name else ()), _run("create", SECRETS))


def opening(resource: str, version: KubernetesVersion) -> tuple[Permission, ...]:
    """Return the permissions for ``pods/exec`` or ``pods/portforward``: WebSockets use GET."""
    verbs = ("get", "create") if version >= CREATE_TO_CONNECT else ("get",)
    return tuple(_run(verb, resource) for verb in verbs)


def standing(*, own_namespace: bool) -> tuple[Permission, ...]:
    """Return the permissions to create, watch and delete Pods."""
    if own_namespace:
        return (
            CREATE_NAMESPACE,
            LIST_NAMESPACES,
            DELETE_NAMESPACE,
            *HOLDING,
            CREATE_POD,
            LIST_PODS,
            WATCH_PODS,
        )
    removing = (DELETE_POD, LIST_LEASES, DELETE_LEASE)
    return (*HOLDING, CREATE_POD, LIST_PODS, WATCH_PODS, *removing)


def serving(*, own_namespace: bool) -> tuple[Permission, ...]:
    """Return the permissions to create, watch and delete Services."""
    return (CREATE_SERVICE,) if own_namespace else (CREATE_SERVICE, LIST_SERVICES, DELETE_SERVICE)


def working(kind: Workload) -> tuple[Permission, ...]:
    """Return the permissions to create, find and delete a workload, which would recreate Pods."""
    return tuple(_run(verb, kind.plural, kind.group) for verb in ("create", "list", "delete"))


def isolating(*, own_namespace: bool) -> tuple[Permission, ...]:
    """Return the permissions for the probes' NetworkPolicy, which no check needs."""
    return (CREATE_POLICY,) if own_namespace else (CREATE_POLICY, LIST_POLICIES, DELETE_POLICY)


FOR_FACTS: tuple[Permission, ...] = (
    LIST_DAEMON_SETS,
    LIST_RUNTIME_CLASSES,
    SYSTEM_PODS,
    SYSTEM_LOGS,
    SYSTEM_SERVICES,
    KUBERNETES_SERVICE,
)
"""For facts besides nodes and ConfigMaps, which stay unknown without them."""


def reviewed(
    version: KubernetesVersion,
    config_maps: Iterable[str],
    *,
    own_namespace: bool,
    of_plugin: Iterable[Permission] = (),
) -> tuple[Permission, ...]:
    """Return all permissions a run may need, each once; ``of_plugin`` are the plugin's."""
    wanted = (
        LIST_NODES,
        GET_NODE,
        LIST_ALL_PODS,
        LIST_ALL_SERVICES,
        LIST_ALL_SLICES,
        *FOR_FACTS,
        *((LIST_SERVICE_CIDRS,) if version >= SERVICE_CIDRS else ()),
        *map(config_map, config_maps),
        *of_plugin,
        *(() if own_namespace else (READ_NAMESPACE,)),
        *standing(own_namespace=own_namespace),
        *serving(own_namespace=own_namespace),
        *isolating(own_namespace=own_namespace),
        GET_SERVICE,
        UPDATE_SERVICE,
        LIST_SERVICES,
        DELETE_SERVICE,
        DELETE_POD,
        *(permission for kind in Workload for permission in working(kind)),
        UPDATE_DEPLOYMENT,
        *opening("pods/exec", version),
        *opening("pods/portforward", version),
        *opening("pods/attach", version),
        POD_PROXY,
        POD_LOG,
        LIST_EVENTS,
        LIST_SLICES,
        WATCH_SLICES,
        CREATE_SLICE,
    )
    return tuple(dict.fromkeys(wanted))
