"""A cluster in memory, behind the real client: objects, discovery, preconditions, and living runs.

It knows what removing leftovers relies on and no more: lists by label, versions of writes, conflicts, and
namespaces that go with all they hold. Things happen on its own between two requests, as in a real cluster.
"""

import copy
import itertools
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from nettests.bounds import Bounds
from nettests.cluster import Connection, owner_marks
from nettests.cluster.connection import Answer, ApiRequest
from nettests.cluster.kubeconfig import choose
from nettests.cluster.owner_marks import Ownership, lease_object
from nettests.model.cluster_profile import Timing
from nettests.model.json_text import Object
from nettests.model.labels import COLLECTED
from tests.cluster.api import Reply, Request, status, write_kubeconfig

Place = tuple[str, str, str]
"""Prefix and plural, namespace, name."""

KINDS: dict[str, tuple[str, str]] = {
    "Namespace": ("/api/v1", "namespaces"),
    "Pod": ("/api/v1", "pods"),
    "Service": ("/api/v1", "services"),
    "Endpoints": ("/api/v1", "endpoints"),
    "ConfigMap": ("/api/v1", "configmaps"),
    "Secret": ("/api/v1", "secrets"),
    "ServiceAccount": ("/api/v1", "serviceaccounts"),
    "PersistentVolumeClaim": ("/api/v1", "persistentvolumeclaims"),
    "Event": ("/api/v1", "events"),
    "ResourceQuota": ("/api/v1", "resourcequotas"),
    "Deployment": ("/apis/apps/v1", "deployments"),
    "ReplicaSet": ("/apis/apps/v1", "replicasets"),
    "DaemonSet": ("/apis/apps/v1", "daemonsets"),
    "StatefulSet": ("/apis/apps/v1", "statefulsets"),
    "Job": ("/apis/batch/v1", "jobs"),
    "CronJob": ("/apis/batch/v1", "cronjobs"),
    "Lease": ("/apis/coordination.k8s.io/v1", "leases"),
    "EndpointSlice": ("/apis/discovery.k8s.io/v1", "endpointslices"),
    "NetworkPolicy": ("/apis/networking.k8s.io/v1", "networkpolicies"),
    "PodMetrics": ("/apis/metrics.k8s.io/v1beta1", "pods"),
    "Widget": ("/apis/example.com/v1alpha1", "widgets"),
}
"""Each with a Kubernetes API of its own, an aggregated one and one of a CRD among them."""
SECONDS = 0.02
"""How long a Lease lasts here."""


def marks(run: str, *, hours: float = 1) -> Ownership:
    """Marks of a run that began a moment ago and expires after so many hours."""
    now = datetime.now(UTC).replace(microsecond=0)
    return Ownership(run=run, owner="me.here", created=now, expires=now + timedelta(hours=hours))


