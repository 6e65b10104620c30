"""Access reviews: may I, may they, what may I, who am I (``authorization.k8s.io``)."""

from typing import Any

from aiohttp import web

from nettests.lab.apiserver import body
from nettests.lab.apiserver.call import Call
from nettests.lab.apiserver.generic_registry import now
from nettests.lab.apiserver.request import Request
from nettests.lab.apiserver.responses import json_value
from nettests.lab.apiserver.settings import Rule, User
from nettests.lab.apiserver.status import bad_request

Json = dict[str, Any]


async def review(call: Call) -> web.Response:
    """POST of any review; the answer is the review with its status."""
    data = await call.http.read()
    content_type = call.http.headers.get("Content-Type", "")
    item = body.decode(data, content_type, call.resource, call.field_validation).item
    spec = item.get("spec") or {}
    match call.resource.kind:
        case "SelfSubjectRulesReview":
            item["status"] = _rules(call, spec.get("namespace", ""))
        case "SelfSubjectReview":
            item["status"] = {"userInfo": _user_info(call.user)}
        case "SelfSubjectAccessReview":
            item["status"] = _decision(call, call.user, spec)
        case _:
            groups = tuple(spec.get("groups") or ())
            item["status"] = _decision(call, User(name=spec.get("user", ""), groups=groups), spec)
    item["metadata"] = {**(item.get("metadata") or {}), "creationTimestamp": now()}
    head = {"kind": call.resource.kind, "apiVersion": call.resource.api_version}
    return json_value({**head, **item}, code=201)


def _user_info(user: User) -> Json:
    info: Json = {"username": user.name, "groups": list(user.groups)}
    return {**info, "uid": user.uid} if user.uid else info


def _decision(call: Call, user: User, spec: Json) -> Json:
    wish = spec.get("resourceAttributes")
    path = spec.get("nonResourceAttributes")
    if (wish is None) == (path is None):
        raise bad_request(
            "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        )
    if wish is not None:
        request = Request(
            method="",
            path="",
            verb=wish.get("verb", ""),
            is_resource=True,
            group=wish.get("group", ""),
            version=wish.get("version", ""),
            namespace=wish.get("namespace", ""),
            plural=wish.get("resource", ""),
            name=wish.get("name", ""),
            subresource=wish.get("subresource", ""),
        )
    else:
        request = Request(
            method="", path=(path or {}).get("path", ""), verb=(path or {}).get("verb", "")
        )
    allowed = call.server.access.allows(user, request)
    return (
        {"allowed": True, "reason": "allowed by the lab's rules"} if allowed else {"allowed": False}
    )


def _rules(call: Call, namespace: str) -> Json:
    if not namespace:
        raise bad_request("no namespace on request")
    rules = list(call.server.access.rules(call.user, namespace))
    return {
        "resourceRules": [_resource_rule(rule) for rule in rules if rule.resources],
        "nonResourceRules": [
            {"verbs": list(rule.verbs), "nonResourceURLs": list(rule.urls)}
            for rule in rules
            if rule.urls
        ],
        "incomplete": False,
    }


def _resource_rule(rule: Rule) -> Json:
    shown: Json = {
        "verbs": list(rule.verbs),
        "apiGroups": list(rule.groups),
        "resources": list(rule.resources),
    }
    return {**shown, "resourceNames": list(rule.names)} if rule.names else shown
