"""Send datagrams from one source port while their Service gets another endpoint: does the flow follow?

A part of ``during_changes``. The flow is a process' of the run's own Pod, spoken to over exec; that new flows go to the new
endpoint shows by dials, each from a port of its own.
"""

import itertools
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from nettests.model.channel import ChannelError, Conversation
from nettests.model.words import Protocol as Carrier
from nettests.parse.during import FLOW, backend_of, datagram_answers
from nettests.parse.idle import opened
from nettests.probes.flow_client import flow_words
from nettests.probes.idle_connection import CLIENT
from nettests.probes.objects import SERVICE_UDP
from nettests.probes.service_in_use import InUse, Object

KEPT_SECONDS = 10.0
"""How long a flow that does not follow is watched: no document says when it has to."""
REPLY_SECONDS = 2
"""How long a client waits for the reply to a datagram."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFlow(InUse):
    """One flow through a Service whose endpoint changes from a former backend to the check's own."""

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
        self.lead(service, former)
        try:
            if not self.wait(lambda: self._new_flow() == former):
                return record
            source = self.of.standing[self.action.source.probe]
            words = flow_words(self.system, self.address, SERVICE_UDP, REPLY_SECONDS)
            talk = self.of.api.converse(self.of.namespace, source.name, CLIENT, words)
            with closing(talk):
                if not talk.hear(opened, seconds=self._patience):
                    raise ChannelError(f"no client of a flow came about: {talk.stderr[-200:]}")
                numbers = itertools.count(1)
                record |= self._begin(talk, numbers)
                self.lead(service, final)
                return {**record, "behind": final, **self._watch(talk, numbers)}
        finally:
            self.lead(service, final)

    def _begin(self, talk: Conversation, numbers: Iterator[int]) -> Object:
        """Say datagrams until one is answered, or as many were not as make a negative result; any one may be lost."""
        silent, before = 0, self._say(talk, numbers)
        while before is None and silent + 1 < self.of.timing.failures:
            silent, before = silent + 1, self._say(talk, numbers)
        return {"before": before, "silent": silent}

    def _watch(self, talk: Conversation, numbers: Iterator[int]) -> Object:
        """Send datagrams until the new backend answers one, or ``KEPT_SECONDS`` after it answers new flows."""
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
        """Have the client send one datagram; return the backend that answered it."""
        word = f"n{next(numbers)}"
        talk.say(f"{word}\n")

        def answered(text: str) -> bool:
            return any(reply.word == word for reply in datagram_answers(text))

        if not talk.hear(answered, seconds=self._patience):
            raise ChannelError(f"the client of a flow tells nothing: {talk.stderr[-200:]}")
        return next(reply.backend for reply in datagram_answers(talk.stdout) if reply.word == word)

    def _new_flow(self) -> str | None:
        """Return the backend that answers a flow from another source port."""
        return backend_of(self.dial(self.address, SERVICE_UDP, Carrier.UDP)[0])

    @property
    def _patience(self) -> float:
        return REPLY_SECONDS + self.of.timing.execute
