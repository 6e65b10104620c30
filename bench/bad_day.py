"""How long a run takes while one thing is broken, beside the healthy run on the same lab.

    python bench/bad_day.py [--profile P …] [--fault NAME …] [--limit 10] [--json FILE] [--keep DIR]

Brings each profile up, runs on it without a fault and then with one fault after the other, and prints, for each, the
seconds, their ratio to the healthy run, and how many checks are red (``fail``, ``lifted``, ``flaky``) or ``unknown``.
A run that takes ``--limit`` times as long as the healthy one is ended and said to be so. The budget is 2. With
``--json`` the verdict of every check is kept, so that those of two versions can be compared; with ``--keep`` the
whole report of each run, whose journal says what the run waited for.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROFILE = "win2019-l2bridge"
BUDGET = 2.0
RED = ("fail", "lifted", "flaky")
FOREVER = "600"
"""Seconds: longer than any time-out of a run."""
LOSS = 30
"""Of a hundred packets that a node receives, so many are lost."""
ENDING = 60
"""Seconds that a run has to end after it was interrupted."""
PRIORITY = "-310"
"""Before any other chain that sees packets come in."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node of the lab: where its packets pass, and which addresses lie behind it."""

    name: str
    windows: bool
    addresses: tuple[str, ...]

    @property
    def namespace(self) -> str:
        """The network namespace in which packets of the node and of its Pods pass."""
        return f"{self.name}/{'switch' if self.windows else 'host'}"

    @property
    def uplink(self) -> str:
        """The interface by which packets come from other nodes."""
        return "uplink" if self.windows else "eth0"


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """What a healthy run reports of the lab: which nodes to break."""

    nodes: tuple[Node, ...]
    services: tuple[str, ...]
    """The networks of ClusterIPs."""

    @classmethod
    def of(cls, facts: Any) -> "Cluster":
        """Read the facts of a run."""
        nodes = tuple(
            Node(
                name=node["name"],
                windows=node["os"] == "windows",
                addresses=(*node["addresses"], *node["pod_cidrs"]),
            )
            for node in facts["nodes"]
        )
        return cls(nodes=nodes, services=tuple(facts["service_cidrs"]["value"]))

    @property
    def sick(self) -> Node:
        """The node that is broken: a Windows node where there is one, else one that has no DNS."""
        windows = [node for node in self.nodes if node.windows]
        return windows[0] if windows else self.nodes[-1]

    @property
    def peer(self) -> Node:
        """The other node of a broken pair."""
        return next(node for node in self.nodes if node is not self.sick and not node.windows)


@dataclass(frozen=True, kw_only=True)
class Lab:
    """A running lab."""

    name: str
    kubeconfig: str
    cluster_profile: str

    def inject(self, *words: str) -> None:
        """Put one of the lab's own faults in force."""
        nettests("lab", "fault", "inject", *words, "--name", self.name)

    def drop(self, node: Node, *matches: str) -> None:
        """Drop what enters a node's namespace and matches."""
        rules = "\n".join(f"  {match} drop" for match in matches)
        status = json.loads(nettests("lab", "status", "--name", self.name, "--json"))
        pid, descriptor = status["pid"], status["namespaces"][node.namespace]
        subprocess.run(
            [
                "nsenter",
                f"--user=/proc/{pid}/ns/user",
                f"--net=/proc/{pid}/fd/{descriptor}",
                "--preserve-credentials",
                *("nft", "-f", "-"),
            ],
            input=(
                "table inet bad-day {\n chain entering {\n"
                f"  type filter hook prerouting priority {PRIORITY}; policy accept;\n{rules}\n }}\n}}\n"
            ),
            text=True,
            check=True,
            env=os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"},
        )


def _no_cluster_ips(lab: Lab, cluster: Cluster) -> None:
    lab.drop(cluster.sick, *(f"{family(net)} daddr {net}" for net in cluster.services))


def _cut_off(lab: Lab, cluster: Cluster) -> None:
    lab.drop(cluster.sick, f'iifname "{cluster.sick.uplink}"')


