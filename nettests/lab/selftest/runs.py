"""The results of a run of the harness that the selftest judges, read from ``results.json``. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import cattrs

RED = frozenset({"fail", "flaky", "unknown", "lifted"})
_SKIPPED = "skipped"
_PLAIN = "pod-to-pod-ip"
"""The flow whose passing pairs contradict an incident of lost packets between nodes."""
_PLACES = {"direction", "link", "remote-node", "pod-network", "pod-pair", "pod-route"}
"""Traits of incidents that say between which nodes all packets are lost, if the only other trait is a protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check that ran, with its verdict; ``source`` and ``target`` are nodes, or empty."""

    id: str
    flow: str
    verdict: str
    source: str = ""
    target: str = ""
    protocol: str = ""
    placement: str = ""
    service: str = ""
    left_open_by: str = ""
    """The limitation that leaves the outcome open; empty if an outcome is expected."""
    members: "tuple[Check, ...]" = ()
    """The red members of a check of many nodes or node pairs, each with its own source and target."""
    passing: tuple[str, ...] = ()
    """The ordered node pairs that pass, ``win-1 → linux-2``, of a check of the connectivity matrix."""

    @property
    def red(self) -> bool:
        """Whether the verdict needs attention."""
        return self.verdict in RED


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One incident of the run; ``explained`` means that it explains several checks."""

    cause: str
    traits: tuple[tuple[str, str], ...]
    checks: tuple[str, ...]
    explained: bool = True

    @property
    def words(self) -> str:
        """All texts that name the cause, joined."""
        return " ".join((self.cause, *(value for _, value in self.traits)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run. ``problem`` says what failed; ``selected`` means that not all flows were run.

    ``rejudged``: its journal was judged again, by a later harness; ``None`` if that was not recorded.
    """

    exit_code: int | None
    seconds: float
    checks: tuple[Check, ...] = ()
    incidents: tuple[Incident, ...] = ()
    events: tuple[str, ...] = ()
    """The texts of the run's events."""
    problem: str = ""
    selected: bool = False
    rejudged: bool | None = False

    @property
    def red(self) -> tuple[Check, ...]:
        """The red checks, in their order."""
        return tuple(check for check in self.checks if check.red)

    @property
    def contradictions(self) -> Iterator[tuple[Incident, str]]:
        """Yield incidents that say that nothing passes between nodes, each with a passing pair of these."""
        for incident in self.incidents:
            traits = dict(incident.traits)
            protocol = traits.pop("protocol", "")
            place = set(traits.items()) if {*traits} <= _PLACES else set()
            if not incident.explained or len(place) != 1 or "get no answer" not in incident.cause:
                continue
            ((kind, value),) = place
            passing = (
                pair
                for check in self.checks
                if not protocol or check.protocol in protocol.split(" and ")
                for pair in check.passing
                if _is_within(pair, kind, value)
            )
            if pair := next(passing, ""):
                yield incident, pair

    @property
    def spoiled(self) -> bool:
        """Whether faults cannot be judged by this healthy run; ``unknown`` checks (a busy machine) are no reason."""
        return bool(self.problem) or any(check.verdict != "unknown" for check in self.red)


def _is_within(pair: str, kind: str, value: str) -> bool:
    nodes, ends = {*pair.split(" → ")}, {*value.replace("↔", "→").split(" → ")}
    one_way = kind in {"direction", "pod-route"}
    return len(nodes) > 1 and (pair == value if one_way else ends <= nodes)


def read(results: Mapping[str, Any], *, seconds: float, exit_code: int | None) -> Run:
    """Return a run from its ``results.json``."""
    error = (results.get("run") or {}).get("error") or ""
    return Run(
        exit_code=exit_code,
        seconds=seconds,
        checks=tuple(
            _check(result) for result in results["checks"] if result["verdict"] != _SKIPPED
        ),
        incidents=tuple(_incident(incident) for incident in results.get("incidents") or ()),
        events=tuple(str(event["text"]) for event in results.get("events") or ()),
        problem=str(error),
    )


def _check(result: Mapping[str, Any]) -> Check:
    source, target = result.get("source") or {}, result.get("target") or {}
    whole = Check(
        id=result["id"],
        flow=result["flow"],
        verdict=result["verdict"],
        source=source.get("node") or "",
        target=target.get("node") or "",
        protocol=result.get("protocol") or "",
        placement=result.get("placement") or "",
        service=target.get("service") or "",
        left_open_by=_left_open_by(result),
        passing=tuple(_passing(result)),
    )
    return replace(whole, members=tuple(_members(whole, result.get("members") or {})))


def _members(whole: Check, members: Mapping[str, Any]) -> Iterator[Check]:
    """Yield the red members of a check; a label that is no node's names the Service."""
    for deviation in members.get("deviating") or ():
        source, target = deviation.get("source") or "", deviation.get("target") or ""
        _, _, end = deviation["member"].partition(" → ")
        member = replace(
            whole,
            id=f"{whole.id}#{deviation['member']}",
            verdict=deviation["verdict"],
            source=source,
            target=target,
            service=deviation.get("service") or (end if end != target else ""),
        )
        if member.red:
            yield member


def _passing(result: Mapping[str, Any]) -> Iterator[str]:
    if result["flow"] == _PLAIN:
        for group in (result.get("members") or {}).get("others") or ():
            if group["verdict"] == "pass":
                yield from group["members"]


def open_flows(healthy: Iterable[Run]) -> dict[str, tuple[str, ...]]:
    """Return the flows whose checks are all left open by the documents, with the limitations that say so.

    A flow with an expectation on one profile is not open.
    """
    checks = [check for run in healthy for check in run.checks]
    expecting = {check.flow for check in checks if not check.left_open_by}
    limitations: dict[str, dict[str, None]] = {}
    for check in checks:
        if check.flow not in expecting:
            limitations.setdefault(check.flow, {})[check.left_open_by] = None
    return {flow: tuple(limitations[flow]) for flow in sorted(limitations)}


def _left_open_by(result: Mapping[str, Any]) -> str:
    expected = result.get("expected") or {}
    is_open = "outcome" in expected and expected["outcome"] is None and not expected["undecided"]
    return str((result.get("limitation") or {}).get("id", "")) if is_open else ""


def _incident(incident: Mapping[str, Any]) -> Incident:
    traits = tuple(sorted((incident.get("traits") or {}).items()))
    return cattrs.structure({**incident, "traits": traits}, Incident)


def from_json(data: Mapping[str, Any]) -> Run:
    """Return the run that was stored by ``asdict``."""
    return cattrs.structure({"rejudged": None, **data}, Run)
