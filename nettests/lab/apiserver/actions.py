"""Subresources that act: binding, eviction, service account tokens; and access reviews.

Access reviews are those of ``authorization.k8s.io``, and SelfSubjectReview.
"""

from aiohttp import web

from nettests.lab.apiserver import body, deletion, resources, status
from nettests.lab.apiserver.call import Call
from nettests.lab.apiserver.generic_registry import now
from nettests.lab.apiserver.request import Request
from nettests.lab.apiserver.responses import json_value
from nettests.lab.apiserver.schema import Decoder
from nettests.lab.apiserver.settings import User
from nettests.lab.interfaces import Json

_TOKEN_SECONDS = 3600


async def _document(call: Call, kind: str) -> Json:
    document = body.parse(*await call.body(), kind)
    if not isinstance(document, dict):
        raise status.bad_request(f"the object provided is unrecognized (must be of type {kind})")
    return Decoder(kind).decode(document, kind)


async def bind(call: Call) -> web.Response:
    """POST of a Binding: give a pod its node (``pods/binding`` and ``bindings``)."""
    document = await _document(call, "Binding")
    name = call.name or document.get("metadata", {}).get("name", "")
    node = (document.get("target") or {}).get("name", "")
    pod = call.server.objects.require(resources.PODS, call.namespace, name)
    holder = pod.body["spec"].get("nodeName")
    why = f'pod {name} is already assigned to node "{holder}"' if holder else ""
    if pod.body["metadata"].get("deletionTimestamp"):
        why = f"pod {name} is being deleted, cannot be assigned to a host"
    if why:
        raise status.conflict(resources.PODS, name, why)

    def change(stored: Json) -> None:
        stored["spec"]["nodeName"] = node
        conditions = stored["status"].get("conditions") or []
        kept = [item for item in conditions if item["type"] != "PodScheduled"]
        condition = {"type": "PodScheduled", "status": "True", "lastProbeTime": None}
        stored["status"]["conditions"] = [*kept, {**condition, "lastTransitionTime": now()}]

    call.server.objects.modify(resources.PODS, call.namespace, name, change)
    return json_value(status.success(), code=201)


async def evict(call: Call) -> web.Response:
    """POST of an Eviction: delete a pod with its grace period; disruption budgets are not supported."""
    document = await _document(call, "Eviction")
    named = document.get("metadata", {}).get("name", call.name)
    if named != call.name:
        raise status.bad_request("name in URL does not match name in Eviction object")
    options = deletion.read_options({}, document.get("deleteOptions") or {})
    deletion.delete(call.server.objects, resources.PODS, call.namespace, call.name, options)
    return json_value(status.success(), code=201)


async def issue_token(call: Call) -> web.Response:
    """POST of a TokenRequest: a new bearer token for a service account."""
    document = await _document(call, "TokenRequest")
    record = call.server.objects.require(resources.SERVICE_ACCOUNTS, call.namespace, call.name)
    prefix = "system:serviceaccount"
    user = User(
        name=f"{prefix}:{call.namespace}:{call.name}",
        groups=(f"{prefix}s", f"{prefix}s:{call.namespace}", "system:authenticated"),
        uid=record.body["metadata"]["uid"],
    )
    seconds = (document.get("spec") or {}).get("expirationSeconds") or _TOKEN_SECONDS
    answer = {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"name": call.name, "namespace": call.namespace, "creationTimestamp": now()},
        "spec": {"audiences": [], "expirationSeconds": seconds, "boundObjectRef": None},
        "status": {
            "token": call.server.access.issue(user),
            "expirationTimestamp": now(seconds),
        },
    }
    return json_value(answer, code=201)


async def review(call: Call) -> web.Response:
    """POST of a review; the answer is the review with its status."""
    item = body.decode(*await call.body(), call.resource, call.field_validation).item
    spec = item.get("spec") or {}
    match call.resource.kind:
        case "SelfSubjectRulesReview":
            item["status"] = _rules(call, spec.get("namespace", ""))
        case "SelfSubjectReview":
            info = {"username": call.user.name, "groups": list(call.user.groups)}
            more = {"uid": call.user.uid} if call.user.uid else {}
            item["status"] = {"userInfo": {**info, **more}}
        case "SelfSubjectAccessReview":
            item["status"] = _decision(call, call.user, spec)
        case _:
            groups = tuple(spec.get("groups") or ())
            item["status"] = _decision(call, User(name=spec.get("user", ""), groups=groups), spec)
    item["metadata"] = {**(item.get("metadata") or {}), "creationTimestamp": now()}
    head = {"kind": call.resource.kind, "apiVersion": call.resource.api_version}
    return json_value({**head, **item}, code=201)


def _decision(call: Call, user: User, spec: Json) -> Json:
    wish = spec.get("resourceAttributes")
    path = spec.get("nonResourceAttributes")
    if (wish is None) == (path is None):
        raise status.bad_request(
            "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        )
    wish = wish or {}
    request = Request(
        method="",
        path=(path or {}).get("path", ""),
        verb=(path or wish).get("verb", ""),
        is_resource=path is None,
        plural=wish.get("resource", ""),
        **{name: wish.get(name, "") for name in ("group", "version", "namespace", "name")},
        subresource=wish.get("subresource", ""),
    )
    if not call.server.access.allows(user, request):
        return {"allowed": False}
    return {"allowed": True, "reason": "allowed by the lab's rules"}


def _rules(call: Call, namespace: str) -> Json:
    if not namespace:
        raise status.bad_request("no namespace on request")
    rules = list(call.server.access.rules(call.user, namespace))
    return {
        "resourceRules": [
            {
                "verbs": list(rule.verbs),
                "apiGroups": list(rule.groups),
                "resources": list(rule.resources),
                **({"resourceNames": list(rule.names)} if rule.names else {}),
            }
            for rule in rules
            if rule.resources
        ],
        "nonResourceRules": [
            {"verbs": list(rule.verbs), "nonResourceURLs": list(rule.urls)}
            for rule in rules
            if rule.urls
        ],
        "incomplete": False,
    }
