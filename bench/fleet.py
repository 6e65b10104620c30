"""What a fleet costs: how a lab and a run on it grow from 4 to 200 nodes.

    python bench/fleet.py [--nodes 4,20,60,200] [--suite FILE]… [--lab-only] [--limit SECONDS] [--json]

For each number of nodes a lab is made of a quarter Linux nodes and Windows nodes of two builds. Printed are
the seconds until every node is Ready, the seconds of a run of all suites, or of those that are named, and how they fall to its
stages, the API requests that it sent (handshakes of streams included), processor time and peak memory of lab and
harness, and what is left when the lab is down; then, as ratios to the smallest fleet, how each grew. A row is printed as soon as its fleet is down; a run
that has not ended after ``--limit`` is stopped, and its row says so. The budget on two cores: 200 nodes Ready in 30 s.
"""

import argparse
import json
import os
import re
import resource
import signal
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
SUITES = ("",)
"""What is run unless suites are named: all of ``suites``, as ``nettests run`` does."""
BUILDS = ((17763, 5329), (20348, 3207))
RUNTIME = "containerd://1.7.28"
REACHED = re.compile(r"^probe \S+ is reached over ")
# sample: "probe probe-linux-1-1 is reached over port-forward"
LIMIT = 300.0
STOPPING = 60
"""Seconds that a run may take to end once it is stopped, before it is killed."""
HEADINGS = "nodes   Ready      run  exit  checks  requests  lab CPU  harness CPU  lab MiB  harness MiB  left"
ENDING = 20
"""Seconds that a lab of many namespaces may take to end after ``down``."""
PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a fleet of one size cost; what was not run or not reported is ``None``."""

    nodes: int
    ready_seconds: float
    lab_mib: float
    run_seconds: float | None = None
    ended: bool = True
    exit_code: int | None = None
    requests: int | None = None
    checks: int | None = None
    harness_mib: float | None = None
    harness_cpu: float | None = None
    lab_cpu: float | None = None
    left: tuple[str, ...] = ()
    phases: dict[str, float]
    stages: dict[str, float] | None = None


def main() -> None:
    """Measure each size; print a table, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", default=",".join(map(str, NODES)), help="sizes, by commas")
    parser.add_argument("--suite", action="append", help="a file of suites/; repeatable")
    parser.add_argument("--lab-only", action="store_true", help="run nothing on the labs")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help="seconds after which a run is stopped"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    suites = [] if given.lab_only else given.suite or list(SUITES)
    costs: list[Cost] = []
    if not given.json:
        print(HEADINGS, flush=True)
    for count in given.nodes.split(","):
        costs.append(measure(int(count), suites, given.limit))
        if not given.json:
            show(costs[-1], costs[0])
    if given.json:
        print(json.dumps([asdict(cost) for cost in costs], indent=1))


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


def measure(count: int, suites: list[str], limit: float) -> Cost:
    """Bring a lab of so many nodes up, run on it for ``limit`` seconds at most, take it down."""
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
            ran = run(up, suites, Path(folder), limit) if suites else {}
            memory, spent = peak(status["pid"]), spent_by(status["pid"])
        finally:
            lab("down", "--name", name)
    return Cost(
        nodes=count,
        ready_seconds=round(ready, 1),
        lab_mib=memory,
        lab_cpu=spent,
        phases=status["phases"],
        left=left(name, status["pid"]),
        **ran,
    )


