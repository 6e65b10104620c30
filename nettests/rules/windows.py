"""Rules about what Windows' own tools say of a node: build, adapter, ports, processes, Flannel's files.

Read from ``cmd``, ``ipconfig``, ``netsh`` and ``tasklist`` in a HostProcess container. Their words are
translated by Windows, so only numbers, addresses, names and keys are read. Sources: "Windows debugging
tips", Microsoft's ``networkhealth.ps1`` and "Common problems", the samples of microsoft/SDN.
"""

import ipaddress
import re
from collections.abc import Iterator
from typing import Any

from nettests.rules.cni import configurations
from nettests.rules.evidence import Evidence, Finding, Object, UnreadableError, finding
from nettests.rules.kube_proxy import network_of
from nettests.rules.nat import excepted, exceptions_of, extra, management_of, uncovered
from nettests.rules.node import FIRST_DSR, NODE, build_of
from nettests.rules.plugin import of_pod_families

VERSION = "windows-version"
ADAPTERS = "ipconfig"
DYNAMIC = "dynamic-ports"
EXCLUDED = "excluded-ports"
SUBNET = "flannel-subnet-file"
PROCESSES = "processes"
OWN = "management-address"
NODE_PORTS = range(30000, 32768)
"""The API server's default; another range is set by --service-node-port-range."""
POOL = 64
FEWEST_POOLS = 10
"""networkhealth.ps1 warns from here on: HNS takes ports for source rewriting in blocks of 64."""
FLANNEL_PROCESSES = ("kubelet.exe", "kube-proxy.exe", "flanneld.exe")


def running_build(evidence: Evidence) -> Finding:
    """The build that the API shows is the one that runs: rules about updates rely on it."""
    text = evidence.text(VERSION)
    # sample: Microsoft Windows [Version 10.0.17763.1339]
    found = re.search(r"10\.0\.\d{5}\.\d+", text)
    if found is None:
        raise UnreadableError(f"ver names no build: {text!r}")
    kernel = str(evidence.object(NODE)["status"]["nodeInfo"]["kernelVersion"])
    return finding(
        found[0] == kernel, found[0], f"what nodeInfo.kernelVersion says, {kernel}", of=1
    )


def virtual_adapter(evidence: Evidence) -> Finding:
    """The node's address is on a virtual adapter: without one no pod network was made."""
    own = set(evidence.fact("node-addresses").split(","))
    # sample: Ethernet adapter vEthernet (Ethernet):
    #            IPv4 Address. . . . . . . . . . . : 172.30.0.13
    sections = re.split(r"\n(?=\S)", evidence.text(ADAPTERS).replace("\r", ""))
    holding = [
        section.strip().splitlines()[0].rstrip(":")
        for section in sections
        if own & set(re.findall(r"[0-9a-fA-F:.]+", section))
    ]
    if not holding:
        raise UnreadableError("ipconfig shows no adapter with the node's address")
    return finding(
        any("vEthernet (" in name for name in holding),
        f"the node's address on {', '.join(holding)}",
        "it on a virtual adapter, vEthernet (…)",
        of=len(holding),
    )


def node_ports_free(evidence: Evidence) -> Finding:
    """Neither dynamic nor excluded port ranges take ports that NodePorts may have."""
    ranges = [_dynamic(evidence), *_excluded(evidence)]
    taken = [
        f"{one.start}-{one.stop - 1}"
        for one in ranges
        if max(one.start, NODE_PORTS.start) < min(one.stop, NODE_PORTS.stop)
    ]
    return finding(
        not taken,
        f"{', '.join(taken)} taken" if taken else "no port of that range taken",
        f"{NODE_PORTS.start}-{NODE_PORTS.stop - 1} left to NodePorts",
        of=len(ranges),
    )


def port_pools_left(evidence: Evidence) -> Finding:
    """HNS finds blocks of 64 dynamic ports for the load balancers that are still to come."""
    dynamic = _dynamic(evidence)
    taken = {port for one in _excluded(evidence) for port in one}
    blocks = range(dynamic.start, dynamic.stop - POOL + 1, POOL)
    free = sum(taken.isdisjoint(range(start, start + POOL)) for start in blocks)
    return finding(
        free > FEWEST_POOLS,
        f"{free} free blocks",
        f"more than {FEWEST_POOLS} blocks of {POOL} ports",
        of=1,
    )


def processes_running(evidence: Evidence) -> Finding:
    """kubelet, kube-proxy and flanneld run."""
    # sample: "kube-proxy.exe","3716","Services","0","43,148 K"
    names = {name.lower() for name in re.findall(r'(?m)^"([^"]+)"', evidence.text(PROCESSES))}
    if not names:
        raise UnreadableError("tasklist names no process")
    missing = [name for name in FLANNEL_PROCESSES if name not in names]
    return finding(
        not missing,
        f"no {', '.join(missing)}" if missing else "all three",
        f"{', '.join(FLANNEL_PROCESSES)} running",
        of=len(names),
    )


