"""Denied permissions, and the checks that each one costs."""

from nettests.model.check import Check
from nettests.model.permission import (
    CREATE_POLICY,
    FOR_FACTS,
    LIST_EVENTS,
    LIST_SERVICE_CIDRS,
    LIST_WEBHOOKS,
    SECRETS,
    Permission,
)
from nettests.model.workload import Workload
from nettests.plan.permissions import needed
from nettests.preflight.evidence import Evidence, Finding, Level, counted

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
        summary=f"{counted(len(evidence.missing), 'permission')} missing: "
        f"{counted(lost, 'check')} of {len(evidence.whole.checks)} left out",
        details=tuple(_detail(permission, evidence) for permission in evidence.missing),
        next_step=GRANT,
    )


def without_nodes(missing: tuple[Permission, ...]) -> Finding:
    """Return the finding for an identity that may not list nodes: nothing can be planned."""
    return Finding(
        topic="permissions",
        level=Level.BLOCKER,
        summary=f"nodes cannot be listed, so nothing can be planned; "
        f"{counted(len(missing), 'permission')} missing",
        details=tuple(map(str, missing)),
        next_step=GRANT,
    )


def _detail(permission: Permission, evidence: Evidence) -> str:
    costs = [check for check in evidence.whole.checks if _needs(check, permission, evidence)]
    flows = len({check.flow for check in costs})
    if costs:
        return f"{permission}: {counted(len(costs), 'check')} of {counted(flows, 'flow')}"
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


def _needs(check: Check, permission: Permission, evidence: Evidence) -> bool:
    return str(permission) in map(str, needed(check.action, evidence.facts))
