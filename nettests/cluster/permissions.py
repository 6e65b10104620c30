"""Query the API server what this identity may not do, before anything is tried.

Thin I/O: one SelfSubjectAccessReview a permission. What is denied is a fact (``ClusterFacts.denied``); which
checks are left out for it is decided in ``plan.permits``.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from nettests.cluster.connection import Connection
from nettests.model.permission import EVERYWHERE, Permission

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def denied(
    connection: Connection, wanted: Sequence[Permission], namespace: str = ""
) -> tuple[Permission, ...]:
    """Return those of ``wanted`` that the API server denies this identity.

    ``namespace`` is the existing one that a run uses. Without it the run makes its own, whose name nobody
    knows beforehand: then what it needs there has to be allowed in all namespaces.
    """
    with ThreadPoolExecutor(connection.bounds.requests_open, "review") as pool:
        answers = list(pool.map(lambda one: _allowed(connection, one, namespace), wanted))
    return tuple(
        permission for permission, allowed in zip(wanted, answers, strict=True) if not allowed
    )


def _allowed(connection: Connection, wanted: Permission, namespace: str) -> bool:
    here = wanted.within(namespace)
    resource, _, subresource = here.resource.partition("/")
    attributes = {
        "verb": here.verb,
        "group": here.group,
        "resource": resource,
        "subresource": subresource,
        "namespace": "" if here.namespace == EVERYWHERE else here.namespace,
        "name": here.name,
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
