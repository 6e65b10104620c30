"""The kinds this API serves: group, version, plural, kind, scope, verbs, subresources.

Discovery, routing, storage and tables use the one table ``kinds.yaml``. A kind that a second group serves too
(``events.k8s.io``) shares the storage of the first through ``storage``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Json

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One served resource; ``storage`` names the collection of its objects."""

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
    """The first minor release that serves it in this version."""

    @property
    def key(self) -> str:
        """The name of the storage collection."""
        return self.storage or self.qualified

    @property
    def qualified(self) -> str:
        """``plural.group``, as in messages."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        """``group/version``, or ``v1`` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def singular(self) -> str:
        """The lower-case kind."""
        return self.kind.lower()


def _listed(group: str, row: Json) -> Resource:
    """Return the resource of a row of ``kinds.yaml``; lists are one text, the plural defaults to kind and ``s``."""
    words = {key: tuple(value.split()) for key, value in row.items() if key in _WORDS}
    return Resource(**{"group": group, "plural": f"{row['kind'].lower()}s", **row, **words})


_WORDS = ("short_names", "categories", "subresources", "verbs")
RESOURCES: tuple[Resource, ...] = tuple(
    _listed(group, row)
    for group, rows in read_yaml(__package__, "kinds.yaml")["resources"].items()
    for row in rows
)

_BY_PATH = {(item.group, item.version, item.plural): item for item in RESOURCES}
_STORED = {item.key: item for item in RESOURCES if not item.storage}


def find(group: str, version: str, plural: str, minor: int) -> Resource | None:
    """Return the resource that Kubernetes 1.``minor`` serves at a path, if any."""
    resource = _BY_PATH.get((group, version, plural))
    return resource if resource is not None and resource.since <= minor else None


def of_key(key: str) -> Resource:
    """Return the resource of the collection ``key``."""
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
_RBAC = "rbac.authorization.k8s.io"
ROLES = _BY_PATH[_RBAC, "v1", "roles"]
ROLE_BINDINGS = _BY_PATH[_RBAC, "v1", "rolebindings"]
CLUSTER_ROLES = _BY_PATH[_RBAC, "v1", "clusterroles"]
CLUSTER_ROLE_BINDINGS = _BY_PATH[_RBAC, "v1", "clusterrolebindings"]
