"""Which causes explain the red checks: a greedy cover by combinations of traits that no green check has.

Second step towards incidents. It knows nothing of networks: ``SHAPES`` lists which kinds of traits
combine to something that an engineer would call a cause, the more telling first. The cover is greedy:
each time the combination is taken that explains most of what is left; of equal ones the one with the
fewest checks that say nothing about it, then the first of ``SHAPES``.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from nettests.model.check_id import member_of
from nettests.report.incidents.traits import Kind, Trait

SHAPES: tuple[tuple[Kind, ...], ...] = (
    (Kind.UNDECIDED,),
    (Kind.INSTRUMENT,),
    (Kind.OVERLOADED,),
    (Kind.UNREADY,),
    (Kind.NOT_STARTED,),
    (Kind.NOT_CREATED,),
    (Kind.GONE_POD,),
    (Kind.GONE_PODS,),
    (Kind.MISSING_PROGRAM,),
    (Kind.LOST_API,),
    (Kind.LOST_PROBE,),
    (Kind.LOST_PROBES,),
    (Kind.ADDRESSES,),
    (Kind.LIMITATION,),
    (Kind.WRONG_ANSWER,),
    (Kind.UNCOMPLETED,),
    (Kind.UNCOMPLETED, Kind.SOURCE_NODE),
    (Kind.SETTINGS,),
    (Kind.LATE_RULES,),
    (Kind.MANY_PODS,),
    (Kind.NEW_PODS,),
    (Kind.MUCH,),
    (Kind.MUCH, Kind.SOURCE_NODE),
    (Kind.MUCH, Kind.SOURCE_OS),
    (Kind.DNS,),
    (Kind.PROXY_NODE,),
    (Kind.CHANGED,),
    (Kind.CHANGED, Kind.PROXY_NODE),
    (Kind.CHANGED, Kind.FLOW, Kind.PROXY_NODE),
    (Kind.REMOTE_NODE,),
    (Kind.LINK,),
    (Kind.DIRECTION,),
    (Kind.POD_PAIR,),
    (Kind.POD_ROUTE,),
    (Kind.POD_NETWORK,),
    (Kind.PROPERTY, Kind.PROXY_NODE),
    (Kind.PROPERTY, Kind.SOURCE_NODE),
    (Kind.PROPERTY, Kind.LEFT),
    (Kind.SEEN_AS, Kind.PROXY_NODE),
    (Kind.SEEN_AS, Kind.SOURCE_NODE),
    (Kind.SEEN_AS, Kind.LEFT),
    (Kind.TARGET, Kind.ENTERED),
    (Kind.TARGET, Kind.ENTERED, Kind.PROTOCOL),
    (Kind.TARGET, Kind.ENTERED, Kind.VANTAGE),
    (Kind.TARGET, Kind.ENTERED, Kind.SOURCE_OS),
    (Kind.TARGET, Kind.ENTERED, Kind.VANTAGE, Kind.SOURCE_OS),
    (Kind.TARGET, Kind.TARGET_NODE),
    (Kind.PROXY_NODE, Kind.SERVICE),
    (Kind.PROXY_NODE, Kind.BACKEND),
    (Kind.HOST,),
    (Kind.HOST, Kind.PROTOCOL),
    (Kind.HOST, Kind.SOURCE_OS),
    (Kind.OUTSIDE,),
    (Kind.OUTSIDE, Kind.PROTOCOL),
    (Kind.LEFT,),
    (Kind.LEFT, Kind.PLACEMENT),
    (Kind.NODE,),
    (Kind.SOURCE_NODE,),
    (Kind.TARGET_NODE,),
    (Kind.PROPERTY,),
    (Kind.SEEN_AS,),
    (Kind.SIZE,),
    (Kind.SIZE, Kind.REMOTE_NODE),
    (Kind.SIZE, Kind.LINK),
    (Kind.SIZE, Kind.DIRECTION),
    (Kind.SIZE, Kind.NODE),
    (Kind.SIZE, Kind.LEFT),
    (Kind.SIZE, Kind.ENTERED),
    (Kind.SIZE, Kind.PROTOCOL),
    (Kind.SIZE, Kind.REMOTE_NODE, Kind.PROTOCOL),
    (Kind.SIZE, Kind.LINK, Kind.PROTOCOL),
    (Kind.SIZE, Kind.DIRECTION, Kind.PROTOCOL),
    (Kind.SIZE, Kind.NODE, Kind.PROTOCOL),
    (Kind.SIZE, Kind.LEFT, Kind.PROTOCOL),
    (Kind.SIZE, Kind.ENTERED, Kind.PROTOCOL),
    (Kind.SIZE, Kind.PLACEMENT),
    (Kind.BACKEND,),
    (Kind.SERVICE,),
    (Kind.TARGET,),
    (Kind.FAMILY,),
    (Kind.PROTOCOL,),
    (Kind.PLACEMENT,),
    (Kind.VANTAGE,),
    (Kind.DNS_SERVICE,),
    (Kind.DNS, Kind.SOURCE_NODE),
    (Kind.DNS, Kind.QUERIES_OVER),
    (Kind.DNS_SERVICE, Kind.QUERIES_OVER),
    (Kind.DNS, Kind.SOURCE_NODE, Kind.QUERIES_OVER),
    (Kind.NAMES_OUTSIDE,),
    (Kind.NAMES_OUTSIDE, Kind.SOURCE_NODE),
    (Kind.SEARCH_LIST,),
    (Kind.DNS, Kind.PROTOCOL),
    (Kind.DNS, Kind.SOURCE_OS),
    (Kind.PROXY_NODE, Kind.PROTOCOL),
    (Kind.PROXY_NODE, Kind.SERVICE, Kind.PROTOCOL),
    (Kind.PROXY_NODE, Kind.TARGET),
    (Kind.FORWARDS,),
    (Kind.PROXY_NODE, Kind.VANTAGE),
    (Kind.PROPERTY, Kind.SOURCE_OS),
    (Kind.PROPERTY, Kind.PROTOCOL),
    (Kind.LINK, Kind.PROTOCOL),
    (Kind.DIRECTION, Kind.PROTOCOL),
    (Kind.REMOTE_NODE, Kind.PROTOCOL),
    (Kind.NODE, Kind.PROTOCOL),
    (Kind.LEFT, Kind.PROTOCOL),
    (Kind.LEFT, Kind.PLACEMENT, Kind.PROTOCOL),
    (Kind.LEFT, Kind.SYSTEMS),
    (Kind.TARGET, Kind.PROTOCOL),
    (Kind.TARGET, Kind.SOURCE_NODE),
    (Kind.TARGET, Kind.SOURCE_NODE, Kind.PROTOCOL),
    (Kind.TARGET, Kind.PLACEMENT, Kind.SOURCE_NODE),
    (Kind.PLACEMENT, Kind.SOURCE_NODE),
    (Kind.ENTERED,),
    (Kind.ENTERED, Kind.PROTOCOL),
    (Kind.TARGET, Kind.NODE),
    (Kind.TARGET, Kind.VANTAGE),
    (Kind.TARGET, Kind.SYSTEMS),
    (Kind.TARGET, Kind.SYSTEMS, Kind.PROTOCOL),
    (Kind.TARGET, Kind.SOURCE_OS),
    (Kind.SYSTEMS,),
    (Kind.SYSTEMS, Kind.PROTOCOL),
    (Kind.SOURCE_OS,),
    (Kind.PLACEMENT, Kind.PROTOCOL),
    (Kind.PLACEMENT, Kind.SYSTEMS),
    (Kind.PLACEMENT, Kind.TARGET),
    (Kind.VANTAGE, Kind.SOURCE_NODE),
    (Kind.VANTAGE, Kind.SOURCE_OS),
    (Kind.FAMILY, Kind.TARGET),
    (Kind.PROTOCOL, Kind.SOURCE_OS),
    (Kind.DENIAL,),
    (Kind.DNS_ERRORS,),
    (Kind.PROBE,),
    (Kind.RULE,),
    (Kind.RULE, Kind.FLOW),
    (Kind.FLOW,),
    (Kind.FLOW, Kind.ON_NODE),
    (Kind.FLOW, Kind.SOURCE_OS),
    (Kind.FLOW, Kind.SYSTEMS),
    (Kind.FLOW, Kind.PROTOCOL),
)
"""Kinds of traits that together name a cause."""

FEWEST = 2
"""A cause of one check is that check: it is left to speak for itself, unless it is a member of the fleet's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one check says of one path: red, green (it contradicts), or neither; with its traits.

    A check may say several things: any of its red paths may be why it is red.
    """

    check: str
    traits: frozenset[Trait]
    red: bool = False
    green: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One cause, with the red checks that it explains and that none before it explained, in order."""

    traits: tuple[Trait, ...]
    checks: tuple[str, ...]


