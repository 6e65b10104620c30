"""Admission of a pod before it is stored: gated fields, defaults, admission plugins, validation.

Fields that a release lacks, or has behind a gate that is off by default, are dropped before validation, as by
``dropDisabledFields`` of ``k8s.io/kubernetes/pkg/api/pod`` with the defaults in ``pkg/features/kube_features.go``;
``fields.json`` has the fields of the newest version. The plugin RuntimeClass follows
``plugin/pkg/admission/runtimeclass`` of Kubernetes 1.36. The functions change the pod that they are given; they may
read the store but never write to it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from nettests.lab.apiserver import defaults, pod_validation, quota, resources, windows
from nettests.lab.apiserver.settings import ApiSettings
from nettests.lab.apiserver.status import ApiError, FieldError, forbidden
from nettests.lab.apiserver.store import Store
from nettests.lab.apiserver.windows import containers, host_process
from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Json

ENFORCE = "pod-security.kubernetes.io/enforce"
_SINCE = 23
"""PodSecurity is on by default from Kubernetes 1.23 on."""
_WINDOWS_EXEMPT = 25
"""From this minor version on, Windows pods need no fields that only Linux has."""
_HOST = ("hostNetwork", "hostPID", "hostIPC")
_DEFAULT_CAPABILITIES = frozenset(read_yaml(__package__, "types.yaml")["capabilities"].split())
_PROFILES = ("RuntimeDefault", "Localhost")


def pod_security_refusal(
    pod: Json, labels: Mapping[str, str], minor: int, *, windows_exempt: bool = True
) -> str:
    """Return why PodSecurity of a namespace with these labels refuses the pod, or ``""``.

    ``windows_exempt``: from ``_WINDOWS_EXEMPT`` on, Windows pods need no fields that only Linux has.
    """
    level = labels.get(ENFORCE, "privileged")
    if minor < _SINCE or level not in {"baseline", "restricted"}:
        return ""
    exempt = windows_exempt and minor >= _WINDOWS_EXEMPT
    violations = list(_violations(pod["spec"], restricted=level == "restricted", exempt=exempt))
    if not violations:
        return ""
    version = labels.get(f"{ENFORCE}-version", "latest")
    return f'violates PodSecurity "{level}:{version}": {", ".join(violations)}'


def _violations(spec: Json, *, restricted: bool, exempt: bool) -> Iterator[str]:
    if namespaces := [f"{name}=true" for name in _HOST if spec.get(name)]:
        yield f"host namespaces ({', '.join(namespaces)})"
    yield from _host_ports(spec)
    if names := _named(spec, lambda each: _context(each).get("privileged") is True):
        yield f"privileged ({names} must not set securityContext.privileged=true)"
    if setters := _setters(spec, host_process, value=True):
        yield (
            f"hostProcess ({setters} must not set securityContext.windowsOptions.hostProcess=true)"
        )
    windows = exempt and (spec.get("os") or {}).get("name") == "windows"
    if not restricted:
        if including := _including(spec, _DEFAULT_CAPABILITIES):
            yield f"non-default capabilities ({including})"
    elif not windows:
        yield from _escalation(spec)
    if restricted:
        yield from _non_root(spec)
        lacking = _named(spec, lambda each: (_profile(each) or _profile(spec)) not in _PROFILES)
        if lacking and not windows:
            types = " or ".join(f'"{name}"' for name in _PROFILES)
            where = "securityContext.seccompProfile.type"
            yield f"seccompProfile (pod or {lacking} must set {where} to {types})"


def _host_ports(spec: Json) -> Iterator[str]:
    def ports(container: Json) -> set[str]:
        listed = container.get("ports") or ()
        return {str(port["hostPort"]) for port in listed if port.get("hostPort")}

    every = sorted(set().union(*(ports(container) for _, container in containers(spec))))
    if names := _named(spec, lambda container: bool(ports(container))):
        verb = "use" if names.startswith("containers") else "uses"
        noun = "hostPort" if len(every) == 1 else "hostPorts"
        yield f"hostPort ({names} {verb} {noun} {', '.join(every)})"


def _including(spec: Json, allowed: frozenset[str]) -> str:
    """Return which containers add capabilities that are not allowed, with these, or ``""``."""
    added = {name for _, each in containers(spec) for name in _listed(each, "add")} - allowed
    names = _named(spec, lambda container: bool(_listed(container, "add") - allowed))
    capabilities = _quoted(sorted(added))
    where = "in securityContext.capabilities.add"
    return f"{names} must not include {capabilities} {where}" if names else ""


def _escalation(spec: Json) -> Iterator[str]:
    """Yield the settings that let a Linux container gain privileges."""
    field = "allowPrivilegeEscalation"
    if names := _named(spec, lambda each: _context(each).get(field) is not False):
        yield f"{field} != false ({names} must set securityContext.{field}=false)"
    keeping = _named(spec, lambda container: "ALL" not in _listed(container, "drop"))
    details = [
        f'{keeping} must set securityContext.capabilities.drop=["ALL"]' if keeping else "",
        _including(spec, frozenset({"NET_BIND_SERVICE"})),
    ]
    if any(details):
        yield f"unrestricted capabilities ({'; '.join(filter(None, details))})"


def _non_root(spec: Json) -> Iterator[str]:
    def stated(holder: Json) -> bool | None:
        value: bool | None = _context(holder).get("runAsNonRoot")
        return value

    field = "securityContext.runAsNonRoot"
    silent = _named(spec, lambda container: stated(container) is None)
    if setters := _setters(spec, stated, value=False):
        yield f"runAsNonRoot != true ({setters} must not set {field}=false)"
    elif silent and stated(spec) is not True:
        yield f"runAsNonRoot != true (pod or {silent} must set {field}=true)"


def _setters(spec: Json, stated: Callable[[Json], bool | None], *, value: bool) -> str:
    """Return which of the pod and its containers state a value: ``pod and container "c"``."""
    names = _named(spec, lambda container: stated(container) is value)
    return " and ".join(filter(None, ("pod" if stated(spec) is value else "", names)))


def _context(holder: Json) -> Json:
    context: Json = holder.get("securityContext") or {}
    return context


def _profile(holder: Json) -> str | None:
    return (_context(holder).get("seccompProfile") or {}).get("type")


def _listed(container: Json, field: str) -> set[str]:
    return set((_context(container).get("capabilities") or {}).get(field) or ())


def _named(spec: Json, bad: Callable[[Json], bool]) -> str:
    """Return the matching containers as ``containers "a", "b"``, or ``""``."""
    names = [str(container["name"]) for _, container in containers(spec) if bad(container)]
    noun = "container" if len(names) == 1 else "containers"
    return f"{noun} {_quoted(names)}" if names else ""


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


_GATED = read_yaml(__package__, "types.yaml")["gated"]
_SYSTEM_PRIORITIES = {"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What rules may use besides the object."""

    store: Store
    settings: ApiSettings

    def body(self, resource: resources.Resource, namespace: str, name: str) -> Json | None:
        """Return a stored object, if there is one."""
        record = self.store.get(resource.key, namespace, name)
        return record.body if record else None


