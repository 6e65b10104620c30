"""A cluster of a sample, as ``nettests.cluster`` reads it: the objects of one file behind the methods of a connection.

Only what the file holds is served; everything else is 404, as from an API server. So discovery finds an object in a
sample only if it would ask a cluster for it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from nettests.bounds import Bounds
from nettests.cluster.connection import ApiError
from nettests.model.cluster_profile import Timing
from nettests.model.json_text import Object

_NAMED = re.compile(r"/namespaces/(?P<space>[^/]+)/(?P<kind>[a-z]+)/(?P<name>[^/]+)(?P<log>/log)?")
_OF_SPACE = re.compile(r"/namespaces/(?P<space>[^/]+)/(?P<kind>[a-z]+)")
_LISTS = {
    "/nodes": "nodes",
    "/daemonsets": "daemonSets",
    "/deployments": "deployments",
    "/pods": "pods",
    "/services": "services",
    "/ippools": "ipPools",
    "/ipamconfigs": "ipamConfigs",
    "/servicecidrs": "serviceCidrs",
    "/runtimeclasses": "runtimeClasses",
}
"""The end of a collection's path, and the key of its objects in a sample."""


@dataclass(slots=True)
class Served:
    """The methods of ``Connection`` that discovery calls."""

    sample: Object
    context: str = "sample"
    bounds: Bounds = field(default_factory=lambda: Bounds.of(Timing()))
    version: str | None = None

    def __post_init__(self) -> None:
        self.version = str(self.sample.get("version") or "v1.30.0")

    def get(self, path: str, **_query: object) -> Object:
        """Return one object."""
        match = _NAMED.search(path)
        if match is not None:
            for item in self._of_kind(match["kind"], match["space"]):
                if item["metadata"]["name"] == match["name"]:
                    return item
        raise ApiError(f"GET {path}: 404", status=404)

    def items(self, path: str, **query: object) -> list[Object]:
        """Return the objects of a collection; a selector for DNS Services finds those that a sample lists without labels."""
        listed = self._collection(path)
        field = str(query.get("fieldSelector") or "")
        if node := field.removeprefix("spec.nodeName=") if field else "":
            listed = [item for item in listed if item["spec"].get("nodeName") == node]
        selector = dict(
            part.split("=", 1)
            for part in str(query.get("labelSelector") or "").split(",")
            if "=" in part
        )
        return [item for item in listed if _matches(item, selector)]

    def text(self, path: str, **_query: object) -> str:
        """Return the log of a Pod, which a sample has by the Pod's node."""
        pod = self.get(path.removesuffix("/log"))
        return str(self.sample.get("logs", {}).get(pod["spec"].get("nodeName"), ""))

    def create(self, _path: str, body: Object) -> Object:
        """Allow everything that is reviewed."""
        everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        return {**body, "status": {"allowed": True, "resourceRules": [everything]}}

    def _collection(self, path: str) -> list[Object]:
        match = _OF_SPACE.search(path)
        if match is not None:
            return list(self._of_kind(match["kind"], match["space"]))
        for end, key in _LISTS.items():
            if path.endswith(end):
                return list(self.sample.get(key, []))
        raise ApiError(f"GET {path}: 404", status=404)

    def _of_kind(self, kind: str, space: str) -> Iterator[Object]:
        if kind == "configmaps":
            for name, item in self.sample.get("configMaps", {}).items():
                namespace, _, short = name.partition("/")
                if namespace == space:
                    yield {**item, "metadata": {"namespace": namespace, "name": short}}
            return
        if kind == "services" and space == "default" and self.sample.get("kubernetes"):
            spec = {"clusterIP": self.sample["kubernetes"]}
            yield {"metadata": {"namespace": "default", "name": "kubernetes"}, "spec": spec}
        for item in self.sample.get(_LISTS.get(f"/{kind}", ""), []):
            if item["metadata"].get("namespace") == space:
                yield item


def _matches(item: Object, selector: dict[str, str]) -> bool:
    labels = item["metadata"].get("labels")
    return labels is None or all(labels.get(key) == value for key, value in selector.items())
