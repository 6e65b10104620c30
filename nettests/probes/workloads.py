"""Objects of single checks that create Pods: the object around a Pod, its record, its removal.

``starting`` creates Pods directly. Pods are found by a label of their template, because only a
StatefulSet's have known names. ``parse.workloads`` reads the record.
"""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass

from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.model.check import Afterwards
from nettests.model.cluster_profile import Timing
from nettests.model.json_text import Object
from nettests.model.labels import HOSTNAME_LABEL, MEMBER_LABEL, REVISION, RUN_LABEL, SET_LABEL
from nettests.model.workload import APART, ROLLS_OUT, Workload
from nettests.parse import workloads
from nettests.probes.seams import Pods

EVERY_MINUTE = "* * * * *"
MINUTE_SECONDS = 60.0
"""The longest time until an every-minute CronJob creates its first Job."""
TOLD_TRIES = 10
"""How often an object's status is read until it counts the existing Pods: controllers write it a moment later."""
TOLD_PAUSE_SECONDS = 1.0
CHANGE_TRIES = 3
"""How often a template update is tried, because another writer may cause a conflict."""
_SECOND = "second"


def around(pod: Object, kind: Workload, then: Afterwards, service: str) -> Object:
    """Return the workload of ``kind`` for such Pods, named like the Pod, with a label on them."""
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
    own_metadata = {"name": name, "namespace": metadata["namespace"], "labels": metadata["labels"]}
    return {
        "apiVersion": f"{kind.group}/v1",
        "kind": kind.value,
        "metadata": own_metadata,
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
    """Return the Pod template of an object."""
    spec = item["spec"]
    template: Object = (spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec)["template"]
    return template


def path_of(item: Object) -> str:
    """Return the API path of a workload."""
    metadata = item["metadata"]
    return f"{_listed(item)}/{metadata['name']}"


def _listed(item: Object) -> str:
    kind = Workload(item["kind"])
    return f"{kind.prefix}/namespaces/{item['metadata']['namespace']}/{kind.plural}"


def selector_of(item: Object) -> str:
    """Return the label selector for an object's Pods, without those of other runs."""
    metadata = item["metadata"]
    return f"{RUN_LABEL}={metadata['labels'][RUN_LABEL]},{SET_LABEL}={metadata['name']}"


def remove(pods: Pods, workload: Object, timing: Timing, *, wait: bool) -> None:
    """Delete an object with its dependents; failures are left to the run's clean-up."""
    with suppress(ClusterError):
        pods.delete(path_of(workload))
    if wait:
        with suppress(ChannelError):
            pods.follow_pods(
                workload["metadata"]["namespace"],
                selector_of(workload),
                settled=lambda remaining: not remaining,
                appear=timing.clean_up,
                seconds=timing.clean_up,
                stuck=timing.clean_up,
            )


@dataclass(slots=True)
class _Seen:
    """What was observed while one Pod replaced another."""

    gap: bool = False

    def rolled(self, pods: Sequence[Object]) -> bool:
        """Note whether any Pod serves; return whether all are of the second template."""
        self.gap = self.gap or not workloads.serves(pods)
        return workloads.replaced(pods, _SECOND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Working:
    """Follows the workloads of single checks."""

    pods: Pods
    timing: Timing

    def look(self, workload: Object, then: Afterwards) -> Object:
        """Return the record of an object that was just created; raises ``ChannelError``."""
        kind = Workload(workload["kind"])
        waited = self.timing.stuck + (MINUTE_SECONDS if kind is Workload.CRON_JOB else 0)
        followed = self._follow(
            workload, lambda pods: workloads.settled(pods, kind, then.how, then.says), waited
        )
        record: Object = {
            "seconds": waited,
            "first": followed[0]["metadata"]["name"] if followed else "",
        }
        if then.how == ROLLS_OUT and workloads.serves(followed):
            followed = self._roll_out(workload, record)
        current = self._wait_for_status(workload, kind, wait=bool(followed) and then.how != APART)
        failed = [pod["metadata"] for pod in workloads.failing(followed)]
        return {
            **record,
            "pods": [_essential(pod) for pod in followed],
            "own": {
                "metadata": {"generation": current["metadata"].get("generation", 0)},
                "spec": {"replicas": (current.get("spec") or {}).get("replicas", 1)},
                "status": current.get("status"),
            },
            "said": [] if followed else self._events_without_pods(workload, current),
            "events": self._events(failed[0]["namespace"], failed[0]["name"]) if failed else [],
        }

    def _events_without_pods(self, workload: Object, current: Object) -> list[Object]:
        """Return the events of an object without Pods, and of a CronJob's active Jobs."""
        jobs = (current.get("status") or {}).get("active") or ()
        names = (workload["metadata"]["name"], *(str(job["name"]) for job in jobs))
        namespace = workload["metadata"]["namespace"]
        return [event for name in names for event in self._events(namespace, name)]

    def _follow(
        self, workload: Object, settled: Callable[[Sequence[Object]], bool], appear: float
    ) -> list[Object]:
        return self.pods.follow_pods(
            workload["metadata"]["namespace"],
            selector_of(workload),
            settled=settled,
            appear=appear,
            seconds=self.timing.ready,
            stuck=self.timing.stuck,
        )

    def _roll_out(self, workload: Object, record: Object) -> list[Object]:
        """Change the template once the object's status counts its Pod; follow the replacement."""
        seen = _Seen()
        self._wait_for_status(workload, Workload.DEPLOYMENT, wait=True)
        self._change(workload)
        pods = self._follow(workload, seen.rolled, self.timing.stuck)
        record |= {"rolled": workloads.replaced(pods, _SECOND), "gap": seen.gap}
        return pods

    def _change(self, workload: Object) -> None:
        for left in reversed(range(CHANGE_TRIES)):
            item = self._read(workload)
            template = deepcopy(template_of(item))
            notes = template["metadata"].get("annotations") or {}
            template["metadata"]["annotations"] = {**notes, REVISION: _SECOND}
            changed = {**item, "spec": {**item["spec"], "template": template}}
            try:
                self.pods.update(path_of(workload), changed)
            except ClusterError as error:
                if not left:
                    raise ChannelError(error.message) from error
            else:
                return

    def _wait_for_status(self, workload: Object, kind: Workload, *, wait: bool) -> Object:
        for left in reversed(range(TOLD_TRIES if wait else 1)):
            current = self._read(workload)
            if not left or not workloads.status_lacks(kind, current):
                break
            time.sleep(TOLD_PAUSE_SECONDS)
        return current

    def _read(self, workload: Object) -> Object:
        """Return the current object, by a list request: the identity may lack the verb ``get``."""
        query = {"fieldSelector": f"metadata.name={workload['metadata']['name']}"}
        status, text = self.pods.read(_listed(workload), query)
        listed = json.loads(text).get("items") if status == 200 else None
        if not listed:
            raise ChannelError(
                f"{workload['kind']} {workload['metadata']['name']} could not be read: {text}"
            )
        current: Object = {
            "apiVersion": workload["apiVersion"],
            "kind": workload["kind"],
            **listed[0],
        }
        return current

    def _events(self, namespace: str, name: str) -> list[Object]:
        events = (event for event in self.pods.events_of(namespace, name) if event.get("message"))
        return [{key: event.get(key) for key in ("type", "reason", "message")} for event in events]


def _essential(pod: Object) -> Object:
    """Return the parts of a Pod that are read: name, template revision, deletion mark, status."""
    metadata = pod["metadata"]
    notes = metadata.get("annotations") or {}
    kept: Object = {"name": metadata["name"]}
    if REVISION in notes:
        kept["annotations"] = {REVISION: notes[REVISION]}
    if "deletionTimestamp" in metadata:
        kept["deletionTimestamp"] = metadata["deletionTimestamp"]
    return {"metadata": kept, "status": pod.get("status", {})}
