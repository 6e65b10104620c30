"""The engine: run all checks concurrently, each once, and write everything to the journal.

Checks are grouped by source probe and limited per probe and node. Checks of a Service start when it
has converged for them or, while it stays silent, earlier with their answers held back (``speculative``).
Most time is spent waiting, so there are many threads. Disruptive checks run while no other check
does.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest

from nettests.bounds import Bounds, Slots, for_checks
from nettests.model.check import Check
from nettests.model.check_id import parent_of
from nettests.model.grouping import grouped
from nettests.model.words import CheckClass, Question
from nettests.probes.arrivals import Arrivals
from nettests.probes.attempts import Attempts
from nettests.probes.check_run import CheckRun
from nettests.probes.churn import Churn
from nettests.probes.controls import Controls
from nettests.probes.convergence import Convergence, Deadlines, Polling, polling
from nettests.probes.families import can_probe, why_lacking
from nettests.probes.origin import Capabilities, Origins
from nettests.probes.seams import Recorder
from nettests.probes.sending import Sender
from nettests.probes.sentinel_first import SentinelFirst
from nettests.probes.service_pairs import Pair, name_forms, pairs_of
from nettests.probes.speculative import Held, Lateness, SpeculativeRun, Waiting, lateness


@dataclass(slots=True)
class Phases:
    """Separates calm checks from disruptive ones; thread-safe.

    A calm check is announced when it is queued, so that disruptive checks wait for the queue, too.
    """

    _changed: threading.Condition = field(default_factory=threading.Condition)
    _announced: int = 0
    _disrupted: bool = False

    def announce(self) -> None:
        """Announce a calm check; it must enter ``calm`` or ``withdraw``."""
        with self._changed:
            self._announced += 1

    def withdraw(self) -> None:
        """Withdraw an announced check that will not run, or has run."""
        with self._changed:
            self._announced -= 1
            self._changed.notify_all()

    @contextmanager
    def calm(self) -> Iterator[None]:
        """Run one announced check, at the same time as other calm ones."""
        with self._changed:
            self._changed.wait_for(lambda: not self._disrupted)
        try:
            yield
        finally:
            self.withdraw()

    @contextmanager
    def disruptive(self) -> Iterator[None]:
        """Wait until every announced check has run, and keep others from starting."""
        with self._changed:
            self._changed.wait_for(lambda: self._announced <= 0)
            self._disrupted = True
        try:
            yield
        finally:
            with self._changed:
                self._disrupted = False
                self._changed.notify_all()


LATE_SECONDS = 20
"""The most seconds that disruptive checks wait for Services to converge."""


@dataclass(slots=True)
class Observer:
    """Runs the checks of one run; ``problems`` holds why probes are unusable, by their names."""

    sender: Sender
    checks: Sequence[Check]
    problems: Mapping[str, str] = field(default_factory=dict)
    on_progress: Callable[[str, int, int], None] = lambda *_: None
    churn: Churn | None = None
    """Changes Services for the checks that test changes."""
    single_stack: Mapping[str, str] = field(default_factory=dict)
    """The limitation that allows a node pool's Pods a single IP family, by pool."""
    late: float = LATE_SECONDS
    arrivals: Arrivals | None = None
    """Searches servers' logs for packets that were not answered."""
    works: Callable[[str, str], bool] = lambda _probe, _need: False
    """Whether a calibration has shown that a probe has a program."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _phases: Phases = field(default_factory=Phases)
    _check_run: CheckRun = field(init=False)
    _beginning: Slots = field(init=False)
    _lateness: Lateness = field(init=False)
    _waiting: dict[str, Waiting] = field(init=False)
    _users: dict[Pair, list[Check]] = field(default_factory=lambda: defaultdict(list))
    _stalled: set[Pair] = field(default_factory=set)
    _finished: int = 0
    _converged: int = 0

    def run(self) -> None:
        """Run every check; return when the last one is done, or soon after ``stop``."""
        self._find_awaited()
        self._beginning = for_checks(self._bounds)
        self._check_run = CheckRun(
            sender=self.sender,
            attempts=Attempts(
                churn=self.churn,
                controls=Controls(self.sender.stopped),
                arrivals=self.arrivals,
            ),
            origins=Origins(self.sender),
            capabilities=Capabilities(self.sender, self.works),
            problems=self.problems,
            single_stack=self.single_stack,
            late=self._lateness.of,
            services=self.churn.services if self.churn else None,
        )
        waiting = self._waiting
        polls = polling(self.sender)
        first = SentinelFirst(
            self._users, self.sender.directory.deployment.sentinel, self._bounds.waiting_services
        )
        convergence = Convergence(
            polls,
            name_forms(self.checks),
            self._deadlines(),
            under_way=1 if first.many else self._bounds.polls_per_service,
        )
        converge = partial(self._converge, polls=polls, convergence=convergence, first=first)
        calm = [check for check in interleaved(self.checks) if _calm(check)]
        free = [check for check in calm if not waiting[check.id].pairs]
        disruptive = [check for check in self.checks if not _calm(check)]
        before = {pair for check in disruptive for pair in waiting[check.id].pairs}
        with (
            ThreadPoolExecutor(self._bounds.waiting_checks, "observe") as senders,
            ThreadPoolExecutor(self._bounds.waiting_services, "converge") as pollers,
        ):
            start = partial(pollers.submit, converge, senders=senders)
            gates = {pair: start(pair) for pair in first.in_order()}
            for check in free:
                self._queue(senders, partial(self._observe, check))
            if disruptive:
                wait(gates.values(), timeout=self.late)
                wait([gates[pair] for pair in before])
                self._disrupt(disruptive)
            for gate in gates.values():
                gate.result()

    @property
    def _bounds(self) -> Bounds:
        return Bounds.of(self.sender.timing)

    def stop(self) -> None:
        """Start no further check."""
        self.sender.stopped.set()

    def _find_awaited(self) -> None:
        """Find what each check waits for, and start to track lateness."""
        probe_on = {
            pod.node: pod.name
            for pod in self.sender.directory.deployment.pods.values()
            if pod.purpose == "probe" and pod.name in self.sender.probes
        }
        sentinel = self.sender.directory.deployment.sentinel
        awaited = {check.id: set(self._awaited(check, probe_on, sentinel)) for check in self.checks}
        self._lateness = lateness(self.sender.directory, self.checks, awaited, probe_on)
        self._waiting = {check: Waiting(pairs) for check, pairs in awaited.items()}
        for check in self.checks:
            for pair in awaited[check.id]:
                self._users[pair].append(check)

    def _awaited(
        self, check: Check, probe_on: dict[str, str], sentinel: str | None
    ) -> Iterator[Pair]:
        """Yield the pairs that must answer before the check; none if it cannot run."""
        lacking = why_lacking(check.action, self.sender.directory, self.single_stack)
        if lacking or check.source.probe in self.problems:
            return
        directory = self.sender.directory
        for pair in pairs_of(check, probe_on, sentinel):
            if can_probe(pair.probe, pair.family, directory) and not directory.deserted(pair.name):
                yield pair

    def _deadlines(self) -> Deadlines:
        directory = self.sender.directory
        systems = {
            pod.name: directory.facts.node(pod.node).os
            for pod in directory.deployment.pods.values()
        }
        return Deadlines(self.sender.timing, systems)

    def _converge(
        self,
        pair: Pair,
        *,
        polls: Polling,
        convergence: Convergence,
        first: SentinelFirst,
        senders: Executor,
    ) -> None:
        """Wait for one pair, then run the checks that waited for it."""
        stopped = self.sender.stopped
        stalled = partial(self._run_speculatively, pair, senders)
        first.wait(pair, stopped)
        waited = None if stopped.is_set() else convergence.wait_for(pair, stalled)
        first.settle(pair)
        converged = waited is not None and not waited.silent
        if converged:
            self._lateness.answered(pair)
        elif waited is not None and not stopped.is_set():
            if why := polls.why_deaf(pair.probe):
                problem = f"{pair.probe} {why} while {pair.name} was waited for"
                self.sender.recorder.event(f"{problem}: nothing is said of its rules")
            else:
                overloaded = polls.why_overloaded(pair.probe)
                self._lateness.missed(pair, waited.silent, waited.seconds, overloaded=overloaded)
        with self._lock:
            self._converged += 1
            self.on_progress("converge", self._converged, len(self._users))
            for check in self._users[pair]:
                self._waiting[check.id].settle(pair, converged=converged or stopped.is_set())
                self._next_for(check, senders)

    def _run_speculatively(self, pair: Pair, senders: Executor) -> None:
        """Run the checks speculatively that wait only for stalled pairs, such as ``pair``."""
        with self._lock:
            self._stalled.add(pair)
            for check in self._users[pair]:
                self._next_for(check, senders)

    def _next_for(self, check: Check, senders: Executor) -> None:
        """Run a calm check if every pair that it waits for is settled or stalled."""
        waiting = self._waiting[check.id]
        if not _calm(check):
            return
        if not waiting.pairs:
            run = waiting.kept()
            action = partial(self._release, run) if run else self._observe
            self._queue(senders, partial(action, check))
        elif waiting.may_begin(self._stalled):
            held = Held(self.sender.recorder, check.action.question)
            void = threading.Event()
            carry_out = partial(self._carry_out, check, held, void)
            probed = self._queue(senders, carry_out)
            waiting.run = SpeculativeRun(frozenset(waiting.pairs), held, probed, void)

    def _queue(self, senders: Executor, action: Callable[[], None]) -> Future[None]:
        """Queue a calm check, announced at once: others wait for announced checks only."""
        self._phases.announce()
        try:
            return senders.submit(self._in_turn, action)
        except RuntimeError:  # no thread left: disruptive checks must not wait for this one
            self._phases.withdraw()
            raise

    def _in_turn(self, action: Callable[[], None]) -> None:
        with self._phases.calm():
            action()

    def _disrupt(self, checks: Sequence[Check]) -> None:
        groups = _together([check for check in checks if not check.action.question.alone])
        with self._phases.disruptive():
            with ThreadPoolExecutor(self._bounds.disruptive, "disrupt") as senders:
                probed = [
                    senders.submit(self._watch_together, group)
                    for group in groups
                    if not group[0].action.makes_many_pods
                ]
            for observation in probed:
                observation.result()  # raises if the journal cannot be written
            for group in groups:
                if group[0].action.makes_many_pods:
                    self._watch_together(group)
        for taking in one_after_the_other(checks, self._bounds.captures):
            pool = ThreadPoolExecutor(self._bounds.waiting_checks, "disrupt")
            with self._phases.disruptive(), pool as senders:
                probed = [senders.submit(self._observe, check) for check in taking]
            for observation in probed:
                observation.result()

    def _watch_together(self, checks: Sequence[Check]) -> None:
        """Run a group's checks in threads: they follow each change of their Service together."""
        most = self._bounds.watchers
        for together in (checks[first : first + most] for first in range(0, len(checks), most)):
            if self.churn is not None:
                self.churn.bring_together(together)
            with ThreadPoolExecutor(self._bounds.watchers, "watch") as senders:
                probed = [senders.submit(self._watch, check) for check in together]
            for observation in probed:
                observation.result()

    def _watch(self, check: Check) -> None:
        try:
            self._observe(check)
        finally:
            if self.churn is not None:
                self.churn.leave(check, self.sender.recorder)

    def _carry_out(
        self, check: Check, recorder: Recorder, void: threading.Event | None = None
    ) -> None:
        if not _calm(check):
            self._check_run.carry_out(check, recorder, void)
            return
        with self._beginning:
            self._check_run.carry_out(check, recorder, void)

    def _observe(self, check: Check) -> None:
        self._carry_out(check, self.sender.recorder)
        self._tell_finished()

    def _release(self, run: SpeculativeRun, check: Check) -> None:
        """Record a speculative run if it counts; otherwise probe again."""
        if not run.counts():
            self._observe(check)
            return
        run.held.release(check.id, self._lateness.of(check.id))
        self._tell_finished()

    def _tell_finished(self) -> None:
        with self._lock:
            self._finished += 1
            self.on_progress("observe", self._finished, len(self.checks))


