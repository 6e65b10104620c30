"""List the objects in a namespace: the run's, those that Kubernetes adds, and those of others.

Every kind that the API serves is listed, CRDs and aggregated APIs included, so that no object is
overlooked: by metadata only, but for copies that stand in several namespaces, which are compared. A kind that may not be listed is counted before anything is removed; a
kind without an answer is reported. ``leftovers`` decides what that means. Kinds that cannot be
deleted, such as metrics, do not keep a namespace (``deleteAllContent`` of its controller).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files

from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.counting import count
from nettests.cluster.owner_marks import Ownership
from nettests.cluster.retries import UNAUTHORIZED
from nettests.cluster.threads import threads
from nettests.model.json_text import Object
from nettests.model.permission import PULL_SECRET
from nettests.model.workload import Workload
from nettests.model.yaml_text import read_yaml


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A namespaced kind whose objects can be listed, in one of its served versions."""

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
        """Return ``kind/name``; for a CRD or aggregated API the kind includes its group."""
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

    A group whose discovery fails (an aggregated API that is down) is named: it may have objects,
    and until that is fixed Kubernetes completes no deletion of a namespace.
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
    """Yield the versions of a group, the preferred one first: it may lack kinds of others."""
    preferred = (group.get("preferredVersion") or {}).get("groupVersion")
    versions = [version["groupVersion"] for version in group.get("versions") or ()]
    yield from dict.fromkeys(([preferred] if preferred else []) + versions)


def _resources(connection: Connection, prefix: str) -> list[Object] | str:
    """Return the resources of one group and version, or why they are unknown."""
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
        verbs = {"list", "delete"} <= set(resource.get("verbs") or ())
        if is_resource and resource.get("namespaced") and verbs:
            yield Served(prefix=prefix, group=group, plural=resource["name"], kind=resource["kind"])


Listed = Sequence[tuple[Served, Object]]

_KNOWN, _ = read_yaml(
    (files("nettests.cluster") / "furniture.yaml").read_text("utf-8"), "furniture.yaml"
)
MADE = frozenset((*_KNOWN["made"], *(kind.resource for kind in Workload)))
"""The kinds that a run creates in its namespace. Marks on other kinds are not the run's."""
RECORDS = frozenset({"events", "events.events.k8s.io"})
"""What Kubernetes writes about objects, without an owner, and removes within the hour."""
_ACCOUNTS = tuple(_KNOWN["furniture"]["serviceaccounts"])
"""The ServiceAccounts of each namespace; the last two are OpenShift's."""
FURNITURE = frozenset((kind, name) for kind, names in _KNOWN["furniture"].items() for name in names)
"""What Kubernetes, OpenShift and Istio create in each namespace, as kind and name."""
COPIED = frozenset(_KNOWN["copied"])
"""Kinds that controllers copy into namespaces; they run nothing, and volumes are none of them."""
FEWEST = 3
"""In more namespaces than these, and in most, an object counts as put into each."""
_ACCOUNT = ("kubernetes.io/service-account.", "openshift.io/internal-registry-auth-token.service-")
_SECRETS_OF_ACCOUNTS = ("-token-", "-dockercfg-")
"""Secrets of a ServiceAccount: its token (before 1.24, KEP-2799), OpenShift's registry login."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """The objects in a namespace, as ``kind/name``, and the resources that could not be listed."""

    objects: tuple[str, ...] = ()
    strangers: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()
    """Resources that may not be listed and were not counted."""
    assumed: str = ""
    """Why nothing shows that a controller copied the strangers here: they count as somebody's."""


