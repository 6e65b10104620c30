"""Change a Service step by step, each time to other backends, and watch who answers.

Runs before the requests of ``CHURN``. Only Services that the run created for this check are
changed, and they keep their addresses: a rule that kube-proxy left behind would still lead to an
earlier backend. Every answer is journalled, but not interpreted here.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.model.check import Action, Check
from nettests.model.check_id import member_of
from nettests.model.json_text import Object, read_json
from nettests.model.observation import Attempt
from nettests.model.target_kinds import Proxy
from nettests.model.words import Question
from nettests.parse import read_raw
from nettests.parse.observe import (
    BEHIND,
    CHANGED,
    NO_ENDPOINTS,
    SEVERAL,
    WAITED,
    changed_in_place,
)
from nettests.probes.seams import Recorder, Replaces, Services
from nettests.probes.sending import Sender
from nettests.probes.service_changes import Look, Operation, Step, group_of, services_of, steps


@dataclass(slots=True)
class InStep:
    """A barrier for named threads that come to every step or leave. Thread-safe."""

    names: Iterable[str]
    _left: set[str] = field(init=False)
    """The threads that have not left."""
    _came: set[str] = field(default_factory=set)
    _step: int = 0
    _failed: Exception | None = None
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self._left = set(self.names)

    def come(self, name: str, act: Callable[[], None]) -> None:
        """Wait for all remaining threads; one calls ``act``, and all raise its exception."""
        with self._changed:
            self._came.add(name)
            step = self._step
            while self._step == step and not self._left <= self._came:
                self._changed.wait()
            if self._step == step:
                self._go_on(act)
            if self._failed is not None:
                raise self._failed

    def leave(self, name: str) -> bool:
        """Take part in no further step; return whether no thread is left."""
        with self._changed:
            self._left.discard(name)
            self._came.discard(name)
            self._changed.notify_all()
            return not self._left

    def _go_on(self, act: Callable[[], None]) -> None:
        self._failed = None
        try:
            act()
        except Exception as error:  # noqa: BLE001 - each of them has to fail as it did
            self._failed = error
        self._came.clear()
        self._step += 1
        self._changed.notify_all()


PURPOSE = "churn"
PAUSE_SECONDS = 0.3
IN_A_ROW = 20
"""Answers in a row from one backend that prove it is the only one: with two, that happens once in a million."""
SETTLING_SECONDS = 2.0
SETTLING_TIMES = 3
"""After a change that no answer shows, wait this many times the longest time of the other changes."""


class NotFollowedError(ClusterError):
    """The Service could not be read or changed."""


@dataclass(slots=True, kw_only=True)
class _Watched:
    """The state of one check while its Service changes."""

    sender: Sender
    check: Check
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(1, 1_000_000)))
    longest: float = 0
    """The most seconds that rules took to follow a change."""

    def at(self, service: str) -> Action:
        """Return the action for one connection of the check to a Service."""
        action = self.check.action
        target = replace(action.target, service=service)
        return replace(action, target=target, question=Question.REACH, connections=1)


@dataclass(slots=True)
class _Group:
    """The checks that watch the changes of one Service, and the Services before the changes."""

    in_step: InStep
    services: dict[str, Object] = field(default_factory=dict)
    followed: dict[str, float] = field(default_factory=dict)
    """The most seconds that a node's rules took to follow a change, by node; only nodes that followed all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Churn:
    """Changes Services that only one check, or its members, use; thread-safe."""

    services: Services
    namespace: str
    replacing: Replaces | None = None
    """Creates Pods for the changes that need them."""
    _groups: dict[str, _Group] = field(default_factory=dict)
    """By check id."""

    def bring_together(self, checks: Sequence[Check]) -> None:
        """Make these checks watch the same changes, each in its own thread until it ``leave``s."""
        group = _Group(InStep([check.id for check in checks]))
        self._groups.update({check.id: group for check in checks})

    def leave(self, check: Check, recorder: Recorder) -> None:
        """Note that a check is done with its Service; the last one reports how long rules took."""
        if group := self._groups.pop(check.id, None):
            last = group.in_step.leave(check.id)
            if last and group.followed:
                node = max(group.followed, key=group.followed.__getitem__)
                recorder.event(
                    f"Service {check.target.service}: rules of {len(group.followed)} nodes followed each change, "
                    f"those of {node} last, within {group.followed[node]:.1f} s"
                )

    def carry_out(self, sender: Sender, check: Check) -> Mapping[str, str]:
        """Change the Service step by step; return the context of the check's requests.

        It ends with the check's backend, or stops at the first change that the rules do not follow;
        the check then shows which backend answers instead, if any. The context names the backend
        that should answer, because rules that never left the last backend would look like rules
        that returned to it. Other checks of the same Service continue once this one has left.
        """
        group = self._groups.get(check.id) or _Group(InStep([check.id]))
        watched = _Watched(sender=sender, check=check)
        group.in_step.come(check.id, lambda: self._look_up(group, check))
        for step in steps(check, group.services):
            group.in_step.come(check.id, lambda step=step: self._change(step, check))  # type: ignore[misc]
            missed = self._missed(watched, step)
            if missed is None:
                continue
            event = missed.description or f"{_describe(step, missed)}, and its rules did not follow"
            seconds = sender.timing.convergence
            on_node = f" on {_proxy_of(check)}" if member_of(check.id) else ""
            sender.recorder.event(
                f"Service {check.target.service}: {event}{on_node} in {seconds:g} s"
            )
            return {
                BEHIND: missed.behind,
                WAITED: f"{seconds:g}",
                **({CHANGED: missed.description} if missed.description else {}),
            }
        group.followed[_proxy_of(check)] = watched.longest
        return {BEHIND: check.target.backends[0]}

    def _look_up(self, group: _Group, check: Check) -> None:
        group.services = {name: self._read(self._path(name)) for name in services_of(check)}

    def _path(self, name: str) -> str:
        return f"/api/v1/namespaces/{self.namespace}/services/{name}"

    def _read(self, path: str) -> Object:
        try:
            status, text = self.services.read(path, {})
        except ChannelError as error:
            raise NotFollowedError(error.message) from error
        if status != 200:
            raise NotFollowedError(f"{path} cannot be read: {status} {text}")
        try:
            body: Object = read_json(text)
        except ValueError as error:
            raise NotFollowedError(f"{path} cannot be read: {error}") from error
        return body

    def _change(self, step: Step, check: Check) -> None:
        path = self._path(step.service)
        match step.operation:
            case Operation.RECREATE:
                self.services.delete(path)
                self.services.create(step.item)
            case Operation.UPDATE:
                self.services.update(path, step.item)
            case Operation.REPLACE:
                if self.replacing is None:
                    raise NotFollowedError("nobody here can replace a Pod")
                (beside,) = check.target.backends
                group = group_of(step.service)
                self.replacing.replace(
                    step.gone,
                    step.comes,
                    group,
                    beside=beside,
                    keeping_address=step.keeping_address,
                )
            case Operation.DELETE:
                self.services.delete(path)
            case Operation.CREATE:
                self.services.create(step.item)
            case Operation.NOTHING:
                pass
            case _:
                assert_never(step.operation)

    def _missed(self, watched: _Watched, step: Step) -> Look | None:
        """Return the first Service whose expected backend did not answer, if any."""
        began = time.monotonic()
        until = began + (_settling(watched) if step.unseen else 0)
        for look in step.looks:
            if not self._watch(watched, look, until):
                return look
        if not step.unseen:
            watched.longest = max(watched.longest, time.monotonic() - began)
        return None

    def _watch(self, watched: _Watched, look: Look, until: float) -> bool:
        """Probe until the expected backend answers (or none, if expected); return whether it did.

        Only answers after ``until`` count, because the change may not have arrived before.
        """
        sender, check, backend = watched.sender, watched.check, look.behind
        action = watched.at(look.service)
        deadline = max(until, time.monotonic()) + sender.timing.convergence
        once_suffices = backend in {NO_ENDPOINTS, SEVERAL} or not changed_in_place(check)
        row = 0
        while True:
            raw = sender.send(check.id, PURPOSE, next(watched.numbers), action)
            attempt = None if raw.error else read_raw(raw)
            row = row + 1 if attempt is not None and _answers(attempt, backend) else 0
            if row >= (1 if once_suffices else IN_A_ROW):
                if (left := until - time.monotonic()) <= 0:
                    return True
                sender.stopped.wait(min(left, PAUSE_SECONDS))
            if time.monotonic() > deadline:
                return False
            if not row:
                time.sleep(PAUSE_SECONDS)


def _answers(attempt: Attempt, backend: str) -> bool:
    """Whether an answer shows rules that lead to ``backend``."""
    if backend == NO_ENDPOINTS:
        return not attempt.outcome.positive
    if backend == SEVERAL:
        return attempt.outcome.positive
    return attempt.backend == backend


def _proxy_of(check: Check) -> str:
    """Return the node whose rules are watched: the client's, or that of the dialled address."""
    at_target = check.target.descriptor.proxy is Proxy.TARGET
    return (check.target.node if at_target else check.source.node) or ""


def _settling(watched: _Watched) -> float:
    """Return how long a change that no answer shows may take to arrive."""
    seconds = max(SETTLING_SECONDS, SETTLING_TIMES * watched.longest)
    return min(seconds, watched.sender.timing.convergence)


def _describe(step: Step, missed: Look) -> str:
    how = (
        "changed in place to lead to"
        if step.operation is Operation.UPDATE
        else "recreated in front of"
    )
    return f"it was {how} {missed.behind}"
