"""A cluster that holds objects by their paths, for tests of Jobs: creates, replaces, deletes, and refuses what a test says."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nettests.cluster import Connection, connect
from nettests.model.json_text import Object
from tests.cluster.api import Api, Reply, Request, serving, status, write_kubeconfig


@dataclass(slots=True)
class Held:
    """Objects by path, logs by the path of their Pod, and what is refused by method and path."""

    objects: dict[str, Object] = field(default_factory=dict)
    logs: dict[str, str] = field(default_factory=dict)
    refused: dict[tuple[str, str], Reply] = field(default_factory=dict)
    api: Api | None = None
    created: int = 0

    def answer(self, request: Request) -> Reply:
        """Answer as an API server whose objects have no defaults."""
        path, _, query = request.path.partition("?")
        if path == "/version":
            return Reply(body={"gitVersion": "v1.34.1"})
        if (request.method, path) in self.refused:
            return self.refused[request.method, path]
        if path.endswith("/log"):
            text = self.logs.get(path.removesuffix("/log"))
            return Reply(body=text.encode()) if text is not None else missing(path)
        if request.method == "POST":
            return self._create(path, query, request.body)
        if request.method == "GET" and path not in self.objects and _is_collection(path):
            items = [one for key, one in self.objects.items() if key.rpartition("/")[0] == path]
            return Reply(body={"items": items})
        if path not in self.objects:
            return missing(path)
        if request.method == "PUT":
            self.objects[path] = request.body
        if request.method == "DELETE":
            return Reply(body=self.objects.pop(path))
        return Reply(body=self.objects[path])

    def put(self, path: str, **item: Any) -> Object:
        """Hold an object."""
        name = path.rpartition("/")[2]
        metadata = {"name": name, "uid": f"uid-{name}", **item.pop("metadata", {})}
        self.objects[path] = {"metadata": metadata, **item}
        return self.objects[path]

    def _create(self, path: str, query: str, body: Object) -> Reply:
        where = f"{path}/{body['metadata'].get('name', 'generated')}"
        if where in self.objects:
            return status(409, "AlreadyExists", f"{where} already exists")
        if "dryRun" not in query:
            self.created += 1
            self.objects[where] = {**body, "metadata": {"uid": f"new-{self.created}", **body["metadata"]}}  # fmt: skip
        return Reply(status=201, body=body)


_PLURALS = {"jobs", "cronjobs", "pods", "events", "namespaces", "nodes"}
"""Collections that are listed."""


def missing(path: str) -> Reply:
    """The answer for what is not there."""
    return status(404, "NotFound", f"{path} not found")


def _is_collection(path: str) -> bool:
    return path.rpartition("/")[2] in _PLURALS


@contextmanager
def holding(tmp_path: Path) -> Iterator[tuple[Held, Connection, Path]]:
    """Serve such a cluster."""
    held = Held()
    with serving(held.answer) as api:
        held.api = api
        file = write_kubeconfig(tmp_path / "kubeconfig", api.url)
        connection = connect(file, None)
        try:
            yield held, connection, file
        finally:
            connection.close()