def _no_udp(lab: Lab, cluster: Cluster) -> None:
    for here, there in ((cluster.sick, cluster.peer), (cluster.peer, cluster.sick)):
        lab.drop(
            here,
            *(f"{family(address)} saddr {address} meta l4proto udp" for address in there.addresses),
        )


def _loss(lab: Lab, cluster: Cluster) -> None:
    for node in cluster.nodes:
        lab.drop(node, f'iifname "{node.uplink}" numgen random mod 100 < {LOSS}')


def _inject(*words: str, on_node: bool = False) -> Callable[[Lab, Cluster], None]:
    def inject(lab: Lab, cluster: Cluster) -> None:
        lab.inject(*words, *(("--node", cluster.sick.name) if on_node else ()))

    return inject


FAULTS: dict[str, tuple[str, Callable[[Lab, Cluster], None]]] = {
    "dns-dead": ("the cluster's DNS answers nobody", _inject("dns-down")),
    "no-cluster-ips": ("one node serves no ClusterIP", _no_cluster_ips),
    "kube-proxy-stopped": (
        "one node follows no Service any more",
        _inject("slow-rules", "--seconds", FOREVER, on_node=True),
    ),
    "no-pod-starts": (
        "one node cannot start Pods: no registry",
        _inject("registry-down", on_node=True),
    ),
    "node-cut-off": ("no packet from elsewhere reaches one node", _cut_off),
    "no-udp-between-two": ("no UDP between two nodes", _no_udp),
    "loss": (f"each node loses {LOSS} % of what it receives", _loss),
    "no-exec": ("exec and port-forward fail on one node", _inject("channel-down", on_node=True)),
    "slow-api": ("the API takes a second for each request", _inject("slow-api", "--seconds", "1")),
    "exec-hangs": ("one exec of three never ends", _inject("exec-hangs", "--rate", "0.33")),
    "kubelet-silent": (
        "one node's kubelet does nothing that the API probes",
        _inject("kubelet-silent", on_node=True),
    ),
    "dns-loses-queries": (
        "the cluster's DNS loses one packet of three",
        _inject("dns-down", "--rate", "0.33"),
    ),
    "dns-frozen": ("the cluster's DNS takes no news", _inject("dns-frozen")),
    "packets-slow": (
        "packets of one node take 0.2 to 0.4 s more each way",
        _inject("packet-delay", "--seconds", "0.2", "--jitter", "0.2", on_node=True),
    ),
    "wrong-target-port": (
        "one node's load balancers dial backends at another port",
        _inject("wrong-target-port", on_node=True),
    ),
}

SWITCHED: dict[str, tuple[str, tuple[str, ...]]] = {
    "kubelet-without-rules": (
        "kubelets know nothing of Pods for Windows",
        (
            *("pod-os=off", "run-as-non-root=off", "graceful-end=off", "pod-identity=off"),
            *("host-network=on", "resolv-conf=on"),
        ),
    ),
}
"""What cannot be broken while a lab runs: mechanisms of a lab of its own."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """One run: seconds, and the verdict of each check."""

    fault: str
    seconds: float
    ended: bool
    verdicts: dict[str, str]
    facts: Any

    def count(self, *verdicts: str) -> int:
        """Return how many checks have one of these verdicts."""
        counts = Counter(self.verdicts.values())
        return sum(counts[verdict] for verdict in verdicts)


def main() -> None:
    """Measure what was requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", action="append", help=f"of the lab (default {PROFILE})")
    every = [*FAULTS, *SWITCHED]
    parser.add_argument("--fault", action="append", choices=every, help="only these (repeatable)")
    parser.add_argument("--limit", type=float, default=10, help="times the healthy run")
    parser.add_argument("--json", type=Path, help="where the verdicts are written")
    parser.add_argument("--keep", type=Path, help="where the reports of all runs are kept")
    wanted = parser.parse_args()
    by_profile = {
        profile: measure(profile, wanted.fault or every, wanted.limit, wanted.keep)
        for profile in wanted.profile or [PROFILE]
    }
    if wanted.json:
        written = {
            name: {result.fault: result.verdicts for result in results}
            for name, results in by_profile.items()
        }
        wanted.json.write_text(json.dumps(written, indent=1))


