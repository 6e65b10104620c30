"""Create a Pod for a single check, watch its start, do one thing with it, and remove it.

The examiner of ``START``. The case says what is special about the Pod; node, tolerations, labels and image are the
run's. The result is recorded as JSON (the Pod's status, its events, what was done afterwards) and read by
``parse.start``.
"""

import json
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

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
from nettests.model.workload import MAKES, ROLLS_OUT, WORDS, Workload, workload_of
from nettests.parse import start
from nettests.plan.pods import BUILD
from nettests.probes import endings, pods_at_once, stateful, workloads
from nettests.probes.beside import begin
from nettests.probes.deployment import StandingPod, StandingService
from nettests.probes.examine import Examination, case_of
from nettests.probes.isolation import path_of, policy_of
from nettests.probes.objects import Blank
from nettests.probes.placeholders import Placeholders
from nettests.probes.rerun import HANG_SECONDS, RESOLVER_HANGS_SECONDS, Rerunning
from nettests.probes.seams import Pods
from nettests.probes.start_objects import made_for, names_of_many, pod_made

Object = dict[str, Any]

LONG = frozenset({"renew", "restart", "end", TERMINATES, MAKES, ROLLS_OUT})
"""What takes several steps afterwards is begun first: begun last, it would be all that a run still waits for."""
LISTENING_TRIES = 4
LISTENING_PAUSE = 1.0
EVENT_TRIES = 15
"""So often events are read for the reason of a restart: kubelets send them aside, one after the other."""
EVENT_PAUSE_SECONDS = 1.0
DENIED_TRIES = 5
"""So often what is to be denied is tried: agents bind a new Pod within a moment."""
DENIED_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Starting:
    """Starts one Pod a question on the node in question; safe for threads."""

    pods: Pods
    blank: Blank
    facts: ClusterFacts
    timing: Timing
    standing: Mapping[str, StandingPod] = field(default_factory=dict)
    """The run's pods, which a Pod of a check's own may probe."""
    services: Mapping[str, StandingService] = field(default_factory=dict)
    """The run's Services, likewise."""
    _numbers: "count[int]" = field(default_factory=lambda: count(1))
    _slots: dict[str, Slots] = field(default_factory=dict)

    def examine(self, action: Action) -> Examination:
        """Make the case's Pod and say what became of it; it is gone, or going, afterwards.

        A Pod that speaks once, to a stream that was lost, is recreated. Several Pods are made at the same time.
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
        """Make the Pod once; ``SpentError`` where what it said was lost."""
        node = self.facts.node(action.source.node or "")
        known = self._placeholders(action)
        action = known.then(action)
        case = case_of(action)
        made = known.filled(made_for(action, node, self.blank, f"start-{next(self._numbers)}"))
        words = ("create", json.dumps(made), *_words(case.then))
        context = _context(case, node)
        slot = self._slots.setdefault(node.name, for_starts(Bounds.of(self.timing)))
        probed = partial(Examination, tool=_tool(case), words=words, context=context)
        if BUILD in words[1]:
            return probed(
                error=f"the Windows build of {node.name} is not known: {node.build.origin}"
            )
        turn = ahead(slot) if case.then and case.then.how in LONG else slot
        with ExitStack() as afterwards, turn, ExitStack() as inside:
            try:
                if policy := policy_of(pod_made(made)):
                    self.pods.create(policy)
                    afterwards.callback(self._remove_policy, policy)
                self.pods.create(made)
            except ClusterError as error:
                return probed(error=error.message)
            # In the run's own namespace a Pod that goes holds up none that comes: the room is left before.
            (inside if self.blank.existing else afterwards).callback(self._remove, made)
            try:
                record = self._came_of(made, action, node)
            except SpentError:
                raise
            except ChannelError as error:
                return probed(error=error.message)
        return probed(stdout=json.dumps(record))

    def _came_of(self, made: Object, action: Action, node: NodeFacts) -> Object:
        """Return what became of the Pod, or of the object that makes Pods where these are what is in question."""
        then = case_of(action).then
        if then is None or then.how not in WORDS:
            return self._watch(pod_made(made), action, node)
        return workloads.Working(pods=self.pods, timing=self.timing).look(made, then)

    def _at_once(self, action: Action) -> Examination:
        """Make several Pods of the case at the same time, and say what became of each."""
        case, node, number = (
            case_of(action),
            self.facts.node(action.source.node or ""),
            next(self._numbers),
        )
        known = self._placeholders(action)
        made = [
            known.filled(made_for(action, node, self.blank, name))
            for name in names_of_many(number, action.connections)
        ]
        words = ("create", json.dumps(made[0]), *_words(case.then), str(len(made)))
        records = pods_at_once.followed(
            made,
            Bounds.of(self.timing),
            create=self.pods.create,
            watch=lambda one: self._watch(one, action, node),
        )
        for one in made:
            self._remove(one)
        record = json.dumps({"node": node.name, "pods": records})
        return Examination(tool="crowd", words=words, stdout=record, context=_context(case, node))

    def _placeholders(self, action: Action) -> Placeholders:
        """Return address and name of the server and the Service that the Pod probes, and what else a case may name."""
        return Placeholders.of(
            action, self.facts, self.blank.namespace, self.standing, self.services
        )

    def _remove(self, made: Object) -> None:
        """Remove what the check made; what stays is left to the end of the run.

        In a namespace of others, which may have a quota, a Pod counts until it is gone.
        """
        if workload_of(made) is not None:
            workloads.remove(self.pods, made, self.timing, wait=self.blank.existing)
            return
        namespace, name = self.blank.namespace, made["metadata"]["name"]
        self.pods.delete_pod(namespace, name)
        if self.blank.existing:
            with suppress(ChannelError):
                self.pods.wait_gone(namespace, name, seconds=self.timing.clean_up)

    def _remove_policy(self, policy: Object) -> None:
        with suppress(ClusterError):
            self.pods.delete(path_of(policy))

    def _watch(self, item: Object, action: Action, node: NodeFacts) -> Object:
        case, namespace, name = case_of(action), self.blank.namespace, item["metadata"]["name"]
        speaks = case.then is not None and case.then.how == FIRST_PACKETS
        found = self.pods.follow_pod(
            namespace,
            name,
            settled=lambda now: start.come(now, case, _first(item)),
            seconds=self.timing.ready,
            stuck=self.timing.stuck,
        )
        record: Object = {"status": found.get("status", {})}
        if speaks and start.ended(found):
            record["then"] = {"logs": self._logs(item)}
        if not start.started(found) or (case.then and case.then.how == RESTARTS):
            record["events"] = self._events(item, case.then)
        elif case.then is not None and not case.then.by_itself:
            if case.then.how == "renew":
                record["then"] = self._renew(action, item, node, found)
            else:
                record["then"] = self._then(case.then, item, node, found)
        return record

    def _events(self, item: Object, then: Afterwards | None) -> list[Object]:
        """Return what events say of a Pod; a restart's reason may be told a moment after it."""
        namespace, name, _ = _names(item)
        awaited = then.says if then and then.how == RESTARTS else ""
        for left in reversed(range(EVENT_TRIES if awaited else 1)):
            told = [one for one in self.pods.events_of(namespace, name) if one.get("message")]
            if not left or any(awaited in one["message"] for one in told):
                break
            time.sleep(EVENT_PAUSE_SECONDS)
        return [{key: one.get(key) for key in ("type", "reason", "message")} for one in told]

    def _logs(self, item: Object) -> dict[str, str]:
        """Return what each container of a Pod wrote; one that never ran wrote nothing."""
        namespace, name, _ = _names(item)
        logs: dict[str, str] = {}
        for container in (str(one["name"]) for one in item["spec"]["containers"]):
            with suppress(ChannelError):
                logs[container] = self.pods.log_of(namespace, name, container)
        return logs

    def _then(self, then: Afterwards, item: Object, node: NodeFacts, found: Object) -> Object:
        """Do what the case wants done; a channel's failure may be the answer, so it is kept as text.

        Only a forwarding is recreated here: other channels bear a lost stream themselves.
        """
        for left in reversed(range(self.timing.channel_tries if then.how == "port-forward" else 1)):
            try:
                return self._done(then, item, node, found)
            except SpentError:
                raise
            except ChannelError as error:
                if not left:
                    return {"error": error.message}
        return {}

    def _done(self, then: Afterwards, item: Object, node: NodeFacts, found: Object) -> Object:
        match then.how:
            case "exec" | "until-denied":
                ran = self._run_until(then, item, node)
                return {"exit_code": ran.exit_code, "stdout": ran.stdout, "stderr": ran.stderr}
            case "log":
                namespace, name, container = _names(item)
                return {"stdout": self.pods.log_of(namespace, name, container)}
            case "pod-proxy" | "port-forward":
                got = self._get(then, item)
                return {"status": got.status, "stdout": got.body}
            case "port-read":
                return {"stdout": self._read(then, item)}
            case "attach":
                return {"stdout": self._attached(then, item, node)}
            case "restart":
                return self._restart(then, item, found)
            case "end":
                return endings.ended(self.pods, item)
            case "terminates":
                return endings.terminated(self.pods, item)
        return {}

    def _renew(self, action: Action, item: Object, node: NodeFacts, found: Object) -> Object:
        renewal = stateful.Renewal(
            pods=self.pods,
            facts=self.facts,
            timing=self.timing,
            run=lambda words: self._run(words, item, node),
        )
        return renewal.look(item, found, action.target.service or "")

    def _run_until(self, then: Afterwards, item: Object, node: NodeFacts) -> ExecAnswer:
        """Run a command, again as long as it succeeds where it is to be denied."""
        ran = self._run(then.words, item, node)
        for _ in range(DENIED_TRIES - 1 if then.how == UNTIL_DENIED else 0):
            if ran.exit_code != 0:
                break
            time.sleep(DENIED_PAUSE_SECONDS)
            ran = self._run(then.words, item, node)
        return ran

    def _run(self, words: tuple[str, ...], item: Object, node: NodeFacts) -> ExecAnswer:
        namespace, name, container = _names(item)
        channel = self.pods.open_exec(namespace, name, container, node=node.name, os=node.os)
        with ahead(channel.slots):  # one question after another: a late one would end last
            beyond = RESOLVER_HANGS_SECONDS if words[0] == "nslookup" else HANG_SECONDS
            processes = Rerunning(channel=channel, beyond=beyond)
            return processes.run(words, timeout=self.timing.execute)

    def _attached(self, then: Afterwards, item: Object, node: NodeFacts) -> str:
        """Listen to the first container; a stream of its runtime, which is bounded as processes are."""
        namespace, name, container = _names(item)
        channel = self.pods.open_exec(namespace, name, container, node=node.name, os=node.os)
        with ahead(channel.slots):
            return self.pods.attach(namespace, name, container, until=then.says)

    def _get(self, then: Afterwards, item: Object) -> HttpAnswer:
        namespace, name, _ = _names(item)
        forward = then.how == "port-forward"
        opened = self.pods.port_forward if forward else self.pods.pod_proxy
        port, path = then.words
        http = opened(namespace, name, int(port))
        try:
            return http.get(path, timeout=self.timing.channel)
        finally:
            http.close()

    def _read(self, then: Afterwards, item: Object) -> str:
        """Read a port; a server that need not be Ready may need a moment until it listens."""
        namespace, name, _ = _names(item)
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

    def _restart(self, then: Afterwards, item: Object, found: Object) -> Object:
        """End the first container by a request, and see the Pod Ready with it again.

        Nobody waits for the answer, which may be lost with the server: a Pod that no request reaches is as it was
        when ``stuck`` is over, and not when the answer is.
        """
        begin(lambda _: self._get(then, item))
        namespace, name, container = _names(item)
        again = self.pods.follow_pod(
            namespace,
            name,
            settled=lambda now: start.started(now) and start.restarts(now, container) > 0,
            seconds=self.timing.ready,
            stuck=self.timing.stuck,
        )
        return {
            "before": found["status"].get("podIP"),
            "after": again["status"].get("podIP"),
            "restarts": start.restarts(again, container) if start.started(again) else 0,
        }


def _context(case: Case, node: NodeFacts) -> dict[str, str]:
    """Return what the parser has to know of a case and of the node of its Pods."""
    return {
        "reasons": "\n".join(case.reasons),
        "client-node": ",".join(map(str, node.addresses)),
        **({"then": case.then.how, "says": case.then.says} if case.then else {}),
        **({"kind": kind.value} if (kind := _kind(case)) else {}),
        **({start.WHOLE_LINE: "yes"} if case.then and case.then.whole_line else {}),
    }


def _kind(case: Case) -> Workload | None:
    """Return the kind of the object that makes Pods, where these are what is in question."""
    worked = case.then is not None and case.then.how in WORDS
    return workload_of(json.loads(case.object)) if worked else None


def _tool(case: Case) -> str:
    return "workload" if _kind(case) else "start"


def _names(item: Object) -> tuple[str, str, str]:
    """Return namespace, name and first container of a Pod."""
    metadata = item["metadata"]
    return metadata["namespace"], metadata["name"], _first(item)


def _first(item: Object) -> str:
    return str(item["spec"]["containers"][0]["name"])


def _words(then: Afterwards | None) -> tuple[str, ...]:
    return (then.how, *then.words) if then else ()
