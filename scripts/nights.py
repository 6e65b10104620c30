"""Act thirty nightly runs out on labs, with two real changes and one flaky path: does the history name each?

    python -m scripts.nights [--dir DIR]

On night 11 Windows is updated, and from then on linux-1 has no route to the Pods of win-1; on night 21 kube-proxy runs with
DSR, which is not in effect on win-1. On four nights of all UDP from linux-1 to linux-2 is lost. A state of the cluster is a
lab of its own profile with other facts, in which faults are injected; each night is a run of a few flows. Then
``nettests history`` is read: it is good (exit code 0) where both changes are red since their first night and by the checks
that they break, what DSR breaks is explained by DSR, and the lost path is flaky on its four nights, and nothing else is told.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.standing_lab import StandingLab, say, spoken, standing_lab

PROFILE = "win2019-l2bridge"
FLOWS = ("pod-to-pod-ip", "pod-to-service-clusterip", "dsr-source-address")
NIGHTS = 30
PAGE, DOCUMENT = "history.html", "history.json"

Fault = tuple[str, ...]
NO_ROUTE: Fault = ("route-missing", "--node", "linux-1", "--peer", "win-1")
NOT_IN_EFFECT: Fault = ("dsr-off", "--node", "win-1")
LOST: Fault = ("packet-loss", "--from", "linux-1", "--to", "linux-2", "--protocol", "udp")
SWINGS = frozenset({4, 9, 15, 26})
"""The nights, from 1, on which UDP is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """Nights on which the cluster is the same: the first of them, the facts that changed before it, the faults since."""

    first: int
    settings: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


TIMES = (
    Time(first=1),
    Time(first=11, settings=("windows.build=17763.6532",), faults=(NO_ROUTE,)),
    Time(first=21, settings=("kubeProxy.dsr=true",), faults=(NO_ROUTE, NOT_IN_EFFECT)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryTurn:
    """A turn of the history, with nights from 1; ``reds`` are the nights on which its checks were red."""

    state: str
    first_bad: int
    flows: frozenset[str]
    checks: tuple[str, ...]
    reds: frozenset[int]
    facts: tuple[str, ...]
    explained: frozenset[str]

    def __str__(self) -> str:
        why = ", ".join(sorted(self.explained)) or "not said"
        facts = "; ".join(self.facts) or "none"
        return (
            f"{self.state} since night {self.first_bad}: {len(self.checks)} checks of {', '.join(sorted(self.flows))},"
            f" {why}; changed facts: {facts}"
        )


Claims = tuple[tuple[str, Callable[[HistoryTurn], bool]], ...]
CLAIMS: Mapping[tuple[str, int], Claims] = {
    ("red", TIMES[1].first): (
        (
            "only paths to win-1 are red",
            lambda turn: all("/windows-1/" in f"{name}/" for name in turn.checks),
        ),
        ("the update explains no lost route", lambda turn: turn.explained == {"unexplained"}),
        ("the changed build is named", lambda turn: any(" build: " in fact for fact in turn.facts)),
    ),
    ("red", TIMES[2].first): (
        ("only sources are wrong", lambda turn: turn.flows == {"dsr-source-address"}),
        ("DSR explains it", lambda turn: turn.explained == {"explained"}),
        ("DSR is named", lambda turn: any(" DSR: " in fact for fact in turn.facts)),
    ),
    ("flaky", min(SWINGS)): (
        ("UDP alone is lost", lambda turn: all(name.endswith("/udp") for name in turn.checks)),
        ("it was red on its nights", lambda turn: turn.reds == SWINGS),
    ),
}
"""What the history has to report, by the state and the first bad night of a turn, and what holds of each."""


def main() -> int:
    """Run the nights, read their history, and return whether it names what was done."""
    wanted = _options()
    runs = wanted.dir / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    settings: list[str] = []
    for at, time in enumerate(TIMES):
        settings += time.settings
        last = TIMES[at + 1].first if at + 1 < len(TIMES) else NIGHTS + 1
        with standing_lab("nights", PROFILE, settings) as lab:
            for night in range(time.first, last):
                _night(lab, night, time.faults, runs)
    page = f"--html={wanted.dir / PAGE}"
    text = spoken("history", str(runs), page, "--json")
    (wanted.dir / DOCUMENT).write_text(text, encoding="utf-8")
    turns = tuple(read_turns(text))
    for turn in turns:
        say(str(turn))
    odd = tuple(missing(turns))
    for what in odd:
        say(f"  {what}")
    say(f"page: {wanted.dir / PAGE}")
    return 1 if odd else 0


def _night(lab: StandingLab, night: int, faults: Iterable[Fault], runs: Path) -> None:
    lab.fault("clear")
    for fault in (*faults, *([LOST] if night in SWINGS else [])):
        lab.fault("inject", *fault)
    folder = lab.run(runs, *(f"--flow={flow}" for flow in FLOWS))
    say(f"night {night}: {folder.name}")


def read_turns(text: str) -> Iterator[HistoryTurn]:
    """Yield the turns of the one cluster in a history, as ``nettests history --json`` printed it."""
    document = json.loads(text)
    if len(document["clusters"]) != 1 or document["left_out"]:
        raise SystemExit("the history is not of one cluster and all of its runs")
    (cluster,) = document["clusters"]
    checks = {check["id"]: check for check in cluster["checks"]}
    for turn in cluster["turns"]:
        of = [checks[name] for name in turn["checks"]]
        yield HistoryTurn(
            state=turn["state"],
            first_bad=turn["first_bad"] + 1,
            flows=frozenset(check["flow"] for check in of),
            checks=tuple(turn["checks"]),
            reds=frozenset(_reds(of)),
            facts=tuple(_fact(fact) for fact in turn["facts"]),
            explained=frozenset(check["why"]["explained"] for check in of if check["why"]),
        )


def missing(turns: Sequence[HistoryTurn]) -> Iterator[str]:
    """Yield which of the two changes and the flaky path a history lacks, and what else it reports."""
    reported = {(turn.state, turn.first_bad) for turn in turns}
    yield from (
        f"not told: {state} since night {night}" for state, night in CLAIMS.keys() - reported
    )
    for turn in turns:
        claims = CLAIMS.get((turn.state, turn.first_bad))
        if claims is None:
            yield f"told besides: {turn}"
        else:
            yield from (f"not so: {claim} ({turn})" for claim, holds in claims if not holds(turn))


def _reds(checks: Iterable[Mapping[str, Any]]) -> Iterator[int]:
    for check in checks:
        for at, verdict in enumerate(check["verdicts"], 1):
            if verdict in {"fail", "lifted", "flaky"}:
                yield at


def _fact(fact: Mapping[str, Any]) -> str:
    return f"{fact['pool']} {fact['name']}: {fact['before']} → {fact['after']}".lstrip()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Act thirty nightly runs out on labs.")
    parser.add_argument(
        "--dir", type=Path, default=Path("reports/nights"), help="for all documents"
    )
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