def measure(profile: str, faults: list[str], limit: float, keep: Path | None) -> list[Result]:
    """Run on one profile, healthy and with each fault, and print a line for each; each run has a lab of its own."""
    reports = keep / profile if keep else None
    with running(profile) as lab:
        results = [run(lab, "healthy", limit=float("inf"), keep=reports)]
    healthy, facts = results[0].seconds, results[0].facts
    print(f"{profile}")
    print(f"  {'fault':<20} {'seconds':>8} {'ratio':>6} {'red':>5} {'unknown':>8}")
    show(results[0], healthy)
    for name in faults:
        _, mechanisms = SWITCHED.get(name, ("", ()))
        with running(profile, mechanisms) as lab:
            if name in FAULTS:
                _, break_it = FAULTS[name]
                try:
                    break_it(lab, Cluster.of(facts))
                except subprocess.CalledProcessError as error:
                    print(f"  {name:<20} not on this profile: {error.stderr.strip()}", flush=True)
                    continue
            results.append(run(lab, name, limit=limit * healthy, keep=reports))
        show(results[-1], healthy)
    return results


def show(result: Result, healthy: float) -> None:
    """Print one run's line."""
    ratio = result.seconds / healthy
    beyond = " over budget" if ratio > BUDGET else ""
    print(
        f"  {result.fault:<20} {result.seconds:>8.1f} {ratio:>6.2f}"
        f" {result.count(*RED):>5} {result.count('unknown'):>8}"
        f"{beyond}{'' if result.ended else ' (ended by the limit)'}",
        flush=True,
    )


def run(lab: Lab, fault: str, *, limit: float, keep: Path | None = None) -> Result:
    """Run once and return how it went; an interrupted run has the verdicts that it came to."""
    if keep:
        return _run(lab, fault, keep / fault, limit)
    with tempfile.TemporaryDirectory(prefix="bad-day-") as folder:
        return _run(lab, fault, Path(folder), limit)


def _run(lab: Lab, fault: str, folder: Path, limit: float) -> Result:
    began = time.monotonic()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "nettests", "run", "--quiet"),
            f"--kubeconfig={lab.kubeconfig}",
            f"--cluster-profile={lab.cluster_profile}",
            f"--report-dir={folder}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    ended = True
    try:
        process.wait(None if limit == float("inf") else limit)
    except subprocess.TimeoutExpired:
        ended = False
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(ENDING)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    seconds = time.monotonic() - began
    records = [json.loads(line) for line in (folder / "latest" / "journal.jsonl").open()]
    judged = [record["judgement"] for record in records if record["record"] == "judged"]
    return Result(
        fault=fault,
        seconds=seconds,
        ended=ended,
        verdicts={judgement["check"]: judgement["verdict"] for judgement in judged},
        facts=next(record["facts"] for record in records if record["record"] == "facts"),
    )


@contextmanager
def running(profile: str, mechanisms: tuple[str, ...] = ()) -> Iterator[Lab]:
    """Bring a lab up, with mechanisms switched, and take it down."""
    name = f"bad-day-{os.getpid()}"
    up = json.loads(
        nettests(
            *("lab", "up", "--json", "--while", str(os.getpid())),
            *("--profile", profile, "--name", name),
            *(f"--mechanism={mechanism}" for mechanism in mechanisms),
        )
    )
    try:
        yield Lab(name=name, kubeconfig=up["kubeconfig"], cluster_profile=up["cluster_profile"])
    finally:
        nettests("lab", "down", "--name", name)


def family(address: str) -> str:
    """Return how nft calls the family of an address or network."""
    return "ip6" if ":" in address else "ip"


def nettests(*arguments: str) -> str:
    """Run the command line and return what it printed; it must succeed."""
    return subprocess.run(
        [sys.executable, "-m", "nettests", *arguments], capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    main()
