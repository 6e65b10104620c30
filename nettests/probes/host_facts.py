"""Read node settings that no API object shows: kube-proxy without a Pod, Pod network, firewall.

A Windows node's DNS suffixes are read in one of its Pods, as nslookup does, and the cluster domain
in the search list of a Linux Pod if no object shows it. Runs before the checks, on node vantages
that are needed anyway. ``rules`` defines what is read and kept. Changes and judges nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from nettests.bounds import Bounds
from nettests.model.channel import ChannelError, ExecChannel
from nettests.model.cluster_profile import Timing
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.observation import NodeReading
from nettests.model.powershell import first_use
from nettests.model.words import OS
from nettests.probes.commands import host_programs
from nettests.probes.deployment import Deployment, StandingPod
from nettests.probes.rerun import TOOL_HANGS_SECONDS, Rerunning
from nettests.probes.sending import Probe
from nettests.rules import reduced
from nettests.rules.cni_files import CNI
from nettests.rules.dns_suffixes import IN_POD, SEARCH_LIST
from nettests.rules.hns_networks import NETWORKS
from nettests.rules.host import PROFILES
from nettests.rules.kube_proxy_on_host import SECONDS, readings_of
from nettests.rules.pod_network import AS_IN_FILE
from nettests.rules.readings import ToolOutput


@dataclass(frozen=True, slots=True)
class Lacking:
    """An unknown fact: the reading that completes it, the Pod for it, and its channel."""

    pod: StandingPod
    execute: ExecChannel
    reading: ToolOutput


def lacking_facts(
    probes: Mapping[str, Probe], deployment: Deployment, facts: ClusterFacts
) -> tuple[Lacking, ...]:
    """Return the readings that complete unknown facts."""
    on_nodes = (
        Lacking(pod, execute, reading)
        for pod, execute in _probed(probes, deployment, facts)
        for reading in lacking(facts.node(pod.node), facts)
    )
    return (*on_nodes, *_in_pods(probes, deployment, facts))


def read_host_facts(wanted: Iterable[Lacking], timing: Timing) -> tuple[NodeReading, ...]:
    """Take readings; one that failed says why.

    A process on a node may take ``timing.execute`` beyond its own time limit.
    """
    with ThreadPoolExecutor(Bounds.of(timing).host_readings, "host-facts") as pool:
        return tuple(pool.map(lambda each: _read(each, timing.execute), wanted))


def lacking(node: NodeFacts, facts: ClusterFacts) -> tuple[ToolOutput, ...]:
    """Return what to read on a node: unknown settings of kube-proxy, firewall and Pod network."""
    proxy, windows = node.kube_proxy, node.os is OS.WINDOWS
    _, curl = host_programs(node.os)
    decides = proxy.dsr if windows else proxy.terminating
    of_proxy = not proxy.mode.known or (not proxy.replaced and not decides.known)
    of_firewall = windows and not node.firewall.known
    of_network = windows and not (node.cni_driver.known and facts.cni.plugin.known)
    of_nat = windows and facts.cni.plugin.value in AS_IN_FILE and not facts.cni.nat_exceptions.known
    of_loopback = windows and proxy.dsr.value is True and not facts.cni.loopback_dsr.known
    return (
        *(readings_of(node.os, curl, facts.families[0]) if of_proxy else ()),
        *((PROFILES,) if of_firewall else ()),
        *((NETWORKS,) if of_network else ()),
        *((CNI,) if of_nat or of_loopback else ()),
    )


def lacking_in_pods(node: NodeFacts) -> tuple[ToolOutput, ...]:
    """Return what to read in a Windows node's Pod: the DNS suffixes in its registry."""
    return (IN_POD,) if node.os is OS.WINDOWS and not node.dns_suffixes.known else ()


def _in_pods(
    probes: Mapping[str, Probe], deployment: Deployment, facts: ClusterFacts
) -> Iterator[Lacking]:
    """Yield readings of one Pod per node in question, with the usual DNS settings."""
    seen: set[str] = set()
    of_domain = not facts.cluster_domain.known
    for pod in sorted(deployment.pods.values(), key=lambda pod: (pod.node, pod.name)):
        probe = probes.get(pod.name) if pod.purpose == "probe" else None
        if probe is None or probe.execute is None or pod.node in seen:
            continue
        node = facts.node(pod.node)
        for reading in lacking_in_pods(node):
            seen.add(pod.node)
            yield Lacking(pod, probe.execute, reading)
        if of_domain and node.os is OS.LINUX:  # one search list is enough
            of_domain = False
            yield Lacking(pod, probe.execute, SEARCH_LIST)


def _probed(
    probes: Mapping[str, Probe], deployment: Deployment, facts: ClusterFacts
) -> Iterator[tuple[StandingPod, ExecChannel]]:
    """Yield one node vantage for each node in question."""
    seen: set[str] = set()
    for pod in sorted(deployment.pods.values(), key=lambda pod: (pod.node, pod.name)):
        probe = probes.get(pod.name) if pod.purpose == "node" else None
        if probe is None or probe.execute is None or pod.node in seen:
            continue
        if lacking(facts.node(pod.node), facts):
            seen.add(pod.node)
            yield pod, probe.execute


def _read(wanted: Lacking, seconds: float) -> NodeReading:
    pod, reading, words = wanted.pod, wanted.reading, wanted.reading.words
    unread = NodeReading(node=pod.node, reading=reading.name, probe=pod.name, command=words)
    if pod.purpose == "node" and not set(pod.addresses) & set(pod.host_addresses):
        addresses = ", ".join(map(str, pod.addresses))
        return _failed(unread, f"{pod.name} runs in the pod network ({addresses}), not on the node")
    try:
        with wanted.execute.slots:
            tools = Rerunning(channel=wanted.execute, beyond=TOOL_HANGS_SECONDS)
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
