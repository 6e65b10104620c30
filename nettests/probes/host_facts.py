"""Read settings from nodes that no object of the API tells: the mode of a kube-proxy that is a service of its host.

Between opening the probes and observing, over node vantages that stand for checks anyway; none is made for it.
kube-proxy serves its mode, as text, where its metrics are: at the node's loopback address by default
(cmd/kube-proxy/app/server.go, ``serveMetrics``). It changes nothing and judges nothing.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from nettests.bounds import Bounds
from nettests.model import ports
from nettests.model.channel import ChannelError, ExecChannel
from nettests.model.cluster_profile import Timing
from nettests.model.facts import ClusterFacts
from nettests.model.node_reading import NodeReading
from nettests.model.words import OS, Family
from nettests.parse.host_facts import PROXY_MODE
from nettests.probes.commands import host_programs
from nettests.probes.deployment import Deployment, StandingPod
from nettests.probes.rerun import Rerunning
from nettests.probes.sending import Probe

SECONDS = 5
"""curl's own bound: a process of the same host answers at once, or does not run."""


def read_host_facts(
    probes: Mapping[str, Probe], deployment: Deployment, facts: ClusterFacts, timing: Timing
) -> tuple[NodeReading, ...]:
    """Return what nodes say whose kube-proxy's mode is not known, by name; one that says nothing says why.

    A process on a node may take ``timing.execute`` beyond its own bound.
    """
    bounds = Bounds.of(timing)
    probed = list(_probed(probes, deployment, facts))
    with ThreadPoolExecutor(bounds.host_readings, "host-facts") as pool:
        return tuple(pool.map(lambda one: _read(one[0], one[1], facts, timing.execute), probed))


def _probed(
    probes: Mapping[str, Probe], deployment: Deployment, facts: ClusterFacts
) -> Iterator[tuple[StandingPod, ExecChannel]]:
    """Yield one vantage of each node in question."""
    seen: set[str] = set()
    for pod in sorted(deployment.pods.values(), key=lambda pod: (pod.node, pod.name)):
        probe = probes.get(pod.name) if pod.purpose == "node" else None
        if probe is None or probe.execute is None or pod.node in seen:
            continue
        if not facts.node(pod.node).kube_proxy.mode.known:
            seen.add(pod.node)
            yield pod, probe.execute


def _read(
    pod: StandingPod, execute: ExecChannel, facts: ClusterFacts, seconds: float
) -> NodeReading:
    words = command(facts.node(pod.node).os, facts.families[0])
    told = NodeReading(node=pod.node, reading=PROXY_MODE, probe=pod.name, command=words)
    if not set(pod.addresses) & set(pod.host_addresses):
        own = ", ".join(map(str, pod.addresses))
        return _failed(told, f"{pod.name} runs in the pod network ({own}), not on the node")
    try:
        with execute.slots:
            got = Rerunning(channel=execute).run(words, timeout=SECONDS + seconds)
    except ChannelError as error:
        return _failed(told, error.message)
    return NodeReading(
        node=told.node,
        reading=told.reading,
        probe=told.probe,
        command=told.command,
        exit_code=got.exit_code,
        stdout=got.stdout,
        stderr=got.stderr,
    )


def _failed(told: NodeReading, why: str) -> NodeReading:
    return NodeReading(
        node=told.node, reading=told.reading, probe=told.probe, command=told.command, error=why
    )


def command(os: OS, family: Family) -> tuple[str, ...]:
    """Return the argv that reads kube-proxy's mode, in the family that it binds its metrics in."""
    host = "[::1]" if family is Family.IPV6 else "127.0.0.1"
    _, curl = host_programs(os)
    return (curl, "-sS", "-m", str(SECONDS), f"http://{host}:{ports.KUBE_PROXY_METRICS}/proxyMode")
