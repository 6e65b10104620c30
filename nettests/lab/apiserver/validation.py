"""Validation of names, labels and metadata, and of the plainer kinds.

Messages follow ``k8s.io/apimachinery/pkg/util/validation`` and ``…/pkg/api/validation``. Pods and
Services have modules of their own. Pure.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.status import (
    FieldError,
    forbidden_value,
    invalid_value,
    not_supported,
    required,
)

Json = dict[str, Any]

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_QUALIFIED})?"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"

NameCheck = Callable[[str], str | None]


def _regex_text(subject: str, rule: str, example: str, pattern: str) -> str:
    return f"{subject} must {rule} (e.g. {example}, regex used for validation is '{pattern}')"


def dns_subdomain(name: str) -> str | None:
    """Say what is wrong with a name as a DNS-1123 subdomain, if anything is."""
    if len(name) > 253:
        return "must be no more than 253 bytes"
    # example.com
    if re.fullmatch(_SUBDOMAIN, name):
        return None
    return _regex_text(
        "a lowercase RFC 1123 subdomain",
        "consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character",
        "'example.com'",
        _SUBDOMAIN,
    )


def dns_label(name: str) -> str | None:
    """Say what is wrong with a name as a DNS-1123 label, if anything is."""
    if len(name) > 63:
        return "must be no more than 63 bytes"
    # my-name
    if re.fullmatch(_LABEL, name):
        return None
    return _regex_text(
        "a lowercase RFC 1123 label",
        "consist of lower case alphanumeric characters or '-', and must start and end with an "
        "alphanumeric character",
        "'my-name',  or '123-abc'",
        _LABEL,
    )


def dns_1035_label(name: str) -> str | None:
    """Say what is wrong with a name as a DNS-1035 label, if anything is."""
    if len(name) > 63:
        return "must be no more than 63 bytes"
    # my-name
    if re.fullmatch(_LABEL_1035, name):
        return None
    return _regex_text(
        "a DNS-1035 label",
        "consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
        "and end with an alphanumeric character",
        "'my-name',  or 'abc-123'",
        _LABEL_1035,
    )


def path_segment(name: str) -> str | None:
    """Say what is wrong with a name that may hold anything a URL segment can."""
    if name in {".", ".."}:
        return f"may not be '{name}'"
    for character in "/%":
        if character in name:
            return f"may not contain '{character}'"
    return None


_NAME_CHECKS: Mapping[str, NameCheck] = {
    "namespaces": dns_label,
    "services": dns_1035_label,
    "roles.rbac.authorization.k8s.io": path_segment,
    "rolebindings.rbac.authorization.k8s.io": path_segment,
    "clusterroles.rbac.authorization.k8s.io": path_segment,
    "clusterrolebindings.rbac.authorization.k8s.io": path_segment,
}


def qualified_name(name: str) -> str | None:
    """Say what is wrong with a label key or resource name, if anything is."""
    prefix, slash, last = name.rpartition("/")
    if slash and (complaint := dns_subdomain(prefix)):
        return f"prefix part {complaint}"
    if not last or len(last) > 63:
        return "name part must be " + ("non-empty" if not last else "no more than 63 bytes")
    # MyName, my.name, 123-abc
    if re.fullmatch(_QUALIFIED, last):
        return None
    return _regex_text(
        "name part",
        "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character",
        "'MyName',  or 'my.name',  or '123-abc'",
        _QUALIFIED,
    )


def label_value(value: str) -> str | None:
    """Say what is wrong with a label's value, if anything is."""
    if len(value) > 63:
        return "must be no more than 63 bytes"
    # MyValue, my_value, 12345, or nothing
    if re.fullmatch(_VALUE, value):
        return None
    return _regex_text(
        "a valid label",
        "be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character",
        "'MyValue',  or 'my_value',  or '12345'",
        _VALUE,
    )


def labels(values: Mapping[str, str], field: str) -> list[FieldError]:
    """Return what is wrong with a map of labels."""
    errors: list[FieldError] = []
    for key, value in values.items():
        if complaint := qualified_name(key):
            errors.append(invalid_value(field, key, complaint))
        if complaint := label_value(value):
            errors.append(invalid_value(field, value, complaint))
    return errors


