"""Outcomes per port of a target, if ports differ and each is consistent.

A check's attempts alternate over requests that a Service serves at different ports. A port that
always fails beside one that always works is a failure of that port, not flakiness. Used by
``observe``, and by probes to decide which port to retry.
"""

from collections.abc import Mapping, Sequence

from nettests.model.observation import Attempt, PortSeen

ENOUGH = 2
"""Fewest attempts per port: a single outcome may be chance."""


def by_port(attempts: Sequence[Attempt]) -> Mapping[int, Sequence[Attempt]]:
    """Return the attempts by port if ports differ and each is consistent; else an empty mapping."""
    grouped: dict[int, list[Attempt]] = {}
    for attempt in attempts:
        if attempt.port is None:
            return {}
        grouped.setdefault(attempt.port, []).append(attempt)
    outcome_sets = [{attempt.outcome for attempt in of_port} for of_port in grouped.values()]
    inconsistent = any(len(outcomes) > 1 for outcomes in outcome_sets)
    return {} if inconsistent or len(set().union(*outcome_sets)) <= 1 else grouped


def differing_ports(attempts: Sequence[Attempt]) -> tuple[PortSeen, ...]:
    """Return the outcome of each port if ports explain why attempts disagree, lowest port first."""
    ports = sorted(by_port(attempts).items())
    if any(len(of_port) < ENOUGH for _, of_port in ports):
        return ()
    return tuple(PortSeen(port=port, outcome=of_port[0].outcome) for port, of_port in ports)
