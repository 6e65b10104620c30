"""Objects that make Pods, of single checks: the object around a Pod, what comes of it, and its removal.

Beside ``starting``, which makes Pods alone. Pods are found by a label of their template: all but StatefulSets name
them as they come. What was seen is a record for ``parse.workloads``.
"""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.model.check import Afterwards
from nettests.model.cluster_profile import Timing
from nettests.model.labels import HOSTNAME_LABEL, MEMBER_LABEL, REVISION, RUN_LABEL, SET_LABEL
from nettests.model.workload import APART, ROLLS_OUT, Workload
from nettests.parse import workloads
from nettests.probes.seams import Pods

Object = dict[str, Any]

EVERY_MINUTE = "* * * * *"
MINUTE_SECONDS = 60.0
"""So long after its creation a CronJob of every minute makes its first Job, at most."""
TOLD_TRIES = 10
"""So often an object's status is read until it tells of Pods that are there: its controller writes it a moment later."""
TOLD_PAUSE_SECONDS = 1.0
CHANGE_TRIES = 3
"""So often a template is changed where somebody else's change of the object came between."""
_SECOND = "second"


def around(pod: Object, kind: Workload, then: Afterwards, service: str) -> Object:
    """Return the object of ``kind`` that makes such Pods: named after the Pod, with a label to find them by."""
    metadata = pod["metadata"]
    name = metadata["name"]
    labels = {**metadata["labels"], SET_LABEL: name}
    if kind is Workload.STATEFUL_SET:
        labels[f"{MEMBER_LABEL}{service}"] = "true"
    kept = {key: value for key, value in metadata.items() if key != "name"}
    spec = {k: v for k, v in pod["spec"].items() if kind.ends or k != "restartPolicy"}
    template = {"metadata": {**kept, "labels": labels}, "spec": spec}
    if then.how == APART:
        term = {
            "labelSelector": {"matchLabels": {SET_LABEL: name}},
            "topologyKey": HOSTNAME_LABEL,
        }
        required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        template["spec"] = {**spec, "affinity": {"podAntiAffinity": required}}
    own = {"name": name, "namespace": metadata["namespace"], "labels": metadata["labels"]}
    return {
        "apiVersion": f"{kind.group}/v1",
        "kind": kind.value,
        "metadata": own,
        "spec": _spec(kind, template, name, then, service),
    }


def _spec(kind: Workload, template: Object, name: str, then: Afterwards, service: str) -> Object:
    chosen = {"selector": {"matchLabels": {SET_LABEL: name}}, "template": template}
    match kind:
        case Workload.STATEFUL_SET:
            return {"serviceName": service, "replicas": 1, **chosen}
        case Workload.DEPLOYMENT:
            limits = {"maxSurge": 1, "maxUnavailable": 0}
            return {
                "replicas": 2 if then.how == APART else 1,
                "strategy": {"type": "RollingUpdate", "rollingUpdate": limits},
                **chosen,
            }
        case Workload.DAEMON_SET:
            return chosen
        case Workload.JOB:
            return {"backoffLimit": 0, "template": template}
        case Workload.CRON_JOB:
            return {
                "schedule": EVERY_MINUTE,
                "concurrencyPolicy": "Forbid",
                "jobTemplate": {"spec": {"backoffLimit": 0, "template": template}},
            }


def template_of(item: Object) -> Object:
    """Return the template of the Pods that an object makes."""
    spec = item["spec"]
    template: Object = (spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec)["template"]
    return template


def path_of(item: Object) -> str:
    """Return where an object that makes Pods is found."""
    metadata = item["metadata"]
    return f"{_listed(item)}/{metadata['name']}"


def _listed(item: Object) -> str:
    kind = Workload(item["kind"])
    return f"{kind.prefix}/namespaces/{item['metadata']['namespace']}/{kind.plural}"


def selector_of(item: Object) -> str:
    """Return the selector of the labels by which the Pods of an object are found, and none that another run left."""
    metadata = item["metadata"]
    return f"{RUN_LABEL}={metadata['labels'][RUN_LABEL]},{SET_LABEL}={metadata['name']}"


def remove(pods: Pods, made: Object, timing: Timing, *, wait: bool) -> None:
    """Delete an object with what belongs to it, and ``wait`` for its Pods to go; what stays is left to the end of the run."""
    with suppress(ClusterError):
        pods.delete(path_of(made))
    if wait:
        with suppress(ChannelError):
            pods.follow_pods(
                made["metadata"]["namespace"],
                selector_of(made),
                settled=lambda found: not found,
                appear=timing.clean_up,
                seconds=timing.clean_up,
                stuck=timing.clean_up,
            )


