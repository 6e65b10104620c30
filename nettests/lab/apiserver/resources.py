"""The kinds this API serves: group, version, plural, kind, scope, verbs, subresources.

One table, read by discovery, routing, storage and tables. A kind that a second group serves too
(``events.k8s.io``) shares the storage of the first through ``storage``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

ALL_VERBS = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
)


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


_CREATE_ONLY = ("create",)
_ALL = ("all",)
_RBAC = "rbac.authorization.k8s.io"
_AUTHZ = "authorization.k8s.io"

RESOURCES: tuple[Resource, ...] = (
    Resource(
        plural="namespaces",
        kind="Namespace",
        namespaced=False,
        short_names=("ns",),
        subresources=("status", "finalize"),
        verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
        returns_deleted=True,
    ),
    Resource(
        plural="nodes",
        kind="Node",
        namespaced=False,
        short_names=("no",),
        subresources=("status", "proxy"),
    ),
    Resource(
        plural="pods",
        kind="Pod",
        short_names=("po",),
        categories=_ALL,
        subresources=(
            "status",
            "log",
            "exec",
            "attach",
            "portforward",
            "proxy",
            "binding",
            "eviction",
        ),
        returns_deleted=True,
    ),
    Resource(
        plural="services",
        kind="Service",
        short_names=("svc",),
        categories=_ALL,
        subresources=("status", "proxy"),
        returns_deleted=True,
    ),
    Resource(plural="endpoints", kind="Endpoints", short_names=("ep",), create_on_update=True),
    Resource(plural="configmaps", kind="ConfigMap", short_names=("cm",)),
    Resource(plural="secrets", kind="Secret"),
    Resource(
        plural="serviceaccounts",
        kind="ServiceAccount",
        short_names=("sa",),
        subresources=("token",),
        returns_deleted=True,
    ),
    Resource(plural="events", kind="Event", short_names=("ev",), create_on_update=True),
    Resource(
        plural="resourcequotas",
        kind="ResourceQuota",
        short_names=("quota",),
        subresources=("status",),
        returns_deleted=True,
    ),
    Resource(plural="limitranges", kind="LimitRange", short_names=("limits",)),
    Resource(
        plural="persistentvolumeclaims",
        kind="PersistentVolumeClaim",
        short_names=("pvc",),
        subresources=("status",),
        returns_deleted=True,
    ),
    Resource(plural="bindings", kind="Binding", verbs=_CREATE_ONLY),
    Resource(
        group="apps",
        plural="deployments",
        kind="Deployment",
        short_names=("deploy",),
        categories=_ALL,
        subresources=("status", "scale"),
    ),
    Resource(
        group="apps",
        plural="replicasets",
        kind="ReplicaSet",
        short_names=("rs",),
        categories=_ALL,
        subresources=("status", "scale"),
    ),
    Resource(
        group="apps",
        plural="daemonsets",
        kind="DaemonSet",
        short_names=("ds",),
        categories=_ALL,
        subresources=("status",),
    ),
    Resource(
        group="apps",
        plural="statefulsets",
        kind="StatefulSet",
        short_names=("sts",),
        categories=_ALL,
        subresources=("status", "scale"),
    ),
    Resource(
        group="batch",
        plural="jobs",
        kind="Job",
        categories=_ALL,
        subresources=("status",),
    ),
    Resource(
        group="batch",
        plural="cronjobs",
        kind="CronJob",
        short_names=("cj",),
        categories=_ALL,
        subresources=("status",),
    ),
    Resource(group="discovery.k8s.io", plural="endpointslices", kind="EndpointSlice"),
    Resource(
        group="events.k8s.io",
        plural="events",
        kind="Event",
        short_names=("ev",),
        storage="events",
        create_on_update=True,
    ),
    Resource(group="coordination.k8s.io", plural="leases", kind="Lease", create_on_update=True),
    Resource(
        group="networking.k8s.io",
        plural="networkpolicies",
        kind="NetworkPolicy",
        short_names=("netpol",),
    ),
    Resource(
        group="networking.k8s.io",
        plural="servicecidrs",
        kind="ServiceCIDR",
        namespaced=False,
        subresources=("status",),
        since=33,
    ),
    Resource(group="crd.projectcalico.org", plural="ippools", kind="IPPool", namespaced=False),
    Resource(group="node.k8s.io", plural="runtimeclasses", kind="RuntimeClass", namespaced=False),
    *(
        Resource(
            group="admissionregistration.k8s.io",
            plural=f"{kind.lower()}s",
            kind=kind,
            namespaced=False,
        )
        for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
    ),
    Resource(
        group="scheduling.k8s.io",
        plural="priorityclasses",
        kind="PriorityClass",
        namespaced=False,
        short_names=("pc",),
    ),
    Resource(group=_RBAC, plural="roles", kind="Role"),
    Resource(group=_RBAC, plural="rolebindings", kind="RoleBinding"),
    Resource(group=_RBAC, plural="clusterroles", kind="ClusterRole", namespaced=False),
    Resource(
        group=_RBAC, plural="clusterrolebindings", kind="ClusterRoleBinding", namespaced=False
    ),
    Resource(
        group=_AUTHZ,
        plural="selfsubjectaccessreviews",
        kind="SelfSubjectAccessReview",
        namespaced=False,
        verbs=_CREATE_ONLY,
    ),
    Resource(
        group=_AUTHZ,
        plural="selfsubjectrulesreviews",
        kind="SelfSubjectRulesReview",
        namespaced=False,
        verbs=_CREATE_ONLY,
    ),
    Resource(
        group=_AUTHZ,
        plural="subjectaccessreviews",
        kind="SubjectAccessReview",
        namespaced=False,
        verbs=_CREATE_ONLY,
    ),
    Resource(
        group=_AUTHZ,
        plural="localsubjectaccessreviews",
        kind="LocalSubjectAccessReview",
        verbs=_CREATE_ONLY,
    ),
    Resource(
        group="authentication.k8s.io",
        plural="selfsubjectreviews",
        kind="SelfSubjectReview",
        namespaced=False,
        verbs=_CREATE_ONLY,
    ),
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
