"""The permissions that a check needs, and why it is skipped if one is denied. Pure.

Used by ``applicability`` for every planned check, and by ``preflight`` to name the checks that a missing
permission costs. Discovery finds the denials (``ClusterFacts.denied``).
"""

import json
from typing import assert_never

from nettests.model.check import Action
from nettests.model.facts import ClusterFacts
from nettests.model.labels import POLICY_LABEL
from nettests.model.permission import (
    CREATE_NAMESPACE,
    CREATE_POD,
    CREATE_SLICE,
    DELETE_LEASE,
    DELETE_NAMESPACE,
    DELETE_POD,
    DELETE_SERVICE,
    GET_SERVICE,
    HOLDING,
    LIST_EVENTS,
    LIST_LEASES,
    LIST_NAMESPACES,
    LIST_SERVICES,
    POD_LOG,
    POD_PROXY,
    UPDATE_DEPLOYMENT,
    UPDATE_SERVICE,
    Permission,
    isolating,
    opening,
    serving,
    standing,
    working,
)
from nettests.model.service import LOAD_BALANCER, Change
from nettests.model.words import Question, VantageKind
from nettests.model.workload import ROLLS_OUT, workload_of
from nettests.plan.pod_security import PRIVILEGED
from nettests.rules import RULES

EXEC, FORWARD, ATTACH = "pods/exec", "pods/portforward", "pods/attach"
Needs = tuple[Permission, ...]


def why_denied(action: Action, facts: ClusterFacts) -> str:
    """Return the missing permission that prevents ``action``, or nothing."""
    for permission in needed(action, facts):
        if str(permission) in facts.denied:
            return f"this identity may not {permission}"
    if action.source.kind is VantageKind.POD and not action.is_process:
        channels = [_denied(needs, facts) for needs in channels_to(facts)]
        if all(channels):
            return (
                f"this identity may not {', '.join(map(str, channels))}: no way to a probe is left"
            )
    return ""


def needed(action: Action, facts: ClusterFacts) -> Needs:
    """Return every permission that ``action`` needs."""
    match action.question:
        case Question.ADMIT:
            return _to_try(own_namespace=not facts.namespace)
        case Question.INSPECT:
            return _to_inspect(action, facts)
        case Question.START:
            return (
                *_to_reach(action, facts),
                *_to_start(action, own_namespace=not facts.namespace),
                *_by_way(action, facts),
            )
        case Question.CHURN:
            return (*_to_reach(action, facts), *_to_change(action), *_by_way(action, facts))
        case Question.REACH | Question.PING | Question.RESOLVE | Question.DISTRIBUTE:
            return (*_to_reach(action, facts), *_by_way(action, facts))
        case Question.DURING:
            changing = (GET_SERVICE, UPDATE_SERVICE)
            return (*_to_reach(action, facts), *changing, *_by_way(action, facts))
        case Question.SCALE:
            return (*_to_reach(action, facts), DELETE_SERVICE, *_by_way(action, facts))
        case Question.WITNESS:
            capturing = (CREATE_POD, DELETE_POD)
            return (*_to_reach(action, facts), *capturing, *_by_way(action, facts))
        case Question.IDLE | Question.PATH_MTU | Question.LOSS | Question.FLOWS:
            return (*_to_reach(action, facts), *_by_way(action, facts))
        case _:
            assert_never(action.question)


def _to_change(action: Action) -> Needs:
    """Return the permissions for changing the check's Services, or deleting and recreating them."""
    settings = action.target.settings
    change = settings.change if settings is not None else Change.RECREATED
    match change:
        case Change.ENDPOINTS | Change.PORT_NAME:
            return (GET_SERVICE, UPDATE_SERVICE)
        case Change.RECREATED | Change.SIBLING:
            return (GET_SERVICE, DELETE_SERVICE)
        case Change.POD | Change.SAME_ADDRESS:
            return (GET_SERVICE, UPDATE_SERVICE, DELETE_POD)
        case _:
            assert_never(change)


