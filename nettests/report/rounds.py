"""Totals over the rounds of a watch: how often each check, node and pair of nodes was red. Pure.

Read by all documents beside ``Results``. A rate is red rounds per judged round; a lost round does not count.
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
class UnknownRate:
    """In how many rounds a check, or a member, that a node has part in could not be judged, and when first and last."""

    name: str
    unknown: int
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
    unknown_nodes: tuple[UnknownRate, ...] = ()
    """Nodes of which, in some rounds, something is not known: a rate of red rounds says nothing of those."""
    lost: tuple[Lost, ...] = ()

    def __str__(self) -> str:
        """Return it in one line: ``720 rounds: 3 with failures, 2 lost``."""
        line = f"{plural(self.count, 'round')}: {self.red or 'none'} with failures"
        if self.unknown:
            line += f", {self.unknown} with unknown checks"
        gone = self.count - self.judged
        return f"{line}, {gone} lost ({one_line(self.lost[0].reason, limit=80)})" if gone else line


def rounds_of(rounds: Sequence[Round], checks: Mapping[str, Check]) -> Rounds | None:
    """Return what rounds say together, ``None`` where there were none; ``checks`` are those of the plan, and members."""
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
    """Return what is named in rounds with when these began, the most frequent first.

    Of two that are named in equally many rounds, the one that is named more often in them comes first: a node that is
    down is named by all that its peers miss, and each of them by less.
    """
    began: dict[str, list[str]] = defaultdict(list)
    often: Counter[str] = Counter()
    for watch_round in rounds:
        named = Counter(iter(names(watch_round)))  # of a mapping: its keys
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
