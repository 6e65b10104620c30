"""Runs with a deviation and runs without → the fewest facts that tell them apart. Pure.

Each run contributes one check with its facts. Facts that the check's expectation depends on are tried first. A fact
that is unknown in any of the runs cannot separate them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from nettests.compare.facts import (
    CONDITIONED,
    KUBERNETES,
    OF_CLUSTER,
    OF_NODE,
    PLUGIN,
    Dependency,
    dependencies,
    value_of,
)
from nettests.compare.recorded import RecordedCheck, RecordedRun
from nettests.report.summary import UNKNOWN

CheckInRun = tuple[RecordedRun, RecordedCheck]
"""A check in its run."""
Condition = Mapping[Dependency, tuple[str, ...]]
"""Values by fact: it holds where each fact has one of its values."""
ENDS = ("source", "target")
ALWAYS = (
    Dependency(KUBERNETES),
    Dependency(PLUGIN),
    *(Dependency("build", side) for side in ENDS),
)
"""The facts that an entry depends on, beside those that the check's expectation depends on."""
NOTHING = frozenset({"none", "no node"})
_MOST = 3
"""Every combination of up to so many facts is tried; beyond that, the best next fact is taken each time."""
_PLACES = frozenset({"node pool", "zone", "takes part", "what the identity may not do"})
"""Facts that say nothing about the network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Separated:
    """The condition; ``alike`` are the ids of runs that no recorded fact tells from those that show the deviation."""

    facts: Condition
    alike: tuple[str, ...] = ()


def separated(showing: Sequence[CheckInRun], without: Sequence[CheckInRun]) -> Separated:
    """Return the smallest condition that holds for all runs that show something and for none that does not.

    Where no condition does, or nothing has to be told apart, it is the facts of the runs that show it.
    """
    if not without:
        return Separated(facts=exact(showing))
    telling = dict(_telling(showing, without))
    reached = set[int]().union(*telling.values())
    if len(reached) < len(without):
        rest = [run.run.run_id for at, (run, _) in enumerate(without) if at not in reached]
        return Separated(facts=exact(showing), alike=tuple(rest))
    chosen = _smallest(telling, len(without))
    return Separated(facts={fact: _values(fact, showing) for fact in chosen})


def exact(showing: Sequence[CheckInRun]) -> Condition:
    """Return the facts that an expectation depends on, and those of every entry, with their values in these runs."""
    named = (*ALWAYS, *(dependency for _, check in showing for dependency in dependencies(check)))
    condition = {fact: _values(fact, showing) for fact in dict.fromkeys(named)}
    return {
        fact: values for fact, values in condition.items() if values and not NOTHING & {*values}
    }


def fact_of(fact: Dependency, run: RecordedRun, check: RecordedCheck) -> str | None:
    """Return the value of a fact for a check in its run; ``None`` where the run has no facts."""
    return value_of(fact, (check.source, check.target), run.facts) if run.facts else None


def _values(fact: Dependency, of: Sequence[CheckInRun]) -> tuple[str, ...]:
    """Return the values of a fact in runs, each once; none where a run has no facts."""
    values = [fact_of(fact, *pair) for pair in of]
    distinct = tuple(dict.fromkeys(value for value in values if value is not None))
    return distinct if None not in values else ()


def _telling(
    showing: Sequence[CheckInRun], without: Sequence[CheckInRun]
) -> Iterator[tuple[Dependency, frozenset[int]]]:
    """Yield each fact with the places of the runs without the deviation that it separates, the likeliest first."""
    for candidate in _candidates(showing):
        values = {*_values(candidate, showing)}
        if not values or values & {UNKNOWN, *NOTHING}:
            continue
        others = [fact_of(candidate, *other) for other in without]
        distinguished = frozenset(
            at
            for at, value in enumerate(others)
            if value is not None and value != UNKNOWN and value not in values
        )
        if distinguished:
            yield candidate, distinguished


def _candidates(showing: Iterable[CheckInRun]) -> Iterator[Dependency]:
    """Yield every fact of the cluster and of both ends once, those that conditions name before others."""
    named = (dependency for _, check in showing for dependency in dependencies(check))
    of_nodes = (Dependency(name, side) for name in CONDITIONED for side in ENDS)
    rest = (Dependency(name, side) for name in OF_NODE for side in ENDS)
    of_cluster = (Dependency(name) for name in OF_CLUSTER)
    every = dict.fromkeys((*named, *ALWAYS, *of_nodes, *of_cluster, *rest))
    yield from (fact for fact in every if fact.name not in _PLACES)


def _smallest(telling: Mapping[Dependency, frozenset[int]], number: int) -> tuple[Dependency, ...]:
    """Return the fewest facts that together separate all runs; of equally many, those that come first."""
    for size in range(1, _MOST + 1):
        for chosen in combinations(telling, size):
            if len(frozenset[int]().union(*(telling[fact] for fact in chosen))) == number:
                return chosen
    chosen, left = (), frozenset(range(number))
    while left:
        best = max(telling, key=lambda fact: len(telling[fact] & left))
        chosen, left = (*chosen, best), left - telling[best]
    return chosen
