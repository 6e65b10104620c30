"""Run on a lab whose API fails in one way after the other, and compare each verdict with the undisturbed one.

``make soak-api BUDGET=40m``, or ``python -m scripts.soak_api --budget 40m --rounds 5``. The client's tokens
live for a minute and come from an exec plugin. Every finished run is one line of the state file, and a later
call goes on where the file ends; the first run of a state is the undisturbed one. It prints a table, and
exits 1 when a run brought a false verdict, 3 when the budget ended before all rounds. A check that is
``unknown`` under a fault is no false verdict, but it is counted.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from nettests.session.signals import ending_signals
from scripts.soak import read, say, seconds

LAB = (sys.executable, "-m", "nettests.lab")
FAULTS: dict[str, tuple[str, ...]] = {
    "none": (),
    "429": ("api-throttling",),
    "500": ("api-errors",),
    "resets": ("api-resets",),
    "slow answers": ("slow-api", "--seconds=2"),
    "expired tokens": ("expired-tokens",),
}
FLOWS = (
    "pod-to-pod-ip",
    "pod-to-service-clusterip",
    "node-to-pod",
    "icmp-egress",
    "kubectl-to-pod",
    "pod-port-forward",
    "pod-starts",
    "pod-restart",
    "windows-pod-fields",
    "dns-other-namespace",
)
RUN_SECONDS = 900


def main() -> int:
    """Run what is missing within the budget, then show all that ran."""
    wanted = options()
    state = Path(wanted.state)
    runs = read(state)
    deadline = time.monotonic() + seconds(wanted.budget)
    missing = [
        (fault, number)
        for number in range(wanted.rounds)
        for fault in FAULTS
        if sum(run["fault"] == fault for run in runs) <= number and not (fault == "none" and number)
    ]
    with ending_signals():
        up = Lab(f"soak-api-{wanted.seed}", wanted.profile) if missing else None
        try:
            for fault, number in missing:
                if up is None or time.monotonic() > deadline:
                    break
                run = up.one_run(fault, wanted.rate, wanted.seed + number, wanted.flow or FLOWS)
                runs.append(run)
                with state.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(run) + "\n")
                say(f"{fault}: run {number + 1}, exit {run['exit_code']}, {run['seconds']:.0f} s")
        finally:
            if up is not None:
                up.down()
    return show(runs, wanted.rounds)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Run on a lab whose API fails.")
    parser.add_argument("--budget", default="40m", help="time for new runs: 90s, 40m, 2h")
    parser.add_argument("--rounds", type=int, default=5, help="runs with each fault")
    parser.add_argument("--rate", type=float, default=0.05, help="share of requests that are hit")
    parser.add_argument("--seed", type=int, default=1, help="of the first round's dice")
    parser.add_argument("--profile", default="win2019-l2bridge", help="of the lab")
    parser.add_argument("--flow", action="append", help="what is asked (repeatable)")
    parser.add_argument(
        "--state", default="reports/soak-api.jsonl", help="where finished runs are kept"
    )
    return parser.parse_args()


class Lab:
    """A lab that all runs share; its faults are cleared between them."""

    def __init__(self, name: str, profile: str) -> None:
        self.name = name
        told = self.command("up", "--profile", profile, "--json")
        self.cluster_profile = json.loads(told)["cluster_profile"]
        self.kubeconfig = self.command("kubeconfig", "--short-lived").strip()

    def command(self, *arguments: str) -> str:
        """Run a command of the lab and return what it printed."""
        done = subprocess.run(
            [*LAB, *arguments, "--name", self.name], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def down(self) -> None:
        """Take the lab down."""
        self.command("down")

    def one_run(self, fault: str, rate: float, seed: int, flows: tuple[str, ...]) -> dict[str, Any]:
        """Run once with a fault in force; return exit code, time, verdicts and messages by check."""
        if FAULTS[fault]:
            self.command("fault", "inject", *FAULTS[fault], f"--rate={rate}", f"--seed={seed}")
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [
                    *(sys.executable, "-m", "nettests", "run", "--quiet"),
                    *(f"--kubeconfig={self.kubeconfig}", f"--report-dir={folder}"),
                    f"--cluster-profile={self.cluster_profile}",
                    *(f"--flow={flow}" for flow in flows),
                ],
                capture_output=True,
                text=True,
                check=False,
                timeout=RUN_SECONDS,
            )
            results = Path(folder) / "latest" / "results.json"
            checks = json.loads(results.read_text())["checks"] if results.exists() else []
        self.command("fault", "clear")
        return {
            "fault": fault,
            "rate": rate,
            "seed": seed,
            "exit_code": done.returncode,
            "seconds": round(time.monotonic() - began, 1),
            "verdicts": {check["id"]: check["verdict"] for check in checks},
            "messages": {check["id"]: check["message"] for check in checks},
            "said": "" if checks else done.stdout + done.stderr,
        }


def show(runs: list[dict[str, Any]], rounds: int) -> int:
    """Print one line a fault and every verdict that differs; return the exit code."""
    undisturbed: dict[str, str] = next(
        (run["verdicts"] for run in runs if run["fault"] == "none"), {}
    )
    say(f"undisturbed: {dict(Counter(undisturbed.values()))}")
    false_verdicts = incomplete = False
    for fault in FAULTS:
        own = [run for run in runs if run["fault"] == fault]
        differing = [
            f"  {check}: {run['verdicts'].get(check, 'absent')} instead of {verdict}: "
            f"{run['messages'].get(check, run['said'])}"
            for run in own
            for check, verdict in undisturbed.items()
            if run["verdicts"].get(check) != verdict
        ]
        unknown = sum(": unknown instead of" in line for line in differing)
        wrong = len(differing) - unknown
        due = 1 if fault == "none" else rounds
        say(f"{fault}: {len(own)} of {due} runs, {wrong} false verdicts, {unknown} unknown")
        for line in differing:
            say(line)
        false_verdicts |= wrong > 0
        incomplete |= len(own) < due
    if false_verdicts:
        return 1
    return 3 if incomplete else 0


if __name__ == "__main__":
    sys.exit(main())