def _to_try(*, own_namespace: bool) -> Needs:
    """Return the permissions of a dry run, which is authorised like a creation."""
    makes = (CREATE_NAMESPACE, LIST_NAMESPACES, DELETE_NAMESPACE)
    removes = (LIST_LEASES, DELETE_LEASE)
    return (*(makes if own_namespace else removes), *HOLDING, CREATE_POD)


def _to_inspect(action: Action, facts: ClusterFacts) -> Needs:
    """Return the permissions for what a rule reads from the API server or on a node."""
    rule = RULES.get(action.case.label) if action.case else None
    read = rule.permissions if rule else ()
    if action.source.kind is not VantageKind.NODE:
        return read
    stands = standing(own_namespace=not facts.namespace)
    return (*read, *stands, *opening(EXEC, facts.server_version))


def _to_start(action: Action, *, own_namespace: bool) -> Needs:
    """Return the permissions to create and remove the check's own Pod or workload."""
    item = json.loads(action.case.object) if action.case is not None else {}
    then = action.case.then if action.case is not None else None
    if (kind := workload_of(item)) is not None:
        changed = (UPDATE_DEPLOYMENT,) if then is not None and then.how == ROLLS_OUT else ()
        return (DELETE_POD, *working(kind), *changed)
    if POLICY_LABEL in (item.get("metadata", {}).get("labels") or {}):
        return (DELETE_POD, *isolating(own_namespace=own_namespace))
    return (DELETE_POD,)


def _to_reach(action: Action, facts: ClusterFacts) -> Needs:
    """Return the permissions for the Pods and Services that are source or target."""
    own_namespace = not facts.namespace
    needs = [*standing(own_namespace=own_namespace)]
    if action.target.service or action.target.descriptor.named_by_headless:
        needs += serving(own_namespace=own_namespace)
    settings = action.target.settings
    if settings is not None and settings.by_hand is not None:
        needs.append(CREATE_SLICE)
    if settings is not None and settings.type == LOAD_BALANCER:
        needs.append(LIST_SERVICES)  # to wait for its address
    return tuple(needs)


def may_stand(facts: ClusterFacts) -> bool:
    """Whether a run may create and remove Pods."""
    needs = standing(own_namespace=not facts.namespace)
    return not any(str(need) in facts.denied for need in needs)


def may_look_on_hosts(facts: ClusterFacts) -> bool:
    """Whether a run may inspect Windows nodes, if HostProcess containers run there."""
    admitted = facts.pod_security.value == PRIVILEGED and facts.privileged.value is not False
    return admitted and _denied(opening(EXEC, facts.server_version), facts) is None


def channels_to(facts: ClusterFacts) -> tuple[Needs, ...]:
    """Return the alternative channels to a probe's HTTP server; one of them is enough."""
    version = facts.server_version
    return (opening(FORWARD, version), (POD_PROXY,), opening(EXEC, version))


def _by_way(action: Action, facts: ClusterFacts) -> Needs:
    """Return the permissions of the action itself, besides those for its Pods and Services."""
    if action.source.kind is VantageKind.NODE or action.is_process:
        return opening(EXEC, facts.server_version)
    then = action.case.then if action.case else None
    match then.how if then else "":
        case "exec" | "renew" | "until-denied":
            return opening(EXEC, facts.server_version)
        case "attach":
            return opening(ATTACH, facts.server_version)
        case "log" | "first" | "terminates":
            return (POD_LOG,)
        case "restarts" | "makes" | "rolls-out" | "apart":
            return (LIST_EVENTS,)
        case "pod-proxy" | "restart":
            return (POD_PROXY,)
        case "port-forward" | "port-read":
            return opening(FORWARD, facts.server_version)
    return ()


def _denied(needs: Needs, facts: ClusterFacts) -> Permission | None:
    return next((need for need in needs if str(need) in facts.denied), None)
