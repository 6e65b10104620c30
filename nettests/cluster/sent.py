"""Count API requests by verb and resource: what a run costs the cluster.

``connection`` counts where requests and handshakes leave, retries and watches included; the totals are written at the
end of a run. Paths are read, responses are not.
"""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "HEAD": "get"}
"""Kubernetes' verbs for methods; for GET the verb depends on the path."""
STREAMS = frozenset({"exec", "portforward"})
"""Subresources that open a long-lived stream by a handshake."""


def kind_of(method: str, path: str, *, watched: bool = False) -> str:
    """Return verb and resource of a request: ``list pods``, ``get nodes/proxy``, ``watch events``.

    Requests without a resource, such as ``/version``, are named by their path.
    """
    parts = path.partition("?")[0].strip("/").split("/")
    # samples: api/v1/namespaces/n/pods/p/log, apis/apps/v1/daemonsets, api/v1/namespaces/n, version
    rest = parts[2:] if parts[0] == "api" else parts[3:] if parts[0] == "apis" else []
    if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in {"status", "finalize"}:
        rest = rest[2:]
    if not rest or not rest[0]:
        return f"{VERBS.get(method, 'get')} /{'/'.join(parts)}"
    named, resource = len(rest) > 1, "/".join([rest[0], *rest[2:3]])
    if method == "GET":
        return f"{'watch' if watched else 'get' if named else 'list'} {resource}"
    many = method == "DELETE" and not named
    return f"{'delete collection of' if many else VERBS.get(method, method)} {resource}"


@dataclass(slots=True)
class Sent:
    """Counts requests; safe for threads."""

    _counts: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, kind: str) -> None:
        """Count one more request of a kind."""
        with self._lock:
            self._counts[kind] += 1

    def __str__(self) -> str:
        """Return the counts for people."""
        return f"the API server was sent {self.requests} requests, and {self.streams} for exec and port-forward"

    def counts(self) -> Mapping[str, int]:
        """Return how many were sent of each kind, the most frequent first."""
        with self._lock:
            return dict(self._counts.most_common())

    @property
    def requests(self) -> int:
        """How many requests were sent, tries and watches included."""
        return sum(many for kind, many in self.counts().items() if not _is_stream(kind))

    @property
    def streams(self) -> int:
        """How many handshakes of streams were sent."""
        return sum(many for kind, many in self.counts().items() if _is_stream(kind))


def _is_stream(kind: str) -> bool:
    return kind.rpartition("/")[2] in STREAMS
