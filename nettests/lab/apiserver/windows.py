"""Admission of Windows pods: what ``os.name`` forbids, and the rules of HostProcess containers.

After ``validateWindows``, ``validateLinux`` and ``validateWindowsHostProcessPod`` of
``k8s.io/kubernetes/pkg/apis/core/validation``, in their order. Pure; for pods with defaults set, from
which ``pod_admission`` removed fields that this version of the API does not know.
"""

from collections.abc import Iterator

from nettests.lab.apiserver.status import FieldError, forbidden_value, invalid_value, not_supported
from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Json

BY_POLICY = "disallowed by cluster policy"
"""Why an API server without ``--allow-privileged`` refuses a privileged container."""
_FORBIDDEN = "cannot be set for a windows pod"
_REFUSED = read_yaml(__package__, "types.yaml")["not_on_windows"]
_LISTS = ("initContainers", "containers", "ephemeralContainers")


def containers(spec: Json) -> Iterator[tuple[str, Json]]:
    """Yield every container of a pod with its field path, init containers first."""
    for field in _LISTS:
        for index, container in enumerate(spec.get(field) or ()):
            yield f"spec.{field}[{index}]", container


def is_about_windows(error: FieldError) -> bool:
    """Whether a field is refused because of ``os.name: windows``."""
    return error.text.endswith(_FORBIDDEN)


def is_about_host_process(error: FieldError) -> bool:
    """Whether an error is about the rules of HostProcess Pods, other than ``BY_POLICY``."""
    about = "hostProcess" in f"{error.field} {error.text}"
    return about and not error.text.endswith((_FORBIDDEN, BY_POLICY))


def validate_os(spec: Json) -> list[FieldError]:
    """Return what is wrong with ``spec.os``, and the fields that its name rules out."""
    if (named := spec.get("os")) is None:
        return []
    match named.get("name", ""):
        case "windows":
            return list(_windows(spec))
        case "linux":
            return _linux(spec)
        case other:
            return [not_supported("spec.os", other, ("linux", "windows"))]


def _windows(spec: Json) -> Iterator[FieldError]:
    context = spec.get("securityContext") or {}
    for path, even_false in _REFUSED["pod"]:
        holder = context if path.startswith("securityContext.") else spec
        value = holder.get(path.rpartition(".")[2])
        if value is not None and (even_false or value):
            yield forbidden_value(f"spec.{path}", _FORBIDDEN)
    for path, container in containers(spec):
        context = container.get("securityContext") or {}
        for name in _REFUSED["container"]:
            if context.get(name) is not None:
                yield forbidden_value(f"{path}.securityContext.{name}", _FORBIDDEN)


def _linux(spec: Json) -> list[FieldError]:
    detail = "windows options cannot be set for a linux pod"
    holders = [("spec", spec), *containers(spec)]
    return [
        forbidden_value(f"{path}.securityContext.windowsOptions", detail)
        for path, holder in holders
        if (holder.get("securityContext") or {}).get("windowsOptions") is not None
    ]


def host_process(holder: Json) -> bool | None:
    """Return ``hostProcess`` of a pod's spec or a container; ``None`` if unset."""
    options = (holder.get("securityContext") or {}).get("windowsOptions") or {}
    value: bool | None = options.get("hostProcess")
    return value


def validate_host_process(spec: Json, *, allow_privileged: bool = True) -> list[FieldError]:
    """Return the violations of the all-or-none and hostNetwork rules (KEP-1981)."""
    errors: list[FieldError] = []
    pod, listed = host_process(spec), list(containers(spec))
    of_containers = [host_process(container) for _, container in listed]
    for (path, _), stated in zip(listed, of_containers, strict=True):
        if pod is not None and stated is not None and pod != stated:
            was = f"was {str(pod).lower()}"
            detail = f"pod hostProcess value must be identical if both are specified, {was}"
            field = f"{path}.securityContext.windowsOptions.hostProcess"
            errors.append(invalid_value(field, stated, detail))
    count = sum(bool(pod if stated is None else stated) for stated in of_containers)
    if count and count != len(listed):
        detail = (
            "If pod contains any hostProcess containers then all containers "
            "must be HostProcess containers"
        )
        errors.append(invalid_value("spec", "", detail))
    if count and not spec.get("hostNetwork"):
        detail = "hostNetwork must be true if pod contains any hostProcess containers"
        errors.append(invalid_value("spec.hostNetwork", value=False, detail=detail))
    if count and not allow_privileged:
        errors.append(forbidden_value("spec", f"hostProcess containers are {BY_POLICY}"))
    return errors