def look_inside(
    connection: Connection, catalogue: Catalogue, namespace: str, marks: Ownership, *, counts: bool
) -> Inside:
    """List every kind in a namespace, and separate the run's objects, by its marks, from others.

    With ``counts``, a ResourceQuota is created to count the kinds that may not be listed.
    """
    kinds = [kind for kind in catalogue.kinds if kind.resource not in RECORDS]
    with threads(connection, "inside") as pool:
        answers = list(pool.map(lambda kind: _list(connection, kind, namespace), kinds))
    listed, unseen, refused = [], list(catalogue.unread), []
    for kind, answer in zip(kinds, answers, strict=True):
        if not isinstance(answer, ApiError):
            listed += [(kind, item) for item in answer]
        elif answer.status == 403:
            refused.append(kind)
        else:
            unseen.append(f"{kind.resource}: {answer.status} {answer.reason}".strip())
    if refused and counts:
        unseen += _beyond_count(connection, refused, namespace, marks)
    run_objects, strangers = sort_out(listed, marks)
    try:
        strangers, assumed = _not_copied(connection, namespace, listed, strangers), ""
    except ApiError as error:
        if error.status == UNAUTHORIZED:
            raise
        assumed = f"not compared with those of other namespaces: {error.status} {error.reason}"
    uncounted = () if counts else tuple(kind.resource for kind in refused)
    return Inside(
        objects=run_objects,
        strangers=strangers,
        unseen=tuple(unseen),
        uncounted=uncounted,
        assumed=assumed.strip(),
    )