def explain(evidence: Sequence[Evidence]) -> tuple[Explanation, ...]:
    """Return the causes, most explaining first; red checks in none of them stay unexplained."""
    candidates = _candidates(evidence)
    left = {clue.check for clue in evidence if clue.red}
    explanations: list[Explanation] = []
    while left:
        best = max(candidates, key=lambda candidate: candidate.rank(left), default=None)
        if best is None or not _has_cause(best.traits, taken := best.red & left):
            break
        ordered = tuple(dict.fromkeys(clue.check for clue in evidence if clue.check in taken))
        explanations.append(Explanation(traits=best.traits, checks=ordered))
        left -= taken
    return tuple(explanations)


def _has_cause(traits: Sequence[Trait], checks: Collection[str]) -> bool:
    """Whether so many checks have a cause in common; one member of the fleet has, beside those of all other nodes.

    An instrument is a cause by itself: its calibration shows it, however few checks need it.
    """
    calibrated = bool(checks) and traits[0].kind is Kind.INSTRUMENT
    return calibrated or len(checks) >= FEWEST or any(map(member_of, checks))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    traits: tuple[Trait, ...]
    red: frozenset[str]
    silent: int
    """How many checks have the traits and are neither red nor green."""
    place: int

    def rank(self, left: set[str]) -> tuple[int, int, int]:
        return len(self.red & left), -self.silent, -self.place


