"""Pod Security admission: what the level of a namespace's label refuses, in the API server's words.

After the checks of ``k8s.io/pod-security-admission/policy``, those that pods of network tests can meet; LIMITS.txt
names the others. Pure; works on pods with defaults set, after validation, as a validating admission plugin does.
"""

from collections.abc import Callable, Iterator, Mapping

from nettests.lab.apiserver.windows import containers, host_process
from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Json

ENFORCE = "pod-security.kubernetes.io/enforce"
SINCE = 23
"""On by default from Kubernetes 1.23 on."""
_WINDOWS_EXEMPT = 25
"""From here on fields that Windows does not have are not demanded of its pods."""
_HOST = ("hostNetwork", "hostPID", "hostIPC")
_DEFAULT_CAPABILITIES = frozenset(read_yaml(__package__, "types.yaml")["capabilities"].split())
_PROFILES = ("RuntimeDefault", "Localhost")


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
    """Return which containers add capabilities beyond the allowed, and which capabilities, or nothing."""
    added = {name for _, each in containers(spec) for name in _listed(each, "add")} - allowed
    names = _named(spec, lambda container: bool(_listed(container, "add") - allowed))
    capabilities = _quoted(sorted(added))
    where = "in securityContext.capabilities.add"
    return f"{names} must not include {capabilities} {where}" if names else ""


def _escalation(spec: Json) -> Iterator[str]:
    """Yield what lets a container of Linux gain privileges."""
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
    """Return who of the pod and its containers states a value: ``pod and container "c"``."""
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
    """Return the containers of which something is true: ``containers "a", "b"``, or nothing."""
    names = [str(container["name"]) for _, container in containers(spec) if bad(container)]
    noun = "container" if len(names) == 1 else "containers"
    return f"{noun} {_quoted(names)}" if names else ""


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