def drop_gated(spec: Json, minor: int) -> None:
    """Remove the fields of a pod's spec that Kubernetes 1.``minor`` does not accept with default gates."""
    containers = ((each, _GATED["container"]) for _, each in windows.containers(spec))
    for holder, fields in ((spec, _GATED["pod"]), *containers):
        for since, path in fields:
            *parents, name = path.split(".")
            owner: Json | None = holder
            for parent in parents:
                owner = (owner or {}).get(parent)
            if minor < since and owner:
                owner.pop(name, None)


def admit_new(pod: Json, context: Context) -> list[FieldError]:
    """Complete a new pod; return its field errors, or raise 403 if a plugin or webhook refuses it."""
    drop_gated(pod.setdefault("spec", {}), context.settings.version.minor)
    defaults.fill_pod(pod)
    _admit(pod, context)
    faults, meta = context.settings.faults, pod["metadata"]
    if faults.mutating is not None:  # defaults are set again after a webhook
        pod["spec"] = faults.mutating(pod)["spec"]
        defaults.fill_pod(pod)
    ranges = [record.body for record in context.store.records("limitranges", meta["namespace"])]
    quota.fill_limits(pod, ranges)
    errors = [
        *pod_validation.pod_spec(pod["spec"], allow_privileged=faults.allow_privileged),
        *pod_validation.pod_create(pod["spec"]),
    ]
    wrong = [error for error in errors if _in_force(error, context.settings)]
    if not wrong:  # validating admission comes after validation: LimitRanger, PodSecurity, webhooks
        namespace = context.body(resources.NAMESPACES, "", meta["namespace"])
        labels = (namespace["metadata"].get("labels") or {}) if namespace else {}
        settings = context.settings
        why = quota.limits_refusal(pod, ranges) or pod_security_refusal(
            pod, labels, settings.version.minor, windows_exempt=settings.windows_pod_security
        )
        _refuse_if(pod, why)
        if faults.validating is not None and (why := faults.validating(pod)):
            raise ApiError(403, "Forbidden", why)
    return wrong


