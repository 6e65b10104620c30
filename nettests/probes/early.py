"""Ask a check while a Service that it waits for is silent, and keep the answers until the Service had its time.

Used by ``observe``: what never converges would cost its deadline first and its checks' time-outs after that. What
was asked in the meantime counts only if nothing that the check waited for has converged since; else it is dropped,
what was not asked yet is not asked any more, and the check is asked anew. It decides nothing about answers.
"""

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field

from nettests.model.observation import Raw
from nettests.probes.convergence import Pair
from nettests.probes.seams import Recorder


@dataclass(slots=True)
class Held:
    """A recorder that keeps what is recorded of one check; what concerns the run as a whole goes on at once."""

    recorder: Recorder
    _raws: list[Raw] = field(default_factory=list)
    _done: Mapping[str, str | None] = field(default_factory=dict)

    def raw(self, raw: Raw) -> object:
        """Keep one question and its answer."""
        self._raws.append(raw)
        return raw

    def done(
        self,
        check: str,  # noqa: ARG002 - there is only one
        *,
        distrust: str | None = None,
        skip: str | None = None,
        late: str | None = None,  # noqa: ARG002 - not known as long as a Service has time
    ) -> None:
        """Keep that the check was asked to the end, or why not."""
        self._done = {"distrust": distrust, "skip": skip}

    def event(self, text: str) -> None:
        """Write what happened to the run."""
        self.recorder.event(text)

    def convergence(self, *, service: str, probe: str, seconds: float, converged: bool) -> None:
        """Write how long a Service took."""
        self.recorder.convergence(
            service=service, probe=probe, seconds=seconds, converged=converged
        )

    def release(self, check: str, late: str | None) -> None:
        """Write all that was kept; ``late`` names a Service that did not converge."""
        for raw in self._raws:
            self.recorder.raw(raw)
        self.recorder.done(check, **self._done, late=late)


@dataclass(slots=True)
class Early:
    """One check that was asked before its time, while ``awaited`` were silent."""

    awaited: frozenset[Pair]
    held: Held
    asked: Future[None]
    void: threading.Event
    """Set when something of ``awaited`` has converged meanwhile."""


@dataclass(slots=True)
class Waiting:
    """What one check still waits for."""

    pairs: set[Pair]
    early: Early | None = None

    def settle(self, pair: Pair, *, converged: bool) -> None:
        """Take note that ``pair`` answers, or has had its time."""
        self.pairs.discard(pair)
        if converged and self.early is not None and pair in self.early.awaited:
            self.early.void.set()

    def may_begin(self, stalled: set[Pair]) -> bool:
        """Whether all that it waits for is silent, and nothing that was asked before is good for that."""
        begun = self.early is not None and not self.early.void.is_set()
        return bool(self.pairs) and self.pairs <= stalled and not begun

    def kept(self) -> Early | None:
        """Return what was asked before its time, if it counts."""
        return self.early if self.early is not None and not self.early.void.is_set() else None
