"""At some nodes of twelve the packets of one kind of target are lost: each flow that has such packets is red there.

Only what a node itself and its Pods begin is lost, before anything translates it, so that a member is red for its
own packets. Flows come from the plan: one whose packets at a node match nothing fails here, whoever declares it.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nettests.lab.topology import OS, NodeSpec, Profile, profiles
from tests.acceptance.command import nettests
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.runs import BROKEN, members_of, run_on

pytestmark = pytest.mark.lab

SEED = 30
RED = frozenset({"fail", "flaky", "lifted"})
PING, NAMES, FROM_OUTSIDE, SILENT = "icmp", "names", "from outside", "timed_out"
TO_PODS, TO_SERVICES, TO_NODE_PORTS, TO_NODES, TO_OUTSIDE = (
    *("pods", "Services", "NodePorts", "nodes"),
    "outside",
)
KINDS: Mapping[str, str] = {
    "pod-ip": TO_PODS,
    **dict.fromkeys(("service-clusterip", "existing-service"), TO_SERVICES),
    **dict.fromkeys(("nodeport", "nodeport-localhost"), TO_NODE_PORTS),
    **dict.fromkeys(
        ("node-ip", "node-closed-port", "hostport", "hostport-bound", "hostport-localhost"),
        TO_NODES,
    ),
    "external-ip": TO_OUTSIDE,
    **dict.fromkeys(("service-fqdn", "service-pqdn", "pod-name", "external-name"), NAMES),
}
"""By the kind of target; lookups are names, whatever their target."""
IN_THE_POD = frozenset({"pod-to-own-ip", "icmp-packet-beyond-mtu"})
"""Their packets leave no Pod: it reaches itself, or its own interface refuses to send."""
BESIDE_OTHERS = frozenset(
    {"itp-local-own-node", "dns-other-namespace-partial", "pod-to-service-partial-name"}
)
"""Decided only where other Services, or names, are answered: that none of them are is what other flows say."""
LARGE, CLOSED = "large packets", "closed ports"
SIZED = ("payload-*", "path-mtu", "icmp-packet-at-mtu")
BEGINNING = {"tcp": "tcp flags & (syn | ack) == syn", "udp": "udp dport < 32768"}
BOUND_HOST_PORT, CLOSED_PORT, LARGEST_SMALL = 19190, 18099, 1000
ALL_KINDS = (PING, FROM_OUTSIDE, *dict.fromkeys(KINDS.values()), LARGE, CLOSED)


def kind_of(check: Mapping[str, Any]) -> str | None:
    """Return the kind of packets by which a check is decided; ``None`` if it sends none between Pods, nodes and the outside."""
    flow = check["flow"]
    if flow in IN_THE_POD | BESIDE_OTHERS:
        return None
    if any(fnmatchcase(flow, pattern) for pattern in SIZED):
        return LARGE
    if check["target"]["kind"] == "pod-closed-port":
        return CLOSED
    if check["source"]["kind"] == "external":
        return FROM_OUTSIDE
    if check["protocol"] == "icmp":
        return PING
    return NAMES if check["question"] == "resolve" else KINDS.get(check["target"]["kind"])


def lost(kind: str, node: NodeSpec, profile: Profile) -> Iterator[str]:
    """Yield what matches the packets of a kind that a node and its Pods begin, or that reach it from outside."""
    inside = f"{profile.cluster_cidr}, {profile.service_cidr}, {profile.node_network}, 127.0.0.0/8"
    of_node = f"ip saddr {{ {node.pod_cidr}, {node.address}, 127.0.0.1 }}"
    where = {
        TO_PODS: f"ip daddr {profile.cluster_cidr}",
        TO_SERVICES: f"ip daddr {profile.service_cidr}",
        TO_NODES: f"ip daddr {profile.node_network} th dport != 30000-32767",
        TO_NODE_PORTS: "th dport 30000-32767",
        TO_OUTSIDE: f"ip daddr != {{ {inside} }}",
    }
    if kind == PING:
        yield f"ip saddr {node.pod_cidr} icmp type echo-request"
        # Its own address shows that ping works there.
        yield f"ip daddr {node.address} ip saddr != {node.address} icmp type echo-reply"
        return
    if kind == LARGE:
        yield f"{of_node} meta length > {LARGEST_SMALL}"
        return
    if kind == CLOSED:
        yield f"{of_node} tcp dport {CLOSED_PORT}"
        return
    for protocol, begins in BEGINNING.items():
        if kind == FROM_OUTSIDE:
            yield f"ip saddr != {{ {inside} }} {begins}"
        elif kind == NAMES:
            yield f"{of_node} {protocol} dport 53"
        else:
            yield f"{of_node} {begins} {protocol} dport != 53 {where[kind]}"
    if kind == TO_NODES:
        yield f"ip daddr 127.0.0.1 tcp dport {BOUND_HOST_PORT}"


@contextmanager
def losing(up: UpLab, kind: str, node: NodeSpec, profile: Profile) -> Iterator[None]:
    """Lose them where they enter what forwards for the node's Pods, and where the node itself sends them."""
    rules = "\n".join(f"  {match} counter drop" for match in lost(kind, node, profile))
    entered = "switch" if node.os is OS.WINDOWS else "host"
    hooks = {"prerouting": entered, "output": "host"}
    if kind == PING:  # ping reports as an error that its own machine keeps it from sending
        del hooks["output"]
    with ExitStack() as stack:
        for hook, namespace in hooks.items():
            table = f"cut-{hook}"
            chain = f"chain begun {{\n  type filter hook {hook} priority -310; policy accept;\n{rules}\n }}"
            at = f"{node.name}/{namespace}"
            up.enter(at, "nft", "-f", "-", stdin=f"table inet {table} {{\n {chain}\n}}\n")
            stack.callback(up.enter, at, "nft", f"delete table inet {table}")
        yield