def _refuse_if(pod: Json, why: str) -> None:
    if why:
        raise forbidden(resources.PODS, pod["metadata"]["name"], why)


def _in_force(error: FieldError, settings: ApiSettings) -> bool:
    """Whether the rule behind ``error`` is in force: rules about Windows can be switched off."""
    if windows.is_about_host_process(error):
        return settings.host_process_rules
    if not windows.is_about_windows(error):
        return True
    of_container = "ontainers[" in error.field  # containers, initContainers, ephemeralContainers
    return settings.windows_container_rules if of_container else settings.windows_pod_rules


def _admit(pod: Json, context: Context) -> None:
    spec, namespace = pod["spec"], pod["metadata"]["namespace"]
    name = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
    account = context.body(resources.SERVICE_ACCOUNTS, namespace, name)
    if account is None:
        why = f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found'
        raise forbidden(resources.PODS, pod["metadata"]["name"], why)
    if spec.get("runtimeClassName") and context.settings.runtime_classes:
        stored = context.body(resources.RUNTIME_CLASSES, "", spec["runtimeClassName"])
        _refuse_if(pod, runtime_class_refusal(pod, stored))
    priority, preemption = 0, "PreemptLowerPriority"
    if class_name := spec.get("priorityClassName"):
        found_class = context.body(resources.PRIORITY_CLASSES, "", class_name)
        if class_name in _SYSTEM_PRIORITIES:
            priority = _SYSTEM_PRIORITIES[class_name]
        elif found_class is None:
            _refuse_if(pod, f"no PriorityClass with name {class_name} was found")
        else:
            priority = int(found_class.get("value", 0))
            preemption = str(found_class.get("preemptionPolicy", preemption))
    defaults.admit(pod, account, priority, preemption)


def runtime_class_refusal(pod: Json, runtime_class: Json | None) -> str:
    """Merge a RuntimeClass into the Pod that names it; return why the Pod is refused, or ``""``."""
    spec = pod["spec"]
    if runtime_class is None:
        return f'pod rejected: RuntimeClass "{spec["runtimeClassName"]}" not found'
    scheduling = runtime_class.get("scheduling") or {}
    wanted, node_selector = scheduling.get("nodeSelector") or {}, spec.get("nodeSelector") or {}
    for key in sorted(wanted.keys() & node_selector.keys()):
        if wanted[key] != node_selector[key]:
            return (
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {wanted[key]}; "
                f"pod.spec.nodeSelector[{key}] = {node_selector[key]}"
            )
    if wanted:
        spec["nodeSelector"] = {**node_selector, **wanted}
    tolerations = spec.get("tolerations") or []
    added = [each for each in scheduling.get("tolerations") or () if each not in tolerations]
    if added:
        spec["tolerations"] = [*tolerations, *added]
    if overhead := (runtime_class.get("overhead") or {}).get("podFixed"):
        spec["overhead"] = overhead
    return ""