def _calm(check: Check) -> bool:
    disturbs = check.check_class is CheckClass.DISRUPTIVE or check.action.makes_many_pods
    return not (disturbs or check.action.question.alone)


def _together(checks: Sequence[Check]) -> list[list[Check]]:
    """Return the checks in groups: members of one check watch the same Service together."""
    return list(grouped((parent_of(check.id), check) for check in checks).values())


def one_after_the_other(checks: Sequence[Check], captures: int) -> Iterator[list[Check]]:
    """Yield the checks that run alone, in groups that run one after the other.

    At most ``captures`` connections are captured at once, one on a node. Checks of many Services run
    together. Those that exhaust ports come last, one per probe at a time, because the ports are free
    again only minutes later.
    """
    captured: list[tuple[list[Check], set[str]]] = []
    for check in checks:
        if check.action.question is not Question.WITNESS:
            continue
        nodes = set(check.action.captured_on)
        for together, capturing in captured:
            if len(together) < captures and capturing.isdisjoint(nodes):
                break
        else:
            captured.append((together := [], capturing := set()))
        together.append(check)
        capturing |= nodes
    yield from (together for together, _ in captured)
    sharing = [check for check in checks if check.action.question is Question.SCALE]
    if sharing:
        yield sharing
    of_probes = grouped(
        (check.source.probe, check) for check in checks if check.action.question is Question.FLOWS
    )
    for row in zip_longest(*of_probes.values()):
        yield [check for check in row if check is not None]


def interleaved(checks: Sequence[Check]) -> list[Check]:
    """Return the checks in round-robin order of their source probes."""
    partitions = grouped((check.source.probe, check) for check in checks)
    rounds = zip_longest(*partitions.values())
    return [check for row in rounds for check in row if check is not None]
