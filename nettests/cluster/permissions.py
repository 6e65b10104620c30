"""Find out beforehand which requests the API server would deny to this identity.

First a SelfSubjectRulesReview for all namespaces, and one for each namespace in which it allows too little. These
rules may be incomplete (an authorizer of nodes, or a webhook, lists none), so whatever they do not allow is checked
with a SelfSubjectAccessReview. Denials are facts (``ClusterFacts.denied``); ``plan.permits`` decides which checks are
left out.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.shapes import Shape, shaped
from nettests.cluster.threads import threads
from nettests.model.permission import EVERYWHERE, Permission

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
NOWHERE = "nettests-in-no-namespace"
"""A namespace that does not exist and has no RoleBindings: its rules hold in all namespaces."""
FEW = 3
"""Up to this many permissions are reviewed one by one: reading the rules would take as many requests."""
_RULE: Shape = {key: [str] for key in ("verbs", "apiGroups", "resources", "resourceNames")}
Rules = Mapping[str, Collection[Mapping[str, Any]]]
"""By namespace."""


def denied(
    connection: Connection, wanted: Sequence[Permission], namespace: str = ""
) -> tuple[Permission, ...]:
    """Return those of ``wanted`` that the API server denies this identity.

    ``namespace`` is the existing one that a run uses. Without it the run creates its own, whose name is not known
    beforehand: then the permissions have to hold in all namespaces.
    """
    here = [permission.within(namespace) for permission in wanted]
    with threads(connection, "review") as pool:
        rules: Rules = {NOWHERE: _rules(connection, NOWHERE)} if len(here) > FEW else {}
        places = sorted(
            {_place(permission) for permission in here if not covered(permission, rules)}
            - {NOWHERE}
        )
        if rules:
            reviews = pool.map(lambda place: (place, _rules(connection, place)), places)
            rules = {**rules, **dict(reviews)}
        allowed = list(
            pool.map(
                lambda permission: covered(permission, rules) or _allowed(connection, permission),
                here,
            )
        )
    return tuple(permission for permission, may in zip(wanted, allowed, strict=True) if not may)


def _place(wanted: Permission) -> str:
    """Return the namespace whose rules decide on a permission."""
    return NOWHERE if wanted.namespace in {"", EVERYWHERE} else wanted.namespace


def _rules(connection: Connection, namespace: str) -> Collection[Mapping[str, Any]]:
    """Return the rules of this identity in a namespace; none if they may not be read."""
    spec, shape = {"namespace": namespace}, {"status": {"resourceRules": [_RULE]}}
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview"}
    try:
        answer = connection.create(RULES, {**kind, "spec": spec})
    except ApiError:
        return ()
    rules: Collection[Mapping[str, Any]] = (
        shaped(answer, shape, RULES)[0].get("status", {}).get("resourceRules", ())
    )
    return rules


def covered(wanted: Permission, rules: Rules) -> bool:
    """Whether a rule of its namespace, or of all namespaces, allows it; without one it may still be allowed."""
    places = {_place(wanted), NOWHERE}
    return any(_covers(rule, wanted) for place in places for rule in rules.get(place, ()))


def _covers(rule: Mapping[str, Any], wanted: Permission) -> bool:
    subresource = wanted.resource.partition("/")[2]
    whole = {"*", wanted.resource, *((f"*/{subresource}",) if subresource else ())}
    names = rule.get("resourceNames") or ()
    return (
        _any(rule.get("verbs"), {"*", wanted.verb})
        and _any(rule.get("apiGroups"), {"*", wanted.group})
        and _any(rule.get("resources"), whole)
        and (not names or (bool(wanted.name) and wanted.name in names))
    )


def _any(stated: Iterable[str] | None, accepted: Collection[str]) -> bool:
    return any(value in accepted for value in stated or ())


def _allowed(connection: Connection, here: Permission) -> bool:
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
    review, _ = shaped(answer, {"status": {"allowed": bool}}, REVIEWS)
    return bool(review.get("status", {}).get("allowed"))
