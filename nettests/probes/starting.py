"""Create a Pod for a single check, watch its start, do one thing with it, and remove it.

The examiner of ``START``. The case says what is special about the Pod; node, tolerations, labels
and image are the run's. The result is recorded as JSON (the Pod's status, its events, the follow-up
action's result) and read by ``parse.start``.
"""

import json
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from nettests.bounds import Bounds, Slots, ahead, for_starts
from nettests.errors import ClusterError
from nettests.model.channel import ChannelError, ExecAnswer, HttpAnswer, SpentError
from nettests.model.check import (
    FIRST_PACKETS,
    RESTARTS,
    TERMINATES,
    UNTIL_DENIED,
    Action,
    Afterwards,
    Case,
)
from nettests.model.cluster_profile import Timing
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.json_text import Object
from nettests.model.workload import MAKES, ROLLS_OUT, WORDS, workload_of
from nettests.parse import start
from nettests.plan.pods import BUILD
from nettests.probes import pods_at_once, stateful, termination, workloads
from nettests.probes.deployment import StandingPod, StandingService
from nettests.probes.examine import Examination, case_of
from nettests.probes.isolation import path_of, policy_of
from nettests.probes.objects import Blank
from nettests.probes.pending import begin
from nettests.probes.placeholders import Placeholders
from nettests.probes.removals import Removals
from nettests.probes.rerun import HANG_SECONDS, RESOLVER_HANGS_SECONDS, Rerunning
from nettests.probes.seams import Pods
from nettests.probes.shared_pods import SharedPods, may_share
from nettests.probes.start_objects import (
    first_container,
    kind_of,
    manifest_for,
    names_of,
    names_of_many,
    pod_of,
)

