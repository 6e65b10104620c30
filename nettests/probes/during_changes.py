"""Use a Service while its endpoints change: new connections, or one flow of datagrams.

The examiner of ``DURING``. The check's own Service is switched between backends in place, and
finally to the check's own. ``parse.endpoint_changes`` reads the record.
"""

import itertools
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field

from nettests.bounds import Bounds
from nettests.model.channel import ChannelError, Conversation
from nettests.model.check import Action
from nettests.model.json_text import Object
from nettests.model.powershell import first_use
from nettests.model.words import OS
from nettests.model.words import Protocol as Carrier
from nettests.parse.endpoint_changes import (
    CONNECTIONS,
    FLOW,
    MEANWHILE,
    backend_of,
    datagram_answers,
)
from nettests.parse.idle import opened
from nettests.probes import client_scripts
from nettests.probes.addresses import NotOfferedError, of_family
from nettests.probes.examine import Examination
from nettests.probes.idle_connection import CLIENT
from nettests.probes.objects import SERVER_HOSTNAME, SERVICE_HOSTNAME, SERVICE_UDP
from nettests.probes.rerun import TOOL_HANGS_SECONDS, Rerunning
from nettests.probes.sending import channel_on
from nettests.probes.service_in_use import InUse, Setting
from nettests.rules.evidence import UnreadableError
from nettests.rules.hns_load_balancers import POLICIES, load_balancers_in
from nettests.rules.readings import reduced

KEPT_SECONDS = 10.0
"""How long a flow that does not follow is watched: no document states a time."""
REPLY_SECONDS = 2
"""How long a client waits for the reply to a datagram."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFlow(InUse):
    """A flow through a Service that switches from a former backend to the check's own."""

    def record(self) -> Object:
        """Return the record of the flow; the Service ends with the check's own backend."""
        service = self.read()
        final, former = self.ends
        record: Object = {
            "of": FLOW,
            "former": former,
            "behind": former,
            "within": self.of.timing.convergence,
            "followed": False,
        }
        # The node may still follow a change that another member made, which looks like this one's.
        if not self.wait(lambda: self._new_flow() == final):
            return {**record, "behind": final}
        self.lead(service, former)
        try:
            if not self.wait(lambda: self._new_flow() == former):
                return record
            source = self.of.standing[self.action.source.probe]
            words = client_scripts.FLOW.words(self.system, self.address, SERVICE_UDP, REPLY_SECONDS)
            talk = self.of.api.converse(self.of.namespace, source.name, CLIENT, words)
            with closing(talk):
                if not talk.hear(opened, seconds=self._patience):
                    raise ChannelError(f"no client of a flow started: {talk.stderr[-200:]}")
                numbers = itertools.count(1)
                record |= self._begin(talk, numbers)
                self.lead(service, final)
                return {**record, "behind": final, **self._watch(talk, numbers)}
        finally:
            self.lead(service, final)

    def _begin(self, talk: Conversation, numbers: Iterator[int]) -> Object:
        """Send datagrams until one is answered, or as many fail as make a negative result."""
        silent, before = 0, self._say(talk, numbers)
        while before is None and silent + 1 < self.of.timing.failures:
            silent, before = silent + 1, self._say(talk, numbers)
        return {"before": before, "silent": silent}

    def _watch(self, talk: Conversation, numbers: Iterator[int]) -> Object:
        """Send datagrams until the new backend answers, or new flows had ``KEPT_SECONDS`` of it."""
        final, _ = self.ends
        began, since, unanswered = time.monotonic(), None, 0
        while True:
            last = self._say(talk, numbers)
            unanswered += last is None
            if since is None and self._new_flow() == final:
                since = time.monotonic()
            now = time.monotonic()
            watched = 0.0 if since is None else now - since
            if since is None and last != final and now - began > self.of.timing.convergence:
                return {"followed": False}
            if last == final or watched > KEPT_SECONDS:
                return {
                    "followed": True,
                    "last": last,
                    "seconds": watched if last == final else None,
                    "watched": watched,
                    "unanswered": unanswered,
                }
            self.pause()

    def _say(self, talk: Conversation, numbers: Iterator[int]) -> str | None:
        word = f"n{next(numbers)}"
        talk.say(f"{word}\n")

        def answered(text: str) -> bool:
            return any(reply.word == word for reply in datagram_answers(text))

        if not talk.hear(answered, seconds=self._patience):
            raise ChannelError(f"the client of a flow reports nothing: {talk.stderr[-200:]}")
        return next(reply.backend for reply in datagram_answers(talk.stdout) if reply.word == word)

    def _new_flow(self) -> str | None:
        return backend_of(self.dial(self.address, SERVICE_UDP, Carrier.UDP)[0])

    @property
    def _patience(self) -> float:
        return REPLY_SECONDS + self.of.timing.execute


