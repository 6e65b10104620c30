"""Kill the harness with -9 at random moments of a short run beside a living one, collect, and look around.

``python scripts/killing.py [--times 30] [--seed 1]``. One lab serves all: after each kill ``nettests gc
--yes`` must leave exactly the objects that were there before the first run, and after every fifth, and at the
end, a whole run must bring the verdicts of the first. A second run lives beside all of them, in two namespaces
with Pods, a Service and a Lease that its process renews: after each collection its objects must be there with
the UIDs that they had. Each kill is one line: when it came, how far the run was, what was found. Exits 1 when
anything was left, differed, or was taken from the living.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from nettests.cluster import Connection, connect
from nettests.model.labels import RUN_LABEL
from nettests.model.run_folder import LATEST, RESULTS
from nettests.session.process import ending_signals

NETTESTS = (sys.executable, "-m", "nettests")
LAB = (*NETTESTS, "lab")
KINDS = (
    "/api/v1/namespaces",
    "/api/v1/pods",
    "/api/v1/services",
    "/apis/coordination.k8s.io/v1/leases",
)
FLOWS = ["pod-to-pod-ip", "pod-to-service-clusterip", "node-to-pod", "icmp-egress"]
"""Pods of every kind, Services, and time-outs: about half of the run is spent with objects standing."""
LEASE_SECONDS = 3
NEIGHBOUR = """
import sys
from pathlib import Path
from nettests.cluster import connect
from nettests.cluster.access import Access
from nettests.cluster.owner_marks import Lease
from nettests.session.run_objects import clean_up, ownership
connection, seconds = connect(Path(sys.argv[1]), None), float(sys.argv[2])
marks = ownership("neighbour")
access, home = Access(connection, marks), "nettests-neighbour"
access.create({"kind": "Namespace", "metadata": {"name": home}})
lease = Lease(connection, home, marks, seconds, lambda why: print("lost", why, flush=True))
lease.take()
access.create({"kind": "Namespace", "metadata": {"name": f"{home}-baseline"}})
pause = [{"name": "pause", "image": "registry.k8s.io/pause:3.10"}]
for number in range(2):
    named = {"name": f"probe-{number}", "namespace": home, "labels": {"app": "probe"}}
    access.create({"kind": "Pod", "metadata": named, "spec": {"containers": pause}})
spec = {"selector": {"app": "probe"}, "ports": [{"port": 80}]}
access.create({"kind": "Service", "metadata": {"name": "s", "namespace": home}, "spec": spec})
print("stands", flush=True)
sys.stdin.read()
print(clean_up(connection, marks, access.created, wait=60), flush=True)
lease.end()
"""
"""A run that does nothing but live: what stands of it, how it is guarded, and how it ends are a run's own."""
WHOLE_EVERY = 5
LIMIT = 300


