"""The kinds this API serves: group, version, plural, kind, scope, verbs, subresources.

One table, read by discovery, routing, storage and tables. A kind that a second group serves too
(``events.k8s.io``) shares the storage of the first through ``storage``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One served resource; ``storage`` names the collection its objects are kept in."""

    group: str = ""
    version: str = "v1"
    plural: str
    kind: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    storage: str = ""
    create_on_update: bool = False
    returns_deleted: bool = False
    """DELETE answers with the object instead of a ``Status``."""
    since: int = 0
    """The release, 1.x, that is the first to serve it in this version."""

    @property
    def key(self) -> str:
        """The name of the storage collection."""
        return self.storage or self.qualified

    @property
    def qualified(self) -> str:
        """``plural.group``, as messages name the resource."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        """``group/version``, or ``v1`` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def singular(self) -> str:
        """The lower-case kind."""
        return self.kind.lower()


_APPS, _BATCH, _NETWORKING = "apps", "batch", "networking.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_AUTHZ = "authorization.k8s.io"


def _row(
    group: str, plural: str, kind: str, short: str = "", subresources: str = "", **more: Any
) -> Resource:
    """Return a resource with at most one short name; ``subresources`` are words."""
    return Resource(
        group=group,
        plural=plural,
        kind=kind,
        short_names=tuple(short.split()),
        subresources=tuple(subresources.split()),
        **more,
    )


def _workload(group: str, kind: str, short: str, subresources: str = "status") -> Resource:
    return _row(group, f"{kind.lower()}s", kind, short, subresources, categories=("all",))


def _review(group: str, kind: str, *, namespaced: bool = False) -> Resource:
    return _row(group, f"{kind.lower()}s", kind, namespaced=namespaced, verbs=("create",))


_NAMESPACE = {
    "namespaced": False,
    "verbs": tuple(verb for verb in ALL_VERBS if verb != "deletecollection"),
    "returns_deleted": True,
}
_POD = "status log exec attach portforward proxy binding eviction"
_CLAIM = ("persistentvolumeclaims", "PersistentVolumeClaim", "pvc", "status")
_LISTED = {"categories": ("all",), "returns_deleted": True}

RESOURCES: tuple[Resource, ...] = (
    _row("", "namespaces", "Namespace", "ns", "status finalize", **_NAMESPACE),
    _row("", "nodes", "Node", "no", "status proxy", namespaced=False),
    _row("", "pods", "Pod", "po", _POD, **_LISTED),
    _row("", "services", "Service", "svc", "status proxy", **_LISTED),
    _row("", "endpoints", "Endpoints", "ep", create_on_update=True),
    _row("", "configmaps", "ConfigMap", "cm"),
    _row("", "secrets", "Secret"),
    _row("", "serviceaccounts", "ServiceAccount", "sa", "token", returns_deleted=True),
    _row("", "events", "Event", "ev", create_on_update=True),
    _row("", "resourcequotas", "ResourceQuota", "quota", "status", returns_deleted=True),
    _row("", "limitranges", "LimitRange", "limits"),
    _row("", *_CLAIM, returns_deleted=True),
    _row("", "bindings", "Binding", verbs=("create",)),
    _workload(_APPS, "Deployment", "deploy", "status scale"),
    _workload(_APPS, "ReplicaSet", "rs", "status scale"),
    _workload(_APPS, "DaemonSet", "ds"),
    _workload(_APPS, "StatefulSet", "sts", "status scale"),
    _workload(_BATCH, "Job", ""),
    _workload(_BATCH, "CronJob", "cj"),
    _row("discovery.k8s.io", "endpointslices", "EndpointSlice"),
    _row("events.k8s.io", "events", "Event", "ev", storage="events", create_on_update=True),
    _row("coordination.k8s.io", "leases", "Lease", create_on_update=True),
    _row(_NETWORKING, "networkpolicies", "NetworkPolicy", "netpol"),
    _row(_NETWORKING, "servicecidrs", "ServiceCIDR", "", "status", namespaced=False, since=33),
    _row("crd.projectcalico.org", "ippools", "IPPool", namespaced=False),
    _row("node.k8s.io", "runtimeclasses", "RuntimeClass", namespaced=False),
    *(
        _row("admissionregistration.k8s.io", f"{kind.lower()}s", kind, namespaced=False)
        for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
    ),
    _row("scheduling.k8s.io", "priorityclasses", "PriorityClass", "pc", namespaced=False),
    _row(_RBAC, "roles", "Role"),
    _row(_RBAC, "rolebindings", "RoleBinding"),
    _row(_RBAC, "clusterroles", "ClusterRole", namespaced=False),
    _row(_RBAC, "clusterrolebindings", "ClusterRoleBinding", namespaced=False),
    _review(_AUTHZ, "SelfSubjectAccessReview"),
    _review(_AUTHZ, "SelfSubjectRulesReview"),
    _review(_AUTHZ, "SubjectAccessReview"),
    _review(_AUTHZ, "LocalSubjectAccessReview", namespaced=True),
    _review("authentication.k8s.io", "SelfSubjectReview"),
)

_BY_PATH = {(item.group, item.version, item.plural): item for item in RESOURCES}
_STORED = {item.key: item for item in RESOURCES if not item.storage}


def find(group: str, version: str, plural: str, minor: int) -> Resource | None:
    """Return the resource that Kubernetes 1.``minor`` serves at a path, if any."""
    resource = _BY_PATH.get((group, version, plural))
    return resource if resource is not None and resource.since <= minor else None


def of_key(key: str) -> Resource:
    """Return the resource whose objects the collection ``key`` holds."""
    return _STORED[key]


def in_group(group: str, version: str, minor: int) -> tuple[Resource, ...]:
    """Return the resources of one group and version in Kubernetes 1.``minor``, in table order."""
    return tuple(
        item
        for item in RESOURCES
        if (item.group, item.version) == (group, version) and item.since <= minor
    )


def groups(minor: int) -> Iterator[tuple[str, str]]:
    """Yield each named group of Kubernetes 1.``minor`` with its version, in table order."""
    served = (item for item in RESOURCES if item.group and item.since <= minor)
    yield from dict.fromkeys((item.group, item.version) for item in served)


PODS = _BY_PATH["", "v1", "pods"]
SERVICES = _BY_PATH["", "v1", "services"]
NODES = _BY_PATH["", "v1", "nodes"]
NAMESPACES = _BY_PATH["", "v1", "namespaces"]
SERVICE_ACCOUNTS = _BY_PATH["", "v1", "serviceaccounts"]
CONFIG_MAPS = _BY_PATH["", "v1", "configmaps"]
EVENTS = _BY_PATH["", "v1", "events"]
ENDPOINT_SLICES = _BY_PATH["discovery.k8s.io", "v1", "endpointslices"]
PRIORITY_CLASSES = _BY_PATH["scheduling.k8s.io", "v1", "priorityclasses"]
SERVICE_CIDRS = _BY_PATH["networking.k8s.io", "v1", "servicecidrs"]
RUNTIME_CLASSES = _BY_PATH["node.k8s.io", "v1", "runtimeclasses"]
ROLES = _BY_PATH[_RBAC, "v1", "roles"]
ROLE_BINDINGS = _BY_PATH[_RBAC, "v1", "rolebindings"]
CLUSTER_ROLES = _BY_PATH[_RBAC, "v1", "clusterroles"]
CLUSTER_ROLE_BINDINGS = _BY_PATH[_RBAC, "v1", "clusterrolebindings"]