@cache
def planned(up: UpLab) -> Mapping[str, Sequence[str]]:
    """Return the flows of a default run by the kind of their packets."""
    options = (f"--kubeconfig={up.kubeconfig}", f"--cluster-profile={up.cluster_profile}")
    done = nettests("plan", "--json", *options)
    assert done.returncode == 0, done.stderr
    flows: dict[str, set[str]] = {}
    for check in json.loads(done.stdout)["checks"]:
        kind = kind_of({**check, **check["ask"]})
        if kind is not None:
            flows.setdefault(kind, set()).add(check["flow"])
    return {kind: sorted(names) for kind, names in flows.items()}


def verdicts(
    up: UpLab,
    directory: Path,
    kind: str,
    broken: Sequence[str],
    beside: Sequence[str],
) -> Mapping[tuple[str, str], frozenset[str]]:
    """Return the verdicts of each flow's members at each broken node, of those that silence would not meet."""
    profile, flows = profiles.load(up.profile), planned(up)[kind]
    with ExitStack() as stack:
        for name in broken:
            stack.enter_context(losing(up, kind, profile.node(name), profile))
        chosen = [f"--nodes={','.join((*broken, *beside))}", *(f"--flow={flow}" for flow in flows)]
        run = run_on(up, directory, *chosen, timing=BROKEN)
    of = at_broken(run.results, kind, broken)
    assert of, run.printed
    return of


def at_broken(
    results: Mapping[str, Any], kind: str, broken: Sequence[str]
) -> Mapping[tuple[str, str], frozenset[str]]:
    """Return the verdicts of members at broken nodes by flow and node, from the document of a run."""
    seen: dict[tuple[str, str], set[str]] = {}
    for check in results["checks"]:
        expected = check["expected"] or {"outcome": SILENT, "alternatives": ()}
        outcomes = {expected["outcome"], *expected["alternatives"]}
        if check["verdict"] == "skipped" or kind_of(check) != kind or outcomes & {SILENT, None}:
            continue
        for label, verdict in members_of(check).items():
            ends = (label or "").split(" → ")
            node = ends[-1] if kind == FROM_OUTSIDE else ends[0]
            if node in broken:
                seen.setdefault((check["flow"], node), set()).add(verdict)
    return {place: frozenset(words) for place, words in seen.items()}


def unmatched(
    of: Mapping[tuple[str, str], frozenset[str]],
) -> Mapping[tuple[str, str], frozenset[str]]:
    """Return the flows and nodes without a red member."""
    return {place: words for place, words in of.items() if not words & RED}


@pytest.fixture(scope="module")
def fleet() -> Iterator[UpLab]:
    """Four Linux nodes, and four Windows nodes of either build."""
    with lab("fleet") as up:
        yield up


def sample(seed: int) -> tuple[Sequence[str], Sequence[str]]:
    """Return nodes to break, one of each pool, and as many beside them, earlier ones, which controls are sent from.

    The node of the cluster's DNS is none of them.
    """
    pools = (
        [f"linux-{number}" for number in (2, 3, 4)],
        *([f"win-{n}" for n in range(first, first + 4)] for first in (1, 5)),
    )
    dice = random.Random(seed)
    pairs = [sorted(dice.sample(pool, 2)) for pool in pools]
    return [later for _, later in pairs], [earlier for earlier, _ in pairs]


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [SEED, SEED + 1, SEED + 2])
@pytest.mark.parametrize("kind", ALL_KINDS)
def test_each_flow_is_red_at_the_node_that_loses_its_packets(
    fleet: UpLab, tmp_path: Path, kind: str, seed: int
) -> None:
    """No flow passes at a node that sends none of its packets."""
    broken, beside = sample(seed)
    assert not unmatched(verdicts(fleet, tmp_path, kind, broken, beside))


def test_each_ping_is_red_at_the_node_that_loses_them(tmp_path: Path) -> None:
    """No flow of ICMP passes at the second Windows node while that sends none of its echo requests."""
    with lab("win2019-l2bridge") as up:
        assert not unmatched(verdicts(up, tmp_path, PING, ["win-2"], ["win-1", "linux-2"]))
