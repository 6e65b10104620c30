"""Run every lab profile again and again: the same ids and the same verdicts, or say where they differ.

    python scripts/soak.py [--budget 40m] [--rounds N] [--profile P …] [--at-once 2] [--enable CLASS,…] [--state FILE]

What a run that was not clean wrote is kept beside the state file. Without ``--rounds`` the two profiles that differ most run ten times, the others three times. Resumable:
each finished run is one line of the state file, and a later call goes on where the file ends.
It records what ran and what did not, prints a table, and exits 1 when two runs of a profile disagree or
a run was not clean, 3 when the budget ended before all rounds. Runs with other classes enabled belong into a
state file of their own.
"""

import argparse
import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from nettests.model.run_folder import LATEST, RESULTS
from nettests.model.verdict import ATTENTION

ROOT = Path(__file__).resolve().parent.parent
OFTEN = ("win2019-l2bridge", "win2022-overlay-dsr")
"""The two that differ most: build, driver, DSR, and all that follows from them."""
OFTEN_ROUNDS, ROUNDS = 10, 3
CLEAN = 0
RUN_SECONDS = 600
"""After this a run is interrupted and counts as not clean; with further classes enabled after twice as long."""


def main() -> int:
    """Run what is missing within the budget, then show all that ran."""
    wanted = options()
    state = Path(wanted.state)
    runs = read(state)
    deadline = time.monotonic() + seconds(wanted.budget)
    rounds = {
        profile: wanted.rounds or (OFTEN_ROUNDS if profile in OFTEN else ROUNDS)
        for profile in wanted.profile or profiles()
    }

    def once(profile: str) -> None:
        if time.monotonic() > deadline:
            return
        run = one_run(profile, state.with_suffix(""), wanted.enable)
        runs.append(run)
        with state.open("a", encoding="utf-8") as file:
            file.write(json.dumps(run) + "\n")
        how = "interrupted" if run["exit_code"] is None else f"exit {run['exit_code']}"
        say(f"{profile}: {how}, {run['seconds']:.0f} s")

    with ThreadPoolExecutor(wanted.at_once) as workers:
        list(workers.map(once, missing(rounds, runs)))
    return show(runs, rounds)


def profiles() -> list[str]:
    """Return the lab's profiles."""
    return sorted(path.stem for path in (ROOT / "manifests" / "lab").glob("*.yaml"))


def missing(rounds: dict[str, int], runs: list[dict[str, Any]]) -> list[str]:
    """Return a profile for each run that is still to come, every profile once before any twice."""
    left = Counter(rounds)
    left.subtract(run["profile"] for run in runs if run["profile"] in rounds)
    turns = range(max(left.values(), default=0))
    return [profile for turn in turns for profile in rounds if left[profile] > turn]


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Run every lab profile again and again.")
    parser.add_argument("--budget", default="40m", help="time for new runs: 90s, 40m, 2h")
    parser.add_argument("--rounds", type=int, help="runs of each profile")
    parser.add_argument("--at-once", type=int, default=1, help="labs side by side")
    parser.add_argument("--profile", action="append", help="only this profile (repeatable)")
    parser.add_argument("--enable", help="classes that run besides the default: costly,disruptive")
    parser.add_argument(
        "--state", default="reports/soak.jsonl", help="where finished runs are kept"
    )
    return parser.parse_args()


def seconds(budget: str) -> float:
    """Return a budget such as ``40m`` in seconds."""
    match = re.fullmatch(r"(\d+)([smh]?)", budget)
    if match is None:
        raise SystemExit(f"not a budget: {budget!r} (write for example 40m)")
    return int(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def read(state: Path) -> list[dict[str, Any]]:
    """Return the runs that are already finished."""
    state.parent.mkdir(parents=True, exist_ok=True)
    if not state.exists():
        return []
    return [json.loads(line) for line in state.read_text(encoding="utf-8").splitlines()]


def one_run(profile: str, kept: Path, enable: str | None) -> dict[str, Any]:
    """Run once on a lab of its own and return exit code, time and verdicts by check id; keep the report if not clean."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        classes = [f"--enable={enable}"] if enable else []
        limit = RUN_SECONDS * 2 if enable else RUN_SECONDS
        exit_code = ended(limit, f"--lab={profile}", f"--report-dir={folder}", *classes)
        results = Path(folder) / LATEST / RESULTS
        checks = json.loads(results.read_text())["checks"] if results.exists() else []
        if exit_code != CLEAN:
            for report in Path(folder).glob("2*"):
                shutil.copytree(report, kept / f"{profile}-{report.name}")
    verdicts = {check["id"]: check["verdict"] for check in checks}
    return {
        "profile": profile,
        "commit": commit(),
        "enable": enable,
        "exit_code": exit_code,
        "seconds": round(time.monotonic() - began, 1),
        "verdicts": verdicts,
        "messages": {c["id"]: c["message"] for c in checks if c["verdict"] in ATTENTION},
    }


def ended(limit: float, *options: str) -> int | None:
    """Run once and return the exit code, ``None`` for a run that had to be interrupted after ``limit`` seconds."""
    run = subprocess.Popen(
        [sys.executable, "-m", "nettests", "run", "--quiet", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        return run.wait(limit)
    except subprocess.TimeoutExpired:
        # As Ctrl-C does: it takes its lab down, whereas a killed one would leave that to chance.
        run.send_signal(signal.SIGINT)
        run.wait()
        return None


def commit() -> str:
    """Return the commit that runs, so that a state file says which code it is about."""
    probed = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
    )
    return probed.stdout.strip() or "unknown"


def show(runs: list[dict[str, Any]], rounds: dict[str, int]) -> int:
    """Print one line a profile and every disagreement; return the exit code."""
    disagree = incomplete = False
    for profile, wanted in rounds.items():
        profile_runs = [run for run in runs if run["profile"] == profile]
        counts = Counter(
            verdict for run in profile_runs[:1] for verdict in run["verdicts"].values()
        )
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
        differing = differences(profile_runs)
        unclean = sum(run["exit_code"] != CLEAN for run in profile_runs)
        code = ", ".join(sorted({run.get("commit", "unknown") for run in profile_runs}))
        say(
            f"{profile}: {len(profile_runs)} of {wanted} runs of {code}, {unclean} not clean, each: {verdicts}"
        )
        for check, seen in differing.items():
            say(f"  {check}: {dict(seen)}")
        for run in profile_runs:
            for check, message in run["messages"].items():
                say(f"  {check}: {message}")
        disagree |= bool(differing) or unclean > 0
        incomplete |= len(profile_runs) < wanted
    if disagree:
        return 1
    return 3 if incomplete else 0


def differences(runs: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    """Return the checks whose verdicts, or presence, differ between runs."""
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    ids = {check for run in runs for check in run["verdicts"]}
    for run in runs:
        for check in ids:
            seen[check][run["verdicts"].get(check, "absent")] += 1
    return {check: counts for check, counts in sorted(seen.items()) if len(counts) > 1}


def say(text: str) -> None:
    """Print one line at once."""
    print(text, flush=True)  # noqa: T201 - a script for people


if __name__ == "__main__":
    sys.exit(main())