CHANGES = 6
"""How often the Service switches backends while new connections are opened."""
IN_A_ROW = 10
"""New connections in a row that the new backend must answer before the next change."""
LATE_SECONDS = 0.9
"""A connection that takes this long may have waited for a retransmitted SYN (a second at least)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DuringChanges:
    """Uses Services of single checks while changing them; thread-safe.

    Members of a check have one Service, and change it one after the other: else one would change it
    under another's flow.
    """

    setting: Setting
    _turns: dict[str, threading.Lock] = field(default_factory=dict)

    def examine(self, action: Action) -> Examination:
        """Change the Service of a check, and use it meanwhile over the check's protocol."""
        if not action.target.former:
            raise NotOfferedError("the Service has only one backend: it cannot be given another")
        over_udp = action.protocol is Carrier.UDP
        use = (KeptFlow if over_udp else Connections)(of=self.setting, action=action)
        service = action.target.service or ""
        words = (service, FLOW if over_udp else CONNECTIONS)
        try:
            with self._turns.setdefault(service, threading.Lock()):
                text, error = json.dumps(use.record()), None
        except ChannelError as failure:
            text, error = "", failure.message
        return Examination(
            tool=MEANWHILE, words=words, channel=use.channel, stdout=text, error=error
        )


@dataclass(frozen=True, slots=True)
class _Dialled:
    """One new connection: when it began, how long it took, and its result."""

    began: float
    seconds: float
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections(InUse):
    """Successive new connections to a Service while its backend changes."""

    _seen: list[_Dialled] = field(default_factory=list)
    """To the Service."""
    _beside: list[_Dialled] = field(default_factory=list)
    """Directly to the check's own backend, which the Service has in the end."""
    _ids: list[str] = field(default_factory=list)
    """The successive ids of its load balancer in HNS."""
    _over: threading.Event = field(default_factory=threading.Event)

    def record(self) -> Object:
        """Return the results of the connections; the Service ends with the check's own backend."""
        service = self.read()
        final, former = self.ends
        pod = str(of_family(self.of.standing[final].addresses, self.action.family))
        behind, followed, changes = final, True, 0
        self._look_up()
        with ThreadPoolExecutor(Bounds.of(self.of.timing).dials_beside, "during") as dialling:
            ways = [
                dialling.submit(self._go_on, self.address, SERVICE_HOSTNAME, self._seen),
                dialling.submit(self._go_on, pod, SERVER_HOSTNAME, self._beside),
            ]
            try:
                for behind in itertools.islice(itertools.cycle((former, final)), CHANGES):
                    self.lead(service, behind)
                    changes += 1
                    followed = self.wait(lambda behind=behind: self._all_by(behind))  # type: ignore[misc]
                    if not followed:
                        break
                    self._look_up()
            finally:
                self._over.set()
                self.lead(service, final)
        for way in ways:
            way.result()
        late = [connection for connection in self._seen if connection.seconds >= LATE_SECONDS]
        return {
            "of": CONNECTIONS,
            "within": self.of.timing.convergence,
            "behind": behind,
            "followed": followed,
            "changes": changes,
            "tries": len(self._seen),
            "failed": [
                connection.body for connection in self._seen if backend_of(connection.body) is None
            ],
            "late": [
                (round(connection.seconds, 3), self._slowest_beside(connection))
                for connection in late
            ],
            "beside": sum(backend_of(connection.body) is None for connection in self._beside),
            "backend": final,
            "ids": len(dict.fromkeys(self._ids)),
        }

    def _go_on(self, host: str, port: int, seen: list[_Dialled]) -> None:
        """Open new connections, one after the other, until the end."""
        while not (self._over.is_set() or self.of.stopped.is_set()):
            began = time.monotonic()
            body, seconds = self.dial(host, port, Carrier.TCP)
            seen.append(_Dialled(began, seconds, body))

    def _all_by(self, backend: str) -> bool:
        last = self._seen[-IN_A_ROW:]
        return len(last) == IN_A_ROW and all(
            backend_of(connection.body) == backend for connection in last
        )

    def _slowest_beside(self, connection: _Dialled) -> float | None:
        """Return the longest time of overlapping connections to the backend, if there are any."""
        end = connection.began + connection.seconds
        took = [
            other.seconds
            for other in self._beside
            if other.began < end and other.began + other.seconds > connection.began
        ]
        return round(max(took), 3) if took else None

    def _look_up(self) -> None:
        """Record the load balancer's id in HNS on the client's node, if it can be read there."""
        channel = channel_on(self.action.source.node, self.of.probes, self.of.standing)
        if self.system is not OS.WINDOWS or channel is None:
            return
        with channel.slots:
            tools = Rerunning(channel=channel, beyond=TOOL_HANGS_SECONDS)
            got = tools.run(
                POLICIES.words, timeout=self.of.timing.execute + first_use(POLICIES.words)
            )
        front = (self.address, SERVICE_HOSTNAME, "TCP")
        with suppress(UnreadableError):
            shown = load_balancers_in(reduced(POLICIES, got.stdout))
            self._ids.extend(balancer.id for balancer in shown if front in balancer.fronts)