def _not_copied(
    connection: Connection, namespace: str, listed: Listed, strangers: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the strangers without those that a controller evidently puts into each namespace.

    Most namespaces then have an object of that name with the same content.
    """
    by_name = {kind.spell(_name(item)): (kind, _name(item)) for kind, item in listed}
    copies = [name for name in strangers if by_name[name][0].resource in COPIED]
    if not copies:
        return strangers
    fewest = max(FEWEST, len(connection.metadata("/api/v1/namespaces")) // 2)
    everywhere = {name for name in copies if _alike(connection, namespace, *by_name[name]) > fewest}
    return tuple(name for name in strangers if name not in everywhere)


def _alike(connection: Connection, namespace: str, kind: Served, name: str) -> int:
    """Return in how many namespaces an object of that name has the content of the one in this."""
    path, named = f"{kind.prefix}/{kind.plural}", {"fieldSelector": f"metadata.name={name}"}
    if len(connection.metadata(path, **named)) <= FEWEST:
        return 0  # what a person's Secret holds stays on the server
    contents = {
        item["metadata"]["namespace"]: _content(kind, item)
        for item in connection.items(path, **named)
    }
    return list(contents.values()).count(contents.get(namespace, ""))


_GENERATED = {"serviceaccounts": ("secrets", "imagePullSecrets")}
"""Lists of generated names, which differ in each namespace."""


def _content(kind: Served, item: Object) -> str:
    """Return what was put into an object, with its namespace's own name replaced."""
    left_out = {"apiVersion", "kind", "metadata", "status", *_GENERATED.get(kind.resource, ())}
    content = {key: value for key, value in item.items() if key not in left_out}
    own_name = json.dumps(item["metadata"]["namespace"])
    return json.dumps(content, sort_keys=True).replace(own_name, '"."')


def _list(connection: Connection, kind: Served, namespace: str) -> list[Object] | ApiError:
    try:
        return connection.metadata(kind.path(namespace))
    except ApiError as error:
        if error.status == UNAUTHORIZED:
            raise
        return error


def _beyond_count(
    connection: Connection, kinds: Sequence[Served], namespace: str, marks: Ownership
) -> Iterator[str]:
    """Yield the kinds with more objects than those that have well-known names and may be read."""
    try:
        counts = count(connection, namespace, marks, [kind.resource for kind in kinds])
    except ApiError as error:
        if error.status == UNAUTHORIZED:
            raise
        names = ", ".join(kind.resource for kind in kinds)
        why = f"{error.status} {error.reason}".strip()
        yield f"{names}: 403 Forbidden, and not counted: {why} (the role of manifests/rbac/gc.yaml may)"
        return
    for kind in kinds:
        counted = counts.get(kind.resource)
        if counted is None:
            yield f"{kind.resource}: 403 Forbidden, and not counted in time"
        elif counted != "0" and counted != str(_known_by_name(connection, kind, namespace, marks)):
            yield f"{kind.resource}: 403 Forbidden, and {counted} of them were counted"


def _known_by_name(connection: Connection, kind: Served, namespace: str, marks: Ownership) -> int:
    """Return how many objects of a kind have a well-known name and belong to no one else."""
    expected = 0
    for resource, name in (*FURNITURE, ("secrets", PULL_SECRET)):
        if resource == kind.resource:
            with suppress(ApiError):
                item = connection.metadata_of(f"{kind.path(namespace)}/{name}")
                expected += name != PULL_SECRET or Ownership.of(item) == marks
    return expected


def sort_out(listed: Listed, marks: Ownership) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the run's objects, and of all others.

    The run's objects are those of kinds that runs create, with this run's marks and without an
    owner, and their dependents: objects whose owners are all the run's, which Kubernetes would
    remove with them. Objects without a UID, such as an aggregated API's metrics, are not stored.
    """
    stored = {
        item["metadata"]["uid"]: (kind, item) for kind, item in reversed(listed) if _uid(item)
    }
    own_uids = {
        uid
        for uid, (kind, item) in stored.items()
        if kind.resource in MADE and not _owners(item) and Ownership.of(item) == marks
    }
    services = {
        _name(item)
        for uid, (kind, item) in stored.items()
        if uid in own_uids and kind.resource == "services"
    }
    own_uids |= {
        uid
        for uid, (kind, item) in stored.items()
        if kind.resource == "endpoints" and _name(item) in services
    }
    own_uids = _with_dependents(own_uids, {uid: _owners(item) for uid, (_, item) in stored.items()})
    accounts = {
        uid
        for uid, (kind, item) in stored.items()
        if kind.resource == "serviceaccounts" and _name(item) in _ACCOUNTS
    }
    run_objects = [
        kind.spell(_name(item)) for uid, (kind, item) in stored.items() if uid in own_uids
    ]
    others = [
        kind.spell(_name(item))
        for uid, (kind, item) in stored.items()
        if uid not in own_uids and not _of_kubernetes(kind, item, accounts)
    ]
    return tuple(sorted(run_objects)), tuple(sorted(others))


def owned(items: Sequence[Object], marks: Ownership) -> Iterator[Object]:
    """Yield the run's items among marked objects of kinds that runs create."""
    first = {_uid(item) for item in items if not _owners(item) and Ownership.of(item) == marks}
    every = _with_dependents(first, {_uid(item): _owners(item) for item in items})
    yield from (item for item in items if _uid(item) in every and Ownership.of(item) == marks)


def _with_dependents(uids: set[str], owners: Mapping[str, frozenset[str]]) -> set[str]:
    """Return these UIDs and those of all objects whose owners are all among them."""
    belonging = set(uids)
    while more := {uid for uid, its in owners.items() if its and its <= belonging} - belonging:
        belonging |= more
    return belonging


def _of_kubernetes(kind: Served, item: Object, accounts: set[str]) -> bool:
    if (kind.resource, _name(item)) in FURNITURE:
        return True
    notes = item["metadata"].get("annotations") or {}
    owner = next((notes[f"{key}name"] for key in _ACCOUNT if f"{key}name" in notes), None)
    return (
        kind.resource == "secrets"
        and owner in _ACCOUNTS
        and _name(item).startswith(tuple(f"{owner}{middle}" for middle in _SECRETS_OF_ACCOUNTS))
        and (
            any(notes.get(f"{key}uid") in accounts for key in _ACCOUNT)
            or bool(_owners(item) & accounts)
        )
    )


def _uid(item: Object) -> str:
    return str(item["metadata"].get("uid") or "")


def _name(item: Object) -> str:
    return str(item["metadata"]["name"])


def _owners(item: Object) -> frozenset[str]:
    return frozenset(
        str(owner.get("uid")) for owner in item["metadata"].get("ownerReferences") or ()
    )
