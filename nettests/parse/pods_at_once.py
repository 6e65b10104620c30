"""First packets of many new Pods started on one node at once, from their logs.

``start`` and ``first_packets`` read one Pod. Late Pods are named; the worst one is reported in the
words that incidents recognise. A Pod says nothing if its node was busy, or if it did not start for
a reason of the cluster; if half of the Pods say nothing, the network's state is unknown.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from nettests.model.json_text import read_json
from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse import first_packets, start
from nettests.parse.reading import Reading, one_line, probe_failed

NAMED = 5
"""The most Pods that a sentence names."""
_BAD = frozenset({Outcome.DEVIATES, Outcome.FAILS_TO_START})

NamedReadings = Sequence[tuple[str, Reading]]


def read(raw: Raw) -> Reading:
    """Read the records of all Pods."""
    pods = read_json(raw.stdout)["pods"]
    readings = [(str(pod["name"]), _read(pod, raw)) for pod in pods]
    silent = [
        (name, reading) for name, reading in readings if reading.outcome is Outcome.PROBE_FAILED
    ]
    if bad := [(name, reading) for name, reading in readings if reading.outcome in _BAD]:
        return _deviates(bad, len(readings))
    if 2 * len(silent) >= len(readings):
        if not silent:
            return probe_failed("no Pod was made")
        return probe_failed(
            f"{silent[0][1].detail}; so it was with {len(silent)} of {len(readings)} Pods"
        )
    silent_note = f"; {len(silent)} more told nothing: {silent[0][1].detail}" if silent else ""
    mute = {name for name, _ in silent}
    seconds = max(first_packets.longest(_logs(pod)) for pod in pods if str(pod["name"]) not in mute)
    text = (
        f"{len(readings) - len(silent)} of {len(readings)} Pods made at once reached everything from their first moments on, "
        f"the last one after {seconds * 1000:.0f} ms{silent_note}"
    )
    return Reading(outcome=Outcome.CONFORMS, detail=one_line(text))


def _read(pod: Mapping[str, Any], raw: Raw) -> Reading:
    if "error" in pod:
        return probe_failed(str(pod["error"]))
    return start.read_first_packets(pod, raw)


def _logs(pod: Mapping[str, Any]) -> Mapping[str, str]:
    logs: Mapping[str, str] = (pod.get("then") or {}).get("logs") or {}
    return logs


def _deviates(bad: NamedReadings, number: int) -> Reading:
    """Name the Pods that deviate, with the detail of the one that was late longest."""
    name, worst = max(bad, key=lambda deviation: _seconds(deviation[1]))
    names = ", ".join(pod_name for pod_name, _ in bad[:NAMED])
    more = f" and {len(bad) - NAMED} more" if len(bad) > NAMED else ""
    text = f"{len(bad)} of {number} Pods made at once deviate ({names}{more}); of {name}: {worst.detail}"
    return Reading(outcome=Outcome.DEVIATES, detail=one_line(text))


def _seconds(reading: Reading) -> float:
    late = first_packets.lateness(reading.detail)
    return late.seconds if late else 0.0
