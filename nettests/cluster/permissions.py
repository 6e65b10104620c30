"""Ask the API server what this identity may not do, before anything is tried.

Thin I/O: one SelfSubjectAccessReview a verb. What is denied is a fact (``ClusterFacts.denied``);
what cannot be missed for a run is refused by ``require`` with a plain message.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from nettests.cluster.connection import Connection
from nettests.errors import ClusterError

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """One thing that a run does; ``required`` ones cannot be missed."""

    verb: str
    resource: str
    group: str = ""
    required: bool = True

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}"


NEEDED = (
    Permission(verb="list", resource="nodes"),
    Permission(verb="create", resource="namespaces"),
    Permission(verb="delete", resource="namespaces"),
    Permission(verb="create", resource="pods"),
    Permission(verb="list", resource="pods"),
    Permission(verb="watch", resource="pods"),
    Permission(verb="create", resource="services"),
    Permission(verb="create", resource="leases", group="coordination.k8s.io"),
    Permission(verb="update", resource="leases", group="coordination.k8s.io"),
    Permission(verb="create", resource="pods/exec"),
    Permission(verb="create", resource="pods/portforward", required=False),
    Permission(verb="get", resource="pods/proxy", required=False),
    Permission(verb="get", resource="pods/log", required=False),
    Permission(verb="list", resource="events", required=False),
    Permission(verb="get", resource="configmaps", required=False),
    Permission(verb="list", resource="daemonsets", group="apps", required=False),
    Permission(verb="list", resource="endpointslices", group="discovery.k8s.io", required=False),
)
"""What a run does in the cluster. Without the optional ones facts stay unknown or channels fall away."""


def denied(connection: Connection) -> tuple[Permission, ...]:
    """Return those of ``NEEDED`` that the API server denies this identity."""
    with ThreadPoolExecutor(max_workers=4) as pool:
        answers = list(pool.map(lambda item: _allowed(connection, item), NEEDED))
    return tuple(item for item, allowed in zip(NEEDED, answers, strict=True) if not allowed)


def require(missing: tuple[str, ...], context: str) -> None:
    """Raise ``ClusterError`` if a permission that a run cannot do without is among ``missing``."""
    required = {str(item) for item in NEEDED if item.required}
    lacking = [item for item in missing if item in required]
    if lacking:
        raise ClusterError(
            f"no permission to {', '.join(lacking)} (context {context})",
            hint="grant the role in manifests/rbac, or use a context that may do so",
        )


def _allowed(connection: Connection, item: Permission) -> bool:
    resource, _, subresource = item.resource.partition("/")
    attributes = {
        "verb": item.verb,
        "group": item.group,
        "resource": resource,
        "subresource": subresource,
    }
    answer = connection.create(
        REVIEWS,
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        },
    )
    return bool(answer["status"].get("allowed"))