LONG = frozenset({"renew", "restart", "end", TERMINATES, MAKES, ROLLS_OUT})
"""Cases with several further steps, which start first: started last, they would delay the end of a run."""
LISTENING_TRIES = 4
LISTENING_PAUSE = 1.0
EVENT_TRIES = 15
"""How often events are read for the reason of a restart: the kubelet sends them asynchronously."""
EVENT_PAUSE_SECONDS = 1.0
DENIED_TRIES = 5
"""How often a command that should be denied is tried: policy agents handle a new Pod with a short delay."""
DENIED_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Starting:
    """Starts one Pod per check on the node in question; thread-safe."""

    pods: Pods
    blank: Blank
    facts: ClusterFacts
    timing: Timing
    standing: Mapping[str, StandingPod] = field(default_factory=dict)
    """The run's Pods, which a check's own Pod may probe."""
    services: Mapping[str, StandingService] = field(default_factory=dict)
    """The run's Services, for the same."""
    _numbers: "count[int]" = field(default_factory=lambda: count(1))
    _slots: dict[str, Slots] = field(default_factory=dict)
    _shared: SharedPods = field(init=False)
    _removals: Removals = field(init=False)

    def __post_init__(self) -> None:
        remove = partial(self.pods.delete_pods, self.blank.namespace)
        object.__setattr__(self, "_removals", Removals(remove))
        object.__setattr__(self, "_shared", SharedPods(self._remove))

    def examine(self, action: Action) -> Examination:
        """Create the case's Pod and return its record; several Pods start at once.

        The Pod is removed afterwards, and recreated if its only output was lost with its stream.
        """
        if action.makes_many_pods:
            return self._at_once(action)
        for _ in range(self.timing.channel_tries - 1):
            with suppress(SpentError):
                return self._examine(action)
        try:
            return self._examine(action)
        except SpentError as error:
            return Examination(tool="start", words=("create",), error=error.message)

    def _examine(self, action: Action) -> Examination:
        node = self.facts.node(action.source.node or "")
        placeholders = self._placeholders(action)
        action = placeholders.then(action)
        case = case_of(action)
        manifest = placeholders.filled(
            manifest_for(action, node, self.blank, f"start-{next(self._numbers)}")
        )
        words = ("create", json.dumps(manifest), *_words(case.then))
        context = _context(case, node)
        slot = self._slots.setdefault(node.name, for_starts(Bounds.of(self.timing)))
        tool = "workload" if kind_of(case) else "start"
        probed = partial(Examination, tool=tool, words=words, context=context)
        if BUILD in words[1]:
            return probed(
                error=f"the Windows build of {node.name} is not known: {node.build.origin}"
            )
        # In a namespace that is not the run's own, each Pod counts against quotas: none stays longer.
        if may_share(case) and not self.blank.existing and policy_of(pod_of(manifest)) is None:
            return self._examine_shared(manifest, action, node, slot)
        turn = ahead(slot) if case.then and case.then.how in LONG else slot
        with ExitStack() as afterwards, turn, ExitStack() as inside:
            try:
                if policy := policy_of(pod_of(manifest)):
                    self.pods.create(policy)
                    afterwards.callback(self._remove_policy, policy)
                self.pods.create(manifest)
            except ClusterError as error:
                return probed(error=error.message)
            # In the run's own namespace, the next Pod need not wait for this one to terminate.
            (inside if self.blank.existing else afterwards).callback(self._remove, manifest)
            try:
                record = self._record_of(manifest, action, node)
            except SpentError:
                raise
            except ChannelError as error:
                return probed(error=error.message)
        return probed(stdout=json.dumps(record))

    def _examine_shared(
        self, manifest: Object, action: Action, node: NodeFacts, slot: Slots
    ) -> Examination:
        case = case_of(action)
        follow = partial(self._followed, case=case)
        with self._shared.one_for(manifest) as pod, slot:
            words = ("create", json.dumps(pod.manifest), *_words(case.then))
            probed = partial(Examination, tool="start", words=words, context=_context(case, node))
            try:
                started = pod.watched(self.pods.create, follow)
                record = self._record(started, pod.manifest, action, node)
            except SpentError:
                raise
            except (ChannelError, ClusterError) as error:
                return probed(error=error.message)
            return probed(stdout=json.dumps(record))

    def _record_of(self, manifest: Object, action: Action, node: NodeFacts) -> Object:
        """Return the record of the Pod, or of the workload if that is tested."""
        then = case_of(action).then
        if then is None or then.how not in WORDS:
            return self._watch(pod_of(manifest), action, node)
        return workloads.Working(pods=self.pods, timing=self.timing).look(manifest, then)

    def _at_once(self, action: Action) -> Examination:
        """Create several Pods of the case at the same time, and return all records."""
        case, node, number = (
            case_of(action),
            self.facts.node(action.source.node or ""),
            next(self._numbers),
        )
        placeholders = self._placeholders(action)
        manifests = [
            placeholders.filled(manifest_for(action, node, self.blank, name))
            for name in names_of_many(number, action.connections)
        ]
        words = ("create", json.dumps(manifests[0]), *_words(case.then), str(len(manifests)))
        records = pods_at_once.followed(
            manifests,
            Bounds.of(self.timing),
            create=self.pods.create,
            watch=lambda pod: self._watch(pod, action, node),
        )
        for pod in manifests:
            self._remove(pod)
        record = json.dumps({"node": node.name, "pods": records})
        return Examination(tool="crowd", words=words, stdout=record, context=_context(case, node))

    def _placeholders(self, action: Action) -> Placeholders:
        return Placeholders.of(
            action, self.facts, self.blank.namespace, self.standing, self.services
        )

    def _remove(self, manifest: Object) -> None:
        """Remove what the check created; if that fails, the run's clean-up removes it.

        In an existing namespace, wait until it is gone: until then it counts against quotas.
        """
        if workload_of(manifest) is not None:
            workloads.remove(self.pods, manifest, self.timing, wait=self.blank.existing)
            return
        if not self.blank.existing:
            self._removals.add(manifest)
            return
        namespace, name = self.blank.namespace, manifest["metadata"]["name"]
        self.pods.delete_pod(namespace, name)
        with suppress(ChannelError):
            self.pods.wait_gone(namespace, name, seconds=self.timing.clean_up)

    def _remove_policy(self, policy: Object) -> None:
        with suppress(ClusterError):
            self.pods.delete(path_of(policy))

    def _watch(self, item: Object, action: Action, node: NodeFacts) -> Object:
        return self._record(self._followed(item, case_of(action)), item, action, node)

    def _followed(self, item: Object, case: Case) -> Object:
        return self.pods.follow_pod(
            self.blank.namespace,
            item["metadata"]["name"],
            settled=lambda now: start.conclusive(now, case, first_container(item)),
            seconds=self.timing.ready,
            stuck=self.timing.stuck,
        )

    def _record(self, pod: Object, item: Object, action: Action, node: NodeFacts) -> Object:
        case = case_of(action)
        speaks = case.then is not None and case.then.how == FIRST_PACKETS
        record: Object = {"status": pod.get("status", {})}
        if speaks and start.ended(pod):
            # A container that never ran has no log.
            namespace, name, _ = names_of(item)
            logs: dict[str, str] = {}
            for container in (str(spec["name"]) for spec in item["spec"]["containers"]):
                with suppress(ChannelError):
                    logs[container] = self.pods.log_of(namespace, name, container)
            record["then"] = {"logs": logs}
        if not start.started(pod) or (case.then and case.then.how == RESTARTS):
            record["events"] = self._events(item, case.then)
        elif case.then is not None and not case.then.by_itself:
            if case.then.how == "renew":
                renewal = stateful.Renewal(
                    pods=self.pods,
                    facts=self.facts,
                    timing=self.timing,
                    run=lambda words: self._run(words, item, node),
                )
                record["then"] = renewal.look(item, pod, action.target.service or "")
            else:
                record["then"] = self._next_step(case.then, item, node, pod)
        return record

    def _events(self, item: Object, then: Afterwards | None) -> list[Object]:
        """Return a Pod's events; the reason of a restart may appear a moment after it."""
        namespace, name, _ = names_of(item)
        awaited = then.says if then and then.how == RESTARTS else ""
        for left in reversed(range(EVENT_TRIES if awaited else 1)):
            events = [
                event for event in self.pods.events_of(namespace, name) if event.get("message")
            ]
            if not left or any(awaited in event["message"] for event in events):
                break
            time.sleep(EVENT_PAUSE_SECONDS)
        return [{key: event.get(key) for key in ("type", "reason", "message")} for event in events]

    def _next_step(self, then: Afterwards, item: Object, node: NodeFacts, pod: Object) -> Object:
        """Run the follow-up action; a channel's failure may be the answer, so it is kept as text.

        Only a port-forward is retried here: other channels handle a lost stream themselves.
        """
        for left in reversed(range(self.timing.channel_tries if then.how == "port-forward" else 1)):
            try:
                return self._perform(then, item, node, pod)
            except SpentError:
                raise
            except ChannelError as error:
                if not left:
                    return {"error": error.message}
        return {}

    def _perform(self, then: Afterwards, item: Object, node: NodeFacts, pod: Object) -> Object:
        match then.how:
            case "exec" | "until-denied":
                ran = self._run_until(then, item, node)
                return {"exit_code": ran.exit_code, "stdout": ran.stdout, "stderr": ran.stderr}
            case "log":
                namespace, name, container = names_of(item)
                return {"stdout": self.pods.log_of(namespace, name, container)}
            case "pod-proxy" | "port-forward":
                got = self._get(then, item)
                return {"status": got.status, "stdout": got.body}
            case "port-read":
                return {"stdout": self._read(then, item)}
            case "attach":
                return {"stdout": self._attached(then, item, node)}
            case "restart":
                return self._restart(then, item, pod)
            case "end":
                return termination.ended(self.pods, item)
            case "terminates":
                return termination.terminated(self.pods, item)
        return {}

    def _run_until(self, then: Afterwards, item: Object, node: NodeFacts) -> ExecAnswer:
        """Run a command; if it should be denied, repeat it as long as it succeeds."""
        ran = self._run(then.words, item, node)
        for _ in range(DENIED_TRIES - 1 if then.how == UNTIL_DENIED else 0):
            if ran.exit_code != 0:
                break
            time.sleep(DENIED_PAUSE_SECONDS)
            ran = self._run(then.words, item, node)
        return ran

    def _run(self, words: tuple[str, ...], item: Object, node: NodeFacts) -> ExecAnswer:
        namespace, name, container = names_of(item)
        channel = self.pods.open_exec(namespace, name, container, node=node.name, os=node.os)
        with ahead(channel.slots):  # one request after another, each first in the queue
            beyond = RESOLVER_HANGS_SECONDS if words[0] == "nslookup" else HANG_SECONDS
            processes = Rerunning(channel=channel, beyond=beyond)
            return processes.run(words, timeout=self.timing.execute)

    def _attached(self, then: Afterwards, item: Object, node: NodeFacts) -> str:
        """Attach to the first container; such a stream counts against the limit of processes."""
        namespace, name, container = names_of(item)
        channel = self.pods.open_exec(namespace, name, container, node=node.name, os=node.os)
        with ahead(channel.slots):
            return self.pods.attach(namespace, name, container, until=then.says)

    def _get(self, then: Afterwards, item: Object) -> HttpAnswer:
        namespace, name, _ = names_of(item)
        forward = then.how == "port-forward"
        opened = self.pods.port_forward if forward else self.pods.pod_proxy
        port, path = then.words
        http = opened(namespace, name, int(port))
        try:
            return http.get(path, timeout=self.timing.channel)
        finally:
            http.close()

    def _read(self, then: Afterwards, item: Object) -> str:
        """Read a port; a server without readiness probe may need a moment until it listens."""
        namespace, name, _ = names_of(item)
        for left in reversed(range(LISTENING_TRIES)):
            try:
                return self.pods.read_port(
                    namespace, name, int(then.words[0]), timeout=self.timing.channel
                )
            except SpentError:
                raise
            except ChannelError:
                if not left:
                    raise
            time.sleep(LISTENING_PAUSE)
        return ""

    def _restart(self, then: Afterwards, item: Object, pod: Object) -> Object:
        """Make the first container exit by a request, and wait until the Pod is Ready again.

        The answer is not awaited, as it may be lost with the server; a Pod that the request never
        reached is unchanged after ``stuck``.
        """
        begin(lambda _: self._get(then, item))
        namespace, name, container = names_of(item)
        again = self.pods.follow_pod(
            namespace,
            name,
            settled=lambda now: start.started(now) and start.restarts(now, container) > 0,
            seconds=self.timing.ready,
            stuck=self.timing.stuck,
        )
        return {
            "before": pod["status"].get("podIP"),
            "after": again["status"].get("podIP"),
            "restarts": start.restarts(again, container) if start.started(again) else 0,
        }


def _context(case: Case, node: NodeFacts) -> dict[str, str]:
    return {
        "reasons": "\n".join(case.reasons),
        "client-node": ",".join(map(str, node.addresses)),
        **({"then": case.then.how, "says": case.then.says} if case.then else {}),
        **({"kind": kind.value} if (kind := kind_of(case)) else {}),
        **({start.WHOLE_LINE: "yes"} if case.then and case.then.whole_line else {}),
    }


def _words(then: Afterwards | None) -> tuple[str, ...]:
    return (then.how, *then.words) if then else ()
