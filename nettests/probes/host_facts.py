"""Read settings from nodes that no API object shows: a kube-proxy without a Pod, and the Windows firewall.

Each Windows node's DNS suffixes are read in one of its Pods, as nslookup reads them there.
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
from nettests.model.powershell import first_use
from nettests.model.words import OS, Family
from nettests.probes.commands import host_programs
from nettests.probes.deployment import Deployment, StandingPod
from nettests.probes.rerun import TOOL_HANGS_SECONDS, Rerunning
from nettests.probes.sending import Probe
from nettests.rules import reduced
from nettests.rules.dns_suffixes import IN_POD
from nettests.rules.firewall import PROFILES
from nettests.rules.kube_proxy_on_host import SECONDS, readings_of
from nettests.rules.readings import ToolOutput


def read_host_facts(
    probes: Mapping[str, Probe], deployment: Deployment, facts: ClusterFacts, timing: Timing
) -> tuple[NodeReading, ...]:
    """Return readings from the nodes with unknown facts; a reading that failed says why.

    A process on a node may take ``timing.execute`` beyond its own bound.
    """
    bounds = Bounds.of(timing)
    probed = [
        (pod, execute, reading)
        for pod, execute in _probed(probes, deployment, facts)
        for reading in lacking(facts.node(pod.node), facts.families[0])
    ] + list(_in_pods(probes, deployment, facts))
    with ThreadPoolExecutor(bounds.host_readings, "host-facts") as pool:
        return tuple(
            pool.map(
                lambda request: _read(request[0], request[1], request[2], timing.execute), probed
            )
        )


def lacking(node: NodeFacts, family: Family) -> tuple[ToolOutput, ...]:
    """Return what to read on a node: unknown settings of its kube-proxy, and of its firewall."""
    proxy, windows = node.kube_proxy, node.os is OS.WINDOWS
    _, curl = host_programs(node.os)
    of_proxy = not proxy.mode.known or (windows and not proxy.replaced and not proxy.dsr.known)
    of_firewall = windows and not node.firewall.known
    return (
        *(readings_of(node.os, curl, family) if of_proxy else ()),
        *((PROFILES,) if of_firewall else ()),
    )


def lacking_in_pods(node: NodeFacts) -> tuple[ToolOutput, ...]:
    """Return what to read in a Pod of the node: a Windows Pod's registry has the DNS suffixes that nslookup walks."""
    return (IN_POD,) if node.os is OS.WINDOWS and not node.dns_suffixes.known else ()


def _in_pods(
    probes: Mapping[str, Probe], deployment: Deployment, facts: ClusterFacts
) -> Iterator[tuple[StandingPod, ExecChannel, ToolOutput]]:
    """Yield one Pod of each node in question with the usual DNS settings."""
    seen: set[str] = set()
    for pod in sorted(deployment.pods.values(), key=lambda pod: (pod.node, pod.name)):
        probe = probes.get(pod.name) if pod.purpose == "probe" else None
        if probe is None or probe.execute is None or pod.node in seen:
            continue
        for reading in lacking_in_pods(facts.node(pod.node)):
            seen.add(pod.node)
            yield pod, probe.execute, reading


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
    unread = NodeReading(node=pod.node, reading=reading.name, probe=pod.name, command=words)
    if pod.purpose == "node" and not set(pod.addresses) & set(pod.host_addresses):
        addresses = ", ".join(map(str, pod.addresses))
        return _failed(unread, f"{pod.name} runs in the pod network ({addresses}), not on the node")
    try:
        with execute.slots:
            tools = Rerunning(channel=execute, beyond=TOOL_HANGS_SECONDS)
            got = tools.run(words, timeout=SECONDS + seconds + first_use(words))
    except ChannelError as error:
        return _failed(unread, error.message)
    return NodeReading(
        node=unread.node,
        reading=unread.reading,
        probe=unread.probe,
        command=unread.command,
        exit_code=got.exit_code,
        stdout=reduced(reading, got.stdout),
        stderr=got.stderr,
    )


def _failed(reading: NodeReading, why: str) -> NodeReading:
    return NodeReading(
        node=reading.node,
        reading=reading.reading,
        probe=reading.probe,
        command=reading.command,
        error=why,
    )