def _candidates(evidence: Sequence[Evidence]) -> tuple[_Candidate, ...]:
    """Return every combination of traits that red checks have and no green one has."""
    red: dict[tuple[Trait, ...], set[str]] = {}
    places: dict[tuple[Trait, ...], int] = {}
    for clue in evidence:
        if clue.red:
            for place, traits in _combinations(clue.traits):
                red.setdefault(traits, set()).add(clue.check)
                places[traits] = place
    contradicted: set[tuple[Trait, ...]] = set()
    silent: Counter[tuple[Trait, ...]] = Counter()
    struck = frozenset(trait for traits in red for trait in traits)
    for clue in evidence:
        if clue.red:
            continue
        # What no red check has a part in explains none: of thousands of green members few are looked at closely.
        for _, traits in _combinations(clue.traits & struck):
            if clue.green:
                contradicted.add(traits)
            else:
                silent[traits] += 1
    return tuple(
        _Candidate(
            traits=traits,
            red=frozenset(checks),
            silent=silent[traits],
            place=places[traits],
        )
        for traits, checks in red.items()
        if traits not in contradicted
    )


def _combinations(traits: Iterable[Trait]) -> Iterable[tuple[int, tuple[Trait, ...]]]:
    """Yield each shape that a check's traits fill, with its place in ``SHAPES``."""
    by_kind: dict[Kind, list[Trait]] = {}
    for trait in sorted(traits):
        by_kind.setdefault(trait.kind, []).append(trait)
    for place, shape in enumerate(SHAPES):
        if all(kind in by_kind for kind in shape):
            for chosen in product(*(by_kind[kind] for kind in shape)):
                yield place, chosen
