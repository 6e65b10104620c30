"""Create many Services beside those of a run, check them from each node, and remove them.

The examiner of ``SCALE``. All its checks share the Services, which ``bulk_services`` creates and
removes in batches. Each check looks from its own node: at the last of them, at an older Service, or
at what is left. ``parse.many_services`` reads the record.
"""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import assert_never

from nettests.bounds import Bounds
from nettests.model.channel import ChannelError, HttpChannel
from nettests.model.check import Action
from nettests.model.cluster_profile import Timing
from nettests.model.facts import ClusterFacts
from nettests.model.json_text import Object
from nettests.model.powershell import first_use
from nettests.model.service import Crowd
from nettests.model.words import OS, Protocol
from nettests.parse.many_services import SERVICES, answer_of
from nettests.parse.reading import one_line
from nettests.probes.addresses import NotOfferedError, of_family
from nettests.probes.bulk_services import CreatedService, Making, Many
from nettests.probes.commands import CannotProbeError, dial
from nettests.probes.deployment import StandingPod, StandingService
from nettests.probes.examine import Examination
from nettests.probes.objects import SERVICE_HOSTNAME, Blank
from nettests.probes.rerun import TOOL_HANGS_SECONDS, Rerunning
from nettests.probes.sending import Probe, channel_on
from nettests.rules.evidence import UnreadableError
from nettests.rules.hns_load_balancers import POLICIES, frontends, load_balancers_in
from nettests.rules.readings import reduced

PAUSE_SECONDS = 0.5
"""Pause between two connections of one node: some hundred of them in a minute or two cause no load."""
PROGRAMMING_SECONDS = 0.1
"""Additional time of a node for each Service: HNS creates load balancers one after the other."""
SAMPLE = 20
"""How many Services are sampled at even intervals to find from which number on they are not served."""
MOST_HALVES = 8
"""How often half of a node's patience is waited at most while more and more Services are served."""
KEPT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ManyServices:
    """Tests many Services from each node; thread-safe. Its checks must run at the same time."""

    making: Making
    blank: Blank
    facts: ClusterFacts
    probes: Mapping[str, Probe]
    timing: Timing
    standing: Mapping[str, StandingPod]
    services: Mapping[str, StandingService]
    stopped: threading.Event = field(default_factory=threading.Event)
    _many: list[Many] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def examine(self, action: Action) -> Examination:
        """Run one node's check; the first one creates the Services, the last one removes them."""
        settings = action.target.settings
        if settings is None or settings.crowd is None:
            raise CannotProbeError("nothing says what is looked at beside many Services")
        many = self._joined(action)
        node = _Node(of=self, action=action, many=many)
        words = (f"{action.connections} Services", settings.crowd.value)
        try:
            record = node.look(settings.crowd)
        except ChannelError as error:
            return Examination(
                tool=SERVICES, words=words, channel=node.channel, error=error.message
            )
        finally:
            many.done(action)
        return Examination(
            tool=SERVICES, words=words, channel=node.channel, stdout=json.dumps(record)
        )

    def _joined(self, action: Action) -> Many:
        with self._lock:
            if not self._many:
                self._many.append(
                    Many(
                        making=self.making,
                        blank=self.blank,
                        bounds=Bounds.of(self.timing),
                        number=action.connections,
                        stopped=self.stopped,
                    )
                )
            (many,) = self._many
            many.join(action)
            return many