def main() -> int:
    """Bring a lab up, kill as often as asked, and return the exit code."""
    wanted = options()
    name = f"killing-{wanted.seed}"
    up = subprocess.run(
        [
            *LAB,
            "up",
            "--profile",
            wanted.profile,
            "--name",
            name,
            "--json",
            "--while",
            str(os.getpid()),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if up.returncode:
        say(up.stderr)
        return 1
    try:
        with ending_signals(), tempfile.TemporaryDirectory() as folder:
            return Killing(json.loads(up.stdout), Path(folder), wanted).carry_out()
    finally:
        subprocess.run([*LAB, "down", "--name", name], capture_output=True, check=False)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Kill the harness at random moments.")
    parser.add_argument("--times", type=int, default=30, help="how often it is killed")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument("--profile", default="win2019-l2bridge", help="of the lab")
    parser.add_argument("--flow", action="append", help="what the run tests (repeatable)")
    return parser.parse_args()


class Killing:
    """One lab, and one short run on it that is killed many times."""

    def __init__(self, up: dict[str, Any], folder: Path, wanted: argparse.Namespace) -> None:
        self.kubeconfig = Path(up["kubeconfig"])
        self.folder = folder
        self.profile = folder / "profile.yaml"
        self.times: int = wanted.times
        self.flows: list[str] = wanted.flow or FLOWS
        self.dice = random.Random(wanted.seed)  # noqa: S311 - the same moments each time
        stated = YAML(typ="safe").load(Path(up["cluster_profile"]))
        with self.profile.open("w", encoding="utf-8") as file:
            timing = {**stated.get("timing", {}), "lease": LEASE_SECONDS}
            YAML().dump({**stated, "timing": timing}, file)

    def carry_out(self) -> int:
        """Run once whole, then kill and collect; return the exit code."""
        connection = connect(self.kubeconfig, None)
        empty = objects(connection)
        with self.neighbour() as process:
            problems = self.kill_all(connection)
            problems += self.leave(process)
        problems += self.differences(empty, objects(connection), "after the neighbour's end")
        connection.close()
        for problem in problems:
            say(problem)
        say(f"{self.times} kills beside a living run, {len(problems)} problems")
        return 1 if problems else 0

    def kill_all(self, connection: Connection) -> list[str]:
        """Run once whole, then kill and collect; return what was not as it should be."""
        before, living = objects(connection), uids(connection)
        began = time.monotonic()
        first = self.whole("first")
        length = time.monotonic() - began
        say(f"a whole run: {length:.1f} s, {dict(Counter(first.values()))}")
        say(f"a living run beside it: {len(living)} objects")
        problems = self.differences(before, objects(connection), "after the first run")
        for number in range(1, self.times + 1):
            stage = self.kill(self.dice.uniform(0, length))
            collected = self.command("gc", "--yes", "--json", *self.gc_options())
            every = json.loads(collected.stdout)["leftovers"] if collected.stdout else []
            leftovers = [leftover for leftover in every if leftover["run"] != "neighbour"]
            listing = ", ".join(
                f"{leftover['state']}, {len(leftover['objects'])} objects" for leftover in leftovers
            )
            say(f"{number:>3}  {stage}: {listing or 'nothing to collect'}{collected.stderr}")
            where = f"after kill {number}"
            problems += self.differences(before, objects(connection), where)
            if uids(connection) != living:
                problems.append(f"{where}: the living run's objects are not what they were")
            if number % WHOLE_EVERY == 0 or number == self.times:
                again = self.whole(f"whole-{number}")
                problems += [] if again == first else [f"the run {where} has other verdicts"]
        return problems

    @contextmanager
    def neighbour(self) -> Iterator["subprocess.Popen[str]"]:
        """Keep a second run going; it is killed only if something here fails."""
        process = subprocess.Popen(
            [sys.executable, "-c", NEIGHBOUR, str(self.kubeconfig), str(LEASE_SECONDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            if process.stdout.readline().strip() != "stands":
                raise SystemExit("the run that is to live beside the others did not come up")
            yield process
        finally:
            process.kill()
            process.communicate()

    def leave(self, process: "subprocess.Popen[str]") -> list[str]:
        """Let the living run end by itself, and return what it says that is wrong."""
        output, _ = process.communicate(input="", timeout=LIMIT)
        return [f"the living run: {line}" for line in output.splitlines() if line]

    def differences(self, before: Counter[str], after: Counter[str], where: str) -> list[str]:
        """Return the objects that appeared and those that disappeared."""
        added, missing = after - before, before - after
        return [f"{where}: {name} was left" for name in added] + [
            f"{where}: {name} is gone" for name in missing
        ]

    def gc_options(self) -> tuple[str, ...]:
        """Return the options that name the cluster."""
        return (f"--kubeconfig={self.kubeconfig}", f"--cluster-profile={self.profile}")

    def run_options(self, reports: str) -> tuple[str, ...]:
        """Return the command of the short run."""
        flows = (f"--flow={flow}" for flow in self.flows)
        return ("run", *self.gc_options(), *flows, f"--report-dir={self.folder / reports}")

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of nettests to its end."""
        return subprocess.run(
            [*NETTESTS, *arguments], capture_output=True, text=True, check=False, timeout=LIMIT
        )

    def whole(self, reports: str) -> dict[str, str]:
        """Run to the end and return the verdicts by check."""
        done = self.command(*self.run_options(reports), "--quiet")
        results = self.folder / reports / LATEST / RESULTS
        if not results.exists():
            raise SystemExit(f"the run brought no results: {done.stdout}{done.stderr}")
        return {
            check["id"]: check["verdict"] for check in json.loads(results.read_text())["checks"]
        }

    def kill(self, seconds: float) -> str:
        """Start a run, kill it after so many seconds, and return how far it had come."""
        output = self.folder / "output.txt"
        with output.open("w", encoding="utf-8") as file:
            run = subprocess.Popen(
                [*NETTESTS, *self.run_options("killed")], stdout=file, stderr=file
            )
            try:
                with suppress(subprocess.TimeoutExpired):
                    run.wait(seconds)
            finally:  # also when this itself is interrupted
                run.kill()
                run.wait()
        lines = output.read_text(encoding="utf-8").strip().splitlines()
        ended = "ended before" if run.returncode >= 0 else "killed"
        return f"{ended} at {seconds:5.1f} s, {lines[-1] if lines else 'at its start'}"


def objects(connection: Connection) -> Counter[str]:
    """Return the names of all that a run could have left, wherever it is."""
    names: Counter[str] = Counter()
    for path in KINDS:
        for item in connection.items(path):
            meta = item["metadata"]
            names[f"{path.rpartition('/')[2]} {meta.get('namespace', '')}/{meta['name']}"] += 1
    return names


def uids(connection: Connection) -> dict[str, str]:
    """Return the UIDs of all objects of the living run, its namespaces among them."""
    uid_of = {}
    for path in KINDS:
        for item in connection.items(path, labelSelector=f"{RUN_LABEL}=neighbour"):
            meta = item["metadata"]
            uid_of[f"{path} {meta.get('namespace', '')}/{meta['name']}"] = meta["uid"]
    return uid_of


def say(text: str) -> None:
    """Print one line at once."""
    print(text, flush=True)  # noqa: T201 - a script for people


if __name__ == "__main__":
    sys.exit(main())
