"""Read objects for discovery: each in its documented shape, and why one, or a part of it, is missing.

The I/O under ``snapshot``. A refusal is a reason and never an error; many threads may read at the same time.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.shapes import CONFIG_MAP, Shape, shaped, shaped_items

Object = dict[str, Any]
ConfigMaps = Mapping[str, Future[Object | None]]
"""By ``namespace/name``, while they are read."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads from one cluster; ``reasons`` has why a path, or a ConfigMap by its name, could not be read."""

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
    """Yield the ConfigMaps that exist, in the order in which they were requested."""
    for name, request in pending.items():
        if (config_map := request.result()) is not None:
            yield name, config_map
