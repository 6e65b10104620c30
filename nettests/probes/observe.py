"""The engine: observe all checks concurrently, each once, and write everything to the journal.

Checks are partitioned by source probe and bounded per probe and node; those that use a Service start
when it has converged for them. Waiting for time-outs is most of the work, so there are many threads.
Disruptive checks take their turn while nobody else asks.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from nettests.errors import NettestsError
from nettests.model.channel import ChannelError, ProgramMissingError
from nettests.model.check import Check
from nettests.model.json_text import read_json
from nettests.model.words import CheckClass, TargetKind, VantageKind
from nettests.parse.reading import one_line
from nettests.parse.serving import DNS_LABEL, DNS_PODS, serves
from nettests.probes.addresses import NotOfferedError
from nettests.probes.asking import STOPPED, Asker
from nettests.probes.attempts import attempt
from nettests.probes.churn import Churn
from nettests.probes.commands import POWERSHELL, ping_words
from nettests.probes.convergence import Pair, name_forms, pairs_of, wait_for
from nettests.probes.families import can_ask, why_lacking
from nettests.probes.lateness import Lateness, lateness
from nettests.probes.origin import Origins
from nettests.probes.phases import Phases
from nettests.probes.speaking import TRIALS

OK = 200
THREADS = 64
DISRUPTIVE_AT_ONCE = 8
"""So many Services at most come and go at once: each change makes the proxy of every node work."""
LATE_SECONDS = 20
"""What has not converged by then holds up no disruptive check: it is asked when these are done."""
NSLOOKUP = ("nslookup", "localhost")
"""Tried for its presence only: its exit code says nothing."""
RESOLVE_DNSNAME = (*POWERSHELL, "Get-Command Resolve-DnsName")
"""PowerShell of the nanoserver images lacks it (kubernetes/kubernetes, test/e2e/windows/dns.go)."""


@dataclass(slots=True)
class Observer:
    """Observes the checks of one run. ``problems`` says which probes cannot be asked, and why."""

    asker: Asker
    checks: Sequence[Check]
    problems: Mapping[str, str] = field(default_factory=dict)
    on_progress: Callable[[str, int, int], None] = lambda *_: None
    churn: Churn | None = None
    """Who changes Services for the checks that ask for it."""
    single_stack: Mapping[str, str] = field(default_factory=dict)
    """By role, the limitation by which its Pods need not have both IP families."""
    late: float = LATE_SECONDS
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _phases: Phases = field(default_factory=Phases)
    _lateness: Lateness = field(init=False)
    _finished: int = 0
    _converged: int = 0
    _capabilities: dict[str, str | None] = field(default_factory=dict)
    _capability_locks: dict[str, threading.Lock] = field(default_factory=dict)

    def run(self) -> None:
        """Observe every check and return when the last one is done, or soon after ``stop``."""
        origins, names = Origins(self.asker), name_forms(self.checks)
        waiting = self._pairs()
        users: dict[Pair, list[Check]] = defaultdict(list)
        for check in self.checks:
            for pair in waiting[check.id]:
                users[pair].append(check)
        free = [one for one in interleaved(self.checks) if _calm(one) and not waiting[one.id]]
        disruptive = [check for check in self.checks if not _calm(check)]
        before = {pair for check in disruptive for pair in waiting[check.id]}
        with (
            ThreadPoolExecutor(THREADS, "observe") as askers,
            ThreadPoolExecutor(THREADS, "converge") as pollers,
        ):

            def converge(pair: Pair) -> None:
                stopped = self.asker.stopped
                silent = None if stopped.is_set() else wait_for(self.asker, pair, names)
                if silent is not None and not silent:
                    self._lateness.answered(pair)
                elif silent and not stopped.is_set():
                    self._lateness.missed(pair, silent, self.asker.timing.convergence)
                for check in self._released(pair, users, waiting):
                    self._queue(askers, check, origins)

            gates = {pair: pollers.submit(converge, pair) for pair in sorted(users)}
            for check in free:
                self._queue(askers, check, origins)
            if disruptive:
                wait(gates.values(), timeout=self.late)
                wait([gates[pair] for pair in before])
                self._disrupt(disruptive, origins)
            for gate in gates.values():
                gate.result()

    def _disrupt(self, checks: Sequence[Check], origins: Origins) -> None:
        """Observe what would disturb everybody else, while nobody else asks."""
        with self._phases.disruptive(), ThreadPoolExecutor(DISRUPTIVE_AT_ONCE, "disrupt") as askers:
            asked = [askers.submit(self._observe, check, origins) for check in checks]
        for one in asked:
            one.result()  # a journal that cannot be written ends the run

    def _queue(self, askers: Executor, check: Check, origins: Origins) -> None:
        """Have a calm check asked; one at a time is announced, so that none is waited for that is in no queue."""
        self._phases.announce()
        askers.submit(self._in_turn, check, origins)

    def _in_turn(self, check: Check, origins: Origins) -> None:
        with self._phases.calm():
            self._observe(check, origins)

    def stop(self) -> None:
        """Begin no further check."""
        self.asker.stopped.set()

    def _released(
        self, pair: Pair, users: Mapping[Pair, Sequence[Check]], waiting: Mapping[str, set[Pair]]
    ) -> list[Check]:
        """Return the calm checks that waited for ``pair`` and for nothing else any more."""
        with self._lock:
            self._converged += 1
            self.on_progress("converge", self._converged, len(users))
            for check in users[pair]:
                waiting[check.id].discard(pair)
            return [one for one in users[pair] if _calm(one) and not waiting[one.id]]

    def _pairs(self) -> dict[str, set[Pair]]:
        """Return what each check waits for; who is late is known from here on."""
        probe_on = {
            pod.node: pod.name
            for pod in self.asker.directory.deployment.pods.values()
            if pod.purpose == "probe" and pod.name in self.asker.probes
        }
        sentinel = self.asker.directory.deployment.sentinel
        found = {check.id: set(self._awaited(check, probe_on, sentinel)) for check in self.checks}
        self._lateness = lateness(self.asker.directory, self.checks, found, probe_on)
        return found

    def _awaited(
        self, check: Check, probe_on: dict[str, str], sentinel: str | None
    ) -> Iterator[Pair]:
        """Yield what has to answer first; what a Pod without the family would ask never does."""
        if self._lacking(check):
            return
        for pair in pairs_of(check, probe_on, sentinel):
            if can_ask(pair.probe, pair.family, self.asker.directory):
                yield pair

    def _lacking(self, check: Check) -> str:
        """Return why a check cannot be asked in its family; nothing is then waited for either."""
        return why_lacking(check.ask, self.asker.directory, self.single_stack)

    def _observe(self, check: Check, origins: Origins) -> None:
        if self.asker.stopped.is_set():
            self.asker.recorder.done(check.id, distrust=f"{STOPPED} before it was asked")
            return
        try:
            self._ask(check, origins)
        except NotOfferedError as error:
            self.asker.recorder.done(check.id, skip=error.message)
        except NettestsError as error:
            self.asker.recorder.done(check.id, distrust=error.message)
        except Exception as error:  # noqa: BLE001 - one check must not take the others with it
            self.asker.recorder.done(
                check.id, distrust=f"nettests failed: {type(error).__name__}: {error}"
            )
        with self._lock:
            self._finished += 1
            self.on_progress("observe", self._finished, len(self.checks))

    def _ask(self, check: Check, origins: Origins) -> None:
        recorder = self.asker.recorder
        problem = self.problems.get(check.source.probe)
        if problem is not None:
            recorder.done(check.id, distrust=problem)
            return
        lacking = self._lacking(check)
        if lacking:
            recorder.done(check.id, skip=lacking)
            return
        for need in check.needs:
            missing = self._missing(check, need)
            if missing is not None:
                recorder.done(check.id, skip=missing)
                return
        if check.source.kind is VantageKind.NODE:
            proof = origins.prove(check)
            if proof.raw is not None and proof.raw.check != check.id:
                recorder.raw(replace(proof.raw, check=check.id))
            if proof.distrust is not None:
                recorder.done(check.id, distrust=proof.distrust)
                return
        attempt(self.asker, check, self.churn)
        recorder.done(check.id, distrust=self._gone(check), late=self._lateness.of(check.id))

    def _gone(self, check: Check) -> str | None:
        """Say that the DNS Pod that was asked serves no longer; what it did not answer tells nothing then."""
        if check.target.kind is not TargetKind.DNS_POD or self.churn is None:
            return None
        address = self.asker.directory.endpoint(check.ask).server
        try:
            status, text = self.churn.services.read(DNS_PODS, DNS_LABEL)
        except ChannelError:
            return None  # not known: what was seen stands
        if status != OK:
            return None
        try:
            serving = {pod["status"]["podIP"] for pod in read_json(text)["items"] if serves(pod)}
        except (LookupError, TypeError, ValueError, AttributeError):
            return None
        return None if address in serving else f"the DNS Pod at {address} does not serve any more"

    def _missing(self, check: Check, need: str) -> str | None:
        """Return why the source lacks a capability; found out once per probe by trying it."""
        key = f"{check.source.probe}/{need}"
        with self._lock:
            own = self._capability_locks.setdefault(key, threading.Lock())
        with own:
            if key not in self._capabilities:
                self._capabilities[key] = self._try(check, need)
                if self._capabilities[key] is not None:
                    self.asker.recorder.event(f"capability: {self._capabilities[key]}")
            return self._capabilities[key]

    def _try(self, check: Check, need: str) -> str | None:
        probe = self.asker.probes[check.source.probe]
        trials = {
            "ping": ping_words(check.source.os, "127.0.0.1"),
            "nslookup": NSLOOKUP,
            "resolve-dnsname": RESOLVE_DNSNAME,
            **TRIALS,
        }
        if need not in trials or probe.execute is None:
            return f"{probe.name} has no {need}"
        try:
            with probe.execute.slots:
                answer = probe.execute.run(trials[need], timeout=self.asker.timing.execute)
        except ProgramMissingError:
            return f"the image of {probe.name} has no {need}"
        except ChannelError:
            return None  # not known: the check itself will say what is wrong with the channel
        if answer.exit_code != 0 and need != "nslookup":
            said = one_line(answer.stderr or answer.stdout)
            return f"{need} does not work in {probe.name}: {said}"
        return None


def _calm(check: Check) -> bool:
    """Whether a check leaves the others undisturbed."""
    return check.check_class is not CheckClass.DISRUPTIVE


def interleaved(checks: Sequence[Check]) -> list[Check]:
    """Return the checks so that the partitions of all source probes advance together."""
    partitions: dict[str, list[Check]] = defaultdict(list)
    for check in checks:
        partitions[check.source.probe].append(check)
    rounds = zip_longest(*partitions.values())
    return [check for row in rounds for check in row if check is not None]