@dataclass(slots=True)
class Memory:
    """The objects of a cluster; ``hidden`` are resources that may not be listed, with the status."""

    objects: dict[Place, Object] = field(default_factory=dict)
    hidden: dict[str, int] = field(default_factory=dict)
    refused_everywhere: set[str] = field(default_factory=set)
    """Plurals that may be listed in single namespaces only."""
    down: set[str] = field(default_factory=set)
    """Group versions whose discovery fails."""
    refused: set[str] = field(default_factory=set)
    """Paths of collections in which nothing may be created."""
    unread: set[str] = field(default_factory=set)
    """Resources that may not be read by their names."""
    uncounted: set[str] = field(default_factory=set)
    """Resources that the quota controller does not count."""
    renewed: set[str] = field(default_factory=set)
    """Namespaces whose Lease is renewed before each look at it."""
    stuck: bool = False
    """Whether namespaces stay when they are deleted, as a finalizer holds them."""
    before: Callable[[Request], None] = lambda _: None
    """What happens in the cluster in front of a request."""
    written: list[str] = field(default_factory=list)
    """Method and path of each request that changes something, and was accepted."""
    count: Iterator[int] = field(default_factory=lambda: itertools.count(1000))

    def put(
        self, kind: str, name: str, namespace: str = "", content: Object | None = None, **meta: Any
    ) -> Object:
        """Store an object as a client would, and return it."""
        where = {"namespace": namespace} if namespace else {}
        whole = {**(content or {}), "kind": kind, "metadata": {"name": name, **where, **meta}}
        return self._store(whole)

    def put_marked(
        self, own: Ownership, kind: str, name: str, namespace: str = "", **meta: Any
    ) -> Object:
        """Store an object with all marks of a run."""
        marked = own.marked({"kind": kind, "metadata": meta})["metadata"]
        return self.put(kind, name, namespace, **marked)

    def put_namespace(self, name: str, own: Ownership | None = None, **meta: Any) -> Object:
        """Store a namespace with what Kubernetes puts into each."""
        made = (
            self.put("Namespace", name, **meta)
            if own is None
            else self.put_marked(own, "Namespace", name, **meta)
        )
        account = self.put("ServiceAccount", "default", name)["metadata"]["uid"]
        self.put("ConfigMap", "kube-root-ca.crt", name)
        token = {"kubernetes.io/service-account.name": "default"}
        token["kubernetes.io/service-account.uid"] = account
        self.put("Secret", "default-token-x7x2q", name, annotations=token)
        self.put("Event", "scheduled.1", name)
        return made

    def put_lease(self, own: Ownership, namespace: str, *, alive: bool = False) -> Object:
        """Store the Lease of a run; it is renewed from now on if the run lives."""
        made = self._store(lease_object(own, namespace, SECONDS))
        made["spec"]["leaseDurationSeconds"] = SECONDS
        if alive:
            self.renewed.add(namespace)
        return made

    def put_service(self, own: Ownership, name: str, namespace: str) -> None:
        """Store a Service of a run with what controllers make of it."""
        made = self.put_marked(own, "Service", name, namespace)["metadata"]
        owner = {"kind": "Service", "name": name, "uid": made["uid"]}
        self.put("EndpointSlice", f"{name}-abc", namespace, ownerReferences=[owner])
        self.put("Endpoints", name, namespace, labels=own.labels)

    def uids(self) -> dict[str, str]:
        """Return the UIDs of all that stands, each with a name for people."""
        return {
            item["metadata"]["uid"]: "/".join(place)
            for place, item in self.objects.items()
            if item["metadata"].get("uid")
        }

    def uids_in(self, namespace: str) -> set[str]:
        """Return the UIDs of a namespace and of all that is in it."""
        return {
            item["metadata"].get("uid", "")
            for place, item in self.objects.items()
            if namespace in {place[1], place[2] if place[0].endswith("/namespaces") else place[1]}
        }

    def renew(self, namespace: str) -> bool:
        """Renew a Lease as its run would; ``False`` where it reads that it is collected, and ends."""
        found = self.objects.get((_place("Lease")[1], namespace, "nettests"))
        if found is None or COLLECTED in (found["metadata"].get("annotations") or {}):
            return False
        self._store(copy.deepcopy(found))
        return True

    def _store(self, item: Object) -> Object:
        meta = item["metadata"]
        place = (_place(item["kind"])[1], meta.get("namespace", ""), meta["name"])
        known = self.objects.get(place)
        number = next(self.count)
        meta["uid"] = known["metadata"]["uid"] if known else meta.get("uid") or f"uid-{number}"
        if meta["uid"] == "none":
            del meta["uid"]
        meta["resourceVersion"] = str(number)
        self.objects[place] = item
        return item

    def __call__(self, request: Request) -> Reply:
        self.before(request)
        url = urlsplit(request.path)
        if url.path == "/version":
            return Reply(body={"gitVersion": "v1.29.4"})
        found = self._discovery(url.path)
        if found is not None:
            return found
        parts = url.path.split("/")
        cut = 3 if parts[1] == "api" else 4
        prefix, rest = "/".join(parts[:cut]), parts[cut:]
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2:
            namespace, rest = rest[1], rest[2:]
        resource = f"{prefix}/{rest[0]}"
        if len(rest) == 1 and request.method == "GET":
            return self._list(resource, rest[0], namespace, parse_qs(url.query))
        if len(rest) == 1:
            return self._create(request, resource, namespace)
        return self._one(request, (resource, namespace, rest[1]))

    def _discovery(self, path: str) -> Reply | None:
        prefixes = dict.fromkeys(prefix for prefix, _ in KINDS.values())
        if path == "/apis":
            groups = [
                {"name": name.split("/")[2], "versions": [{"groupVersion": name[6:]}]}
                for name in prefixes
                if name.startswith("/apis/")
            ]
            return Reply(body={"groups": groups})
        if path not in prefixes:
            return None
        if path.removeprefix("/apis/") in self.down:
            return status(503, "ServiceUnavailable", "the aggregated API is down")
        verbs = ["get", "list"] + ([] if "metrics" in path else ["create", "delete", "watch"])
        listed = [
            {"name": plural, "kind": kind, "namespaced": kind != "Namespace", "verbs": verbs}
            for kind, (prefix, plural) in KINDS.items()
            if prefix == path
        ]
        bare = {"name": "bindings", "kind": "Binding", "namespaced": True, "verbs": ["create"]}
        return Reply(body={"resources": [*listed, bare, {**listed[0], "name": "pods/status"}]})

    def _list(
        self, resource: str, plural: str, namespace: str, query: dict[str, list[str]]
    ) -> Reply:
        if namespace and plural in self.hidden:
            code = self.hidden[plural]
            return status(code, {403: "Forbidden", 404: "NotFound"}[code], f"{plural}: no")
        if not namespace and plural in self.refused_everywhere:
            return status(403, "Forbidden", f"{plural}: no")
        key, _, value = query.get("labelSelector", [""])[0].partition("=")
        named = query.get("fieldSelector", [""])[0].removeprefix("metadata.name=")
        items = [
            item
            for (kind, place, name), item in self.objects.items()
            if kind == resource and (not namespace or place == namespace)
            if not named or name == named
            if not key or (item["metadata"].get("labels") or {}).get(key, "") != ""
            if not value or item["metadata"]["labels"][key] == value
        ]
        return Reply(body={"metadata": {}, "items": items})

    def _create(self, request: Request, resource: str, namespace: str) -> Reply:
        place = (resource, namespace, request.body["metadata"]["name"])
        if request.path in self.refused:
            return status(403, "Forbidden", "no")
        if place in self.objects:
            return status(409, "AlreadyExists", "it exists")
        self.written.append(f"POST {request.path}")
        if resource.endswith("/resourcequotas"):
            request.body["status"] = self._used(request.body["spec"]["hard"], namespace)
        return Reply(status=201, body=self._store(request.body))

    def _used(self, hard: dict[str, str], namespace: str) -> Object:
        """Return the status of a quota, as kube-controller-manager would write it."""
        counts: Counter[str] = Counter()
        for resource, place, _ in self.objects:
            if place == namespace:
                prefix, _, plural = resource.rpartition("/")
                group = prefix.split("/")[2] if prefix.startswith("/apis/") else ""
                counts[f"{plural}.{group}".rstrip(".")] += 1
        used = {key: str(counts[key.removeprefix("count/")]) for key in hard}
        return {
            "hard": hard,
            "used": {k: v for k, v in used.items() if k[6:] not in self.uncounted},
        }

    def _one(self, request: Request, place: Place) -> Reply:
        if place[0].endswith("/leases") and place[1] in self.renewed and request.method == "GET":
            self.renew(place[1])
        found = self.objects.get(place)
        if found is None:
            return status(404, "NotFound", f"{place} not found")
        meta = found["metadata"]
        if request.method == "GET" and place[0].rpartition("/")[2] in self.unread:
            return status(403, "Forbidden", "no")
        if request.method == "GET":
            return Reply(body=found)
        if request.method == "PUT":
            if request.body["metadata"]["resourceVersion"] != meta["resourceVersion"]:
                return status(409, "Conflict", "the object has been modified")
            self.written.append(f"PUT {request.path}")
            return Reply(body=self._store({**request.body, "kind": found["kind"]}))
        for key, value in ((request.body or {}).get("preconditions") or {}).items():
            if meta[key] != value:
                return status(409, "Conflict", f"{key} in the precondition does not match")
        self.written.append(f"DELETE {request.path}")
        if not (self.stuck and place[0].endswith("/namespaces")):
            self._remove(place)
        return Reply(body={})

    def _remove(self, place: Place) -> None:
        del self.objects[place]
        if place[0].endswith("/namespaces"):
            for other in [one for one in self.objects if one[1] == place[2]]:
                del self.objects[other]


