"""A request's verb, resource, namespace and name, read from method, path and query: Kubernetes' ``RequestInfo``.

Authorisation, faults and handlers use it. Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

_VERBS = {"POST": "create", "PUT": "update", "HEAD": "get"}
"""Verbs of methods; others are the method's name, or depend on the path."""
_TRUE = frozenset({"1", "true", "True", "TRUE", "t", "T", ""})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request. ``is_resource`` is false for ``/version`` and other paths without a resource.

    ``rest`` is the path after the subresource ``proxy``, with its slash, as sent.
    """

    method: str
    path: str
    verb: str
    is_resource: bool = False
    group: str = ""
    version: str = ""
    namespace: str = ""
    plural: str = ""
    name: str = ""
    subresource: str = ""
    rest: str = ""
    user: str = ""

    @property
    def whole_plural(self) -> str:
        """Resource and subresource: ``pods/exec``."""
        return f"{self.plural}/{self.subresource}" if self.subresource else self.plural


def flag(query: Mapping[str, str], name: str) -> bool:
    """Whether a boolean parameter is set; without a value it is true, as in Go."""
    return name in query and query[name] in _TRUE


def read(method: str, raw_path: str, query: Mapping[str, str], user: str = "") -> Request:
    """Parse a request; ``raw_path`` is still percent-encoded."""
    parts = raw_path.strip("/").split("/")
    verb = _VERBS.get(method, method.lower())
    if parts[0] == "api" and len(parts) > 2:
        group, version, tail = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, tail = parts[1], parts[2], parts[3:]
    else:
        return Request(method=method, path=unquote(raw_path), verb=method.lower(), user=user)
    namespace = ""
    if tail[0] == "namespaces" and len(tail) > 1:
        namespace = unquote(tail[1])
        if len(tail) > 2 and tail[2] not in {"status", "finalize"}:
            tail = tail[2:]
    name = unquote(tail[1]) if len(tail) > 1 else ""
    subresource = tail[2] if len(tail) > 2 else ""
    collection = {"get": "watch" if flag(query, "watch") else "list", "delete": "deletecollection"}
    return Request(
        method=method,
        path=unquote(raw_path),
        verb=verb if name else collection.get(verb, verb),
        is_resource=True,
        group=group,
        version=version,
        namespace=namespace if tail[0] != "namespaces" else "",
        plural=tail[0],
        name=name,
        subresource=subresource,
        rest=raw_path.partition("/proxy")[2] if subresource == "proxy" else "",
        user=user,
    )
