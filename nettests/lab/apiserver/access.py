"""Authentication and authorisation: tokens, impersonation, a user's own rules, and RBAC objects.

The rules of every real cluster are built in: ``system:masters`` may do everything, all users may read ``/version`` and
the health paths, authenticated users may read discovery and review their own access. Other rules are a user's ``rules``
and the Roles and ClusterRoles in the store.
"""

import dataclasses
import math
import secrets
import time
from collections.abc import Iterator, Mapping

from nettests.lab.apiserver import resources
from nettests.lab.apiserver.request import Request
from nettests.lab.apiserver.settings import Rule, User
from nettests.lab.apiserver.status import ApiError, forbidden, unauthorized
from nettests.lab.apiserver.store import Store
from nettests.lab.interfaces import Json

ANONYMOUS = User(name="system:anonymous", groups=("system:unauthenticated",))
_MASTERS = "system:masters"
_FIELDS = {
    "verbs": "verbs",
    "groups": "apiGroups",
    "resources": "resources",
    "names": "resourceNames",
    "urls": "nonResourceURLs",
}
_AUTHENTICATED = "system:authenticated"
_PUBLIC = Rule(verbs=("get",), urls=("/healthz", "/livez", "/readyz", "/version", "/version/"))
_DISCOVERY = Rule(
    verbs=("get",), urls=("/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*")
)
_SELF = Rule(
    verbs=("create",),
    groups=("authorization.k8s.io", "authentication.k8s.io"),
    resources=("selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"),
)


class Access:
    """Authenticates and authorises requests against the tokens it was given and the store."""

    def __init__(self, store: Store, tokens: Mapping[str, User]) -> None:
        self._store = store
        self._tokens = dict(tokens)
        self._ends: dict[str, float] = {}
        """When issued tokens expire, by the monotonic clock."""

    def authenticate(self, headers: Mapping[str, str]) -> User:
        """Return the user of the bearer token, or the anonymous user; raise 401 for an unknown token."""
        scheme, _, token = headers.get("Authorization", "").partition(" ")
        if not scheme:
            return ANONYMOUS
        if self._ends.get(token.strip(), math.inf) < time.monotonic():
            self.revoke(token.strip())
        user = self._tokens.get(token.strip())
        if scheme.lower() != "bearer" or user is None:
            raise unauthorized()
        return user

    def impersonate(self, user: User, headers: Mapping[str, str], groups: tuple[str, ...]) -> User:
        """Return the user that ``Impersonate-User`` names, if ``user`` may impersonate them."""
        name = headers.get("Impersonate-User")
        if not name:
            return user
        wish = Request(
            method="POST", path="", verb="impersonate", is_resource=True, plural="users", name=name
        )
        if not self.allows(user, wish):
            raise _forbidden(user, wish)
        return User(name=name, groups=(*groups, _AUTHENTICATED))

    def issue(self, user: User, seconds: float = math.inf) -> str:
        """Issue a token for ``user`` (``TokenRequest``) that is valid for ``seconds``."""
        token = secrets.token_urlsafe(32)
        self._tokens[token] = user
        self._ends[token] = time.monotonic() + seconds
        return token

    def revoke(self, token: str) -> None:
        """Revoke an issued token; tokens from the server's start stay valid."""
        if self._ends.pop(token, None) is not None:
            del self._tokens[token]

    def check(self, user: User, request: Request) -> None:
        """Raise 403 in the API server's words unless the request is allowed.

        A request for a Namespace object counts as made in that namespace, so that its Roles can allow it.
        """
        if request.plural == "namespaces" and not request.group and request.name:
            request = dataclasses.replace(request, namespace=request.name)
        if not self.allows(user, request):
            raise _forbidden(user, request)

    def allows(self, user: User, request: Request) -> bool:
        """Whether the request is allowed for ``user``."""
        if _MASTERS in user.groups:
            return True
        return any(_covers(rule, request) for rule in self.rules(user, request.namespace))

    def rules(self, user: User, namespace: str) -> Iterator[Rule]:
        """Yield every rule that applies to ``user`` in ``namespace`` (empty: cluster scope)."""
        if _MASTERS in user.groups:
            yield Rule(verbs=("*",), groups=("*",), resources=("*",), urls=("*",))
        yield _PUBLIC
        if _AUTHENTICATED in user.groups:
            yield _DISCOVERY
            yield _SELF
        yield from (
            rule for rule in user.rules if rule.namespaces is None or namespace in rule.namespaces
        )
        for record in self._store.records(resources.CLUSTER_ROLE_BINDINGS.key):
            yield from self._bound(user, record.body, "")
        if namespace:
            for record in self._store.records(resources.ROLE_BINDINGS.key, namespace):
                yield from self._bound(user, record.body, namespace)

    def _bound(self, user: User, binding: Json, namespace: str) -> Iterator[Rule]:
        if not any(_is_subject(user, item, namespace) for item in binding.get("subjects") or ()):
            return
        reference = binding.get("roleRef") or {}
        if reference.get("kind") == "Role":
            role = self._store.get(resources.ROLES.key, namespace, reference.get("name", ""))
        else:
            role = self._store.get(resources.CLUSTER_ROLES.key, "", reference.get("name", ""))
        for rule in (role.body.get("rules") or ()) if role else ():
            words = {field: tuple(rule.get(key) or ()) for field, key in _FIELDS.items()}
            yield Rule(**words)


def _covers(rule: Rule, request: Request) -> bool:
    """Whether a rule allows the request, whose namespace was checked before."""
    if not _listed(rule.verbs, request.verb):
        return False
    if not request.is_resource:
        return any(
            request.path == url or (url.endswith("*") and request.path.startswith(url[:-1]))
            for url in rule.urls
        )
    every = f"*/{request.subresource}" in rule.resources
    return (
        _listed(rule.groups, request.group)
        and (every or _listed(rule.resources, request.whole_plural))
        and (not rule.names or request.name in rule.names)
    )


def _listed(values: tuple[str, ...], wanted: str) -> bool:
    return "*" in values or wanted in values


def _is_subject(user: User, subject: Json, namespace: str) -> bool:
    name = str(subject.get("name", ""))
    match subject.get("kind"):
        case "User":
            return user.name == name
        case "Group":
            return name in user.groups
        case "ServiceAccount":
            home = subject.get("namespace") or namespace
            return user.name == f"system:serviceaccount:{home}:{name}"
    return False


def _forbidden(user: User, request: Request) -> ApiError:
    if not request.is_resource:
        message = f'forbidden: User "{user.name}" cannot {request.verb} path "{request.path}"'
        return ApiError(403, "Forbidden", message, {})
    scope = (
        f'in the namespace "{request.namespace}"' if request.namespace else "at the cluster scope"
    )
    why = (
        f'User "{user.name}" cannot {request.verb} resource "{request.whole_plural}" '
        f'in API group "{request.group}" {scope}'
    )
    resource = resources.Resource(group=request.group, plural=request.plural, kind="")
    return forbidden(resource, request.name, why)
