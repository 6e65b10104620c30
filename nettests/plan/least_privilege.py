"""Least privilege: security contexts beyond what the Pod Security level demands. Pure.

``probes`` applies it to each Pod before ``pod_security`` fits it to its namespace. A Pod that sets
users or privileges itself, or runs another image, is not changed: its check tests that.
"""

from collections.abc import Iterator
from copy import deepcopy

from nettests.model.check import Action, Plan
from nettests.model.json_text import Object
from nettests.model.words import OS, Question
from nettests.plan.pod_security import CAPABILITIES, USER, WINDOWS_USER

PING = "ping"
ALL = ("ALL",)
ALL_BUT_NET_RAW = tuple(sorted(CAPABILITIES))
"""The capabilities that container runtimes grant by default, except NET_RAW. Dropping all and
adding NET_RAW is forbidden by level ``baseline``, and would grant it where a runtime does not."""


def limited(spec: Object, os: OS, *, pings: bool = False) -> Object:
    """Return a Pod's spec with no more privileges than it uses.

    On Linux a Pod that pings stays root and keeps NET_RAW, if its runtime grants it. On Windows
    only a Pod that writes files stays a container administrator: folders of volumes and of
    termination messages demand it (kubernetes/kubernetes 131341, kubernetes-sigs/windows-testing
    35).
    """
    containers = [*(spec.get("initContainers") or ()), *spec["containers"]]
    if any("securityContext" in holder for holder in (spec, *containers)):
        return spec
    if any("image" in container for container in containers):
        return spec
    reduced, named = deepcopy(spec), (spec.get("os") or {}).get("name")
    if os is OS.WINDOWS:
        writes = any(
            container.get("volumeMounts") or _writes(container) for container in containers
        )
        if not writes and named != OS.LINUX:
            reduced["securityContext"] = {"windowsOptions": {"runAsUserName": WINDOWS_USER}}
        return reduced
    if named == OS.WINDOWS:
        return reduced
    user = {} if pings else {"runAsNonRoot": True, "runAsUser": USER}
    reduced["securityContext"] = {**user, "seccompProfile": {"type": "RuntimeDefault"}}
    dropped = ALL_BUT_NET_RAW if pings else ALL
    for container in (*(reduced.get("initContainers") or ()), *reduced["containers"]):
        container["securityContext"] = {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": list(dropped)},
        }
    return reduced


def _writes(container: Object) -> bool:
    """Whether agnhost's ``mounttest`` creates a file: ``mounttest --new_file_0644=…``."""
    return any(str(word).startswith("--new_file") for word in container.get("args") or ())


def pinging_pods(plan: Plan) -> frozenset[str]:
    """Return the Pods that send echo requests for checks or controls."""
    return frozenset(action.source.probe for action in _pings(plan) if action.source.kind.has_pod)


def _pings(plan: Plan) -> Iterator[Action]:
    for check in plan.checks:
        by_case = {member.action for member in check.each} if PING in check.needs else set()
        for action in check.actions:
            if action.question is Question.PING or action in by_case:
                yield action
