"""What needs privileged Pods, and why it is skipped where they are not admitted. Pure.

Used by ``applies``. On Windows, HostProcess containers (KEP-1981) probe, answer over UDP and back
Services, and some cases test privileged Pods themselves.
"""

import json
from collections.abc import Iterator
from typing import Any

from nettests.model.check import Action
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.words import OS, Outcome, Question, VantageKind

Json = dict[str, Any]
HOST_PROCESS, PRIVILEGED = "HostProcess containers", "privileged containers"
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


def why_not_privileged(action: Action, facts: ClusterFacts) -> str:
    """Return why an API server without privileged containers prevents ``action``, or nothing.

    Such a server runs without ``--allow-privileged``; the reason quotes it.
    """
    if facts.privileged.value is not False:
        return ""
    on_hosts = any(node.os is OS.WINDOWS for node in _hosts(action, facts))
    what = HOST_PROCESS if on_hosts else next(_of_case(action), "")
    return f"the API server takes no {what}: {facts.privileged.origin}" if what else ""


def why_no_host_process(action: Action, facts: ClusterFacts) -> str:
    """Return which Windows node lacks HostProcess containers for ``action``, or nothing."""
    nodes = _hosts(action, facts)
    if _makes_host_process(action):
        nodes.append(facts.node(action.source.node or ""))
    lacking = [node for node in nodes if _lacks_host_process(node)]
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


def _lacks_host_process(node: NodeFacts) -> bool:
    return node.os is OS.WINDOWS and node.host_process.value is not True


def _makes_host_process(action: Action) -> bool:
    if action.question is not Question.START or action.case is None:
        return False
    return HOST_PROCESS in _kinds(json.loads(action.case.object))


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


def _kinds(item: Json) -> Iterator[str]:
    spec = item["spec"]
    holders = [spec, *(container for field in _CONTAINERS for container in spec.get(field) or ())]
    contexts = [holder.get("securityContext") or {} for holder in holders]
    if any((context.get("windowsOptions") or {}).get("hostProcess") for context in contexts):
        yield HOST_PROCESS
    if any(context.get("privileged") for context in contexts):
        yield PRIVILEGED
