"""Read in the logs of a new Pod's containers when each kind of path first worked.

Beside ``start``, for cases of ``FIRST_PACKETS``. Each container is one curl that requests the same path again and again
from its first moment on (``plan.pods.reaching``). What is late is said with its seconds, by which incidents name it:
seconds after a container's first attempt, before which its Pod's network has to be there. It judges nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import median

from nettests.model.retransmission import PROMPT_SECONDS, SYN_AGAIN
from nettests.model.words import Outcome
from nettests.parse.reading import Reading, one_line, probe_failed

LATE_SECONDS = SYN_AGAIN[1]
"""By then a second SYN was lost too: the initial retransmission time-out and its first doubling (RFC 6298, 2.1 and 5.5)."""
NOTHING = "nothing"
_PATHS = {"pod": "Pod", "service": "ClusterIP", "name": "Service by its name"}
"""The kinds of path by the names of their containers, as people call what they lead to."""
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
NO_NAME = "no Service by its name"
"""What it says of a Pod that got answers by address alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lateness:
    """What a new Pod did not reach at first, as a sentence says it, and for how long."""

    what: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Path:
    """When a kind of path first worked, ``None`` for never, and how long it was tried."""

    name: str
    answered: float | None
    tried: float
    complaint: str
    slow: bool
    """Whether later requests were slow too: that is a busy node, not a network that comes late."""
    times: tuple[tuple[float, float], ...] = ()
    """When each answered request was sent, and how long it took."""

    @property
    def late(self) -> bool:
        return self.answered is not None and self.answered >= LATE_SECONDS and not self.slow

    def __str__(self) -> str:
        if self.answered is None:
            return f"{self.name} never in {self.tried:.1f} s ({self.complaint or 'no answer'})"
        if self.slow:
            return f"{self.name} after {self.answered:.1f} s, and slowly"
        if not self.late:
            return f"{self.name} after {self.answered * 1000:.0f} ms"
        return f"{self.name} after {self.answered:.1f} s"


def told(logs: Mapping[str, str]) -> bool:
    """Whether any container tells of an attempt; where none does, none ran."""
    return any(_ATTEMPT.search(text) for text in logs.values())


def read(logs: Mapping[str, str]) -> Reading:
    """Read the logs of all containers, by their names."""
    silent = [name for name in _PATHS if not _ATTEMPT.search(logs.get(name, ""))]
    if silent:
        return probe_failed(f"no log tells of the first packets to {', '.join(silent)}: {logs}")
    paths = _beside_each_other([_path(name, logs[name]) for name in _PATHS])
    each = ", ".join(map(str, paths))
    never = [one for one in paths if one.answered is None]
    late = [one for one in paths if one.late]
    answered = [one for one in paths if one.answered is not None]
    if never and answered and all(one.slow for one in answered):
        return probe_failed(f"its node was busy: what answered did so slowly to the end: {each}")
    if never:
        return _deviates(f"it reached {_none_of(never)}: {each}")
    if late:
        seconds = max(one.answered or 0 for one in late)
        return _deviates(f"it reached {_none_of(late)} for its first {seconds:.1f} s: {each}")
    return Reading(outcome=Outcome.CONFORMS, detail=one_line(f"from its first moment on: {each}"))


def lateness(detail: str) -> Lateness | None:
    """Return what the detail of an answer says was late; ``None`` where it says nothing of the kind."""
    found = _LATENESS.search(detail)
    return Lateness(what=found[1], seconds=float(found[2])) if found else None


def lacked(detail: str) -> str:
    """Return what the detail of an answer says that a new Pod reached late or never; nothing where it says no such thing."""
    found = _LACKED.search(detail)
    return found[1] if found else ""


def _beside_each_other(paths: list[_Path]) -> list[_Path]:
    """Return the paths; one that came late beside others that were slow meanwhile is slow like them: the node was busy."""
    prompt = [one for one in paths if one.answered is not None and not one.late]
    return [
        replace(one, slow=True) if one.late and _slow_before(one.answered or 0, prompt) else one
        for one in paths
    ]


def _slow_before(answered: float, others: list[_Path]) -> bool:
    meanwhile = [took for one in others for sent, took in one.times if sent < answered]
    return bool(meanwhile) and median(meanwhile) > PROMPT_SECONDS


def _deviates(detail: str) -> Reading:
    return Reading(outcome=Outcome.DEVIATES, detail=one_line(detail))


def _none_of(paths: list[_Path]) -> str:
    if len(paths) == len(_PATHS):
        return NOTHING
    return " and ".join(f"no {one.name}" for one in paths)


def _path(name: str, log: str) -> _Path:
    """Return when the first attempt was answered: the time of all before it, and its own."""
    waited, answered = 0.0, None
    later: list[float] = []
    times: list[tuple[float, float]] = []
    now = 0.0
    for code, text in _ATTEMPT.findall(log):
        seconds = float(text.replace(",", "."))
        if code != "000":
            times.append((now, seconds))
        now += seconds
        if answered is not None:
            later.append(seconds)
            continue
        waited += seconds
        if code != "000":
            answered = waited
    complaints = _COMPLAINT.findall(log)
    return _Path(
        name=_PATHS[name],
        answered=answered,
        tried=waited,
        complaint=complaints[-1] if complaints else "",
        slow=bool(later) and median(later) > PROMPT_SECONDS,
        times=tuple(times),
    )
