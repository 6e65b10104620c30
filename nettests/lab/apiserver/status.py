"""``Status`` objects: every error of the API, worded as a real kube-apiserver words it.

Handlers raise ``ApiError``; the application turns it into the response. ``FieldError`` is one cause of
a 422 (``k8s.io/apimachinery/pkg/util/validation/field``). Pure.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nettests.lab.apiserver.resources import Resource
from nettests.lab.interfaces import Json


class ApiError(Exception):
    """A failure of the API: HTTP code, reason, message, details."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Json | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.headers = dict(headers or {})

    def body(self) -> Json:
        """Return the ``Status`` object."""
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            **({"reason": self.reason} if self.reason else {}),
            **({} if self.details is None else {"details": self.details}),
            "code": self.code,
        }


class PlainError(Exception):
    """A plain-text failure, as from the kubelet or the HTTP layer below the API."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldError:
    """One invalid field: the kind of error, its path, and the text after ``path: ``."""

    reason: str
    field: str
    text: str


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def required(field: str, detail: str = "") -> FieldError:
    """A required value is missing."""
    text = f"Required value: {detail}" if detail else "Required value"
    return FieldError(reason="FieldValueRequired", field=field, text=text)


def invalid_value(field: str, value: object, detail: str) -> FieldError:
    """A value is invalid; strings are quoted as by Go's ``%q``, objects are JSON."""
    text = f"Invalid value: {_quoted(value)}: {detail}"
    return FieldError(reason="FieldValueInvalid", field=field, text=text)


def forbidden_value(field: str, detail: str) -> FieldError:
    """A field may not be set here."""
    return FieldError(reason="FieldValueForbidden", field=field, text=f"Forbidden: {detail}")


def not_supported(field: str, value: object, supported: Sequence[str]) -> FieldError:
    """A value is not in the enumeration of supported values."""
    names = ", ".join(_quoted(name) for name in sorted(supported))
    text = f"Unsupported value: {_quoted(value)}: supported values: {names}"
    return FieldError(reason="FieldValueNotSupported", field=field, text=text)


def duplicate(field: str, value: object) -> FieldError:
    """A value is not unique in its list."""
    text = f"Duplicate value: {_quoted(value)}"
    return FieldError(reason="FieldValueDuplicate", field=field, text=text)


def missing_reference(field: str, value: object) -> FieldError:
    """A name refers to something that is missing in the same object."""
    return FieldError(reason="FieldValueNotFound", field=field, text=f"Not found: {_quoted(value)}")


def details(resource: Resource, name: str, kind: str = "") -> Json:
    """Return the ``details`` of an error about an object; ``kind`` is the plural unless stated."""
    group = {"group": resource.group} if resource.group else {}
    return {**({"name": name} if name else {}), **group, "kind": kind or resource.plural}


def not_found(resource: Resource, name: str) -> ApiError:
    """There is no object of that name."""
    message = f'{resource.qualified} "{name}" not found'
    return ApiError(404, "NotFound", message, details(resource, name))


def already_exists(resource: Resource, name: str) -> ApiError:
    """An object of that name exists already."""
    message = f'{resource.qualified} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, details(resource, name))


def conflict(resource: Resource, name: str, why: str) -> ApiError:
    """The write conflicts with the current state of the object."""
    message = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return ApiError(409, "Conflict", message, details(resource, name))


def stale(resource: Resource, name: str) -> ApiError:
    """The write was based on an older ``resourceVersion``."""
    why = "the object has been modified; please apply your changes to the latest version and try again"
    return conflict(resource, name, why)


def forbidden(resource: Resource, name: str, why: str, causes: Sequence[Json] = ()) -> ApiError:
    """Authorisation or admission refused the request."""
    subject = f'{resource.qualified} "{name}"' if name else resource.qualified
    message = f"{subject} is forbidden: {why}"
    about = details(resource, name) | ({"causes": list(causes)} if causes else {})
    return ApiError(403, "Forbidden", message, about)


def invalid(resource: Resource, name: str, errors: Sequence[FieldError]) -> ApiError:
    """Validation failed; each error is one cause, without repetitions."""
    unique = list(dict.fromkeys(errors))
    texts = [f"{error.field}: {error.text}" for error in unique]
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    causes = [
        {"reason": error.reason, "message": error.text, "field": error.field} for error in unique
    ]
    about = {**details(resource, name, resource.kind), "causes": causes}
    return ApiError(422, "Invalid", f'{resource.kind} "{name}" is invalid: {joined}', about)


def bad_request(message: str) -> ApiError:
    """The request is malformed."""
    return ApiError(400, "BadRequest", message)


def unavailable(message: str) -> ApiError:
    """Something behind the API cannot be reached."""
    return ApiError(503, "ServiceUnavailable", message)


def internal(message: str) -> ApiError:
    """Something broke behind the API; causes repeat the message."""
    causes = [{"message": message}]
    text = f"Internal error occurred: {message}"
    return ApiError(500, "InternalError", text, {"causes": causes})


def expired(requested: int, oldest: int) -> ApiError:
    """A watch requested a version that is no longer in the history."""
    return ApiError(410, "Expired", f"too old resource version: {requested} ({oldest})")


def method_not_supported(resource: Resource) -> ApiError:
    """The resource does not support this verb."""
    message = "the server does not allow this method on the requested resource"
    about = details(resource, "") if resource.group else {}
    return ApiError(405, "MethodNotAllowed", message, about)


def unsupported_media() -> ApiError:
    """A body's content type is not supported."""
    return ApiError(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf",
    )


def unauthorized() -> ApiError:
    """The credentials are unknown."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def success(about: Json | None = None) -> Json:
    """Return the ``Status`` of a successful request without an object."""
    body: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return body if about is None else {**body, "details": about}
