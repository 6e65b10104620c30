"""Incidents that are new, gone or still there, joined by their cause and traits. Pure."""

from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum

from nettests.compare.recorded import RecordedRun
from nettests.report.results import Incident


class Stays(StrEnum):
    """What became of an incident."""

    NEW = "new"
    GONE = "gone"
    SAME = "same"


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentChange:
    """One incident, with how many checks it explains in each run."""

    what: Stays
    cause: str
    traits: tuple[tuple[str, str], ...]
    next_step: str
    explained: bool
    checks_before: tuple[str, ...] = ()
    checks_after: tuple[str, ...] = ()


def incident_changes(before: RecordedRun, after: RecordedRun) -> tuple[IncidentChange, ...]:
    """Return the later run's incidents in its order, then those that are gone."""
    old = {key_of(incident): incident for incident in before.incidents}
    new = {key_of(incident): incident for incident in after.incidents}
    return (
        *(_change(incident, old.get(key), incident) for key, incident in new.items()),
        *(_change(incident, incident, None) for key, incident in old.items() if key not in new),
    )


def key_of(incident: Incident) -> Hashable:
    """Return the key by which incidents are joined; one that nothing explains is known by its checks."""
    if not incident.explained:
        return tuple(sorted(incident.checks))
    return incident.cause, tuple(sorted(incident.traits.items()))


def _change(incident: Incident, was: Incident | None, now: Incident | None) -> IncidentChange:
    both = was is not None and now is not None
    return IncidentChange(
        what=Stays.SAME if both else Stays.NEW if now is not None else Stays.GONE,
        cause=incident.cause,
        traits=tuple(sorted(incident.traits.items())),
        next_step=incident.next_step,
        explained=incident.explained,
        checks_before=was.checks if was else (),
        checks_after=now.checks if now else (),
    )
