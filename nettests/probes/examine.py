"""Checks without a path: API server admission, node configuration, Pod start.

An examiner does for one ``Question`` what ``commands`` and channels do for packets. Its answer is
journalled and read by the parser that it names. ``starting`` is the one that creates Pods.
"""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from nettests.errors import NettestsError
from nettests.model.channel import ChannelError
from nettests.model.check import Action, Case
from nettests.model.json_text import read_json
from nettests.model.words import OS, Outcome, Question
from nettests.parse.admission import refuses
from nettests.plan import pod_security
from nettests.plan.cases import STEERED
from nettests.probes.gathered_fields import gathered
from nettests.probes.seams import ApiServer

API = "api"
"""The channel's name in the journal."""
OK_BELOW = 300
CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What was done, and its result; the fields are those of ``Raw``."""

    tool: str
    words: tuple[str, ...]
    channel: str = API
    exit_code: int | None = None
    status: int | None = None
    stdout: str = ""
    stderr: str = ""
    error: str | None = None
    context: Mapping[str, str] = field(default_factory=dict)


class Examiner(Protocol):
    """Runs one kind of question; thread-safe."""

    def examine(self, action: Action) -> Examination:
        """Try once; a failure before any answer becomes the ``error``."""


class NoCaseError(NettestsError):
    """The action of a question without a path has no case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Tests by dry run whether the API server accepts an object in ``namespace``."""

    api: ApiServer
    namespace: str
    level: str = pod_security.PRIVILEGED
    """The namespace's Pod Security level, by which security contexts are filled in."""
    runtime_classes: tuple[str, ...] = ()
    """The cluster's RuntimeClasses with scheduling constraints."""
    planned: tuple[Action, ...] = ()
    """The run's actions, of which some may be answered together."""
    _together: Mapping[Case, dict[str, Any]] = field(init=False)
    _answers: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By the object that was sent."""
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    """The same: one thread sends an object, others wait for its answer."""

    def __post_init__(self) -> None:
        pods = (
            (case_of(action), tried(action, self.namespace, self.level))
            for action in self.planned
            if action.question is Question.ADMIT
        )
        object.__setattr__(self, "_together", gathered(pods))

    def examine(self, action: Action) -> Examination:
        """Send the case's object; nothing is stored."""
        case = case_of(action)
        item = tried(action, self.namespace, self.level)
        context = {
            name: value for name, value in (("field", case.field), ("level", case.level)) if value
        }
        words: tuple[str, ...] = ("create", "--dry-run=server", json.dumps(item))
        try:
            if case.then is not None and case.then.how == STEERED:
                name = min(self.runtime_classes, default="")
                item["spec"]["runtimeClassName"] = name
                context |= {STEERED: name, "scheduling": self._scheduling(name)}
                words = (*words[:-1], json.dumps(item))
            if case.level:
                self._require_enforced(item)
            sent = self._together.get(case)
            status, body = (0, "") if sent is None else self._once(sent)
            if not _decides(case, status, body):
                sent = item
                refusable = case.outcome is Outcome.REJECTED or case.then is not None
                status, body = (
                    self.api.dry_run(item) if refusable else self._once(item, accepted=True)
                )
            words = (*words[:-1], json.dumps(sent))
        except ChannelError as error:
            return Examination(tool="admission", words=words, error=error.message, context=context)
        return Examination(
            tool="admission", words=words, status=status, stdout=body, context=context
        )

    def _scheduling(self, name: str) -> str:
        """Return a RuntimeClass's ``scheduling`` as JSON; ``ChannelError`` if it is missing."""
        status, text = self.api.read(CLASSES, {})
        if status >= OK_BELOW:
            raise ChannelError(f"{CLASSES}: status {status}: {text}")
        try:
            for item in read_json(text)["items"]:
                if item["metadata"]["name"] == name:
                    return json.dumps(item.get("scheduling") or {})
        except (LookupError, TypeError, ValueError) as error:
            raise ChannelError(f"{CLASSES} is no list of RuntimeClasses: {error}") from error
        raise ChannelError(f"RuntimeClass {name} is no longer there")

    def _once(self, item: dict[str, Any], *, accepted: bool = False) -> tuple[int, str]:
        """Return the answer to an object that several cases send; with ``accepted``, only that lasts."""
        key = json.dumps(item)
        with self._locks.setdefault(key, threading.Lock()):
            answer = self._answers.get(key) or self.api.dry_run(item)
            if answer[0] < OK_BELOW or not accepted:
                self._answers[key] = answer
            return answer

    def _require_enforced(self, item: dict[str, Any]) -> None:
        """Raise ``ChannelError`` unless Pod Security rejects a hostNetwork Pod in the namespace."""
        plain = {"name": "plain", "image": "plain"}
        spec = {"hostNetwork": True, "containers": [plain]}
        status, _ = self._once({**item, "spec": spec})
        if status < OK_BELOW:
            namespace = item["metadata"]["namespace"]
            raise ChannelError(
                f"Pod Security enforces nothing in namespace {namespace}: it took a hostNetwork Pod "
                f"with status {status}; the client may be exempt, or the admission plugin is off"
            )


def _decides(case: Case, status: int, body: str) -> bool:
    """Whether the answer to a Pod of several cases decides this one."""
    if case.outcome is Outcome.ACCEPTED:
        return 0 < status < OK_BELOW
    return refuses(status, body, case.field)


def tried(action: Action, namespace: str, level: str) -> dict[str, Any]:
    """Return the object of an admission question as a run in ``namespace`` sends it."""
    case = case_of(action)
    item = in_namespace(case, namespace_of(case, namespace))
    if item["kind"] == "Pod" and not case.level:
        spec = pod_security.secured(item["spec"], action.source.os or OS.WINDOWS, level)
        for container in (*spec.get("initContainers", ()), *spec.get("containers", ())):
            container.setdefault("resources", _RESOURCES)
        item["spec"] = spec
    return item


_RESOURCES = {"requests": {"cpu": "1m", "memory": "1Mi"}, "limits": {"cpu": "1m", "memory": "1Mi"}}
"""Requests and limits, because a ResourceQuota may demand them of every container."""


def namespace_of(case: Case, namespace: str) -> str:
    """Return the namespace for a case: that of its Pod Security level, or the run's."""
    return f"{namespace}-{case.level}" if case.level else namespace


def case_of(action: Action) -> Case:
    """Return the action's case; raises ``NoCaseError`` without one."""
    if action.case is None:
        raise NoCaseError(f"{action.question.value} without a case tests nothing")
    return action.case


def in_namespace(case: Case, namespace: str) -> dict[str, Any]:
    """Return the case's object with its namespace set."""
    item: dict[str, Any] = read_json(case.object)
    item["metadata"] = {**item.get("metadata", {}), "namespace": namespace}
    return item
