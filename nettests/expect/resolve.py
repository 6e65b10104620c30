"""Decide which limitation applies to each check on this cluster: layers, overrides, conflicts.

The third step of ``expect``, before anything is deployed. Two entries of one layer that apply to
one check with different outcomes are an error naming both: a manifest must be unambiguous.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import Any, TypeVar

from nettests.errors import ManifestError
from nettests.expect.condition import (
    Evaluation,
    Truth,
    backend_placement,
    covers,
    evaluate,
    nat_exception,
)
from nettests.expect.lint import mistakes
from nettests.expect.manifest import Limitation, Manifest
from nettests.model.check import Check
from nettests.model.expectation import AppliedLimitation, Expectation, Expected, KnownBug
from nettests.model.facts import (
    Address,
    ClusterFacts,
    Fact,
    KubeProxyFacts,
    NodeFacts,
    unknown,
)
from nettests.model.words import Outcome


def of_members(
    check: Check,
    facts: ClusterFacts,
    kinds: Mapping[str, int],
    resolve: Callable[[Check], Expectation],
) -> dict[str, Expectation]:
    """Return expectations of all members by id, and the most frequent one under the check's id."""
    resolved: dict[object, Expectation] = {}
    expectations: dict[str, Expectation] = {}
    for member in check.each:
        key = (
            kinds.get(member.source.node or ""),
            kinds.get(member.target.node or ""),
            member.placement,
            backend_placement(member, facts),
            nat_exception(member, facts),
        )
        if key not in resolved:
            resolved[key] = resolve(member)
        expectations[member.id] = resolved[key]
    shared = {id(expectation): expectation for expectation in expectations.values()}
    often = Counter(map(id, expectations.values())).most_common(1)
    return {check.id: shared[often[0][0]], **expectations}


def kinds_of(nodes: Iterable[NodeFacts]) -> dict[str, int]:
    """Return numbers by node name, equal for nodes that no limitation's condition tells apart."""
    numbers: dict[NodeFacts, int] = {}
    return {node.name: numbers.setdefault(_kind(node), len(numbers)) for node in nodes}


def _kind(node: NodeFacts) -> NodeFacts:
    """Return a node without its name and addresses, which no limitation's condition reads."""
    proxy = replace(_without_origins(node.kube_proxy), source_vip=_UNREAD)
    alike = replace(
        node, name="", member=0, hostname="", addresses=(), pod_cidrs=(), taints=(), left_out=""
    )
    return replace(_without_origins(alike), kube_proxy=proxy)


_UNREAD: Fact[Address] = unknown("no condition reads it")
Facts = TypeVar("Facts", NodeFacts, KubeProxyFacts)


def _without_origins(facts: Facts) -> Facts:
    """Drop where known facts were read, such as a Pod's name: an expectation quotes only unknown ones."""
    values = {field.name: getattr(facts, field.name) for field in fields(facts)}
    without_origin: dict[str, Any] = {
        name: Fact(fact.value, "")
        for name, fact in values.items()
        if isinstance(fact, Fact) and fact.known
    }
    return replace(facts, **without_origin)


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry that covers a check, with its condition evaluated on the facts."""

    limitation: Limitation
    evaluation: Evaluation

    @property
    def truth(self) -> Truth:
        """Whether the entry's condition holds."""
        return self.evaluation.truth


def resolve(
    checks: Iterable[Check],
    facts: ClusterFacts,
    manifests: Sequence[Manifest],
    *,
    today: date | None = None,
) -> dict[str, Expectation]:
    """Return the expectation of every check and member, by id.

    ``ManifestError`` for entries that contradict each other on a check, ids in two files, overrides
    of unknown ids, and entries past their review date. ``today`` may be ``None`` only if no entry
    has such a date, so that expiry is never overlooked.
    """
    entries = _entries(manifests)
    _refuse_expired(entries, today)
    expectations: dict[str, Expectation] = {}
    kinds = kinds_of(facts.nodes)
    for check in checks:
        if check.members:
            expectations |= of_members(
                check, facts, kinds, lambda member: expectation(member, facts, entries)
            )
        else:
            expectations[check.id] = expectation(check, facts, entries)
    return expectations


