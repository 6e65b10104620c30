"""Checks without a path: API server admission, node configuration, Pod start.

An examiner does for one ``Question`` what ``commands`` and channels do for packets. Its answer is
journalled and read by the parser that it names. ``starting`` is the one that creates Pods.

Dry runs of several cases share a Pod: validation reports every field that it refuses, so one answer
is as exact as one for each field, and an accepted Pod has no field that is refused. What one
security context demands lies in itself (``ValidateSecurityContext``), so each has a container of
its own. A case that the answer does not decide is tried alone.
"""

import json
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Protocol

from nettests.errors import NettestsError
from nettests.model.channel import ChannelError
from nettests.model.check import Action, Case
from nettests.model.json_text import Object, read_json
from nettests.model.words import OS, Outcome, Question
from nettests.parse.admission import refuses
from nettests.plan import pod_security
from nettests.plan.cases import STEERED
from nettests.probes.seams import ApiServer

Keys = tuple[str | int, ...]


def gathered(pods: Iterable[tuple[Case, Object]]) -> dict[Case, Object]:
    """Return, by case, the Pod that decides it together with others, if there is one."""
    pods = list(pods)
    return _refused(pods) | _accepted(pods)


def _refused(pods: Iterable[tuple[Case, Object]]) -> dict[Case, Object]:
    """Return the Pod that has the fields of all cases that differ in their field only."""
    alike: defaultdict[str, dict[Keys, tuple[Case, Object]]] = defaultdict(dict)
    for case, pod in pods:
        keys = tuple(_keys(case.field))
        refused = case.outcome is Outcome.REJECTED and not case.level and case.then is None
        if refused and (rest := _without(pod, keys)) is not None:
            alike[rest].setdefault(keys, (case, pod))
    together: dict[Case, Object] = {}
    for fields in alike.values():
        apart = [keys for keys in fields if not any(_within(keys, other) for other in fields)]
        if len(apart) > 1:
            pod = deepcopy(fields[apart[0]][1])
            for keys in apart[1:]:
                _set(pod, keys, _get(fields[keys][1], keys))
            together |= {fields[keys][0]: pod for keys in apart}
    return together


def _accepted(pods: Iterable[tuple[Case, Object]]) -> dict[Case, Object]:
    """Return the Pod that has the security contexts of all cases that differ in these only."""
    alike: defaultdict[str, list[tuple[Case, Object]]] = defaultdict(list)
    for case, pod in pods:
        if case.outcome is Outcome.ACCEPTED and not case.level and pod["kind"] == "Pod":
            rest = deepcopy(pod)
            for holder in (rest["spec"], *rest["spec"]["containers"]):
                holder.pop("securityContext", None)
            alike[json.dumps(rest, sort_keys=True)].append((case, pod))
    together: dict[Case, Object] = {}
    for cases in alike.values():
        pod, decided = deepcopy(cases[0][1]), {cases[0][0]: None}
        for case, other in cases[1:]:
            context = pod["spec"].setdefault("securityContext", {})
            further = other["spec"].get("securityContext", {})
            if all(context.get(key, value) == value for key, value in further.items()):
                context |= further
                _add_containers(pod["spec"]["containers"], other["spec"]["containers"])
                decided[case] = None
        if len(decided) > 1:
            together |= dict.fromkeys(decided, pod)
    return together


def _add_containers(containers: list[Object], others: Iterable[Object]) -> None:
    """Add containers under names of their own, unless one is there that differs in its name only."""
    for other in others:
        name = f"{other['name']}-{len(containers)}"
        if all({**container, "name": name} != {**other, "name": name} for container in containers):
            containers.append({**other, "name": name})


def _keys(field: str) -> Iterator[str | int]:
    """Yield the keys of a field's path."""
    # sample: spec.initContainers[0].securityContext.runAsUser
    for part in field.split("."):
        name, _, index = part.partition("[")
        yield name
        if index:
            yield int(index.removesuffix("]"))


def _within(keys: Keys, other: Keys) -> bool:
    return keys != other and keys[: len(other)] == other


def _get(item: Any, keys: Keys) -> Any:
    for key in keys:
        item = item[key]
    return item


def _set(item: Any, keys: Keys, value: Any) -> None:
    for key in keys[:-1]:
        item = item.setdefault(key, {}) if isinstance(item, dict) else item[key]
    item[keys[-1]] = value


def _without(pod: Object, keys: Keys) -> str | None:
    """Return a Pod without one field, and without what held only that; ``None`` if it has no such field."""
    rest = deepcopy(pod)
    try:
        _get(rest, keys)
    except (LookupError, TypeError):
        return None
    for length in range(len(keys), 0, -1):
        holder = _get(rest, keys[: length - 1])
        if not isinstance(holder, dict):
            break
        del holder[keys[length - 1]]
        if holder:
            break
    return json.dumps(rest, sort_keys=True)


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
