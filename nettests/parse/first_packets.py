"""When each kind of path first worked for a new Pod, from its containers' logs.

For cases of ``FIRST_PACKETS``, beside ``start``. Each container runs one curl that repeats a
request (``plan.pods.reaching``). A late path is reported with the seconds since the container's
first attempt, when the Pod's network has to work.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from statistics import median

from nettests.model.observation import Attempt
from nettests.model.retransmission import PROMPT_SECONDS, SYN_AGAIN
from nettests.model.words import Outcome
from nettests.parse.reading import Reading, one_line, probe_failed

LATE_SECONDS = SYN_AGAIN[1]
"""By then a second SYN was lost: the initial retransmission time-out and its first doubling (RFC 6298, 2.1 and 5.5)."""
LOST = 3
"""A path lost many requests if at least this many failed after its first answer, most of them for a second each …"""
LOST_ONE_IN = 3
"""… and if they are at least one in this many; ``path-loss`` measures smaller shares."""
SLOW_SECONDS = 2 * PROMPT_SECONDS
"""A path that was late itself shows a busy node only if its answers are slower than this."""
FEWEST_ANSWERS = 3
"""Fewest later answers for a median."""
BUSY = "its node was busy: what answered did so slowly to the end"
SLOWLY = "its answers took so long that what failed within a second may have been slow, too"
NOTHING = "nothing"
BY_NAME = "Service by its name"
_PATHS = {"pod": "Pod", "service": "ClusterIP", "name": BY_NAME}
"""The targets of the paths, by the names of their containers."""
_ATTEMPT = re.compile(
    # sample: "first-packets 200 0.003417", "first-packets 000 1.001222"
    r"^first-packets (\d{3}) (\d+[.,]\d+)\r?$",
    re.MULTILINE,
)
_COMPLAINT = re.compile(
    # sample: "curl: (28) Connection timed out after 1001 milliseconds"
    r"^curl: \(\d+\) .*$",
    re.MULTILINE,
)
_LATENESS = re.compile(
    # sample: "it reached nothing for its first 6.0 s: Pod after 6.0 s, ClusterIP after 6.0 s, …"
    r"\bit reached (nothing|no .+?) for its first (\d+\.\d) s\b"
)
_LACKED = re.compile(
    # sample: "it reached no Service by its name: Pod after 103 ms, ClusterIP after 103 ms, Service by its name never …"
    r"\bit reached (nothing|no [^:]+?)(?: for its first \d+\.\d s)?: "
)
_LOST = re.compile(
    # sample: "14 of 14 requests to ClusterIP failed after a first answer: Pod after 4 ms, …"
    r"\b\d+ of \d+ requests to ([^:]+?) failed after a first answer: "
)
NO_NAME = f"no {BY_NAME}"
"""For a Pod that got answers by address only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lateness:
    """What a new Pod did not reach at first, as text, and for how long."""

    what: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Path:
    """When a path first worked (``None``: never), how long it was tried, and what followed."""

    name: str
    answered: float | None
    tried: float
    complaint: str
    later: int = 0
    """Requests after the first answered one."""
    failed: int = 0
    """How many of them were not answered."""
    typical: float = 0.0
    """The median time of later answers; 0 if there are too few."""
    times: tuple[tuple[float, float], ...] = ()
    """When each answered request was sent, and how long it took."""
    busy: bool = False
    """Whether other paths were slow meanwhile but lost nothing: then the node was busy, not the network late."""

    @property
    def late(self) -> bool:
        return self.answered is not None and self.answered >= LATE_SECONDS and not self.busy

    @property
    def lossy(self) -> bool:
        return self.failed_often and not (self.busy or self.may_be_slow)

    @property
    def failed_often(self) -> bool:
        return self.failed >= LOST and self.failed * LOST_ONE_IN >= self.later

    @property
    def may_be_slow(self) -> bool:
        """Whether answers took nearly the time limit: failed requests may just have been slower."""
        return self.typical > SLOW_SECONDS

    @property
    def mostly_failed(self) -> bool:
        return self.failed >= LOST and 2 * self.failed > self.later

    @property
    def slow(self) -> bool:
        return self.typical > PROMPT_SECONDS

    @property
    def shows_a_busy_node(self) -> bool:
        """Whether it stayed slow but lost nothing once it worked; lost packets cause failures.

        A path that was late itself has to be slower: 0.3 s do not explain seconds of silence.
        """
        came_late = self.answered is not None and self.answered >= LATE_SECONDS
        return self.typical > (SLOW_SECONDS if came_late else PROMPT_SECONDS) and not self.failed

    def __str__(self) -> str:
        return f"{self._first()}{self._then()}"

    def _first(self) -> str:
        if self.answered is None:
            return f"{self.name} never in {self.tried:.1f} s ({self.complaint or 'no answer'})"
        if self.slow or (self.busy and self.answered >= LATE_SECONDS):
            return f"{self.name} after {self.answered:.1f} s, and slowly"
        if not self.late:
            return f"{self.name} after {self.answered * 1000:.0f} ms"
        return f"{self.name} after {self.answered:.1f} s"

    def _then(self) -> str:
        if not self.failed:
            return ""
        return f", then {self.failed} of {self.later} requests failed ({self.complaint or 'no answer'})"


