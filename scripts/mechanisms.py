"""Switch one mechanism of the lab at a time: exactly the checks of its fact change their verdict.

    python scripts/mechanisms.py [--state FILE] [--fact F …]

Resumable like ``soak.py``: what was shown is one line of the state file. Prints a line an experiment and
exits 1 when a check changed that should not, or the other way round. ``tests/acceptance`` holds the table.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from nettests.model.check_id import flow_of  # noqa: E402
from nettests.model.run_folder import LATEST, RESULTS  # noqa: E402
from tests.acceptance.experiments import EXPERIMENTS, Experiment, changed  # noqa: E402

RUN_SECONDS = 600
Key = tuple[str, str, str]
"""Profile, switch, and the class that is enabled."""


def main() -> int:
    """Show what is not yet in the state file."""
    parser = argparse.ArgumentParser(description="Switch one mechanism of the lab at a time.")
    parser.add_argument("--state", default="reports/mechanisms.jsonl", help="what was shown so far")
    parser.add_argument("--fact", action="append", help="only this fact (repeatable)")
    options = parser.parse_args()
    state = Path(options.state)
    shown = read(state)
    baselines: dict[tuple[str, str], dict[str, str]] = {}
    wrong = 0
    for (profile, switch, enable), experiments in grouped(options.fact).items():
        if (profile, switch, enable) in shown:
            continue
        if (profile, enable) not in baselines:
            baselines[profile, enable] = verdicts(profile, enable)
        done = show(experiments, baselines[profile, enable])
        wrong += not done["exact"]
        state.parent.mkdir(parents=True, exist_ok=True)
        with state.open("a", encoding="utf-8") as file:
            file.write(json.dumps(done) + "\n")
        print(line(done), flush=True)  # noqa: T201 - a script for people
    return 1 if wrong else 0


def grouped(facts: list[str] | None) -> dict[Key, list[Experiment]]:
    """Return the experiments by what one run shows together; a switch that shows a fact shows all of its own."""
    groups: dict[Key, list[Experiment]] = {}
    for experiment in EXPERIMENTS:
        groups.setdefault((experiment.profile, experiment.switch, experiment.enable), []).append(
            experiment
        )
    return {
        key: together
        for key, together in groups.items()
        if not facts or any(experiment.fact in facts for experiment in together)
    }


def read(state: Path) -> set[Key]:
    """Return what the state file shows exactly."""
    if not state.exists():
        return set()
    rows = [json.loads(text) for text in state.read_text(encoding="utf-8").splitlines()]
    return {(row["profile"], row["switch"], row.get("enable", "")) for row in rows if row["exact"]}


def show(experiments: list[Experiment], before: dict[str, str]) -> dict[str, Any]:
    """Run with the mechanism switched and compare."""
    profile, switch, enable = (
        experiments[0].profile,
        experiments[0].switch,
        experiments[0].enable,
    )
    # A switch that does more than the fact is compared on the flows of the fact alone.
    if all(experiment.apart for experiment in experiments):
        flows = {flow for experiment in experiments for flow in experiment.flows}
        before = {check: was for check, was in before.items() if flow_of(check) in flows}
    changes = changed(before, verdicts(profile, enable, f"--mechanism={switch}"))
    each = [
        {
            check: experiment.becomes
            for check, was in before.items()
            if experiment.concerns(check, was)
        }
        for experiment in experiments
    ]
    wanted = {check: verdict for part in each for check, verdict in part.items()}
    turns = Counter(f"{before[check]} → {verdict}" for check, verdict in wanted.items())
    return {
        "profile": profile,
        "switch": switch,
        "enable": enable,
        "facts": sorted({experiment.fact for experiment in experiments}),
        "turns": dict(sorted(turns.items())),
        "of": len(before),
        "exact": all(each) and changes == wanted,
        "differing": sorted(set(changes.items()) ^ set(wanted.items())),
    }


def line(done: dict[str, Any]) -> str:
    """Return one experiment in words."""
    turns = ", ".join(f"{count} {turn}" for turn, count in done["turns"].items())
    text = (
        f"{', '.join(done['facts'])}: {done['switch']} on {done['profile']}: "
        f"of {done['of']} checks {turns}, no other"
    )
    return (
        text
        if done["exact"]
        else f"{text.removesuffix(', no other')}; NOT EXACT: {done['differing']}"
    )


def verdicts(profile: str, enable: str, *options: str) -> dict[str, str]:
    """Return the verdicts of a run on a lab with these options: of all default flows, and of one class."""
    with tempfile.TemporaryDirectory(prefix="nettests-mechanisms-") as folder:
        name = f"mechanisms-{Path(folder).name[-8:].lower().replace('_', 'x')}"
        lab = json.loads(
            nettests(
                *("lab", "up", "--json", "--while", str(os.getpid())),
                *("--name", name, "--profile", profile, *options),
            )
        )
        try:
            nettests(
                "run",
                f"--kubeconfig={lab['kubeconfig']}",
                f"--cluster-profile={lab['cluster_profile']}",
                f"--report-dir={folder}",
                "--quiet",
                *([f"--enable={enable}"] if enable else []),
                check=False,
            )
            results = json.loads((Path(folder) / LATEST / RESULTS).read_text())
        finally:
            nettests("lab", "down", "--name", name)
    return {check["id"]: check["verdict"] for check in results["checks"]}


def nettests(*arguments: str, check: bool = True) -> str:
    """Run a command of the harness or the lab and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "nettests", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_SECONDS,
    )
    if check and done.returncode != 0:
        sys.exit(f"nettests {' '.join(arguments)}: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
