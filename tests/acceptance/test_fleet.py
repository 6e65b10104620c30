"""One node of twelve, one pair, or one direction is broken: the run is red, and its first incident says which it is.

Packets are cut where they pass, in the network namespaces of the lab's nodes, or by faults of the lab. By day on the
second node of a small lab, by night on every kind of fault in a fleet of two builds.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.acceptance.command import nettests
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.runs import BROKEN, FinishedRun, run_on

pytestmark = pytest.mark.lab

FLEET = "fleet"
BY_DAY = [
    *("--flow=pod-to-pod-ip", "--flow=pod-to-service-clusterip"),
    *("--flow=nodeport-from-pod-own-node", "--flow=nodeport-from-pod-other-node"),
]
SERVICES = "ip daddr 10.96.0.0/12"
NODE_PORTS = ("tcp dport 30000-32767", "udp dport 30000-32767")
FIRST_SERVICE = "svc-server-linux-1-1"
TIMING = "timing: {convergence: 30}\n"


@contextmanager
def dropping(up: UpLab, node: str, *matches: str) -> Iterator[None]:
    """Drop what enters a Windows node's switch and matches."""
    rules = "\n".join(f"  {match} drop" for match in matches)
    hook = "type filter hook prerouting priority -310; policy accept;"
    table = f"table inet cut {{\n chain entering {{\n  {hook}\n{rules}\n }}\n}}\n"
    up.enter(f"{node}/switch", "nft", "-f", "-", stdin=table)
    try:
        yield
    finally:
        up.enter(f"{node}/switch", "nft", "delete table inet cut")


@contextmanager
def fault(up: UpLab, *faults: tuple[str, ...]) -> Iterator[None]:
    """Put faults of the lab in force."""
    for one in faults:
        up.fault("inject", *one)
    try:
        yield
    finally:
        up.fault("clear")


@dataclass(frozen=True, slots=True, kw_only=True)
class Enemy:
    """What is broken, and what the first incident has to say of it."""

    breaks: Callable[[UpLab], AbstractContextManager[None]]
    named: tuple[str, ...]
    flows: frozenset[str]
    """The flows that are red, and no others."""


PODS = frozenset({"pod-to-pod-ip", "payload-pod-to-pod", "path-loss"})
"""What goes from one node's Pods to another's."""
RING = frozenset({"pod-to-pod-ip", "pod-to-node", "node-to-pod"})
"""What goes from each node, or its Pods, to one other, which may be the one that is broken."""
PATHS = PODS | RING | {"nodeport-from-pod-other-node"}
"""What goes from one node to another, through its NodePorts as well."""
SERVICES_OF_ALL = frozenset(
    {
        *("pod-to-service-clusterip", "pod-to-service-pqdn", "session-affinity"),
        *("dns-via-service", "new-pod-first-packets"),
    }
)
"""What goes through a node's Service rules; the cluster's DNS is a Service, too."""
ENEMIES = {
    "all packets of one node": Enemy(
        breaks=lambda up: dropping(up, "win-7", 'iifname "uplink"'),
        named=("win-7",),
        flows=PATHS | SERVICES_OF_ALL | {"pod-to-external-ip"},
    ),
    "no ClusterIP from the second node": Enemy(
        breaks=lambda up: dropping(up, "win-2", SERVICES),
        named=("Service", "win-2"),
        # What is not served in time is told by the node's NodePorts, too.
        flows=SERVICES_OF_ALL | {"nodeport-from-pod-other-node", "nodeport-from-pod-own-node"},
    ),
    "no route to Pods of one node": Enemy(
        breaks=lambda up: fault(up, ("route-missing", "--node=win-3", "--peer=linux-2")),
        named=("Pods", "win-3", "linux-2"),
        # Affinity is tested by one Service, a backend of which may be behind that route.
        flows=PODS | RING | {"session-affinity"},
    ),
    "packets from one node to another": Enemy(
        breaks=lambda up: fault(
            up,
            ("packet-loss", "--from=win-3", "--to=linux-2", "--rate=1"),
        ),
        named=("win-3", "linux-2"),
        flows=PATHS | {"session-affinity"},
    ),
    "packets between two nodes": Enemy(
        breaks=lambda up: fault(
            up,
            ("packet-loss", "--from=win-3", "--to=linux-2", "--rate=1"),
            ("packet-loss", "--from=linux-2", "--to=win-3", "--rate=1"),
        ),
        named=("linux-2 ↔ win-3",),
        flows=PATHS | {"session-affinity"},
    ),
    "NodePorts of the second node": Enemy(
        breaks=lambda up: dropping(up, "win-2", *NODE_PORTS),
        named=("NodePort", "win-2"),
        flows=frozenset({"nodeport-from-pod-other-node", "nodeport-from-pod-own-node"}),
    ),
    "one Service of the second node": Enemy(
        breaks=lambda up: fault(
            up, ("service-rules-missing", f"--service={FIRST_SERVICE}", "--node=win-2")
        ),
        named=(FIRST_SERVICE, "win-2"),
        # Its NodePort is without rules there, too, and its name leads to its address.
        flows=frozenset(
            {
                *("pod-to-service-clusterip", "pod-to-service-pqdn", "new-pod-first-packets"),
                *("nodeport-from-pod-other-node", "nodeport-from-pod-own-node"),
            }
        ),
    ),
}
FLOWS = [
    f"--flow={name}" for name in sorted(frozenset().union(*(one.flows for one in ENEMIES.values())))
]