def expectation(
    check: Check, facts: ClusterFacts, limitations: Sequence[Limitation]
) -> Expectation:
    """Return the expectation of one check."""
    covering = candidates(check, facts, limitations)
    gone = {
        name
        for candidate in covering
        if candidate.truth is Truth.YES
        for name in (*candidate.limitation.overrides, *candidate.limitation.cancels)
    }
    standing = [c for c in covering if c.limitation.id not in gone]
    doubtful = [c for c in standing if c.truth is Truth.UNKNOWN]
    applying = [c for c in standing if c.truth is Truth.YES and not c.limitation.only_cancels]
    deciding = _deciding(check, applying)
    expected = outcome(deciding.limitation, check.claim) if deciding else check.claim
    first = next((c for c in doubtful if _may_change(c, deciding, expected, check)), None)
    return Expectation(
        claim=check.claim,
        expected=None if first else expected,
        limitation=_applied(applying)
        if deciding and not first and expected != check.claim
        else None,
        undecided=undecided(first.limitation.id, first.evaluation.unknowns) if first else None,
        entries=_distinct(c.limitation.id for c in covering if c.truth is Truth.YES),
        known_bugs=() if first else _distinct(_known_bugs(applying, check.claim)),
        among=() if first or expected else _among(applying, covering, check.claim),
    )


def candidates(
    check: Check, facts: ClusterFacts, limitations: Sequence[Limitation]
) -> list[Candidate]:
    """Return every entry that covers the check, evaluated, in order of layer and id."""
    covering = [limitation for limitation in limitations if covers(limitation, check)]
    covering.sort(key=lambda limitation: (limitation.layer, limitation.id))
    return [Candidate(entry, evaluate(entry.condition, check, facts)) for entry in covering]


def outcome(limitation: Limitation, claim: Expected) -> Expected | None:
    """Return the outcome that the entry expects for a claim; ``None`` for ``unspecified``."""
    return limitation.deviation.applied(claim) if limitation.deviation else None


def unused(
    manifests: Sequence[Manifest], expectations: Mapping[str, Expectation]
) -> tuple[Limitation, ...]:
    """Return the entries that apply to no check here, in order of file and line."""
    used = {name for expectation in expectations.values() for name in expectation.entries}
    return tuple(
        limitation
        for manifest in manifests
        for limitation in manifest.limitations
        if limitation.id not in used and not limitation.part
    )


def _entries(manifests: Sequence[Manifest]) -> list[Limitation]:
    entries = [entry for manifest in manifests for entry in manifest.limitations]
    for mistake in mistakes(entries):
        raise mistake
    return entries


def _distinct(values: Iterable[T]) -> tuple[T, ...]:
    """Remove duplicates: several conditions of an entry may hold for a check."""
    return tuple(dict.fromkeys(values))


def _refuse_expired(limitations: Iterable[Limitation], today: date | None) -> None:
    for limitation in limitations:
        if limitation.review_by is None:
            continue
        if today is None:
            raise ManifestError(
                f"{limitation.place}: {limitation.id} has a review date, but today's is not known"
            )
        if limitation.review_by < today:
            raise ManifestError(
                f"{limitation.place}: {limitation.id} was to be reviewed by {limitation.review_by}",
                hint="check whether it still holds, then move the date or remove the entry",
            )


def _deciding(check: Check, applying: Sequence[Candidate]) -> Candidate | None:
    """Return the entry that decides; ``ManifestError`` if two contradict each other."""
    if not applying:
        return None
    first, *others = applying
    wanted = outcome(first.limitation, check.claim)
    for other in others:
        if outcome(other.limitation, check.claim) == wanted:
            continue
        raise ManifestError(
            f"{first.limitation.id} ({first.limitation.place}) and {other.limitation.id} "
            f"({other.limitation.place}) both apply to {check.id} and expect different outcomes: "
            f"{wanted or 'unspecified'} and {outcome(other.limitation, check.claim) or 'unspecified'}",
            hint="narrow one condition, or let the higher layer say overrides: [id]",
        )
    return first


