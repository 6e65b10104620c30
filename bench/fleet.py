"""What a fleet costs: how a lab and a run on it grow from 4 to 200 nodes.

    python bench/fleet.py [--nodes 4,20,60,200] [--suite FILE]… [--lab-only] [--json]

For each number of nodes a lab is made of a quarter Linux nodes and Windows nodes of two builds. Printed are
the seconds until every node is Ready, the seconds of a run of the suites that are named and how they fall to its
stages, the API requests that it sent, the peak memory of lab and harness, and what is left when the lab is down;
then, as ratios to the smallest fleet, how each grew. The budget on two cores: 200 nodes Ready in 30 s, and the
sweep over them in 3 minutes.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

NODES = (4, 20, 60, 200)
SUITES = ("test_fleet.py",)
"""What is run unless suites are named: the sweep over every node."""
BUILDS = ((17763, 5329), (20348, 3207))
RUNTIME = "containerd://1.7.28"
SENT = re.compile(r"the API server was sent (\d+) requests")
# sample: "the API server was sent 531 requests, and 24 for exec and port-forward"
REACHED = re.compile(r"^probe \S+ is reached over ")
# sample: "probe probe-linux-1-1 is reached over port-forward"
ENDING = 20
"""Seconds that a lab of many namespaces may take to end after ``down``."""
PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a fleet of one size cost; what was not run or not said is ``None``."""

    nodes: int
    ready_seconds: float
    lab_mib: float
    run_seconds: float | None = None
    exit_code: int | None = None
    requests: int | None = None
    checks: int | None = None
    harness_mib: float | None = None
    left: tuple[str, ...] = ()
    phases: dict[str, float]
    stages: dict[str, float] | None = None


def main() -> None:
    """Measure each size; print a table, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", default=",".join(map(str, NODES)), help="sizes, by commas")
    parser.add_argument("--suite", action="append", help="a file of suites/; repeatable")
    parser.add_argument("--lab-only", action="store_true", help="run nothing on the labs")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    suites = [] if given.lab_only else given.suite or list(SUITES)
    costs = [measure(int(count), suites) for count in given.nodes.split(",")]
    if given.json:
        print(json.dumps([asdict(one) for one in costs], indent=1))
    else:
        show(costs)


def profile(count: int) -> str:
    """Return a lab profile of ``count`` nodes as YAML, which JSON is: a quarter Linux, at least one."""
    linux = max(1, count // 4)
    nodes: list[dict[str, Any]] = [
        {"name": f"linux-{n}", "os": "linux", "controlPlane": n == 1, "runtime": RUNTIME}
        for n in range(1, linux + 1)
    ]
    for n in range(1, count - linux + 1):
        build, patch = BUILDS[n % len(BUILDS)]
        windows = {"name": f"win-{n}", "os": "windows", "build": build, "patch": patch}
        nodes.append({**windows, "runtime": RUNTIME, "taints": ["os=windows:NoSchedule"]})
    return json.dumps(
        {
            "apiVersion": "nettests.dev/v1alpha1",
            "kind": "LabProfile",
            "name": f"fleet-of-{count}",
            "summary": f"{linux} Linux nodes and {count - linux} Windows nodes of two builds",
            "kubernetesVersion": "v1.33.5",
            "cni": {"plugin": "flannel", "backend": "host-gw", "driver": "l2bridge"},
            "kubeProxy": {"dsr": False},
            "nodes": nodes,
        },
        indent=1,
    )


def measure(count: int, suites: list[str]) -> Cost:
    """Bring a lab of so many nodes up, run on it, take it down."""
    name = f"bench-{os.getpid()}-{count}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fleet.yaml"
        file.write_text(profile(count), encoding="utf-8")
        began = time.monotonic()
        wanted = ("--profile", str(file), "--name", name, "--while", str(os.getpid()), "--json")
        up = json.loads(lab("up", *wanted))
        ready = time.monotonic() - began
        try:
            status = json.loads(lab("status", "--name", name, "--json"))
            ran = run(up, suites, Path(folder)) if suites else {}
            memory = peak(status["pid"])
        finally:
            lab("down", "--name", name)
    return Cost(
        nodes=count,
        ready_seconds=round(ready, 1),
        lab_mib=memory,
        phases=status["phases"],
        left=left(name, status["pid"]),
        **ran,
    )


def run(up: dict[str, Any], suites: list[str], folder: Path) -> dict[str, Any]:
    """Run suites on a lab; return what the run says of itself."""
    reports = folder / "reports"
    began = time.monotonic()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *(str(Path("suites") / Path(one).name) for one in suites),
            f"--kubeconfig={up['kubeconfig']}",
            f"--cluster-profile={up['cluster_profile']}",
            f"--report-dir={reports}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[1],
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    lines = (reports / "latest" / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    told = [found[1] for one in records if (found := SENT.search(str(one.get("text", ""))))]
    return {
        "run_seconds": round(time.monotonic() - began, 1),
        "exit_code": process.returncode,
        "requests": int(told[-1]) if told else None,
        "checks": sum(one["record"] == "planned" for one in records),
        "stages": stages(records),
        "harness_mib": round(used.ru_maxrss / 1024, 1),
    }


def stages(records: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the seconds from a run's start until all stood, the probes were reached, the last was run, and the end."""
    started = moment(next(one["started"] for one in records if one["record"] == "run"))
    events = [one for one in records if one["record"] == "event"]
    reached = [moment(one["at"]) - started for one in events if REACHED.match(one["text"])]
    raw = [one["raw"] for one in records if one["record"] == "raw"]
    found = {"deployed": reached[:1], "reached": reached[-1:]}
    found["observed"] = [max(one["started"] + one["elapsed"] for one in raw)] if raw else []
    found["ended"] = [moment(one["at"]) - started for one in events[-1:]]
    return {name: round(value, 1) for name, values in found.items() for value in values}


