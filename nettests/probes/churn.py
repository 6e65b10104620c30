"""Change a Service, each time to lead to other backends, and watch who answers.

What comes before the questions of ``CHURN``. A Service is deleted and recreated, or, where its settings say so, changed
in place: its endpoints come and go while it stays. Only the Service that the run made for this is touched, and
it keeps its address: a rule that kube-proxy left behind would still lead to a backend of before. Every
answer on the way is written to the journal; what it means is not known here.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.model.check import Action, Check
from nettests.model.json_text import read_json
from nettests.model.labels import POD_LABEL, PURPOSE_LABEL, RUN_LABEL
from nettests.model.observation import Attempt
from nettests.model.words import Question
from nettests.parse import read_raw
from nettests.parse.observe import NO_ENDPOINTS, SEVERAL, changed_in_place
from nettests.probes.seams import Services
from nettests.probes.sending import Sender

Object = dict[str, Any]

PURPOSE = "churn"
ROUNDS = 2
PAUSE_SECONDS = 0.3
IN_A_ROW = 20
"""So many answers of one backend show that no other is left; chance brings as many of two once in a million."""
_KEPT = ("name", "port", "targetPort", "protocol")


class NotFollowedError(ClusterError):
    """The Service could not be changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Churn:
    """Changes Services that one check alone uses; safe for threads."""

    services: Services
    namespace: str

    def carry_out(self, sender: Sender, check: Check) -> str:
        """Leave the Service in front of the check's backend, after many others; return who is behind it.

        It ends at the first change that the rules do not follow: what is tested then shows who answers
        instead, or that nobody does. Rules that never left the last backend would look like rules that came
        back to it: that is why it is told who should answer.
        """
        name = check.target.service or ""
        path = f"/api/v1/namespaces/{self.namespace}/services/{name}"
        known = self._read(path)
        numbers = iter(range(1, 1_000_000))
        action = replace(check.action, question=Question.REACH, connections=1)
        in_place = changed_in_place(check)
        for backend in _in_place(check) if in_place else _backends(check):
            if in_place:
                self.services.update(path, led_to(known, backend))
            else:
                self._remake(path, known, backend)
            if self._watch(sender, check, action, backend, numbers):
                continue
            seconds = sender.timing.convergence
            sender.recorder.event(
                f"Service {name} was {'changed in place to lead to' if in_place else 'recreated in front of'} "
                f"{backend}, and its rules did not follow in {seconds:g} s"
            )
            return backend
        return check.target.backends[0]

    def _read(self, path: str) -> Object:
        try:
            status, text = self.services.read(path, {})
        except ChannelError as error:
            raise NotFollowedError(error.message) from error
        if status != 200:
            raise NotFollowedError(f"{path} cannot be read: {status} {text}")
        try:
            found: Object = read_json(text)
        except ValueError as error:
            raise NotFollowedError(f"{path} cannot be read: {error}") from error
        return found

    def _remake(self, path: str, known: Object, backend: str) -> None:
        self.services.delete(path)
        self.services.create(remade(known, backend))

    def _watch(
        self, sender: Sender, check: Check, action: Action, backend: str, numbers: Iterator[int]
    ) -> bool:
        """Probe until ``backend`` answers, or nobody if there is none; return whether it came to that."""
        deadline = time.monotonic() + sender.timing.convergence
        wanted = (
            1 if backend in {NO_ENDPOINTS, SEVERAL} or not changed_in_place(check) else IN_A_ROW
        )
        row = 0
        while True:
            raw = sender.send(check.id, PURPOSE, next(numbers), action)
            attempt = None if raw.error else read_raw(raw)
            row = row + 1 if attempt is not None and _followed(attempt, backend) else 0
            if row >= wanted:
                return True
            if time.monotonic() > deadline:
                return False
            if not row:
                time.sleep(PAUSE_SECONDS)


def _followed(attempt: Attempt, backend: str) -> bool:
    """Whether an answer is that of rules which lead to ``backend``."""
    if backend == NO_ENDPOINTS:
        return not attempt.outcome.positive
    if backend == SEVERAL:
        return attempt.outcome.positive
    return attempt.backend == backend


def led_to(known: Object, backend: str) -> Object:
    """Return a Service as it stands, with a selector for one pod, for all servers, or for none."""
    marks = known["metadata"].get("labels") or {}
    run = {RUN_LABEL: marks[RUN_LABEL]} if RUN_LABEL in marks else {}
    chosen = {**run, PURPOSE_LABEL: "server"} if backend == SEVERAL else {POD_LABEL: backend}
    metadata = {key: value for key, value in known["metadata"].items() if key != "resourceVersion"}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {**known["spec"], "selector": chosen},
    }


def remade(known: Object, backend: str) -> Object:
    """Return a Service to be created as it was, at its address, in front of one pod."""
    spec = known["spec"]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {key: known["metadata"][key] for key in ("name", "namespace", "labels")},
        "spec": {
            "type": "ClusterIP",
            "clusterIP": spec["clusterIP"],
            "selector": {POD_LABEL: backend},
            "ports": [{key: port[key] for key in _KEPT if key in port} for port in spec["ports"]],
        },
    }


def _backends(check: Check) -> Iterator[str]:
    """Yield who stands behind the Service, one after the other; the last one is the check's own."""
    (final,) = check.target.backends
    for _ in range(ROUNDS):
        for former in check.target.former:
            yield former
            yield final
            yield former
        yield NO_ENDPOINTS
        yield final


def _in_place(check: Check) -> Iterator[str]:
    """Yield to whom the Service leads, one after the other: others, the check's own, several, none, several, its own."""
    (final,) = check.target.backends
    for former in check.target.former:
        yield former
        yield final
    yield SEVERAL
    yield final
    yield NO_ENDPOINTS
    yield SEVERAL
    yield final