def metadata(resource: Resource, item: Json) -> list[FieldError]:
    """Return what is wrong with an object's metadata."""
    meta = item["metadata"]
    errors: list[FieldError] = []
    if not meta.get("name"):
        errors.append(required("metadata.name", "name or generateName is required"))
    elif complaint := _NAME_CHECKS.get(resource.key, dns_subdomain)(meta["name"]):
        errors.append(invalid_value("metadata.name", meta["name"], complaint))
    errors += labels(meta.get("labels") or {}, "metadata.labels")
    for key in meta.get("annotations") or {}:
        if complaint := qualified_name(key.lower()):
            errors.append(invalid_value("metadata.annotations", key, complaint))
    return errors


def immutable_metadata(old: Json, new: Json) -> list[FieldError]:
    """Return the changes of metadata that an update may not make."""
    detail = "field is immutable"
    return [
        invalid_value(f"metadata.{name}", new["metadata"].get(name), detail)
        for name in ("name", "namespace", "uid")
        if old["metadata"].get(name) != new["metadata"].get(name)
    ]


def data_keys(item: Json) -> list[FieldError]:
    """Return what is wrong with the keys of a ConfigMap or Secret."""
    errors: list[FieldError] = []
    for field in ("data", "binaryData"):
        for key in item.get(field) or {}:
            # key.name, KEY_NAME, key-name
            if not re.fullmatch(_CONFIG_KEY, key):
                complaint = _regex_text(
                    "a valid config key",
                    "consist of alphanumeric characters, '-', '_' or '.'",
                    "'key.name',  or 'KEY_NAME',  or 'key-name'",
                    _CONFIG_KEY,
                )
                errors.append(invalid_value(f"{field}[{key}]", key, complaint))
    return errors


def immutable_data(old: Json, new: Json) -> list[FieldError]:
    """Return the changes that an immutable ConfigMap or Secret does not take."""
    if not old.get("immutable"):
        return []
    return [
        forbidden_value(name, "field is immutable when `immutable` is set")
        for name in ("data", "binaryData", "immutable")
        if old.get(name) != new.get(name)
    ]


def workload(item: Json, old: Json | None) -> list[FieldError]:
    """Return what is wrong with the selector of a Deployment, ReplicaSet, DaemonSet, StatefulSet or Job."""
    spec = item.get("spec") or {}
    selector = spec.get("selector") or {}
    template = (spec.get("template") or {}).get("metadata") or {}
    if not selector:
        return [required("spec.selector")]
    chosen = selector.get("matchLabels") or {}
    worn = template.get("labels") or {}
    if any(worn.get(key) != value for key, value in chosen.items()):
        detail = "`selector` does not match template `labels`"
        return [invalid_value("spec.template.metadata.labels", worn, detail)]
    if old is not None and old["spec"]["selector"] != selector:
        return [invalid_value("spec.selector", selector, "field is immutable")]
    return []


def job(item: Json, old: Json | None) -> list[FieldError]:
    """Return what is wrong with a Job, whose template never changes."""
    spec = item["spec"]
    errors = workload(item, old)
    if errors:
        return errors
    if old is not None and old["spec"]["template"] != spec["template"]:
        return [invalid_value("spec.template", spec["template"], "field is immutable")]
    return _job_template(spec, "spec.template")


def _job_template(spec: Json, field: str) -> list[FieldError]:
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy", "")
    where, valid = f"{field}.spec.restartPolicy", 'valid values: "OnFailure", "Never"'
    if not policy:
        return [required(where, valid)]
    if policy == "Always":
        return [not_supported(where, policy, ("OnFailure", "Never"))]
    return []


def cron_job(item: Json) -> list[FieldError]:
    """Return what is wrong with a CronJob; the five fields of its schedule are counted, not parsed."""
    spec = item["spec"]
    errors: list[FieldError] = []
    name = item["metadata"].get("name", "")
    if len(name) > 52:
        errors.append(invalid_value("metadata.name", name, "must be no more than 52 characters"))
    schedule = spec.get("schedule", "")
    if not schedule:
        errors.append(required("spec.schedule"))
    elif not schedule.startswith("@") and len(schedule.split()) != 5:
        detail = f"expected exactly 5 fields, found {len(schedule.split())}: [{schedule}]"
        errors.append(invalid_value("spec.schedule", schedule, detail))
    return errors + _job_template(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec.template")


def claim(item: Json) -> list[FieldError]:
    """Return what is wrong with a PersistentVolumeClaim."""
    spec = item["spec"]
    if not spec.get("accessModes"):
        return [required("spec.accessModes", "at least 1 access mode is required")]
    if not ((spec.get("resources") or {}).get("requests") or {}).get("storage"):
        return [required("spec.resources[storage]")]
    return []
