"""Watch whether the tested nodes stay Ready during a run.

A node that turns NotReady is an event of the run and a failed precondition: unanswered checks that
depend on it say nothing about the network. It also notices when the API server stops
answering. Reads are rate-limited (``PacedReads``). Times are on the run's clock (monotonic seconds since
its start), as in raw answers.
"""

import math
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from nettests.cluster.list_watch import GONE_SECONDS
from nettests.cluster.readiness import Readiness
from nettests.errors import ClusterError
from nettests.judge.distrust import UNREADY

FRESH_SECONDS = 1.0
"""The maximum age of a read that a failing check is compared with."""
Seen = TypeVar("Seen")


@dataclass(slots=True, kw_only=True)
class PacedReads(Generic[Seen]):
    """Rate-limits calls of ``read``; for one thread at a time."""

    read: Callable[[], Seen]
    clock: Callable[[], float]
    began: float
    """When the run began (``clock``)."""
    _looked: float = -math.inf

    def now(self) -> float:
        """Return the time since the run began."""
        return self.clock() - self.began

    def look(self, *, older_than: float = 0.0) -> tuple[float, Seen] | None:
        """Return when a read began, and its result; ``None`` if it failed or was too early."""
        began = self.now()
        if began - self._looked < older_than:
            return None
        try:
            return began, self.read()
        except ClusterError:
            return None
        finally:
            self._looked = self.now()


LOOK_SECONDS = 5.0
"""Between reads of nodes in the background."""


@dataclass(slots=True)
class _Spell:
    """A time when a node was not Ready: from after ``began`` to before ``ended``, if it ended."""

    began: float
    why: str
    ended: float | None = None


@dataclass(slots=True, kw_only=True)
class NodeMonitor:
    """The readiness of the nodes of one run, over time. Thread-safe.

    ``read`` returns the current readiness; ``tell`` receives each change, in words.
    """

    names: Collection[str]
    read: Callable[[], Mapping[str, Readiness]]
    tell: Callable[[str], None]
    began: float
    """When the run began (``clock``)."""
    silence: Callable[[], float] = lambda: 0.0
    """Returns for how many seconds the API server has not answered at all."""
    gone: Callable[[str], None] = lambda _why: None
    """Called once, when that exceeds ``GONE_SECONDS``."""
    clock: Callable[[], float] = time.monotonic
    _spells: dict[str, list[_Spell]] = field(default_factory=dict)
    _before: Mapping[str, Readiness] = field(default_factory=dict)
    _reads: PacedReads[Mapping[str, Readiness]] = field(init=False)
    _known_at: float = 0.0
    """When the last successful read began."""
    _looking: threading.Lock = field(default_factory=threading.Lock)
    """One thread reads at a time; what is known can be used meanwhile."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __post_init__(self) -> None:
        self._reads = PacedReads(read=self.read, clock=self.clock, began=self.began)

    def start(self) -> None:
        """Watch from now on, in the background; without nodes do nothing."""
        if not self.names:
            return
        self._thread = threading.Thread(target=self._follow, name="nettests-nodes", daemon=True)
        self._thread.start()

    def stop(self, *, last: bool = True) -> None:
        """Stop watching, after a ``last`` read; may be called twice."""
        if self._thread is None:
            return
        self._ended.set()
        self._thread.join()
        self._thread = None
        if last:
            self.look()

    def look(self, *, older_than: float = 0.0) -> None:
        """Read the nodes if the last read is older than that; a failed read changes nothing."""
        with self._looking:
            look = self._reads.look(older_than=older_than)
            if look is None:
                return
            now, readiness = look
            with self._lock:
                for name in self.names:
                    self._compare(name, readiness.get(name), now)
                self._before, self._known_at = readiness, now

    def why_unready(self, nodes: Collection[str], since: float, *, fresh: bool) -> str:
        """Return which of these nodes was not Ready since ``since``, and why, or nothing.

        With ``fresh``, read the nodes first, unless that was just done.
        """
        concerned = [name for name in self.names if name in nodes]
        if concerned and fresh:
            self.look(older_than=FRESH_SECONDS)
        with self._lock:
            for name in concerned:
                for spell in self._spells.get(name, ()):
                    if spell.ended is None or spell.ended >= since:
                        return f"node {name} {UNREADY} ({spell.why})"
        return ""

    def _follow(self) -> None:
        self.look()  # as reference: a node may turn NotReady and Ready again before the next read
        here = True
        while not self._ended.wait(LOOK_SECONDS):
            self.look(older_than=FRESH_SECONDS)
            if here and self.silence() >= GONE_SECONDS:
                here = False
                self.gone(f"the API server has answered nothing for {GONE_SECONDS:.0f} s")

    def _compare(self, name: str, now: Readiness | None, at: float) -> None:
        """Begin or end a node's spell; a short one between two reads shows by ``since``."""
        before = self._before.get(name)
        spells = self._spells.setdefault(name, [])
        lasting = spells[-1] if spells and spells[-1].ended is None else None
        unready = now is None or not now.ready
        if unready and lasting is None:
            why = "it is no longer in the API" if now is None else now.why
            spells.append(_Spell(began=self._known_at, why=why))
            self.tell(f"node {name} turned NotReady: {why}")
        elif not unready and lasting is not None:
            lasting.ended = at
            self.tell(f"node {name} is Ready again")
        elif now and before and now.ready and before.ready and now.since != before.since:
            spells.append(_Spell(began=self._known_at, why=f"until {now.since}", ended=at))
            self.tell(f"node {name} was not Ready for a moment, until {now.since}")
