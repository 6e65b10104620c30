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
from nettests.model.words import Verdict
from nettests.report.incidents.traits import Kind, Trait

_SHAPES = """
    UNDECIDED INSTRUMENT OVERLOADED UNREADY NOT_STARTED NOT_CREATED GONE_POD GONE_PODS
    MISSING_PROGRAM LOST_API LOST_PROBE LOST_PROBES ADDRESSES LIMITATION WRONG_ANSWER
    UNCOMPLETED UNCOMPLETED+SOURCE_NODE SETTINGS LATE_RULES MANY_PODS NEW_PODS MUCH
    MUCH+SOURCE_NODE MUCH+SOURCE_OS DNS PROXY_NODE CHANGED CHANGED+PROXY_NODE
    CHANGED+FLOW+PROXY_NODE REMOTE_NODE LINK DIRECTION POD_PAIR POD_ROUTE POD_NETWORK
    PROPERTY+PROXY_NODE PROPERTY+SOURCE_NODE PROPERTY+LEFT PROPERTY+DIRECTION SEEN_AS+PROXY_NODE
    SEEN_AS+SOURCE_NODE SEEN_AS+LEFT SEEN_AS+DIRECTION TARGET+ENTERED TARGET+ENTERED+PROTOCOL
    PROXY_NODE+SERVICE PROXY_NODE+BACKEND TARGET+ENTERED+VANTAGE TARGET+ENTERED+SOURCE_OS
    TARGET+ENTERED+VANTAGE+SOURCE_OS TARGET+TARGET_NODE HOST HOST+PROTOCOL HOST+SOURCE_OS
    OUTSIDE OUTSIDE+PROTOCOL LEFT LEFT+PLACEMENT NODE SOURCE_NODE TARGET_NODE PROPERTY SEEN_AS
    SIZE SIZE+REMOTE_NODE SIZE+LINK SIZE+DIRECTION SIZE+NODE SIZE+LEFT SIZE+ENTERED
    SIZE+PROTOCOL SIZE+REMOTE_NODE+PROTOCOL SIZE+LINK+PROTOCOL SIZE+DIRECTION+PROTOCOL
    SIZE+NODE+PROTOCOL SIZE+LEFT+PROTOCOL SIZE+ENTERED+PROTOCOL SIZE+PLACEMENT BACKEND SERVICE
    TARGET FAMILY PROTOCOL PLACEMENT VANTAGE DNS_SERVICE DNS+SOURCE_NODE DNS+QUERIES_OVER
    DNS_SERVICE+QUERIES_OVER DNS+SOURCE_NODE+QUERIES_OVER NAMES_OUTSIDE
    NAMES_OUTSIDE+SOURCE_NODE SEARCH_LIST DNS+PROTOCOL DNS+SOURCE_OS PROXY_NODE+PROTOCOL
    PROXY_NODE+SERVICE+PROTOCOL PROXY_NODE+TARGET FORWARDS PROXY_NODE+VANTAGE
    PROPERTY+SOURCE_OS PROPERTY+PROTOCOL LINK+PROTOCOL DIRECTION+PROTOCOL REMOTE_NODE+PROTOCOL
    NODE+PROTOCOL LEFT+PROTOCOL LEFT+PLACEMENT+PROTOCOL LEFT+SYSTEMS TARGET+PROTOCOL
    TARGET+SOURCE_NODE TARGET+SOURCE_NODE+PROTOCOL TARGET+PLACEMENT+SOURCE_NODE
    PLACEMENT+SOURCE_NODE ENTERED ENTERED+PROTOCOL TARGET+NODE TARGET+VANTAGE TARGET+SYSTEMS
    TARGET+SYSTEMS+PROTOCOL TARGET+SOURCE_OS SYSTEMS SYSTEMS+PROTOCOL SOURCE_OS
    TARGET+VANTAGE+PROTOCOL PLACEMENT+PROTOCOL PLACEMENT+SYSTEMS PLACEMENT+TARGET VANTAGE+SOURCE_NODE
    VANTAGE+SOURCE_OS FAMILY+TARGET PROTOCOL+SOURCE_OS DENIAL DNS_ERRORS PROBE RULE RULE+FLOW
    FLOW FLOW+ON_NODE FLOW+SOURCE_OS FLOW+SYSTEMS FLOW+PROTOCOL
"""
SHAPES: tuple[tuple[Kind, ...], ...] = tuple(
    tuple(Kind[name] for name in shape.split("+")) for shape in _SHAPES.split()
)
"""Kinds of traits that together name a cause."""

RED = frozenset({Verdict.FAIL, Verdict.FLAKY, Verdict.UNKNOWN, Verdict.LIFTED})
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
