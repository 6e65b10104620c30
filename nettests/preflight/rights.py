"""Denied permissions, the checks that each one costs, and RBAC roles that grant them; the user creates the bindings."""

from collections import defaultdict
from collections.abc import Iterable

from nettests.model.grouping import grouped
from nettests.model.json_text import Object
from nettests.model.permission import (
    CREATE_POLICY,
    EVERYWHERE,
    FOR_FACTS,
    LIST_EVENTS,
    LIST_SERVICE_CIDRS,
    LIST_WEBHOOKS,
    SECRETS,
    Permission,
)
from nettests.model.visible import plural
from nettests.model.workload import Workload
from nettests.plan.permissions import needed
from nettests.preflight.evidence import Evidence, Finding, Level

NAME = "nettests-missing"
"""The name of the roles that grant what is missing."""
GRANT = "grant the rules below, or a role of manifests/rbac"


def permissions(evidence: Evidence) -> Finding:
    """Name the missing permissions, and the checks, flows or facts that each costs."""
    if not evidence.missing:
        return Finding(
            topic="permissions", level=Level.OK, summary="everything that a run needs is allowed"
        )
    lost = len(evidence.whole.checks) - len(evidence.plan.checks)
    whole = {check.flow for check in evidence.whole.checks if check.required}
    probed = {check.flow for check in evidence.plan.checks}
    blocked = bool(lost) and (not probed or not whole <= probed)
    unpulled = any(permission.resource == SECRETS for permission in evidence.missing)
    costly = Level.BLOCKER if blocked else Level.WARNING
    return Finding(
        topic="permissions",
        level=Level.BLOCKER if unpulled else costly if lost else Level.NOTE,
        summary=f"{plural(len(evidence.missing), 'permission')} missing: "
        f"{plural(lost, 'check')} of {len(evidence.whole.checks)} left out",
        details=tuple(_detail(permission, evidence) for permission in evidence.missing),
        next_step=GRANT,
    )


def without_nodes(missing: tuple[Permission, ...]) -> Finding:
    """Return the finding for an identity that may not list nodes: nothing can be planned."""
    return Finding(
        topic="permissions",
        level=Level.BLOCKER,
        summary=f"nodes cannot be listed, so nothing can be planned; "
        f"{plural(len(missing), 'permission')} missing",
        details=tuple(map(str, missing)),
        next_step=GRANT,
    )


def _detail(permission: Permission, evidence: Evidence) -> str:
    costs = [
        check
        for check in evidence.whole.checks
        if str(permission) in map(str, needed(check.action, evidence.facts))
    ]
    flows = len({check.flow for check in costs})
    if costs:
        return f"{permission}: {plural(len(costs), 'check')} of {plural(flows, 'flow')}"
    if permission.resource == SECRETS:
        return f"{permission}: the run has no pull Secret, and does not start"
    if permission in LIST_WEBHOOKS:
        return f"{permission}: preflight does not know which webhooks see the run's Pods"
    if permission in {*FOR_FACTS, LIST_SERVICE_CIDRS} or permission.resource == "configmaps":
        return f"{permission}: facts stay unknown, unless the cluster profile states them"
    if permission.resource == CREATE_POLICY.resource:
        return f"{permission}: no NetworkPolicy protects the probes from other Pods"
    if permission.resource in {kind.plural for kind in Workload}:
        return f"{permission}: checks of class costly that create such objects are left out"
    if permission == LIST_EVENTS:
        return f"{permission}: the reason why a Pod does not start is known less exactly"
    return f"{permission}: a fallback is used, or less is known"


def roles(missing: Iterable[Permission]) -> list[Object]:
    """Return the smallest roles that grant what is missing, one per namespace, in order.

    The name of a run's own namespace is not known before, so its permissions need a ClusterRole.
    """
    by_place = grouped(
        ("" if permission.namespace == EVERYWHERE else permission.namespace, permission)
        for permission in missing
    )
    return [_role(place, by_place[place]) for place in sorted(by_place)]


def _role(namespace: str, missing: list[Permission]) -> Object:
    verbs: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for permission in missing:
        # A list or creation cannot be restricted to a name.
        name = permission.name if permission.verb == "get" else ""
        if permission.verb not in verbs[permission.group, permission.resource, name]:
            verbs[permission.group, permission.resource, name].append(permission.verb)
    metadata = {"name": NAME, **({"namespace": namespace} if namespace else {})}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role" if namespace else "ClusterRole",
        "metadata": metadata,
        "rules": [_rule(*key, words) for key, words in verbs.items()],
    }


def _rule(group: str, resource: str, name: str, verbs: list[str]) -> Object:
    rule: Object = {"apiGroups": [group], "resources": [resource]}
    return {**rule, **({"resourceNames": [name]} if name else {}), "verbs": verbs}