def any_attempt(logs: Mapping[str, str]) -> bool:
    """Whether any container logged an attempt; otherwise none ran."""
    return any(_ATTEMPT.search(text) for text in logs.values())


def read(logs: Mapping[str, str]) -> Reading:
    """Read the logs by container name."""
    silent = [name for name in _PATHS if not _ATTEMPT.search(logs.get(name, ""))]
    if silent:
        return probe_failed(f"no log tells of the first packets to {', '.join(silent)}: {logs}")
    paths = _beside_each_other([_path(name, logs[name]) for name in _PATHS])
    each = ", ".join(map(str, paths))
    never = [path for path in paths if path.answered is None]
    late = [path for path in paths if path.late]
    answered = [path for path in paths if path.answered is not None]
    if never and answered and all(path.shows_a_busy_node for path in answered):
        return probe_failed(f"{BUSY}: {each}")
    if never:
        return _deviates(f"it reached {_none_of(never)}: {each}")
    if late:
        seconds = max(path.answered or 0 for path in late)
        return _deviates(f"it reached {_none_of(late)} for its first {seconds:.1f} s: {each}")
    if any(path.busy and path.mostly_failed for path in paths):
        return probe_failed(f"{BUSY}: {each}")
    if lossy := [path for path in paths if path.lossy]:
        failed, later = sum(path.failed for path in lossy), sum(path.later for path in lossy)
        to = " and ".join(path.name for path in lossy)
        return _deviates(
            f"{failed} of {later} requests to {to} failed after a first answer: {each}"
        )
    if any(path.may_be_slow and path.failed_often and not path.busy for path in paths):
        return probe_failed(f"{SLOWLY}: {each}")
    return Reading(outcome=Outcome.CONFORMS, detail=one_line(f"from its first moment on: {each}"))


def longest(logs: Mapping[str, str]) -> float:
    """Return the seconds until the last path worked, without those that never did."""
    paths = [_path(name, logs[name]) for name in _PATHS if name in logs]
    return max((path.answered for path in paths if path.answered is not None), default=0.0)


def shows_busy_node(attempt: Attempt) -> bool:
    """Whether a new Pod's answers show a busy node and nothing about its network."""
    busy = attempt.detail.startswith((BUSY, SLOWLY))
    return attempt.outcome is Outcome.PROBE_FAILED and busy


def without_busy_nodes(attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """Return the attempts without those on a busy node; all attempts if no others are left."""
    others = tuple(attempt for attempt in attempts if not shows_busy_node(attempt))
    return others or tuple(attempts)


def lateness(detail: str) -> Lateness | None:
    """Parse from a detail what a new Pod reached late; ``None`` if nothing."""
    match = _LATENESS.search(detail)
    return Lateness(what=match[1], seconds=float(match[2])) if match else None


def lacked(detail: str) -> str:
    """Parse from a detail what a new Pod reached late or never; empty if nothing."""
    match = _LACKED.search(detail)
    return match[1] if match else ""


def lost_later(detail: str) -> str:
    """Parse from a detail the target of requests that failed after a first answer; else empty."""
    match = _LOST.search(detail)
    return match[1] if match else ""


def _beside_each_other(paths: list[_Path]) -> list[_Path]:
    """Return the paths, with ``busy`` set where the others show a busy node."""
    return [
        replace(path, busy=_busy(path, [two for two in paths if two is not path])) for path in paths
    ]


def _busy(path: _Path, others: list[_Path]) -> bool:
    """Whether another path without losses was slow to the end, or until this one was answered."""
    if any(other.shows_a_busy_node for other in others):
        return True
    before = path.answered or 0.0
    return any(_slow_before(before, other) for other in others if not (other.failed or other.late))


def _slow_before(moment: float, other: _Path) -> bool:
    """Whether most of another path's answers by then were slow, or slow ones took half the time."""
    meanwhile = [took for sent, took in other.times if sent < moment]
    waited = sum(took for took in meanwhile if took > PROMPT_SECONDS)
    return bool(meanwhile) and (median(meanwhile) > PROMPT_SECONDS or 2 * waited >= moment)


def _deviates(detail: str) -> Reading:
    return Reading(outcome=Outcome.DEVIATES, detail=one_line(detail))


def _none_of(paths: list[_Path]) -> str:
    if len(paths) == len(_PATHS):
        return NOTHING
    return " and ".join(f"no {path.name}" for path in paths)


def _path(name: str, log: str) -> _Path:
    """Return when the first attempt was answered, counting all before it, and what followed."""
    now = 0.0
    times: list[tuple[float, float, bool]] = []
    for code, text in _ATTEMPT.findall(log):
        seconds = float(text.replace(",", "."))
        times.append((now, seconds, code != "000"))
        now += seconds
    later = list(dropwhile(lambda attempt: not attempt[2], times))
    first = later.pop(0) if later else None
    answers = [seconds for _, seconds, answered in later if answered]
    complaints = _COMPLAINT.findall(log)
    return _Path(
        name=_PATHS[name],
        answered=first[0] + first[1] if first else None,
        tried=now,
        complaint=complaints[-1] if complaints else "",
        later=len(later),
        failed=len(later) - len(answers),
        typical=median(answers) if len(answers) >= FEWEST_ANSWERS else 0.0,
        times=tuple((sent, seconds) for sent, seconds, answered in times if answered),
    )
