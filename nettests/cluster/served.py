"""List the namespaced kinds that a cluster serves, CRDs and aggregated APIs included.

Read before a namespace is removed, so that no object in it is overlooked because its kind is unknown here. ``inside``
lists the objects.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.threads import threads
from nettests.cluster.tries import UNAUTHORIZED

Object = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A namespaced kind whose objects can be listed, at one of the versions that it is served in."""

    prefix: str
    """``/api/v1`` or ``/apis/<group>/<version>``."""
    group: str
    plural: str
    kind: str

    @property
    def resource(self) -> str:
        """The resource as ``kubectl`` and RBAC write it: ``pods``, ``statefulsets.apps``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str) -> str:
        """Return the path of all objects of the kind in a namespace."""
        return f"{self.prefix}/namespaces/{namespace}/{self.plural}"

    def spell(self, name: str) -> str:
        """Return ``kind/name``; the kind of a CRD or aggregated API with its group."""
        built_in = "." not in self.group or self.group.endswith(".k8s.io")
        kind = self.kind.lower()
        return f"{kind}/{name}" if built_in else f"{kind}.{self.group}/{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The served kinds, and the API groups whose discovery failed."""

    kinds: tuple[Served, ...]
    unread: tuple[str, ...] = ()


def namespaced_kinds(connection: Connection) -> Catalogue:
    """Return every namespaced kind that can be listed, each once.

    A group whose discovery fails, such as that of an aggregated API that is down, is named: it may have
    objects. Until that is fixed, Kubernetes itself completes no deletion of a namespace.
    """
    groups, why = _groups(connection)
    prefixes = ["/api/v1", *(f"/apis/{name}" for group in groups for name in _versions(group))]
    with threads(connection, "kinds") as pool:
        answers = list(pool.map(lambda prefix: _resources(connection, prefix), prefixes))
    kinds: dict[str, Served] = {}
    unread = [why] if why else []
    for prefix, answer in zip(prefixes, answers, strict=True):
        if isinstance(answer, str):
            unread.append(f"{prefix.removeprefix('/apis/').removeprefix('/')}: {answer}")
            continue
        for kind in _kinds(prefix, answer):
            kinds.setdefault(kind.resource, kind)
    return Catalogue(kinds=tuple(kinds.values()), unread=tuple(unread))


def _groups(connection: Connection) -> tuple[list[Object], str]:
    try:
        return connection.get("/apis").get("groups") or [], ""
    except ApiError as error:
        if error.status == UNAUTHORIZED:
            raise
        return [], f"all API groups: {error.status} {error.reason}".strip()


def _versions(group: Object) -> Iterator[str]:
    """Yield the versions of a group, the preferred one first: a kind may be served only in another one."""
    preferred = (group.get("preferredVersion") or {}).get("groupVersion")
    versions = [version["groupVersion"] for version in group.get("versions") or ()]
    yield from dict.fromkeys(([preferred] if preferred else []) + versions)


def _resources(connection: Connection, prefix: str) -> list[Object] | str:
    """Return the resources of one group and version, or why they are not known."""
    try:
        resources: list[Object] = connection.get(prefix).get("resources") or []
    except ApiError as error:
        if error.status == UNAUTHORIZED:
            raise
        return f"{error.status} {error.reason}".strip()
    return resources


def _kinds(prefix: str, resources: list[Object]) -> Iterator[Served]:
    group = prefix.split("/")[2] if prefix.startswith("/apis/") else ""
    for resource in resources:
        is_resource = "/" not in resource["name"]  # not a subresource
        if is_resource and resource.get("namespaced") and "list" in (resource.get("verbs") or ()):
            yield Served(prefix=prefix, group=group, plural=resource["name"], kind=resource["kind"])