def red(run: FinishedRun) -> dict[str, str]:
    """Return the verdicts that need attention, by check."""
    wrong = {"fail", "flaky", "lifted", "unknown"}
    return {check: verdict for check, verdict in run.verdicts.items() if verdict in wrong}


@pytest.fixture(scope="module")
def fleet() -> Iterator[UpLab]:
    """Four Linux nodes, and four Windows nodes of either build."""
    with lab(FLEET) as up:
        yield up


@pytest.fixture(scope="module")
def small() -> Iterator[UpLab]:
    """Two nodes of each system."""
    with lab("win2019-l2bridge") as up:
        yield up


def test_a_fleet_that_is_in_order_is_green_and_wholly_exercised(
    small: UpLab, tmp_path: Path
) -> None:
    """Every node is a source and a target, every ordered pair is tested, and the headline reserves nothing."""
    run = run_on(small, tmp_path, *BY_DAY, timing=TIMING)
    assert (run.exit_code, red(run)) == (0, {}), run.printed
    exercised = run.results["exercised"]
    assert [len(one["sources"]) for one in exercised["nodes"]] == [2, 2]
    assert all(one["exercised"] == one["possible"] for one in exercised["pairs"])
    assert "as far as exercised" not in run.printed


@pytest.mark.parametrize("name", ["NodePorts of the second node", "one Service of the second node"])
def test_what_is_broken_on_the_second_node_is_named(
    small: UpLab, tmp_path: Path, name: str
) -> None:
    """What only the second node of a pool lacks is red, and the first incident names that node."""
    enemy = ENEMIES[name]
    with enemy.breaks(small):
        run = run_on(small, tmp_path, *BY_DAY, timing=BROKEN)
    assert run.exit_code == 1, run.printed
    cause = run.results["incidents"][0]["cause"]
    assert all(word in cause for word in enemy.named), cause
    assert {check.partition("/")[0] for check in red(run)} <= enemy.flows


@pytest.mark.nightly
def test_a_healthy_fleet_of_twelve_is_green(fleet: UpLab, tmp_path: Path) -> None:
    """132 ordered pairs, by TCP and by UDP, and nothing of them deviates."""
    run = run_on(fleet, tmp_path, *FLOWS, timing=TIMING)
    assert (run.exit_code, red(run)) == (0, {}), run.printed
    pairs = run.results["exercised"]["pairs"]
    assert sum(one["exercised"] for one in pairs) == 132


@pytest.mark.nightly
@pytest.mark.parametrize("name", ENEMIES)
def test_one_node_or_pair_of_twelve_is_found_and_named(
    fleet: UpLab, tmp_path: Path, name: str
) -> None:
    """The run is red, in the flows that meet what is broken, and its first incident names the node or the pair."""
    enemy = ENEMIES[name]
    with enemy.breaks(fleet):
        run = run_on(fleet, tmp_path, *FLOWS, timing=TIMING)
    assert run.exit_code == 1, run.printed
    first = run.results["incidents"][0]
    assert all(word in first["cause"] for word in enemy.named), first["cause"]
    assert first["members"]
    failed = {check for check, verdict in red(run).items() if verdict == "fail"}
    assert {check.partition("/")[0] for check in failed} <= enemy.flows


@pytest.mark.nightly
def test_workers_and_rejudging_find_the_same(fleet: UpLab, tmp_path: Path) -> None:
    """Two processes judge the very members that one has run, and so does who judges again."""
    with ENEMIES["packets between two nodes"].breaks(fleet):
        run = run_on(fleet, tmp_path, *FLOWS, "-n", "2", timing=TIMING)
    assert run.exit_code == 1, run.printed
    done = nettests("rejudge", str(run.directory.resolve()))
    assert "0 of " in done.stdout, done.stdout + done.stderr
    assert "verdicts changed" in done.stdout