def _place(kind: str) -> tuple[str, str]:
    prefix, plural = KINDS[kind]
    return prefix, f"{prefix}/{plural}"


class Direct(Connection):
    """The client's own retries and errors, with a cluster in memory in the place of the socket."""

    def __init__(self, memory: Callable[[Request], Reply], kubeconfig: Path) -> None:
        super().__init__(choose(kubeconfig, None), Timing(api_tries=1))
        self.bounds = Bounds(
            requests_open=1
        )  # one after the other: nothing here has to be waited for
        self.memory = memory
        self._turn = threading.Lock()

    def send(self, request: ApiRequest, most: int | None = None) -> Answer:
        """Hand the request over and return the answer; both are copies, as if they had travelled."""
        spelled = f"?{urlencode(dict(request.query))}" if request.query else ""
        with self._turn:
            received = Request(
                method=request.method,
                path=f"{request.path}{spelled}",
                body=copy.deepcopy(request.body),
                headers={"accept": request.accept},
            )
            reply = self.memory(received)
            return Answer(status=reply.status, body=json.dumps(reply.body).encode())


def few_threads(patch: pytest.MonkeyPatch) -> None:
    """Look at Leases often: nothing here has to be waited for."""
    patch.setattr(owner_marks, "LOOK_SECONDS", SECONDS / 5)


def connected(memory: Callable[[Request], Reply], folder: Path) -> Connection:
    """Return a connection to a cluster in memory; nothing is tried twice."""
    return Direct(memory, write_kubeconfig(folder / "kubeconfig", "http://127.0.0.1:1"))
