"""Read settings from nodes that no API object shows: a kube-proxy without a Pod, and the Windows firewall.

After the probes are deployed and before the checks, from node vantages that are needed anyway. ``rules`` says what is
read and what is kept: the same readings that rules of configuration take there. Changes nothing and judges nothing.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from nettests.bounds import Bounds
from nettests.model.channel import ChannelError, ExecChannel
from nettests.model.cluster_profile import Timing
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.node_reading import NodeReading
from nettests.model.words import OS, Family
from nettests.probes.commands import host_programs
from nettests.probes.deployment import Deployment, StandingPod
from nettests.probes.rerun import Rerunning
from nettests.probes.sending import Probe
from nettests.rules import reduced
from nettests.rules.firewall import PROFILES
from nettests.rules.kube_proxy_on_host import SECONDS, readings_of
from nettests.rules.readings import ToolOutput


def read_host_facts(
    probes: Mapping[str, Probe], deployment: Deployment, facts: ClusterFacts, timing: Timing
) -> tuple[NodeReading, ...]:
    """Return what nodes say of which something is not known, by name; one that says nothing says why.

    A process on a node may take ``timing.execute`` beyond its own bound.
    """
    bounds = Bounds.of(timing)
    probed = [
        (pod, execute, reading)
        for pod, execute in _probed(probes, deployment, facts)
        for reading in lacking(facts.node(pod.node), facts.families[0])
    ]
    with ThreadPoolExecutor(bounds.host_readings, "host-facts") as pool:
        return tuple(pool.map(lambda one: _read(one[0], one[1], one[2], timing.execute), probed))


def lacking(node: NodeFacts, family: Family) -> tuple[ToolOutput, ...]:
    """Return what a node is to tell of itself: settings of a kube-proxy that are not known, and its firewall's."""
    proxy, windows = node.kube_proxy, node.os is OS.WINDOWS
    _, curl = host_programs(node.os)
    of_proxy = not proxy.mode.known or (windows and not proxy.replaced and not proxy.dsr.known)
    of_firewall = windows and not node.firewall.known
    return (
        *(readings_of(node.os, curl, family) if of_proxy else ()),
        *((PROFILES,) if of_firewall else ()),
    )


def _probed(
    probes: Mapping[str, Probe], deployment: Deployment, facts: ClusterFacts
) -> Iterator[tuple[StandingPod, ExecChannel]]:
    """Yield one vantage of each node in question."""
    seen: set[str] = set()
    for pod in sorted(deployment.pods.values(), key=lambda pod: (pod.node, pod.name)):
        probe = probes.get(pod.name) if pod.purpose == "node" else None
        if probe is None or probe.execute is None or pod.node in seen:
            continue
        if lacking(facts.node(pod.node), facts.families[0]):
            seen.add(pod.node)
            yield pod, probe.execute


def _read(
    pod: StandingPod, execute: ExecChannel, reading: ToolOutput, seconds: float
) -> NodeReading:
    words = reading.words
    told = NodeReading(node=pod.node, reading=reading.name, probe=pod.name, command=words)
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
        stdout=reduced(reading, got.stdout),
        stderr=got.stderr,
    )


def _failed(told: NodeReading, why: str) -> NodeReading:
    return NodeReading(
        node=told.node, reading=told.reading, probe=told.probe, command=told.command, error=why
    )