def subnet_file(evidence: Evidence) -> Finding:
    """Flannel's lease on the node is its pod CIDR."""
    text = evidence.text(SUBNET)
    # sample: FLANNEL_SUBNET=10.244.4.1/24
    found = re.search(r"FLANNEL_SUBNET=(\S+)", text)
    if found is None:
        return finding(False, "no FLANNEL_SUBNET", "a lease in subnet.env", of=1)  # noqa: FBT003
    subnet = ipaddress.ip_interface(found[1]).network
    own = evidence.networks("node-pod-cidrs")
    return finding(subnet in own, f"FLANNEL_SUBNET={found[1]}", f"{', '.join(map(str, own))}", of=1)


def cni_network(evidence: Evidence) -> Finding:
    """The plugin attaches pods to the network that kube-proxy looks at."""
    names = [str(one["name"]) for one in configurations(evidence) if one.get("name")]
    wanted = network_of(evidence)
    return finding(
        wanted.lower() in {name.lower() for name in names},
        f"CNI networks {', '.join(names) or 'none'}",
        f"kube-proxy's, {wanted or 'which is none'}",
        of=1,
    )


def cni_exceptions(evidence: Evidence) -> Finding:
    """The configuration excepts the cluster's networks from OutBoundNAT, and no outside address."""
    needed = excepted(evidence)
    listed = [
        entry for policy in _policies(evidence, {"outboundnat"}) for entry in exceptions_of(policy)
    ]
    missing, foreign = uncovered(needed, listed), extra(evidence, listed)
    told = f"ExceptionList {', '.join(listed) or 'empty'}"
    if missing:
        told += f", which lacks {', '.join(missing)}"
    if foreign:
        told += f", where {', '.join(foreign)} holds outside addresses"
    return finding(
        not missing and not foreign,
        told,
        f"{', '.join(map(str, needed))} in it, and no outside address",
        of=len(needed),
    )


def cni_routes(evidence: Evidence) -> Finding:
    """The configuration routes Services, on l2bridge the node's address too, to the host."""
    needed = evidence.networks("service-cidrs")
    if evidence.facts.get("driver") == "l2bridge":
        needed += management_of(evidence, OWN)
    needed = of_pod_families(evidence, needed)
    prefixes = [
        str(policy.get("DestinationPrefix"))
        for policy in _policies(evidence, {"route", "sdnroute"})
        if policy.get("NeedEncap") and policy.get("DestinationPrefix")
    ]
    missing = uncovered(needed, prefixes)
    return finding(
        not missing,
        f"ROUTE policies for {', '.join(prefixes) or 'nothing'}",
        f"one with NeedEncap for each of {', '.join(map(str, needed))}",
        of=len(needed),
    )


def loopback_dsr_update(evidence: Evidence) -> Finding:
    """The plugin's option loopbackDSR is an error where HNS has no DSR."""
    given = any(one.get("loopbackDSR") for one in _objects(configurations(evidence)))
    build = build_of(evidence)
    return finding(
        not given or build >= FIRST_DSR,
        f"loopbackDSR {'set' if given else 'not set'} on {build}",
        f"it only from {FIRST_DSR} on",
        of=1,
    )


def _dynamic(evidence: Evidence) -> range:
    # sample: Start Port      : 49152
    #         Number of Ports : 16384
    numbers = re.findall(r"(?m):\s*(\d+)\s*$", evidence.text(DYNAMIC).replace("\r", ""))
    if len(numbers) != 2:
        raise UnreadableError("netsh names no dynamic port range")
    return range(int(numbers[0]), int(numbers[0]) + int(numbers[1]))


def _excluded(evidence: Evidence) -> list[range]:
    # sample: ----------    --------
    #              50000       50059     *
    text = evidence.text(EXCLUDED)
    if not re.search(r"(?m)^-{4,}", text):
        raise UnreadableError("netsh prints no table of excluded port ranges")
    rows = re.findall(r"(?m)^\s+(\d+)\s+(\d+)\s*\*?\s*$", text)
    return [range(int(first), int(last) + 1) for first, last in rows]


def _policies(evidence: Evidence, kinds: set[str]) -> Iterator[Object]:
    """Yield the policies of these types, wherever a configuration holds them."""
    for one in _objects(configurations(evidence)):
        if str(one.get("Type", "")).lower() in kinds:
            yield one.get("Settings") or one


def _objects(value: Any) -> Iterator[Object]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _objects(item)
