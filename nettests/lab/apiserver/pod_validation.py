"""Validation of pods and pod templates, and of what an update may change.

After ``ValidatePodSpec`` and ``ValidatePodUpdate`` of ``k8s.io/kubernetes/pkg/apis/core/validation``:
the rules that clients of a test cluster are likely to break, in the same order and words. Pure.
"""

import copy
import difflib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from nettests.lab.apiserver import status, windows
from nettests.lab.apiserver.validation import dns_label, dns_subdomain, labels
from nettests.lab.interfaces import Json

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_ENUMERATIONS = (
    ("restartPolicy", ("Always", "Never", "OnFailure")),
    ("dnsPolicy", ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")),
)
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_OPERATORS = ("Equal", "Exists")
_EFFECTS = ("NoExecute", "NoSchedule", "PreferNoSchedule")
_UPDATE_DETAIL = (
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def pod_spec(
    spec: Json, path: str = "spec", *, allow_privileged: bool = True
) -> list[status.FieldError]:
    """Return what is wrong with a pod spec (with defaults set); ``path`` is its field path."""
    errors = [
        *_volumes(spec),
        *_containers(spec, allow_privileged=allow_privileged),
        *_enumerations(spec),
        *_names(spec),
        *_tolerations(spec),
        *windows.validate_host_process(spec, allow_privileged=allow_privileged),
        *windows.validate_os(spec),
    ]
    return [replace(error, field=path + error.field.removeprefix("spec")) for error in errors]


def pod_create(spec: Json) -> list[status.FieldError]:
    """Return the fields that a new pod may not have, although a running pod may."""
    if not spec.get("ephemeralContainers"):
        return []
    return [status.forbidden_value("spec.ephemeralContainers", "cannot be set on create")]


def _name(field: str, name: str, seen: set[str]) -> Iterator[status.FieldError]:
    """Check that a name is a valid label and unique; ``seen`` has the earlier names of its list."""
    if not name:
        yield status.required(f"{field}.name")
    elif complaint := dns_label(name):
        yield status.invalid_value(f"{field}.name", name, complaint)
    elif name in seen:
        yield status.duplicate(f"{field}.name", name)
    seen.add(name)


def _volumes(spec: Json) -> Iterator[status.FieldError]:
    seen: set[str] = set()
    for index, volume in enumerate(spec.get("volumes") or ()):
        field = f"spec.volumes[{index}]"
        yield from _name(field, volume.get("name", ""), seen)
        if len(volume) > 2:
            yield status.forbidden_value(field, "may not specify more than 1 volume type")


def _containers(spec: Json, *, allow_privileged: bool) -> Iterator[status.FieldError]:
    if not spec.get("containers"):
        yield status.required("spec.containers")
    volumes = {volume.get("name") for volume in spec.get("volumes") or ()}
    seen: set[str] = set()
    for path, container in windows.containers(spec):
        yield from _name(path, container.get("name", ""), seen)
        if not container.get("image"):
            yield status.required(f"{path}.image")
        yield from _container(path, container, volumes)
        if not allow_privileged and (container.get("securityContext") or {}).get("privileged"):
            yield status.forbidden_value(f"{path}.securityContext.privileged", windows.BY_POLICY)
    for path, container in windows.containers(spec) if spec.get("hostNetwork") else ():
        for index, port in enumerate(container.get("ports") or ()):
            if port.get("hostPort") != port.get("containerPort"):
                detail = "must match `hostPort` when `hostNetwork` is true"
                field = f"{path}.ports[{index}].containerPort"
                yield status.invalid_value(field, port.get("containerPort"), detail)


def _container(path: str, container: Json, volumes: set[Any]) -> Iterator[status.FieldError]:
    if container["imagePullPolicy"] not in _PULL_POLICIES:
        field = f"{path}.imagePullPolicy"
        yield status.not_supported(field, container["imagePullPolicy"], _PULL_POLICIES)
    for index, port in enumerate(container.get("ports") or ()):
        yield from _port(f"{path}.ports[{index}]", port)
    for index, variable in enumerate(container.get("env") or ()):
        if not variable.get("name"):
            yield status.required(f"{path}.env[{index}].name")
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        field = f"{path}.volumeMounts[{index}]"
        if mount.get("name") not in volumes:
            yield status.missing_reference(f"{field}.name", mount.get("name", ""))
        if not mount.get("mountPath"):
            yield status.required(f"{field}.mountPath")


def _port(field: str, port: Json) -> Iterator[status.FieldError]:
    if (number := port.get("containerPort", 0)) == 0:
        yield status.required(f"{field}.containerPort")
    elif not 0 < number < 65536:
        detail = "must be between 1 and 65535, inclusive"
        yield status.invalid_value(f"{field}.containerPort", number, detail)
    if port["protocol"] not in _PROTOCOLS:
        yield status.not_supported(f"{field}.protocol", port["protocol"], _PROTOCOLS)
    name = port.get("name", "")
    # http, tcp-8080: 1 to 15 characters, at least one letter
    if name and not re.fullmatch(r"(?=.{1,15}$)(?=.*[a-z])[a-z0-9]([-a-z0-9]*[a-z0-9])?", name):
        detail = "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
        if len(name) > 15:
            detail = "must be no more than 15 characters"
        yield status.invalid_value(f"{field}.name", name, detail)


def _enumerations(spec: Json) -> Iterator[status.FieldError]:
    for field, words in _ENUMERATIONS:
        if spec[field] not in words:
            yield status.not_supported(f"spec.{field}", spec[field], words)
    servers = (spec.get("dnsConfig") or {}).get("nameservers")
    where = "spec.dnsConfig.nameservers"
    if spec["dnsPolicy"] == "None" and not servers:
        yield status.required(
            where, "must provide at least one DNS nameserver when `dnsPolicy` is None"
        )
    if servers and len(servers) > 3:
        yield status.invalid_value(where, servers, "must not have more than 3 nameservers")


def _names(spec: Json) -> Iterator[status.FieldError]:
    yield from labels(spec.get("nodeSelector") or {}, "spec.nodeSelector")
    subdomains = ("serviceAccountName", "nodeName", "runtimeClassName", "priorityClassName")
    for field in ("hostname", "subdomain", *subdomains):
        check = dns_subdomain if field in subdomains else dns_label
        if (name := spec.get(field)) and (complaint := check(name)):
            yield status.invalid_value(f"spec.{field}", name, complaint)


def _tolerations(spec: Json) -> Iterator[status.FieldError]:
    for index, toleration in enumerate(spec.get("tolerations") or ()):
        field = f"spec.tolerations[{index}]"
        operator = toleration.get("operator", "Equal") or "Equal"
        if not toleration.get("key") and operator != "Exists":
            detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            yield status.invalid_value(f"{field}.operator", operator, detail)
        if operator not in _OPERATORS:
            yield status.not_supported(f"{field}.operator", operator, _OPERATORS)
        if (effect := toleration.get("effect")) and effect not in _EFFECTS:
            yield status.not_supported(f"{field}.effect", effect, _EFFECTS)


def pod_update(old: Json, new: Json) -> list[status.FieldError]:
    """Return the forbidden changes of an update."""
    before, after = old["spec"], copy.deepcopy(new["spec"])
    now_tolerated = [_without_seconds(item) for item in after.get("tolerations") or ()]
    if any(_without_seconds(item) not in now_tolerated for item in before.get("tolerations") or ()):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        return [status.forbidden_value("spec.tolerations", detail)]
    for field in ("tolerations", "activeDeadlineSeconds"):
        if field in before:
            after[field] = before[field]
        else:
            after.pop(field, None)
    grace = "terminationGracePeriodSeconds"
    if before.get(grace, 0) < 0 and after.get(grace) == 1:
        after[grace] = before[grace]
    for field in ("containers", "initContainers"):
        for was, now in zip(before.get(field) or (), after.get(field) or (), strict=False):
            now["image"] = was.get("image")
    if after == before:
        return []
    was, now = (
        json.dumps(spec, indent=1, sort_keys=True).splitlines(keepends=True)
        for spec in (before, after)
    )
    difference = "".join(list(difflib.unified_diff(was, now))[2:])
    return [status.forbidden_value("spec", f"{_UPDATE_DETAIL}\n{difference}")]


def _without_seconds(toleration: Json) -> Json:
    return {name: value for name, value in toleration.items() if name != "tolerationSeconds"}