@dataclass(slots=True)
class _Seen:
    """What was seen of Pods while one replaced another."""

    gap: bool = False

    def rolled(self, pods: Sequence[Object]) -> bool:
        """Note whether any serves, and say whether all of them are of the second template."""
        self.gap = self.gap or not workloads.serves(pods)
        return workloads.replaced(pods, _SECOND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Working:
    """Follows the objects of single checks that make Pods."""

    pods: Pods
    timing: Timing

    def look(self, made: Object, then: Afterwards) -> Object:
        """Return what came of an object that was just created; ``ChannelError`` where that cannot be seen."""
        kind = Workload(made["kind"])
        waited = self._patience(kind)
        found = self._follow(
            made, lambda pods: workloads.settled(pods, then.how, then.says), waited
        )
        record: Object = {"seconds": waited, "first": found[0]["metadata"]["name"] if found else ""}
        if then.how == ROLLS_OUT and workloads.serves(found):
            found = self._roll_out(made, record)
        own = self._told(made, kind, wait=bool(found) and then.how != APART)
        return {
            **record,
            "pods": [_essential(one) for one in found],
            "own": {
                "metadata": {"generation": own["metadata"].get("generation", 0)},
                "spec": {"replicas": (own.get("spec") or {}).get("replicas", 1)},
                "status": own.get("status"),
            },
            "said": [] if found else self._said(made, own),
            "events": self._of_failing(found),
        }

    def _said(self, made: Object, own: Object) -> list[Object]:
        """Return what events say of an object without Pods, and of the Jobs that a CronJob made."""
        jobs = (own.get("status") or {}).get("active") or ()
        names = (made["metadata"]["name"], *(str(job["name"]) for job in jobs))
        namespace = made["metadata"]["namespace"]
        return [event for name in names for event in self._events(namespace, name)]

    def _patience(self, kind: Workload) -> float:
        """Return how long the first Pod of an object is waited for: controllers act within seconds, or by the minute."""
        return self.timing.stuck + (MINUTE_SECONDS if kind is Workload.CRON_JOB else 0)

    def _follow(
        self, made: Object, settled: Callable[[Sequence[Object]], bool], appear: float
    ) -> list[Object]:
        return self.pods.follow_pods(
            made["metadata"]["namespace"],
            selector_of(made),
            settled=settled,
            appear=appear,
            seconds=self.timing.ready,
            stuck=self.timing.stuck,
        )

    def _roll_out(self, made: Object, record: Object) -> list[Object]:
        """Change the template once the object knows of its Pod, and follow how that is replaced."""
        seen = _Seen()
        self._told(made, Workload.DEPLOYMENT, wait=True)
        self._change(made)
        found = self._follow(made, seen.rolled, self.timing.stuck)
        record |= {"rolled": workloads.replaced(found, _SECOND), "gap": seen.gap}
        return found

    def _change(self, made: Object) -> None:
        for left in reversed(range(CHANGE_TRIES)):
            item = self._read(made)
            template = deepcopy(template_of(item))
            notes = template["metadata"].get("annotations") or {}
            template["metadata"]["annotations"] = {**notes, REVISION: _SECOND}
            changed = {**item, "spec": {**item["spec"], "template": template}}
            try:
                self.pods.update(path_of(made), changed)
            except ClusterError as error:
                if not left:
                    raise ChannelError(error.message) from error
            else:
                return

    def _told(self, made: Object, kind: Workload, *, wait: bool) -> Object:
        """Return the object once its status tells of its Pods, or as it is in the end."""
        for left in reversed(range(TOLD_TRIES if wait else 1)):
            own = self._read(made)
            if not left or not workloads.status_lacks(kind, own):
                break
            time.sleep(TOLD_PAUSE_SECONDS)
        return own

    def _read(self, made: Object) -> Object:
        """Return the object as it stands; listing it takes no verb that its removal does not take."""
        query = {"fieldSelector": f"metadata.name={made['metadata']['name']}"}
        status, text = self.pods.read(_listed(made), query)
        listed = json.loads(text).get("items") if status == 200 else None
        if not listed:
            raise ChannelError(
                f"{made['kind']} {made['metadata']['name']} could not be read: {text}"
            )
        found: Object = {"apiVersion": made["apiVersion"], "kind": made["kind"], **listed[0]}
        return found

    def _of_failing(self, found: Sequence[Object]) -> list[Object]:
        failed = [one["metadata"] for one in workloads.failing(found)]
        return self._events(failed[0]["namespace"], failed[0]["name"]) if failed else []

    def _events(self, namespace: str, name: str) -> list[Object]:
        told = (one for one in self.pods.events_of(namespace, name) if one.get("message"))
        return [{key: one.get(key) for key in ("type", "reason", "message")} for one in told]


def _essential(pod: Object) -> Object:
    """Return what of a Pod is read: its name, its marks of a template and of its end, and its status."""
    metadata = pod["metadata"]
    notes = metadata.get("annotations") or {}
    kept: Object = {"name": metadata["name"]}
    if REVISION in notes:
        kept["annotations"] = {REVISION: notes[REVISION]}
    if "deletionTimestamp" in metadata:
        kept["deletionTimestamp"] = metadata["deletionTimestamp"]
    return {"metadata": kept, "status": pod.get("status", {})}
