"""Run a check while a Service that it waits for is still silent, and hold its answers back until the deadline.

Used by ``observer``: a Service that never converges would otherwise cost its deadline first and its checks' time-outs
after that. The early answers count if nothing that the check waits for has converged since, or if the first answer
was positive, because then the Service worked already. Otherwise they are dropped and the check runs again. Nothing is
judged here.
"""

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import assert_never

from nettests.model.observation import Raw
from nettests.model.words import Question
from nettests.parse.read import positive, read_raw
from nettests.probes.seams import Recorder
from nettests.probes.service_pairs import Pair

CONTROL = "control:"
"""How the purpose of a control begins."""


@dataclass(slots=True)
class Held:
    """A recorder that holds back the records of one check; records of the run as a whole pass at once."""

    recorder: Recorder
    question: Question
    """What the check tests."""
    raws: list[Raw] = field(default_factory=list)
    """The answers so far, in the order in which they came."""
    settled: threading.Event = field(default_factory=threading.Event)
    """Set when the first answer has arrived, or none will."""
    _done: Mapping[str, str | None] = field(default_factory=dict)

    def raw(self, raw: Raw) -> object:
        """Keep one request and its answer."""
        self.raws.append(raw)
        if raw.purpose == "check" and raw.attempt == 1:
            self.settled.set()
        return raw

    def done(
        self,
        check: str,  # noqa: ARG002 - there is only one
        *,
        distrust: str | None = None,
        skip: str | None = None,
        late: str | None = None,  # noqa: ARG002 - not known as long as a Service has time
    ) -> None:
        """Keep that the check was run to the end, or why not."""
        self._done = {"distrust": distrust, "skip": skip}

    def event(self, text: str) -> None:
        """Write what happened to the run."""
        self.recorder.event(text)

    def convergence(self, *, service: str, probe: str, seconds: float, converged: bool) -> None:
        """Write how long a Service took."""
        self.recorder.convergence(
            service=service, probe=probe, seconds=seconds, converged=converged
        )

    @property
    def refuted(self) -> bool:
        """Whether the answers already show that the Service had not converged.

        Many connections meet all backends only then.
        """
        first = self._first()
        lost = first is not None and not positive(first, self.question)
        match self.question:
            case Question.DISTRIBUTE | Question.CHURN | Question.PATH_MTU | Question.LOSS:
                return True
            case Question.FLOWS | Question.SCALE | Question.WITNESS | Question.DURING:
                return True
            case Question.REACH | Question.PING | Question.RESOLVE | Question.IDLE:
                return lost
            case Question.ADMIT | Question.INSPECT | Question.START:
                return lost
            case _:
                assert_never(self.question)

    @property
    def proven(self) -> bool:
        """Whether the check was run to its end, its controls answered, and the Service served from the first answer on."""
        first = self._first()
        finished = not any(self._done.values()) and first is not None
        controls = {raw.purpose for raw in self.raws if raw.purpose.startswith(CONTROL)}
        answered = {raw.purpose for raw in self.raws if read_raw(raw).outcome.positive}
        return finished and not self.refuted and controls <= answered

    def _first(self) -> Raw | None:
        first_attempts = (raw for raw in self.raws if raw.purpose == "check" and raw.attempt == 1)
        return next(first_attempts, None)

    def release(self, check: str, late: str | None) -> None:
        """Write all that was kept; ``late`` names a Service that did not converge."""
        for raw in self.raws:
            self.recorder.raw(raw)
        self.recorder.done(check, **self._done, late=late)


@dataclass(slots=True)
class Early:
    """One check that was run before its time, while ``awaited`` were silent."""

    awaited: frozenset[Pair]
    held: Held
    probed: Future[None]
    void: threading.Event
    """Set when one of ``awaited`` has converged meanwhile, and no answer shows that it served before."""
    doubted: bool = False
    """Whether one of ``awaited`` has converged meanwhile: then only an answer shows that it served before."""

    def __post_init__(self) -> None:
        self.probed.add_done_callback(lambda _: self.held.settled.set())

    def doubt(self) -> None:
        """Note that one of ``awaited`` has converged."""
        self.doubted = True
        if self.held.refuted:
            self.void.set()

    def counts(self) -> bool:
        """Wait until the check was run, or its first answer shows that it does not count; return whether it counts.

        What it still waits for may take a resolver's 40 s.
        """
        if self.doubted:
            self.held.settled.wait()
            if self.held.refuted:
                self.void.set()
                return False
        self.probed.result()
        return not self.doubted or self.held.proven


@dataclass(slots=True)
class Waiting:
    """What one check still waits for."""

    pairs: set[Pair]
    early: Early | None = None

    def settle(self, pair: Pair, *, converged: bool) -> None:
        """Note that ``pair`` answers, or that its deadline has passed."""
        self.pairs.discard(pair)
        if converged and self.early is not None and pair in self.early.awaited:
            self.early.doubt()

    def may_begin(self, stalled: set[Pair]) -> bool:
        """Whether everything that it waits for has stalled, and no earlier run of it counts for that."""
        begun_early = self.early is not None and not self.early.void.is_set()
        return bool(self.pairs) and self.pairs <= stalled and not begun_early

    def kept(self) -> Early | None:
        """Return the early run, if it counts."""
        return self.early if self.early is not None and not self.early.void.is_set() else None
