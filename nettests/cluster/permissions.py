"""Find out what the API server denies to this identity, and what it admits. Nothing is stored.

Rules come from a SelfSubjectRulesReview for all namespaces, and one for each namespace in which it
allows too little. They may be incomplete (a node authorizer or webhook lists none), so a
SelfSubjectAccessReview checks what they do not allow. Denials are facts (``ClusterFacts.denied``);
``plan.permissions`` skips checks. The refusal of a dry run of a Pod that stricter levels forbid names a
namespace's Pod Security level; if something else refuses first, the label is read. An API server
without ``--allow-privileged`` refuses privileged containers when it validates a Pod, before Pod
Security and quotas: a dry run that only those refuse has passed
(k8s.io/kubernetes/pkg/apis/core/validation, ``ValidateSecurityContext`` and
``validateWindowsHostProcessPod``).
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from nettests.cluster.apply import dry_run
from nettests.cluster.connection import ApiError, ApiRequest, Connection
from nettests.cluster.shapes import Shape, shaped
from nettests.cluster.threads import threads
from nettests.errors import ClusterError
from nettests.model.cluster_profile import AGNHOST
from nettests.model.facts import Fact, known, unknown
from nettests.model.json_text import read_json
from nettests.model.labels import ENFORCED_LEVEL_LABEL
from nettests.model.permission import CREATE_POD, EVERYWHERE, Permission
from nettests.parse.admission import by_policy, causes

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
NOWHERE = "nettests-in-no-namespace"
"""A namespace that does not exist and has no RoleBindings: its rules hold in all namespaces."""
FEW = 3
"""Up to this many permissions are reviewed one by one: rules would take as many requests."""
_RULE: Shape = {key: [str] for key in ("verbs", "apiGroups", "resources", "resourceNames")}
Rules = Mapping[str, Collection[Mapping[str, Any]]]
"""By namespace."""


def denied(
    connection: Connection, wanted: Sequence[Permission], namespace: str = ""
) -> tuple[Permission, ...]:
    """Return those of ``wanted`` that the API server denies this identity.

    ``namespace`` is the existing one that a run uses. Otherwise the run creates its own, with an
    unknown name: then the permissions must hold in all namespaces.
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
    """Whether a rule, of its namespace or of all, allows it; otherwise it may still be allowed."""
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


# sample: pods "nettests-level" is forbidden: violates PodSecurity "restricted:latest": host namespaces …
_VIOLATION = re.compile(r'violates PodSecurity \\?"(\w+):')
# sample: pods "nettests-level" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2
# sample: pods "nettests-level" is forbidden: failed quota: small: must specify limits.example.com/gpu for: level
_OF_QUOTA = re.compile(r" is forbidden: (?:exceeded|failed) quota: ")
# sample: pods "late" is forbidden: unable to create new content in namespace apitr because it is being terminated
_TERMINATING = "because it is being terminated"
NAME = "nettests-level"
ORIGIN = "a dry run of a hostNetwork pod"


def level_of(connection: Connection, namespace: str) -> Fact[str]:
    """Return the level that ``namespace`` enforces; ``ClusterError`` if missing or terminating."""
    answer = dry_run(connection, _pod(namespace))
    if answer.status == 404:
        raise ClusterError(
            f"there is no namespace {namespace}",
            hint=f"kubectl create namespace {namespace}, or leave --namespace out",
        )
    if _TERMINATING in answer.text:
        raise ClusterError(
            f"namespace {namespace} is terminating, and takes nothing new",
            hint=f"wait for its end (`kubectl describe namespace {namespace}` says what holds it), or name another one",
        )
    if match := _VIOLATION.search(answer.text):
        return known(match[1], ORIGIN)
    if answer.status < 300:
        return known("privileged", ORIGIN)
    if by_quota(answer.text):
        # ResourceQuota is the last admission plugin, so Pod Security had admitted the Pod.
        return known("privileged", f"{ORIGIN}, which nothing but a quota refused")
    return _labelled(connection, namespace) or unknown(
        f"{ORIGIN} was refused with status {answer.status}: {answer.text[:300]}"
    )


def by_quota(text: str) -> bool:
    """Whether a ResourceQuota caused a refusal."""
    return bool(_OF_QUOTA.search(text))


def _labelled(connection: Connection, namespace: str) -> Fact[str] | None:
    """Return the level in the namespace's label, if it has one and can be read."""
    answer = connection.answer(ApiRequest("GET", f"/api/v1/namespaces/{namespace}"))
    if answer.status != 200:
        return None
    labels = read_json(answer.body)["metadata"].get("labels") or {}
    level = labels.get(ENFORCED_LEVEL_LABEL)
    return known(level, f"the namespace's label {ENFORCED_LEVEL_LABEL}") if level else None


def _pod(namespace: str) -> dict[str, Any]:
    container = {"name": "level", "image": AGNHOST, "resources": RESOURCES}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {"hostNetwork": True, "containers": [container]},
    }


RESOURCES = {"requests": {"cpu": "1m", "memory": "1Mi"}, "limits": {"cpu": "1m", "memory": "1Mi"}}
"""Resources that a quota may demand of every Pod."""


PRIVILEGED_NAME = "nettests-privileged"
OF_PRIVILEGED = "a dry run of a privileged HostProcess pod"
PLACE = "default"
"""The namespace of the dry run if a run creates its own: this one always exists."""
_LATER = re.compile(
    # sample: pods "x" is forbidden: violates PodSecurity "baseline:latest": host namespaces …
    r"violates PodSecurity \\?\""
    # sample: pods "x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2
    r"| is forbidden: (?:exceeded|failed) quota: "
    # sample: pods "x" is forbidden: ValidatingAdmissionPolicy 'nettests' with binding 'nettests' denied request: …
    r"| is forbidden: ValidatingAdmissionPolicy '"
)
"""Refusals by admission plugins that see only valid Pods."""


def privileged_of(connection: Connection, namespace: str, denied: tuple[str, ...]) -> Fact[bool]:
    """Return whether privileged Pods are valid; ``namespace`` is the existing one, if any.

    ``denied`` are missing permissions: without permission to create Pods there is no dry run.
    """
    if str(CREATE_POD) in denied:
        return unknown(f"this identity may not {CREATE_POD}")
    answer = dry_run(connection, _privileged_pod(namespace or PLACE))
    if answer.status < 300:
        return Fact(value=True, origin=OF_PRIVILEGED)
    if words := _refusal(answer.text):
        return Fact(value=False, origin=words)
    if _LATER.search(answer.text):
        return Fact(value=True, origin=f"{OF_PRIVILEGED}, which was found valid and refused later")
    return unknown(f"{OF_PRIVILEGED} was refused with status {answer.status}: {answer.text[:300]}")


def _refusal(text: str) -> str:
    """Return the API server's message about privileged containers, if that is why it refused."""
    try:
        status = read_json(text)
    except ValueError:
        return ""
    refusals = causes(status) if isinstance(status, dict) else []
    return "; ".join(
        f"{cause.get('field')}: {cause.get('message')}" for cause in refusals if by_policy(cause)
    )


def _privileged_pod(namespace: str) -> dict[str, Any]:
    container = {
        "name": "privileged",
        "image": AGNHOST,
        "securityContext": {"privileged": True},
        "resources": RESOURCES,
    }
    options = {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\Local service"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": PRIVILEGED_NAME, "namespace": namespace},
        "spec": {
            "hostNetwork": True,
            "automountServiceAccountToken": False,
            "securityContext": {"windowsOptions": options},
            "containers": [container],
        },
    }
