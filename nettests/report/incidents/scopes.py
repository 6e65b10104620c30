"""Where losses are, or late answers: the trait that nearly all struck checks share, or several places.

Used by ``loss`` and ``slowness``. A struck share is compared with that of all other checks.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from math import log

from nettests.report.incidents.search import Evidence
from nettests.report.incidents.traits import TRANSPORTS, Kind, Trait

PLACES = (Kind.LINK, Kind.DIRECTION, Kind.REMOTE_NODE, Kind.ADDRESSED, Kind.PROXY_NODE, Kind.NODE)
SCOPES = (
    *PLACES,
    *(Kind.DNS_SERVICE, Kind.DNS, Kind.BACKEND, Kind.TARGET, Kind.PROTOCOL, Kind.PLACEMENT),
    *(Kind.FAMILY, Kind.SYSTEMS),
)
"""Traits that may be the scope of a loss, the narrowest first."""
FAR_MORE = 1.5
"""A place and a protocol are named together if their share is this many times either's."""
SHARED = 0.85
"""Share of the struck checks that must have a trait for it to be the scope."""
APART = 7.0
"""By so much more does the logarithm of the likelihood have to grow if two places are named instead of one: 1,000 times."""
FEWEST_AT_A_PLACE = 3
_APART = (*PLACES[:-1], Kind.DNS)
"""Traits by which losses of several causes are told apart."""


def scope_of(struck: set[str], evidence: Sequence[Evidence]) -> tuple[Trait, ...]:
    """Return the traits that nearly all struck checks share; empty if none stands out.

    The share of a trait's checks that were struck tells how much is lost there, not whether. A
    place is named with its protocol if both together are affected far more than either.
    """
    scopes = [clue for clue in evidence if any(trait.kind in SCOPES for trait in clue.traits)]
    having: Counter[tuple[Trait, ...]] = Counter()
    hit: Counter[tuple[Trait, ...]] = Counter()
    for clue in scopes:
        for scope in _scopes(clue.traits):
            having[scope] += 1
            hit[scope] += clue.check in struck

    def share(scope: tuple[Trait, ...]) -> float:
        return hit[scope] / having[scope]

    def stands_out(scope: tuple[Trait, ...]) -> bool:
        elsewhere = (len(struck) - hit[scope]) / max(len(scopes) - having[scope], 1)
        if hit[scope] < SHARED * len(struck) or share(scope) <= 2 * elsewhere:
            return False
        return len(scope) == 1 or all(share(scope) > FAR_MORE * share((trait,)) for trait in scope)

    fitting = [scope for scope in having if having[scope] < len(scopes) and stands_out(scope)]
    return max(
        fitting,
        key=lambda scope: (share(scope), -SCOPES.index(scope[0].kind), scope[0].value),
        default=(),
    )


def _scopes(traits: Collection[Trait]) -> Iterator[tuple[Trait, ...]]:
    alone = [trait for trait in traits if trait.kind in SCOPES]
    protocols = [trait for trait in alone if trait.kind is Kind.PROTOCOL]
    for trait in alone:
        yield (trait,)
        if trait.kind in PLACES:
            yield from ((trait, protocol) for protocol in protocols)


def places_of(
    struck: set[str], evidence: Sequence[Evidence]
) -> tuple[tuple[tuple[Trait, ...], set[str]], ...]:
    """Return the scopes of the struck checks, each with its checks: one, or several that explain far more.

    The scope of a single one may be empty, and is broader if two places are struck than either of them.
    """
    whole = scope_of(struck, evidence)
    parts = [*_one_by_one(struck, evidence)]
    gained = sum(gain for _, _, gain in parts)
    if len(parts) < 2 or gained < _gain(struck, evidence, whole) + APART:
        return ((whole, struck),)
    return tuple((scope, checks) for scope, checks, _ in parts)


def is_apart(scope: Sequence[Trait], struck: set[str], evidence: Sequence[Evidence]) -> bool:
    """Whether a place is struck by so much more than all others that it is no chance."""
    placed = any(trait.kind in PLACES for trait in scope)
    return placed and _gain(struck, evidence, scope) >= APART


def _one_by_one(
    struck: set[str], evidence: Sequence[Evidence]
) -> Iterator[tuple[tuple[Trait, ...], set[str], float]]:
    """Yield the place that explains most of the struck checks, then that of the others, and so on."""
    left = set(struck)
    while len(left) >= FEWEST_AT_A_PLACE:
        hits = Counter(
            trait
            for clue in evidence
            if clue.check in left
            for trait in clue.traits
            if trait.kind in _APART
        )
        places = [trait for trait, count in hits.items() if count >= FEWEST_AT_A_PLACE]
        gains = {trait: _gain(left, evidence, (trait,)) for trait in sorted(places)}
        if not gains or (gain := max(gains.values())) < APART:
            return
        place = max(gains, key=lambda trait: (gains[trait], -_APART.index(trait.kind)))
        there = {clue.check for clue in evidence if place in clue.traits}
        rest = [clue for clue in evidence if clue.check not in there]
        inside = [clue for clue in evidence if clue.check in there]
        yield _with_protocol(place, left & there, inside), left & there, gain
        left, evidence = left - there, rest


def _with_protocol(
    place: Trait, struck: set[str], evidence: Sequence[Evidence]
) -> tuple[Trait, ...]:
    """Return the place, with the only protocol that was struck there if others were not."""
    of = {
        clue.check: next(
            (t for t in clue.traits if t.kind is Kind.PROTOCOL and t.value != TRANSPORTS), None
        )
        for clue in evidence
        if place in clue.traits
    }
    hit = {protocol for check, protocol in of.items() if check in struck}
    spared = {protocol for check, protocol in of.items() if check not in struck} - hit
    (protocol, *others) = sorted(hit, key=str)
    return (place, protocol) if protocol and spared and not others else (place,)


def _gain(struck: set[str], evidence: Sequence[Evidence], scope: Sequence[Trait]) -> float:
    """Return the logarithm of how much likelier the strikes are if their share in the scope is its own."""
    having = [{*scope} <= clue.traits for clue in evidence]
    hit = [clue.check in struck for clue in evidence]
    inside, both = sum(having), sum(map(min, having, hit))
    whole, every = len(having), sum(hit)
    if not scope or both * (whole - inside) <= (every - both) * inside:
        return 0.0  # no more is struck there than elsewhere
    return (
        _likelihood(both, inside)
        + _likelihood(every - both, whole - inside)
        - _likelihood(every, whole)
    )


def _likelihood(struck: int, of: int) -> float:
    spared = of - struck
    return sum(count * log(count / of) for count in (struck, spared) if count)