def moment(text: str) -> float:
    """Return a time of the journal in seconds."""
    return datetime.fromisoformat(text).timestamp()


def peak(pid: int) -> float:
    """Return the most memory that a process had, in MiB."""
    found = PEAK.search(Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    if found is None:
        raise RuntimeError(f"/proc/{pid}/status says nothing of memory")
    return round(int(found[1]) / 1024, 1)


def left(name: str, pid: int) -> tuple[str, ...]:
    """Return what a lab has left some seconds after it is down: its process, its name among the labs.

    Until then the kernel may still be at its namespaces.
    """
    deadline = time.monotonic() + ENDING
    while (running := Path(f"/proc/{pid}").exists()) and time.monotonic() < deadline:
        time.sleep(0.1)
    known = [one["name"] for one in json.loads(lab("status", "--json"))["labs"]]
    return (*([f"process {pid}"] if running else ()), *(one for one in known if one == name))


def lab(*arguments: str) -> str:
    """Run ``nettests lab``; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "nettests.lab", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"nettests lab {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def show(costs: list[Cost]) -> None:
    """Print a line for each size, and how each figure grew beside the number of nodes."""
    print("nodes   Ready     run  exit  checks  requests  lab MiB  harness MiB  left")
    for one in costs:
        print(
            f"{one.nodes:5}  {one.ready_seconds:4} s  {said(one.run_seconds):>4} s  {said(one.exit_code):>4}"
            f"  {said(one.checks):>6}  {said(one.requests):>8}  {one.lab_mib:7}"
            f"  {said(one.harness_mib):>11}  {', '.join(one.left) or 'nothing'}"
        )
    for one in costs:
        if one.stages:
            passed = ", ".join(f"{name} {seconds} s" for name, seconds in one.stages.items())
            print(f"{one.nodes} nodes, from the run's start: {passed}")
    first = costs[0]
    for one in costs[1:]:
        figures = ("ready_seconds", "run_seconds", "requests", "lab_mib", "harness_mib")
        grown = (
            f"{name.replace('_', ' ')} × {getattr(one, name) / getattr(first, name):.1f}"
            for name in figures
            if getattr(one, name) and getattr(first, name)
        )
        print(f"nodes × {one.nodes / first.nodes:.0f}: {', '.join(grown)}")


def said(value: object) -> str:
    """Return a figure, or a dash where there is none."""
    return "–" if value is None else str(value)


if __name__ == "__main__":
    main()
