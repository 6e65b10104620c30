"""What the rounds of a watch say together: how often each check, node and pair of nodes was red. Pure.

Read by all documents beside ``Results``. A rate counts rounds, not answers: red of those that were judged. A lost round
counts for nobody.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from nettests.model.check import Check
from nettests.model.journal_records import Round
from nettests.model.words import Verdict
from nettests.report.text import one_line, plural


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How many rounds were red for one thing; ``first`` and ``last`` are when the first and the last such round began."""

    name: str
    red: int
    first: str
    last: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """Why rounds judged nothing, and how many."""

    reason: str
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """A watch: ``judged`` of ``count`` rounds, ``red`` of them with anything red; rates with the most frequent first.

    ``unknown`` are the judged rounds in which some checks had no usable answer: such a check is in no rate.

    ``checks`` are checks and members by their ids; ``nodes`` have part in a red one, as ``pairs`` in order have.
    """

    count: int
    judged: int
    red: int
    unknown: int = 0
    checks: tuple[Rate, ...] = ()
    nodes: tuple[Rate, ...] = ()
    pairs: tuple[Rate, ...] = ()
    lost: tuple[Lost, ...] = ()

    def __str__(self) -> str:
        """Return it in one line: ``720 rounds: 3 with failures, 2 lost``."""
        told = f"{plural(self.count, 'round')}: {self.red or 'none'} with failures"
        if self.unknown:
            told += f", {self.unknown} with unknown checks"
        gone = self.count - self.judged
        return f"{told}, {gone} lost ({one_line(self.lost[0].reason, limit=80)})" if gone else told


def rounds_of(rounds: Sequence[Round], checks: Mapping[str, Check]) -> Rounds | None:
    """Return what rounds say together, ``None`` where there were none; ``checks`` are those of the plan, and members."""
    if not rounds:
        return None
    judged = [one for one in rounds if not one.lost]
    lost = Counter(one.lost for one in rounds if one.lost)
    return Rounds(
        count=len(rounds),
        judged=len(judged),
        red=sum(bool(one.red) for one in judged),
        unknown=sum(bool(one.unknown) for one in judged),
        checks=_rates(judged, lambda red: red),
        nodes=_rates(judged, lambda red: _nodes(red, checks)),
        pairs=_rates(judged, lambda red: _pairs(red, checks)),
        lost=tuple(Lost(reason=reason, rounds=count) for reason, count in lost.most_common()),
    )


def _rates(
    rounds: Iterable[Round], names: Callable[[Mapping[str, Verdict]], Iterable[str]]
) -> tuple[Rate, ...]:
    began: dict[str, list[str]] = defaultdict(list)
    for one in rounds:
        for name in dict.fromkeys(names(one.red)):
            began[name].append(one.started)
    found = [Rate(name=name, red=len(at), first=at[0], last=at[-1]) for name, at in began.items()]
    return tuple(sorted(found, key=lambda rate: (-rate.red, rate.name)))


def _nodes(red: Iterable[str], checks: Mapping[str, Check]) -> Iterable[str]:
    for name in red:
        check = checks.get(name)
        if check is not None and not check.members:
            yield from (node for node in (check.source.node, check.target.node) if node)


def _pairs(red: Iterable[str], checks: Mapping[str, Check]) -> Iterable[str]:
    for name in red:
        check = checks.get(name)
        if check is None or check.members:
            continue
        source, target = check.source.node, check.target.node
        if source and target and source != target:
            yield f"{source} → {target}"
