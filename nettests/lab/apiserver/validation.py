"""Validation of names, labels and metadata, and of the simpler kinds.

Messages follow ``k8s.io/apimachinery/pkg/util/validation`` and ``…/pkg/api/validation``. Pods and
Services have modules of their own. Pure.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nettests.lab.apiserver import status
from nettests.lab.apiserver.resources import Resource
from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Json

NameCheck = Callable[[str], str | None]
"""Returns what is wrong with a name, or ``None``."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """The pattern and greatest length of a name, and the API server's message."""

    pattern: str
    subject: str
    rule: str
    example: str
    longest: int | None = 63

    def __call__(self, name: str) -> str | None:
        if self.longest is not None and len(name) > self.longest:
            return f"must be no more than {self.longest} bytes"
        if re.fullmatch(self.pattern, name):
            return None
        used = f"regex used for validation is '{self.pattern}'"
        return f"{self.subject} must {self.rule} (e.g. {self.example}, {used})"


_RULES = {
    name: _Rule(**stated) for name, stated in read_yaml(__package__, "types.yaml")["names"].items()
}
dns_subdomain, dns_label = _RULES["subdomain"], _RULES["label"]


def _path_segment(name: str) -> str | None:
    if name in {".", ".."}:
        return f"may not be '{name}'"
    character = next((each for each in "/%" if each in name), None)
    return None if character is None else f"may not contain '{character}'"


_RBAC = ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
_NAME_CHECKS: Mapping[str, NameCheck] = {
    "namespaces": dns_label,
    "services": _RULES["label of 1035"],
    **{f"{plural}.rbac.authorization.k8s.io": _path_segment for plural in _RBAC},
}


def qualified_name(name: str) -> str | None:
    """Return what is wrong with a label key or resource name, or ``None``."""
    prefix, slash, last = name.rpartition("/")
    if slash and (complaint := dns_subdomain(prefix)):
        return f"prefix part {complaint}"
    if not last or len(last) > 63:
        return "name part must be " + ("non-empty" if not last else "no more than 63 bytes")
    return _RULES["name part"](last)


def labels(values: Mapping[str, str], field: str) -> list[status.FieldError]:
    """Return what is wrong with a map of labels."""
    return [
        status.invalid_value(field, text, complaint)
        for key, value in values.items()
        for text, complaint in (
            (key, qualified_name(key)),
            (value, _RULES["value of a label"](value)),
        )
        if complaint
    ]


def metadata(resource: Resource, item: Json) -> list[status.FieldError]:
    """Return what is wrong with an object's metadata."""
    meta = item["metadata"]
    errors: list[status.FieldError] = []
    if not meta.get("name"):
        errors.append(status.required("metadata.name", "name or generateName is required"))
    elif complaint := _NAME_CHECKS.get(resource.key, dns_subdomain)(meta["name"]):
        errors.append(status.invalid_value("metadata.name", meta["name"], complaint))
    errors += labels(meta.get("labels") or {}, "metadata.labels")
    for key in meta.get("annotations") or {}:
        if complaint := qualified_name(key.lower()):
            errors.append(status.invalid_value("metadata.annotations", key, complaint))
    return errors


def immutable_metadata(old: Json, new: Json) -> list[status.FieldError]:
    """Return the forbidden changes of metadata in an update."""
    return [
        status.invalid_value(f"metadata.{name}", new["metadata"].get(name), "field is immutable")
        for name in ("name", "namespace", "uid")
        if old["metadata"].get(name) != new["metadata"].get(name)
    ]


def data_keys(item: Json) -> list[status.FieldError]:
    """Return what is wrong with the keys of a ConfigMap or Secret."""
    return [
        status.invalid_value(f"{field}[{key}]", key, complaint)
        for field in ("data", "binaryData")
        for key in item.get(field) or {}
        if (complaint := _RULES["key of a ConfigMap"](key))
    ]


def immutable_data(old: Json, new: Json) -> list[status.FieldError]:
    """Return the forbidden changes of an immutable ConfigMap or Secret."""
    return [
        status.forbidden_value(name, "field is immutable when `immutable` is set")
        for name in ("data", "binaryData", "immutable")
        if old.get("immutable") and old.get(name) != new.get(name)
    ]


def workload(item: Json, old: Json | None) -> list[status.FieldError]:
    """Return what is wrong with the selector of a Deployment, ReplicaSet, DaemonSet, StatefulSet or Job."""
    spec = item.get("spec") or {}
    selector = spec.get("selector") or {}
    worn = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    if not selector:
        return [status.required("spec.selector")]
    chosen = selector.get("matchLabels") or {}
    if any(worn.get(key) != value for key, value in chosen.items()):
        detail = "`selector` does not match template `labels`"
        return [status.invalid_value("spec.template.metadata.labels", worn, detail)]
    if old is not None and old["spec"]["selector"] != selector:
        return [status.invalid_value("spec.selector", selector, "field is immutable")]
    return []


def job(item: Json, old: Json | None) -> list[status.FieldError]:
    """Return what is wrong with a Job; its template is immutable."""
    template = item["spec"]["template"]
    if errors := workload(item, old):
        return errors
    if old is not None and old["spec"]["template"] != template:
        return [status.invalid_value("spec.template", template, "field is immutable")]
    return _job_template(item["spec"], "spec.template")


def _job_template(spec: Json, field: str) -> list[status.FieldError]:
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy", "")
    where, valid = f"{field}.spec.restartPolicy", 'valid values: "OnFailure", "Never"'
    if not policy:
        return [status.required(where, valid)]
    if policy == "Always":
        return [status.not_supported(where, policy, ("OnFailure", "Never"))]
    return []


def cron_job(item: Json) -> list[status.FieldError]:
    """Return what is wrong with a CronJob; the five fields of its schedule are counted, not parsed."""
    spec = item["spec"]
    errors: list[status.FieldError] = []
    name, schedule = item["metadata"].get("name", ""), spec.get("schedule", "")
    if len(name) > 52:
        errors.append(
            status.invalid_value("metadata.name", name, "must be no more than 52 characters")
        )
    if not schedule:
        errors.append(status.required("spec.schedule"))
    elif not schedule.startswith("@") and len(schedule.split()) != 5:
        detail = f"expected exactly 5 fields, found {len(schedule.split())}: [{schedule}]"
        errors.append(status.invalid_value("spec.schedule", schedule, detail))
    return errors + _job_template(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec.template")


def claim(item: Json) -> list[status.FieldError]:
    """Return what is wrong with a PersistentVolumeClaim."""
    spec = item["spec"]
    if not spec.get("accessModes"):
        return [status.required("spec.accessModes", "at least 1 access mode is required")]
    if not ((spec.get("resources") or {}).get("requests") or {}).get("storage"):
        return [status.required("spec.resources[storage]")]
    return []