def _may_change(
    undecided: Candidate, deciding: Candidate | None, expected: Expected | None, check: Check
) -> bool:
    entry = undecided.limitation
    if entry.only_cancels:
        return deciding is not None and deciding.limitation.id in entry.cancels
    return outcome(entry, check.claim) != expected


def _known_bugs(applying: Sequence[Candidate], claim: Expected) -> Iterator[KnownBug]:
    for candidate in applying:
        entry = candidate.limitation
        if not entry.is_open or entry.when_present is None:
            continue
        shows = _beyond_healthy(entry.when_present.applied(claim), claim)
        if shows is not None:
            yield KnownBug(id=entry.id, summary=entry.summary, shows=shows)


def _among(
    applying: Sequence[Candidate], covering: Sequence[Candidate], claim: Expected
) -> tuple[Outcome, ...]:
    """Return the outcomes that documents allow if they leave it open; empty if any is allowed.

    If only bugs leave it open: outcomes of the claim, the bugs and the entries that they override.
    """
    allowed: list[Outcome] = []
    for entry in (candidate.limitation for candidate in applying):
        others = [
            outcome(candidate.limitation, claim)
            for candidate in covering
            if candidate.limitation.id in entry.overrides and candidate.truth is not Truth.NO
        ]
        if entry.among:  # never without what is claimed: flows with other outcomes may be covered
            allowed += (*entry.among, *claim.outcomes)
        elif entry.when_present is None or None in others:
            return ()
        else:
            for expected in (claim, entry.when_present.applied(claim), *filter(None, others)):
                allowed += expected.outcomes
    return _distinct(allowed)


def _beyond_healthy(shows: Expected, claim: Expected) -> Expected | None:
    """Remove a healthy cluster's outcomes from a bug's: a closed port refuses, bug or not."""
    if shows.outcome.positive:
        return shows if shows != claim else None
    left = tuple(outcome for outcome in shows.outcomes if outcome not in claim.outcomes)
    return Expected(outcome=left[0], alternatives=left[1:]) if left else None


def undecided(entries: str, unknowns: Iterable[str]) -> str:
    """Return why an expectation is undecided: the entries that may decide, and the unknown facts."""
    return f"{entries} depends on what is not known: {'; '.join(unknowns)}"


def _applied(agreeing: Sequence[Candidate]) -> AppliedLimitation:
    """Return the first entry that applies, naming the others, which expect the same.

    If several of its conditions hold, each is a reason: a fact in only one of them may change it.
    """
    entry = agreeing[0].limitation
    places = [candidate for candidate in agreeing if candidate.limitation.id == entry.id]
    because = _distinct(
        sentence for candidate in places for sentence in candidate.evaluation.sentences
    )
    same = tuple(
        f"{other.limitation.id} ({other.limitation.place}) expects the same"
        for other in agreeing
        if other.limitation.id != entry.id
    )
    return AppliedLimitation(
        id=entry.id,
        summary=entry.summary,
        layer=entry.layer.name.lower(),
        category=entry.category,
        mechanism=entry.mechanism,
        sources=entry.sources,
        because=because + same,
        file=entry.file,
        line=entry.line,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """An entry that covers the check, and whether its condition holds, part by part."""

    limitation: Limitation
    truth: Truth
    findings: tuple[tuple[Truth, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One check, its expectation, and every entry that was considered."""

    check: Check
    expectation: Expectation
    considered: tuple[Considered, ...]


def explain(check: Check, facts: ClusterFacts, manifests: Sequence[Manifest]) -> Explanation:
    """Return which entries were considered for ``check``, and which one decides."""
    entries = [entry for manifest in manifests for entry in manifest.limitations]
    return Explanation(
        check=check,
        expectation=expectation(check, facts, entries),
        considered=tuple(
            Considered(
                limitation=candidate.limitation,
                truth=candidate.truth,
                findings=tuple((f.truth, f.explained) for f in candidate.evaluation.findings),
            )
            for candidate in candidates(check, facts, entries)
        ),
    )
