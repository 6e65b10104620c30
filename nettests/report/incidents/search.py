"""Which causes explain the red checks: a greedy cover by combinations of traits that no green check has.

The second step. It knows nothing of networks: ``SHAPES`` lists which kinds of traits combine into
what an engineer would call a cause, the more specific first. Each step takes the combination that
explains most of the remaining checks; on a tie the one with the fewest neutral checks, then the
first of ``SHAPES``.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from nettests.model.check_id import member_of
from nettests.model.grouping import grouped
from nettests.model.words import Verdict
from nettests.report.incidents.traits import Kind, Trait
from nettests.resources import lines_of

SHAPES: tuple[tuple[Kind, ...], ...] = tuple(
    tuple(Kind[name] for name in shape.split("+"))
    for line in lines_of("nettests.report.incidents", "shapes.txt")
    for shape in line.split()
)
"""Combinations of kinds of traits that name a cause."""

RED = frozenset({Verdict.FAIL, Verdict.FLAKY, Verdict.UNKNOWN, Verdict.LIFTED})
FEWEST = 2
"""A cause needs this many checks, or one fleet member; other checks are reported alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one check shows about a path: red, green (a contradiction) or neither; its traits.

    A check may be evidence about several paths; any of its red ones may be why it is red.
    """

    check: str
    traits: frozenset[Trait]
    red: bool = False
    green: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One cause, with the red checks that it explains and no earlier cause explained, in order."""

    traits: tuple[Trait, ...]
    checks: tuple[str, ...]


def explain(evidence: Sequence[Evidence]) -> tuple[Explanation, ...]:
    """Return the causes, those that explain most first; checks without a cause are left out."""
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
    """Whether the checks are enough for a cause; one fleet member is, beside all other nodes.

    An instrument always is: its calibration proves it, however few checks use it.
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
        # Traits of no red check explain nothing: few of thousands of green members matter.
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
    """Yield the combinations, each for any address family, and for the check's own alone."""
    by_kind = grouped((trait.kind, trait) for trait in sorted(traits))
    family = tuple(by_kind.get(Kind.FAMILY, ()))
    for place, shape in enumerate(SHAPES):
        if all(kind in by_kind for kind in shape):
            for chosen in product(*(by_kind[kind] for kind in shape)):
                yield place, chosen
                if family and Kind.FAMILY not in shape:
                    yield place + len(SHAPES), (*chosen, *family)


def of_families(clues: Iterable[Evidence], among: Iterable[Evidence]) -> list[Evidence]:
    """Return clues with address families as traits only if there are two ``among`` a run's evidence."""
    families = {trait for clue in among for trait in clue.traits if trait.kind is Kind.FAMILY}
    of = families if len(families) < 2 else frozenset()
    return [replace(clue, traits=clue.traits - of) for clue in clues]