def run(up: dict[str, Any], suites: list[str], folder: Path, limit: float) -> dict[str, Any]:
    """Run suites on a lab, for ``limit`` seconds at most; return what the run says of itself."""
    reports = folder / "reports"
    began = time.monotonic()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *(str(Path("suites") / Path(suite).name) for suite in suites),
            f"--kubeconfig={up['kubeconfig']}",
            f"--cluster-profile={up['cluster_profile']}",
            f"--report-dir={reports}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[1],
    )
    ended, used = wait_for(process, limit)
    lines = (reports / "latest" / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    end = next((record for record in records if record["record"] == "end"), None)
    return {
        "run_seconds": round(time.monotonic() - began, 1),
        "ended": ended,
        "exit_code": process.returncode,
        "requests": sum(end["requests"].values()) if end else None,
        "checks": sum(record["record"] == "planned" for record in records),
        "stages": stages(records),
        "harness_mib": round(used.ru_maxrss / 1024, 1),
        "harness_cpu": round(used.ru_utime + used.ru_stime, 1),
    }


def wait_for(process: subprocess.Popen[bytes], limit: float) -> tuple[bool, resource.struct_rusage]:
    """Wait for a run, and stop it after ``limit`` seconds; return whether it ended by itself, and what it used."""
    stops = [(limit, signal.SIGINT), (limit + STOPPING, signal.SIGKILL)]
    began, ended = time.monotonic(), True
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return ended, used
        if stops and time.monotonic() - began > stops[0][0]:
            ended = False
            process.send_signal(stops.pop(0)[1])
        time.sleep(0.1)


def stages(records: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the seconds from a run's start until all stood, the probes were reached, the last was run, and the end."""
    started = moment(next(record["started"] for record in records if record["record"] == "run"))
    events = [record for record in records if record["record"] == "event"]
    reached = [moment(event["at"]) - started for event in events if REACHED.match(event["text"])]
    raw = [record["raw"] for record in records if record["record"] == "raw"]
    moments = {"deployed": reached[:1], "reached": reached[-1:]}
    moments["observed"] = (
        [max(attempt["started"] + attempt["elapsed"] for attempt in raw)] if raw else []
    )
    moments["ended"] = [moment(event["at"]) - started for event in events[-1:]]
    return {name: round(value, 1) for name, values in moments.items() for value in values}


def moment(text: str) -> float:
    """Return a time of the journal in seconds."""
    return datetime.fromisoformat(text).timestamp()


def peak(pid: int) -> float:
    """Return the most memory that a process had, in MiB."""
    match = PEAK.search(Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    if match is None:
        raise RuntimeError(f"/proc/{pid}/status says nothing of memory")
    return round(int(match[1]) / 1024, 1)


def spent_by(pid: int) -> float:
    """Return the processor time of a process and of the children that it waited for, in seconds."""
    # sample: "1324 (python) S 1 1324 …": utime, stime, cutime and cstime are the fields 14 to 17 (proc(5))
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return round(sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK"), 1)


def left(name: str, pid: int) -> tuple[str, ...]:
    """Return what a lab has left some seconds after it is down: its process, its name among the labs.

    Until then the kernel may still be at its namespaces.
    """
    deadline = time.monotonic() + ENDING
    while (running := Path(f"/proc/{pid}").exists()) and time.monotonic() < deadline:
        time.sleep(0.1)
    lab_names = [status["name"] for status in json.loads(lab("status", "--json"))["labs"]]
    return (
        *([f"process {pid}"] if running else ()),
        *(lab_name for lab_name in lab_names if lab_name == name),
    )


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


def show(cost: Cost, first: Cost) -> None:
    """Print the line of one size, how its run fell to stages, and how it grew from the ``first`` size."""
    ran = figure(cost.run_seconds) if cost.ended else f">{cost.run_seconds:.0f}"
    print(
        f"{cost.nodes:5}  {cost.ready_seconds:4} s  {ran:>5} s  {figure(cost.exit_code):>4}"
        f"  {figure(cost.checks):>6}  {figure(cost.requests):>8}  {figure(cost.lab_cpu):>5} s  {figure(cost.harness_cpu):>9} s"
        f"  {cost.lab_mib:7}  {figure(cost.harness_mib):>11}  {', '.join(cost.left) or 'nothing'}"
    )
    if cost.stages:
        passed = ", ".join(f"{name} {seconds} s" for name, seconds in cost.stages.items())
        print(f"       from the run's start: {passed}")
    figures = ("ready_seconds", "run_seconds", "requests", "lab_mib", "harness_mib")
    grown = (
        f"{name.replace('_', ' ')} × {getattr(cost, name) / getattr(first, name):.1f}"
        for name in figures
        if getattr(cost, name) and getattr(first, name)
    )
    if cost is not first:
        print(f"       nodes × {cost.nodes / first.nodes:.0f}: {', '.join(grown)}")
    sys.stdout.flush()


def figure(value: object) -> str:
    """Return a figure, or a dash where there is none."""
    return "–" if value is None else str(value)


if __name__ == "__main__":
    main()
