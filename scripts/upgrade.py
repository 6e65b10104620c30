"""Act an upgrade out on the lab: forecast, run before, upgrade, run after, compare; then with a fault beside it.

    python -m scripts.upgrade [--dir DIR] [--step NAME …] [--fault "route-missing --node win-1 --peer win-2"]

A cluster is upgraded four times, one step after the other: Windows Server 2019 → 2022, DSR off → on, Flannel host-gw →
VXLAN, Kubernetes 1.24 → 1.34. Each state is a lab of its own profile with other facts (``nettests lab up --set``), and one
list of facts says what is forecast (``--to``) and what is brought up. Each step is compared with the state before it, and
all of them together with the first one; then a fault is injected, and the same is compared.

It is good (exit code 0) where each change is predicted or explained, no prediction is missed, nothing is worse, and with
the fault exactly that is worse which the fault alone makes so. Documents of every comparison stay in the folder.
"""

import argparse
import json
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.standing_lab import StandingLab, say, spoken, standing_lab

PROFILE = "win2019-l2bridge"
FAULT = "route-missing --node win-1 --peer win-2"
SHOWN = 4
"""Lines of each kind that are printed of a comparison; its documents have all."""
FORECAST, DIFFERENCE, PAGE = "forecast.json", "difference.json", "difference.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One upgrade: the facts that it changes, and those that follow in a cluster and have to be stated in a forecast."""

    name: str
    settings: tuple[str, ...]
    stated: tuple[str, ...] = ()


