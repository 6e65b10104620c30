"""Pod Security admission: what the level of a namespace's label refuses, in the API server's words.

After the checks of ``k8s.io/pod-security-admission/policy``, those that pods of network tests can meet; LIMITS.txt
names the others. Pure; works on pods with defaults set, after validation, as a validating admission plugin does.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nettests.lab.apiserver.windows import containers

Json = dict[str, Any]

ENFORCE = "pod-security.kubernetes.io/enforce"
SINCE = 23
"""On by default from Kubernetes 1.23 on."""
_WINDOWS_EXEMPT = 25
"""From here on fields that Windows does not have are not demanded of its pods."""
_HOST = ("hostNetwork", "hostPID", "hostIPC")
_DEFAULT_CAPABILITIES = frozenset(
    [
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    ]
)


def refusal(
    pod: Json, labels: Mapping[str, str], minor: int, *, windows_exempt: bool = True
) -> str:
    """Return why the namespace with these labels refuses the pod, or nothing.

    ``windows_exempt`` says that pods for Windows need no fields of Linux, from the version on that knows it.
    """
    level = labels.get(ENFORCE, "privileged")
    if minor < SINCE or level not in {"baseline", "restricted"}:
        return ""
    exempt = windows_exempt and minor >= _WINDOWS_EXEMPT
    violations = list(_violations(pod["spec"], restricted=level == "restricted", exempt=exempt))
    if not violations:
        return ""
    version = labels.get(f"{ENFORCE}-version", "latest")
    return f'violates PodSecurity "{level}:{version}": {", ".join(violations)}'


def _violations(spec: Json, *, restricted: bool, exempt: bool) -> Iterator[str]:
    yield from _host_namespaces(spec)
    yield from _host_ports(spec)
    yield from _setters(spec, "privileged", lambda context: context.get("privileged") is True)
    yield from _host_process(spec)
    if not restricted:
        yield from _capabilities(spec)
        return
    windows = exempt and (spec.get("os") or {}).get("name") == "windows"
    if not windows:
        yield from _escalation(spec)
        yield from _dropped(spec)
    yield from _non_root(spec)
    if not windows:
        yield from _seccomp(spec)


def _host_namespaces(spec: Json) -> Iterator[str]:
    set_ones = [f"{name}=true" for name in _HOST if spec.get(name)]
    if set_ones:
        yield f"host namespaces ({', '.join(set_ones)})"


def _host_ports(spec: Json) -> Iterator[str]:
    ports: set[str] = set()

    def uses(container: Json) -> bool:
        host_ports = {
            str(port["hostPort"]) for port in container.get("ports") or () if port.get("hostPort")
        }
        ports.update(host_ports)
        return bool(host_ports)

    names = _named(spec, uses)
    if names:
        verb = "uses" if len(names) == 1 else "use"
        noun = "hostPort" if len(ports) == 1 else "hostPorts"
        yield f"hostPort ({_containers(names)} {verb} {noun} {', '.join(sorted(ports))})"


def _setters(spec: Json, field: str, bad: Callable[[Json], bool]) -> Iterator[str]:
    names = _named(spec, lambda container: bad(container.get("securityContext") or {}))
    if names:
        yield f"{field} ({_containers(names)} must not set securityContext.{field}=true)"


def _host_process(spec: Json) -> Iterator[str]:
    names = _named(spec, _is_host_process)
    setters = [
        *(["pod"] if _is_host_process(spec) else []),
        *([_containers(names)] if names else []),
    ]
    if setters:
        yield (
            f"hostProcess ({' and '.join(setters)} must not set "
            "securityContext.windowsOptions.hostProcess=true)"
        )


def _is_host_process(holder: Json) -> bool:
    options = (holder.get("securityContext") or {}).get("windowsOptions") or {}
    return options.get("hostProcess") is True


def _capabilities(spec: Json) -> Iterator[str]:
    added: set[str] = set()

    def adds(container: Json) -> bool:
        capabilities = set(_listed(container, "add")) - _DEFAULT_CAPABILITIES
        added.update(capabilities)
        return bool(capabilities)

    names = _named(spec, adds)
    if names:
        yield (
            f"non-default capabilities ({_containers(names)} must not include {_quoted(sorted(added))} "
            "in securityContext.capabilities.add)"
        )


def _escalation(spec: Json) -> Iterator[str]:
    names = _named(
        spec,
        lambda container: _security_context(container).get("allowPrivilegeEscalation") is not False,
    )
    if names:
        yield (
            f"allowPrivilegeEscalation != false ({_containers(names)} must set "
            "securityContext.allowPrivilegeEscalation=false)"
        )


def _dropped(spec: Json) -> Iterator[str]:
    names = _named(spec, lambda container: "ALL" not in _listed(container, "drop"))
    adding = _named(
        spec, lambda container: bool(set(_listed(container, "add")) - {"NET_BIND_SERVICE"})
    )
    added = {
        name
        for _, container in containers(spec)
        for name in _listed(container, "add")
        if name != "NET_BIND_SERVICE"
    }
    details = []
    if names:
        details.append(f'{_containers(names)} must set securityContext.capabilities.drop=["ALL"]')
    if adding:
        details.append(
            f"{_containers(adding)} must not include {_quoted(sorted(added))} "
            "in securityContext.capabilities.add"
        )
    if details:
        yield f"unrestricted capabilities ({'; '.join(details)})"


def _non_root(spec: Json) -> Iterator[str]:
    of_pod = (spec.get("securityContext") or {}).get("runAsNonRoot")
    explicit = _named(
        spec, lambda container: _security_context(container).get("runAsNonRoot") is False
    )
    setters = [
        *(["pod"] if of_pod is False else []),
        *([_containers(explicit)] if explicit else []),
    ]
    if setters:
        who = " and ".join(setters)
        yield f"runAsNonRoot != true ({who} must not set securityContext.runAsNonRoot=false)"
        return
    silent = _named(
        spec, lambda container: _security_context(container).get("runAsNonRoot") is None
    )
    if silent and of_pod is not True:
        who = f"pod or {_containers(silent)}"
        yield f"runAsNonRoot != true ({who} must set securityContext.runAsNonRoot=true)"


def _seccomp(spec: Json) -> Iterator[str]:
    def kind(holder: Json) -> str | None:
        profile_type = (_security_context(holder).get("seccompProfile") or {}).get("type")
        return str(profile_type) if profile_type else None

    allowed = {"RuntimeDefault", "Localhost"}
    lacking = _named(spec, lambda container: (kind(container) or kind(spec)) not in allowed)
    if lacking:
        yield (
            f"seccompProfile (pod or {_containers(lacking)} must set "
            'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'
        )


def _security_context(holder: Json) -> Json:
    context: Json = holder.get("securityContext") or {}
    return context


def _listed(container: Json, field: str) -> list[str]:
    return list((_security_context(container).get("capabilities") or {}).get(field) or ())


def _named(spec: Json, bad: Callable[[Json], bool]) -> list[str]:
    return [str(container["name"]) for _, container in containers(spec) if bad(container)]


def _containers(names: list[str]) -> str:
    return f"{'container' if len(names) == 1 else 'containers'} {_quoted(names)}"


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
