"""Totals over the rounds of a watch: how often each check, node and node pair was red. Pure.

Every report reads them. A rate is red rounds per judged round; lost rounds do not count.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from nettests.model.check import Check
from nettests.model.journal_records import Round
from nettests.model.visible import one_line, plural
from nettests.model.words import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How many rounds were red for one name; ``first`` and ``last`` are when such rounds began."""

    name: str
    red: int
    first: str
    last: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownRate:
    """In how many rounds a check or member of a node was unknown, first and last time."""

    name: str
    unknown: int
    first: str
    last: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A reason for which rounds judged nothing, and how many rounds."""

    reason: str
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """A watch: ``judged`` of ``count`` rounds, ``red`` with failures; most frequent first.

    ``unknown`` counts judged rounds with checks without a usable answer, which no rate counts.

    ``checks`` holds checks and members by id; ``nodes`` and ``pairs`` are those of red ones.
    """

    count: int
    judged: int
    red: int
    unknown: int = 0
    checks: tuple[Rate, ...] = ()
    nodes: tuple[Rate, ...] = ()
    pairs: tuple[Rate, ...] = ()
    unknown_nodes: tuple[UnknownRate, ...] = ()
    """Nodes with unknown checks in some rounds; the rate of red rounds says nothing about those."""
    lost: tuple[Lost, ...] = ()

    def __str__(self) -> str:
        """Return one line: ``720 rounds: 3 with failures, 2 lost``."""
        line = f"{plural(self.count, 'round')}: {self.red or 'none'} with failures"
        if self.unknown:
            line += f", {self.unknown} with unknown checks"
        gone = self.count - self.judged
        return f"{line}, {gone} lost ({one_line(self.lost[0].reason, limit=80)})" if gone else line


def rounds_of(rounds: Sequence[Round], checks: Mapping[str, Check]) -> Rounds | None:
    """Total the rounds, ``None`` without any; ``checks`` are planned checks and members."""
    if not rounds:
        return None
    judged = [watch_round for watch_round in rounds if not watch_round.lost]
    lost = Counter(watch_round.lost for watch_round in rounds if watch_round.lost)
    return Rounds(
        count=len(rounds),
        judged=len(judged),
        red=sum(bool(watch_round.red) for watch_round in judged),
        unknown=sum(bool(watch_round.unknown) for watch_round in judged),
        checks=_rates(judged, lambda red: red),
        nodes=_rates(judged, lambda red: _nodes(red, checks)),
        pairs=_rates(judged, lambda red: _pairs(red, checks)),
        unknown_nodes=tuple(
            UnknownRate(name=name, unknown=len(at), first=at[0], last=at[-1])
            for name, at in _frequent(
                judged, lambda watch_round: _nodes(watch_round.unknown, checks)
            )
        ),
        lost=tuple(Lost(reason=reason, rounds=count) for reason, count in lost.most_common()),
    )


def _rates(
    rounds: Iterable[Round], names: Callable[[Mapping[str, Verdict]], Iterable[str]]
) -> tuple[Rate, ...]:
    frequent = _frequent(rounds, lambda watch_round: names(watch_round.red))
    return tuple(Rate(name=name, red=len(at), first=at[0], last=at[-1]) for name, at in frequent)


def _frequent(
    rounds: Iterable[Round], names: Callable[[Round], Iterable[str]]
) -> list[tuple[str, list[str]]]:
    """Return each name with the start times of its rounds, the most frequent name first.

    Among names in equally many rounds, the one with more mentions comes first: all checks of its
    peers mention a node that is down, but each peer is mentioned by fewer.
    """
    began: dict[str, list[str]] = defaultdict(list)
    often: Counter[str] = Counter()
    for watch_round in rounds:
        named = Counter(iter(names(watch_round)))  # the keys, if it is a mapping
        often.update(named)
        for name in named:
            began[name].append(watch_round.started)
    return sorted(began.items(), key=lambda each: (-len(each[1]), -often[each[0]], each[0]))


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