STEPS = (
    Step(name="windows", settings=("windows.build=20348.3207",)),
    Step(name="dsr", settings=("kubeProxy.dsr=true",)),
    Step(
        name="vxlan",
        settings=("cni.backend=vxlan",),
        stated=(
            "cni.mtu=1450",
            "cni.natExceptions=10.244.0.0/16,10.96.0.0/16",
            "cni.loopbackDSR=false",
        ),
    ),
    Step(
        name="kubernetes",
        settings=(
            "kubernetes=1.34.2",
            "linux.runtime=containerd://2.1.9",
            "windows.runtime=containerd://2.1.9",
        ),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One comparison, as its document states it."""

    name: str
    counts: Counter[str]
    missed: tuple[str, ...]
    worse: tuple[str, ...]
    unexplained: tuple[str, ...]
    facts: tuple[str, ...]
    """Facts that changed otherwise than stated."""
    warnings: tuple[str, ...]
    incidents: tuple[str, ...]
    """Causes that the later run has and the earlier one had not."""

    @property
    def as_forecast(self) -> bool:
        """Whether everything came as it was forecast or is explained, and nothing is worse."""
        odd = (self.missed, self.worse, self.unexplained, self.facts, self.warnings)
        return bool(self.counts) and not any(odd)

    def lines(self) -> Iterator[str]:
        """Yield a line of figures, and each change that was neither forecast nor explained."""
        figures = ", ".join(f"{number} {word}" for word, number in sorted(self.counts.items()))
        yield f"{self.name}: {figures or 'no change'}, {len(self.worse)} worse"
        for what in ("incidents", "warnings", "facts", "missed", "unexplained", "worse"):
            listed = getattr(self, what)
            yield from (f"  {what}: {line}" for line in listed[:SHOWN])
            if len(listed) > SHOWN:
                yield f"  {what}: … and {len(listed) - SHOWN} more"


def main() -> int:
    """Act the upgrade out, print each comparison, and return whether all of it came as forecast."""
    wanted = _options()
    wanted.dir.mkdir(parents=True, exist_ok=True)
    steps = [step for step in STEPS if not wanted.step or step.name in wanted.step]
    with ExitStack() as stack:
        folders, lab = _acted_out(steps, wanted, stack)
        compared = [
            _compared(step.name, wanted.dir, folders[at], folders[at + 1], _facts_of([step]))
            for at, step in enumerate(steps)
        ]
        every = _facts_of(steps)
        whole = _compared("all at once", wanted.dir, folders[0], folders[-1], every)
        for comparison in (*compared, whole):
            _say(comparison)
        lab.fault("inject", *shlex.split(wanted.fault))
        broken = lab.run(wanted.dir / "runs", *wanted.run)
    beside = _compared("with a fault", wanted.dir, folders[0], broken, every)
    alone = _compared("the fault alone", wanted.dir, folders[-1], broken, ())
    _say(beside)
    good = all(comparison.as_forecast for comparison in (*compared, whole)) and fault_alone(
        beside, alone
    )
    say("as forecast" if good else "not as forecast: see above")
    return 0 if good else 1


def fault_alone(beside: Compared, alone: Compared) -> bool:
    """Whether a fault beside an upgrade makes exactly worse what it makes worse by itself, and no more is unexplained."""
    return bool(beside.worse) and (
        set(beside.worse) == set(alone.worse) and set(beside.unexplained) <= set(beside.worse)
    )


def read_compared(name: str, text: str) -> Compared:
    """Return a comparison from what ``nettests diff --output json`` printed."""
    document = json.loads(text)
    forecast = document.get("forecast", {})
    changes = forecast.get("changes", {})
    return Compared(
        name=name,
        counts=Counter({word: len(ids) for word, ids in changes.items() if ids}),
        missed=tuple(_missed(missed) for missed in forecast.get("missed", ())),
        worse=tuple(document["worse"]),
        unexplained=tuple(changes.get("unexplained", document["unexplained"])),
        facts=tuple(_fact(fact) for fact in forecast.get("facts", ())),
        warnings=(*document["warnings"], *forecast.get("warnings", ())),
        incidents=tuple(
            incident["cause"] for incident in document["incidents"] if incident["what"] == "new"
        ),
    )


def _missed(missed: dict[str, Any]) -> str:
    return f"{missed['id']}: {missed['forecast']}; {missed['seen']}; {missed['why']}"


def _fact(fact: dict[str, Any]) -> str:
    return f"{fact['pool']} {fact['name']}: {fact['before']} → {fact['after']}".lstrip()


def _acted_out(
    steps: Sequence[Step], wanted: argparse.Namespace, stack: ExitStack
) -> tuple[list[Path], StandingLab]:
    """Run in each state of the cluster, and return the folders of the runs and the last lab, which stands."""
    settings: list[str] = []
    folders = []
    for at, step in enumerate((Step(name="before", settings=()), *steps)):
        settings += step.settings
        lab = stack.enter_context(standing_lab("upgrade", PROFILE, settings))
        folders.append(lab.run(wanted.dir / "runs", *wanted.run))
        say(f"{step.name}: {folders[-1]}")
        if at < len(steps):
            stack.pop_all().close()
    return folders, lab


def _facts_of(steps: Sequence[Step]) -> tuple[str, ...]:
    return tuple(word for step in steps for word in (*step.settings, *step.stated))


def _compared(name: str, into: Path, before: Path, after: Path, to: Sequence[str]) -> Compared:
    """Forecast from the run before, where facts change, and hold the run after against that."""
    folder = into / name.replace(" ", "-")
    folder.mkdir(exist_ok=True)
    options: list[str] = []
    if to:
        stated = [word for statement in to for word in ("--to", statement)]
        forecast = spoken("forecast", str(before), *stated, "--output", "json")
        (folder / FORECAST).write_text(forecast, encoding="utf-8")
        options = [f"--forecast={folder / FORECAST}"]
    page = f"--html={folder / PAGE}"
    text = spoken(
        "diff", str(before), str(after), *options, page, "--output", "json", fine=(0, 1, 6)
    )
    (folder / DIFFERENCE).write_text(text, encoding="utf-8")
    return read_compared(name, text)


def _say(comparison: Compared) -> None:
    for line in comparison.lines():
        say(line)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Act an upgrade out on the lab.")
    parser.add_argument(
        "--dir", type=Path, default=Path("reports/upgrade"), help="for all documents"
    )
    parser.add_argument(
        "--step",
        action="append",
        choices=[step.name for step in STEPS],
        help="only this step (repeatable)",
    )
    parser.add_argument("--fault", default=FAULT, help="what is injected beside the upgrade")
    parser.add_argument("run", nargs="*", help="options of each run, after --")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