@dataclass(frozen=True, slots=True)
class _Node:
    of: ManyServices
    action: Action
    many: Many

    def look(self, crowd: Crowd) -> Object:
        """Return the record; raises ``NotOfferedError`` if the Services could not be created."""
        match crowd:
            case Crowd.BESIDE:
                self.many.settled(self.action)  # it does not delay the others
                record = self._beside()
            case Crowd.SERVED:
                record = self._served(self._wait_for_services())
            case Crowd.REMOVED:
                services = self._wait_for_services()
                self._wait_for_last(services, self._patience)
                record = self._removed(services)
            case _:
                assert_never(crowd)
        if self.many.refused:
            raise NotOfferedError(self.many.refused)
        return {"part": crowd.value, "number": self.action.connections, **record}

    def _wait_for_services(self) -> Sequence[CreatedService]:
        """Wait until all are created; return those of this check's backend."""
        created = self.many.wait_until_created()
        if self.many.refused:
            raise NotOfferedError(self.many.refused)
        own_services = [
            service for service in created if service.backend in self.action.target.backends
        ]
        if not own_services:
            raise ChannelError("the Services were made before this check came")
        return own_services

    def _served(self, services: Sequence[CreatedService]) -> Object:
        """Dial the last one until it is served, then a sample of all.

        A slow node is waited for as long as each half of the patience serves more of the sample.
        """
        picked, waited = _picked(services), 0.0
        unserved: list[Object] = []
        for halves in range(1, MOST_HALVES + 1):
            seconds, body = self._wait_for_last(services, self._patience / 2)
            waited += self._patience / 2
            before, unserved = unserved, self._unserved(picked)
            stuck = halves > 1 and len(unserved) >= len(before)
            if seconds is not None or stuck:
                break
        return {
            "seconds": seconds,
            "within": waited,
            "body": body,
            "backend": self._backend(body),
            "sampled": len(picked),
            "unserved": unserved,
            "making": self.many.took,
        }

    def _unserved(self, picked: Sequence[CreatedService]) -> list[Object]:
        return [
            {"number": service.number, "body": body}
            for service, body in zip(picked, self._dial_all(picked), strict=True)
            if not self._answers(body)
        ]

    def _dial_all(self, picked: Sequence[CreatedService]) -> list[str]:
        with ThreadPoolExecutor(Bounds.of(self.of.timing).service_dials, "services") as pool:
            return list(pool.map(lambda service: self._dial(service.address), picked))

    def _wait_for_last(
        self, services: Sequence[CreatedService], patience: float
    ) -> tuple[float | None, str]:
        """Dial the last one until it answers or time is up; return its seconds, and the body."""
        last = services[-1]
        deadline = max(last.at, time.monotonic()) + patience
        while True:
            body = self._dial(last.address)
            if self._answers(body):
                return max(0.0, time.monotonic() - last.at), body
            if time.monotonic() > deadline:
                return None, body
            self.many.pause(PAUSE_SECONDS)

    def _beside(self) -> Object:
        """Dial a Service that existed before until the others are removed."""
        address, tries, slowest, backend = self._standing_address(), 0, 0.0, None
        failed: list[str] = []
        while True:
            over = self.many.over
            began = time.monotonic()
            body = self._dial(address)
            tries, slowest = tries + 1, max(slowest, time.monotonic() - began)
            backend = self._backend(body) or backend
            if not self._answers(body):
                failed.append(body)
            if over:
                return {
                    "tries": tries,
                    "failures": len(failed),
                    "failed": failed[-KEPT:],
                    "slowest": slowest,
                    "backend": backend,
                }
            self.many.pause(PAUSE_SECONDS)

    def _removed(self, services: Sequence[CreatedService]) -> Object:
        """Wait for the removal, then until no address answers and HNS lists none."""
        self.many.settled(self.action)
        began = self.many.wait_until_removed()
        picked = _picked(services)
        deadline = began + self._patience
        while True:
            seconds = time.monotonic() - began  # dials that time out take seconds themselves
            answering = [
                service.address
                for service, body in zip(picked, self._dial_all(picked), strict=True)
                if self._answers(body)
            ]
            listed, unlisted = self._listed()
            if not (answering or listed) or time.monotonic() > deadline:
                return {
                    "seconds": seconds,
                    "within": self._patience,
                    "sampled": len(picked),
                    "answering": answering,
                    "listed": listed,
                    "unlisted": unlisted,
                    "beside": self._dial(self._standing_address()),
                }
            self.many.pause(PAUSE_SECONDS)

    def _listed(self) -> tuple[list[str] | None, str]:
        """Return the removed Services' addresses that HNS lists; ``None`` and why if unread."""
        if self._os is not OS.WINDOWS:
            return None, "what the node's Service proxy holds is not read"
        execute = channel_on(self.action.source.node, self.of.probes, self.of.standing)
        if execute is None:
            return None, "HNS was not looked at: no HostProcess Pod of the run stands on the node"
        with execute.slots:
            tools = Rerunning(channel=execute, beyond=TOOL_HANGS_SECONDS)
            got = tools.run(
                POLICIES.words, timeout=self.of.timing.execute + first_use(POLICIES.words)
            )
        if got.exit_code != 0:  # partial output may lack leftover rules
            return None, f"HNS was not read: {one_line(got.stderr or got.stdout)}"
        try:
            shown = load_balancers_in(reduced(POLICIES, got.stdout))
        except UnreadableError as error:
            return None, f"HNS was not read: {got.stderr.strip() or error}"
        listed = {address for address, _, _ in frontends(shown)}
        return sorted({service.address for service in self.many.created} & listed), ""

    def _standing_address(self) -> str:
        service = self.of.services[self.action.target.service or ""]
        return str(of_family(service.addresses, self.action.family))

    @property
    def _os(self) -> OS:
        return self.action.source.os or OS.LINUX

    @property
    def _patience(self) -> float:
        timing = self.of.timing
        each = PROGRAMMING_SECONDS * self.action.connections
        match self._os:
            case OS.WINDOWS:
                return timing.convergence + each
            case OS.LINUX:
                return timing.convergence_linux + each
            case _:
                assert_never(self._os)

    @property
    def channel(self) -> str:
        """The name of the probe's channel."""
        return self._channels[0].name if self._channels else "none"

    @property
    def _channels(self) -> Sequence[HttpChannel]:
        probe = self.of.probes.get(self.action.source.probe)
        return probe.http if probe else ()

    def _dial(self, address: str) -> str:
        """Return the body of one dial by the probe; raises ``ChannelError``."""
        if not self._channels:
            raise ChannelError(f"probe {self.action.source.probe} has no control channel")
        timing = self.of.timing
        wanted = dial(address, SERVICE_HOSTNAME, Protocol.TCP, "hostname", timing)
        patience = wanted.deadline + timing.channel
        with self.of.probes[self.action.source.probe].http_slots:
            return str(self._channels[0].get(wanted.path, timeout=patience).body)

    def _answers(self, body: str) -> bool:
        return answer_of(body, self._os.value).outcome.positive

    def _backend(self, body: str) -> str | None:
        return answer_of(body, self._os.value).backend


def _picked(services: Sequence[CreatedService]) -> list[CreatedService]:
    if len(services) <= SAMPLE:
        return list(services)
    return [services[round(place * (len(services) - 1) / (SAMPLE - 1))] for place in range(SAMPLE)]
