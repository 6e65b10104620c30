"""What Pods may do: Pod Security levels, privileged containers, and HostProcess containers. Pure.

Used for planning (forbidden Pods are skips with the reason) and by ``probes`` (security contexts).
Sources: Kubernetes documentation, Pod Security Standards; a Pod whose ``spec.os.name`` is
``windows`` needs no Linux fields (since 1.25). On Windows, HostProcess containers (KEP-1981) probe,
answer over UDP and back Services, and some cases test privileged Pods themselves.
"""

import json
from collections.abc import Iterable, Iterator
from copy import deepcopy

from nettests.model.check import Action
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.json_text import Object
from nettests.model.words import OS, Outcome, Question, VantageKind

PRIVILEGED, BASELINE, RESTRICTED = "privileged", "baseline", "restricted"
LEVELS = (PRIVILEGED, BASELINE, RESTRICTED)

USER = 65532
"""A Linux user without files: ``nonroot`` of distroless images."""
WINDOWS_USER = "ContainerUser"
"""The user of Windows containers without administrator rights."""

_HOST = ("hostNetwork", "hostPID", "hostIPC")
CAPABILITIES = frozenset(
    {
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"),
        *("NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    }
)
"""The capabilities that ``baseline`` lets a container add; ``restricted`` allows only NET_BIND_SERVICE."""
_SYSCTLS = frozenset(
    {
        *("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies"),
        *("net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range"),
        *("net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time"),
        *("net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl"),
        "net.ipv4.tcp_keepalive_probes",
    }
)
_VOLUMES = frozenset(
    {
        *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral"),
        *("persistentVolumeClaim", "projected", "secret"),
    }
)


def secured(spec: Object, os: OS, level: str) -> Object:
    """Return a Pod's spec with the security contexts that ``level`` demands, unless it sets them.

    A Pod that names its OS gets that system's fields; another one gets those of Linux, which
    Windows ignores, and those of its node.
    """
    if level != RESTRICTED:
        return spec
    fitted = deepcopy(spec)
    named = (spec.get("os") or {}).get("name")
    context = fitted.setdefault("securityContext", {})
    context.setdefault("runAsNonRoot", True)
    if OS.WINDOWS in {named, os} and named != OS.LINUX:
        context.setdefault("windowsOptions", {}).setdefault("runAsUserName", WINDOWS_USER)
    if named == OS.WINDOWS:
        return fitted
    context.setdefault("runAsUser", USER)
    context.setdefault("seccompProfile", {"type": "RuntimeDefault"})
    for container in _containers(fitted):
        container_context = container.setdefault("securityContext", {})
        container_context.setdefault("allowPrivilegeEscalation", False)
        container_context.setdefault("capabilities", {}).setdefault("drop", ["ALL"])
    return fitted


def forbidden(spec: Object, os: OS, level: str) -> str:
    """Return what ``level`` forbids of a Pod, even after ``secured``, or nothing."""
    violations: Iterable[str] = ()
    if level == BASELINE:
        violations = _beyond_baseline(spec)
    elif level == RESTRICTED:
        fitted = secured(spec, os, level)
        violations = (*_beyond_baseline(fitted), *_beyond_restricted(fitted))
    return ", ".join(dict.fromkeys(violations))


def _beyond_baseline(spec: Object) -> Iterator[str]:
    yield from (name for name in _HOST if spec.get(name))
    for volume in spec.get("volumes") or ():
        if "hostPath" in volume:
            yield "a hostPath volume"
    for sysctl in (spec.get("securityContext") or {}).get("sysctls") or ():
        if sysctl["name"] not in _SYSCTLS:
            yield f"sysctl {sysctl['name']}"
    for context in _contexts(spec):
        yield from _context_beyond_baseline(context)
    for container in _containers(spec):
        if any(port.get("hostPort") for port in container.get("ports") or ()):
            yield "hostPort"


def _context_beyond_baseline(context: Object) -> Iterator[str]:
    if (context.get("windowsOptions") or {}).get("hostProcess"):
        yield "hostProcess"
    if context.get("privileged"):
        yield "privileged"
    for name in (context.get("capabilities") or {}).get("add") or ():
        if name not in CAPABILITIES:
            yield f"capability {name}"
    if {"user", "role"} & (context.get("seLinuxOptions") or {}).keys():
        yield "seLinuxOptions"
    if context.get("procMount", "Default") != "Default":
        yield "procMount"
    if (context.get("seccompProfile") or {}).get("type") == "Unconfined":
        yield "seccompProfile Unconfined"


def _beyond_restricted(spec: Object) -> Iterator[str]:
    linux = (spec.get("os") or {}).get("name") != OS.WINDOWS
    for volume in spec.get("volumes") or ():
        if not _VOLUMES & volume.keys():
            yield f"volume {volume.get('name')}"
    for context in _contexts(spec):
        if context.get("runAsNonRoot") is False:
            yield "runAsNonRoot: false"
        if context.get("runAsUser") == 0:
            yield "runAsUser: 0"
    for container in _containers(spec) if linux else ():
        context = container.get("securityContext") or {}
        capabilities = context.get("capabilities") or {}
        if context.get("allowPrivilegeEscalation") is not False:
            yield "allowPrivilegeEscalation"
        if "ALL" not in (capabilities.get("drop") or ()):
            yield "capabilities that are not dropped"
        for name in capabilities.get("add") or ():
            if name != "NET_BIND_SERVICE":
                yield f"capability {name}"


def _containers(spec: Object) -> Iterator[Object]:
    for field in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(field) or ()


def _contexts(spec: Object) -> Iterator[Object]:
    for holder in (spec, *_containers(spec)):
        yield holder.get("securityContext") or {}


_HOST_PROCESS, _PRIVILEGED = "HostProcess containers", "privileged containers"


def why_not_privileged(action: Action, facts: ClusterFacts) -> str:
    """Return why an API server without privileged containers prevents ``action``, or nothing.

    Such a server runs without ``--allow-privileged``; the reason quotes it.
    """
    if facts.privileged.value is not False:
        return ""
    on_hosts = any(node.os is OS.WINDOWS for node in _hosts(action, facts))
    what = _HOST_PROCESS if on_hosts else next(_of_case(action), "")
    return f"the API server takes no {what}: {facts.privileged.origin}" if what else ""


def why_no_host_process(action: Action, facts: ClusterFacts) -> str:
    """Return which Windows node lacks HostProcess containers for ``action``, or nothing."""
    nodes = _hosts(action, facts)
    case = action.case if action.question is Question.START else None
    if case is not None and _HOST_PROCESS in _kinds(json.loads(case.object)):
        nodes.append(facts.node(action.source.node or ""))
    lacking = [
        node for node in nodes if node.os is OS.WINDOWS and node.host_process.value is not True
    ]
    if not lacking:
        return ""
    fact = lacking[0].host_process
    certainty = "no" if fact.known else "not known to have"
    return f"{lacking[0].name} has {certainty} HostProcess containers: {fact.origin}"


def _hosts(action: Action, facts: ClusterFacts) -> list[NodeFacts]:
    nodes = []
    if action.source.kind is VantageKind.NODE:
        nodes.append(facts.node(action.source.node or ""))
    nodes += map(facts.node, action.captured_on)
    if action.answered_on_host:
        nodes.append(facts.node(action.target.node or ""))
    settings = action.target.settings
    if settings is not None and settings.behind == "node":
        nodes.append(facts.node(action.target.node or ""))
    return nodes


def _of_case(action: Action) -> Iterator[str]:
    """Yield which privileges a case's Pods need that must be accepted, the counter-case's included.

    A Pod that must be rejected is rejected in any case, with an error that names its field as well.
    """
    case = action.case
    if case is None or not action.question.tries_objects:
        return
    refused = case.outcome is Outcome.REJECTED
    for text in ("" if refused else case.object, case.counter):
        if text:
            yield from _kinds(json.loads(text))


def _kinds(item: Object) -> Iterator[str]:
    contexts = list(_contexts(item["spec"]))
    if any((context.get("windowsOptions") or {}).get("hostProcess") for context in contexts):
        yield _HOST_PROCESS
    if any(context.get("privileged") for context in contexts):
        yield _PRIVILEGED
