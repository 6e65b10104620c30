"""Read how a deleted Pod ended: whether its server had its time within the grace period.

``probes.termination`` makes the record; ``parse.start`` reads the rest of a Pod's life.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from nettests.model.json_text import Object
from nettests.model.words import Outcome
from nettests.parse.reading import Reading, one_line, probe_failed

# sample: 2026-11-21T01:08:15.303023123Z I1121 01:08:15.303023   20732 log.go:244] Sleeping 3 seconds before terminating...
_TOLD = re.compile(r"^(\S+) .*Sleeping \d+ seconds before terminating", re.MULTILINE)
_WHOLE_SECOND = 1.0
"""``finishedAt`` has no fraction of a second: a container may have ended up to so much later."""


def told_to_end(log: str) -> str:
    """Return when a server logged that it was told to end (the line's time); else empty."""
    line = _TOLD.search(log)
    return line.group(1) if line else ""


def end_of(pod: Object, container: str) -> Object:
    """Return exit code and time from a container's terminated status; empty if there is none."""
    # sample: {"name": "first", "state": {"terminated": {"exitCode": 0, "finishedAt": "2026-11-21T01:08:18Z", …}}}
    for status in pod.get("status", {}).get("containerStatuses") or ():
        end = status.get("state", {}).get("terminated")
        if status["name"] == container and end:
            return {"code": end.get("exitCode"), "finished": end.get("finishedAt") or ""}
    return {}


def ended(then: Object, least: float) -> Reading:
    """Deviates if the Pod was gone before its server could end, or after all its grace period."""
    good = bool(then["gone"]) and least <= float(then["seconds"]) < float(then["grace"])
    return _read(Outcome.CONFORMS if good else Outcome.DEVIATES, then, least)


def terminated(then: Object, least: float) -> Reading:
    """Compare a server's time after its termination signal with what it needs (``least``).

    Both times are by the node's clock. Too little time is ``CUT_SHORT``. If one is unknown, a Pod
    gone too soon or an exit code other than 0 still shows a kill; anything else proves nothing.
    """
    took = _took(then)
    if took is not None:
        code = f" with exit code {then['code']}" if then.get("code") else ""
        how = f"its container ended {took:.1f} s after its server was told to{code}, and it was "
        return _read(_of(took, then, least), then, least, how)
    if then["gone"] and float(then["seconds"]) < least:
        return _read(Outcome.DEVIATES, then, least)
    if then.get("code"):
        how = f"its container's exit code is {then['code']}; "
        return _read(Outcome.DEVIATES, then, least, how)
    unknown = "its server was told to end" if then.get("finished") else "its container ended"
    return probe_failed(f"when {unknown} is not known; the Pod was gone after {then['seconds']} s")


def _of(took: float, then: Object, least: float) -> Outcome:
    if not then["gone"] or took >= float(then["grace"]):
        return Outcome.DEVIATES
    return Outcome.CONFORMS if took >= least - _WHOLE_SECOND else Outcome.CUT_SHORT


def _read(outcome: Outcome, then: Object, least: float, how: str = "") -> Reading:
    gone = "gone" if then["gone"] else "still there"
    took, grace = float(then["seconds"]), float(then["grace"])
    text = f"{gone} after {took:.1f} s: its server takes {least:.0f} s, its grace is {grace:.0f} s"
    return Reading(outcome=outcome, detail=one_line(how + text))


def _took(then: Mapping[str, Any]) -> float | None:
    """Return the seconds from signal to end, up to 1 s short (``finishedAt``), or ``None``."""
    try:
        began, finished = (datetime.fromisoformat(str(then[key])) for key in ("told", "finished"))
        return (finished - began).total_seconds()
    except (KeyError, ValueError, TypeError):
        return None
