"""Make a Pod of a check's own, watch how it starts, do one thing with it, and remove it.

The examiner of ``START``. The case says what is special about the Pod; node, tolerations, labels and
image are the run's. What came of it is written down as JSON (the Pod's status, its events, what was done
afterwards) and read by ``parse.start``.
"""

import json
import threading
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.model.check import Afterwards, Ask, Case
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.profile import Timing
from nettests.model.words import OS
from nettests.parse import start
from nettests.probes.examine import Examination, case_of, in_namespace
from nettests.probes.objects import Blank
from nettests.probes.seams import Pods

Object = dict[str, Any]

PURPOSE_LABEL = "nettests.dev/purpose"
AT_ONCE = 4
"""Pods of checks' own on one node at a time: Windows nodes make sandboxes slowly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Starting:
    """Starts one Pod a question on the node in question; safe for threads."""

    pods: Pods
    blank: Blank
    facts: ClusterFacts
    timing: Timing
    _numbers: "count[int]" = field(default_factory=lambda: count(1))
    _slots: dict[str, threading.Semaphore] = field(default_factory=dict)

    def examine(self, ask: Ask) -> Examination:
        """Make the case's Pod and say what became of it; it is gone, or going, afterwards."""
        case, node = case_of(ask), self.facts.node(ask.source.node or "")
        item = pod(case, node, self.blank, f"start-{next(self._numbers)}")
        words = ("create", json.dumps(item), *_words(case.then))
        context = {
            "reasons": "\n".join(case.reasons),
            "client-node": ",".join(map(str, node.addresses)),
            **({"then": case.then.how, "says": case.then.says} if case.then else {}),
        }
        slot = self._slots.setdefault(node.name, threading.Semaphore(AT_ONCE))
        with slot:
            try:
                self.pods.create(item)
            except ClusterError as error:
                return Examination(tool="start", words=words, error=error.message, context=context)
            try:
                record = self._watch(item, case, node)
            except ChannelError as error:
                return Examination(tool="start", words=words, error=error.message, context=context)
            finally:
                self.pods.delete_pod(self.blank.namespace, item["metadata"]["name"])
        return Examination(tool="start", words=words, stdout=json.dumps(record), context=context)

    def _watch(self, item: Object, case: Case, node: NodeFacts) -> Object:
        namespace, name = self.blank.namespace, item["metadata"]["name"]
        found = self.pods.follow_pod(
            namespace,
            name,
            settled=lambda now: start.settled(now, case.reasons),
            seconds=self.timing.ready,
            stuck=self.timing.stuck,
        )
        record: Object = {"status": found.get("status", {})}
        if not start.started(found):
            record["events"] = [
                {
                    "type": event.get("type"),
                    "reason": event.get("reason"),
                    "message": event["message"],
                }
                for event in self.pods.events_of(namespace, name)
                if event.get("message")
            ]
        elif case.then is not None:
            record["then"] = self._then(case.then, item, node)
        return record

    def _then(self, then: Afterwards, item: Object, node: NodeFacts) -> Object:
        """Do what the case wants done; a channel's failure may be the answer, so it is kept as text."""
        try:
            return dict(self._done(then, item, node))
        except ChannelError as error:
            return {"error": error.message}

    def _done(self, then: Afterwards, item: Object, node: NodeFacts) -> Mapping[str, Any]:
        namespace, name = self.blank.namespace, item["metadata"]["name"]
        container = item["spec"]["containers"][0]["name"]
        match then.how:
            case "exec":
                windows = node.os is OS.WINDOWS
                at_once = self.timing.exec_windows if windows else self.timing.exec_linux
                channel = self.pods.open_exec(
                    namespace, name, container, node=node.name, at_once=at_once
                )
                with channel.slots:
                    answer = channel.run(then.words, timeout=self.timing.execute)
                return {
                    "exit_code": answer.exit_code,
                    "stdout": answer.stdout,
                    "stderr": answer.stderr,
                }
            case "log":
                return {"stdout": self.pods.log_of(namespace, name, container)}
            case "pod-proxy" | "port-forward":
                opened = self.pods.pod_proxy if then.how == "pod-proxy" else self.pods.port_forward
                port, path = then.words
                http = opened(namespace, name, int(port))
                try:
                    got = http.get(path, timeout=self.timing.channel)
                finally:
                    http.close()
                return {"status": got.status, "stdout": got.body}
        return {}


def pod(case: Case, node: NodeFacts, blank: Blank, name: str) -> Object:
    """Return the case's Pod for ``node``, with what every Pod of a run has."""
    item = deepcopy(in_namespace(case, blank.namespace))
    item["metadata"]["name"] = name
    item["metadata"]["labels"] = {**blank.labels, PURPOSE_LABEL: "start"}
    spec = item["spec"]
    spec["nodeSelector"] = {"kubernetes.io/hostname": node.name}
    spec["tolerations"] = [
        {"key": taint.key, "operator": "Exists", "effect": taint.effect} for taint in node.taints
    ]
    spec.setdefault("os", {"name": node.os.value})
    spec.setdefault("restartPolicy", "Never")
    spec.setdefault("terminationGracePeriodSeconds", 1)
    spec |= {"automountServiceAccountToken": False, "enableServiceLinks": False}
    for container in (*spec.get("initContainers", ()), *spec["containers"]):
        container.setdefault("image", blank.image)
    return item


def _words(then: Afterwards | None) -> tuple[str, ...]:
    return (then.how, *then.words) if then else ()
