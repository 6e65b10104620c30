"""Rules about Flannel on Windows: VXLAN settings, processes and the node's lease.

SourceVip.json and SourceVipRequest.json are where start scripts of kube-proxy on overlay store the
address that they reserved: microsoft/SDN's in C:\\k, sig-windows-tools' ``hostprocess`` ones in
C:\\sourcevip. Sources: Flannel's ``backends.md``, "Windows debugging tips", microsoft/SDN
``Kubernetes/flannel``.
"""

import ipaddress
import json
import re

from nettests.model import ports
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.json_text import Object, read_json
from nettests.model.windows_programs import node_argv
from nettests.rules import reduction
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    UnreadableError,
    finding,
    rule,
)
from nettests.rules.readings import ApiObjects, Request, ToolOutput, newest_last, printed_if_there
from nettests.rules.reduction import KEPT
from nettests.rules.subjects import FLANNEL, KERNELSPACE, OVERLAY, VXLAN, WINDOWS

NEEDED = ("kubelet.exe", "kube-proxy.exe", "flanneld.exe")
LEASE = ("FLANNEL_SUBNET", "FLANNEL_NETWORK", "FLANNEL_MTU", "FLANNEL_IPMASQ")
_ADDRESS_KEY = r"\"(?:ip|address|subnet)\"\s*:\s*"


def _config_map(facts: ClusterFacts, _node: NodeFacts | None) -> Request:
    """Return the request for the ConfigMap that discovery read, named in the fact's origin."""
    # sample of an origin: ConfigMap kube-flannel/kube-flannel-cfg
    match = re.fullmatch(r"ConfigMap ([\w.-]+)/([\w.-]+)", facts.cni.backend.origin)
    namespace, name = match.groups() if match else ("kube-flannel", "kube-flannel-cfg")
    return Request(path=f"/api/v1/namespaces/{namespace}/configmaps/{name}")


def _keep_backend(text: str) -> str:
    data = read_json(text).get("data") or {}
    network = data.get("net-conf.json")
    try:
        shown = json.dumps(reduction.fields(read_json(network or ""), KEPT["backend"]))
    except (ValueError, TypeError):
        shown = "(no JSON)"
    return json.dumps({"data": {"net-conf.json": shown}})


def _keep_processes(text: str) -> str:
    names = re.findall(r'(?m)^"([^"]+)"', text)
    needed = [name for name in names if name.lower() in NEEDED]
    others = len(names) - len(needed)
    shown = [*needed, *([f"({others} others)"] if others else [])]
    return "".join(f'"{name}"\n' for name in shown)


def _keep_source_vip(text: str) -> str:
    """Keep addresses and networks; without any, record that text existed."""
    # samples: {"ip4": {"ip": "10.244.2.2/24", …}}, {"ips": [{"version": "4", "address": "10.244.2.2/24"}]}, {"ipam": {"ranges": [[{"subnet": "10.244.2.0/24"}]]}}
    addresses = re.findall(rf"{_ADDRESS_KEY}\"[0-9a-fA-F.:/]+\"", text)
    return (
        "".join(f"{address}\n" for address in addresses)
        or f"(no address: {len(text)} characters)\n"
    )


FLANNEL_CONFIG = ApiObjects(
    name="flannel-config",
    request=_config_map,
    permission=None,  # if it cannot be read, the backend is unknown and its rules are skipped
    keep=_keep_backend,
)
PROCESSES = ToolOutput(
    name="processes", words=node_argv("tasklist.exe", "/FO", "CSV", "/NH"), keep=_keep_processes
)
WAITING = r"Waiting (?:to get (?:ManagementIP|net interface)|for the Network to be created)"
"""Log messages of flanneld (``pkg/backend``) and of start.ps1."""
DONE = r"Wrote subnet file to|Running backend|Found HNSNetwork|Created HNSNetwork"
MILESTONE = re.compile(f"{WAITING}|{DONE}")
FLANNEL_LOG = ToolOutput(
    name="flannel-log",
    words=newest_last(r"C:\var\log\pods\*flannel*\*\*.log", 200),
    keep=reduction.lines(MILESTONE.pattern),
)
"""The kubelet's log files of a flanneld Pod."""
SOURCE_VIP_FILES = ToolOutput(
    name="source-vip-files",
    words=printed_if_there(r"C:\k\SourceVip*.json", r"C:\sourcevip\sourceVip*.json"),
    keep=_keep_source_vip,
)
SUBNET_FILE = ToolOutput(
    name="flannel-subnet-file",
    words=printed_if_there(r"C:\run\flannel\subnet.env"),
    keep=reduction.lines(rf"(?m)^(?:{'|'.join(LEASE)})=\S+"),
)


@rule(about=(FLANNEL, VXLAN, WINDOWS), reads=(FLANNEL_CONFIG,))
def vxlan_network_id(evidence: Evidence) -> Finding:
    """Windows has no VXLAN network id (VNI) below 4096; Linux' default is 1."""
    vni = _backend(evidence).get("VNI", 1)
    return finding(int(vni) >= ports.FIRST_VNI, f"VNI {vni}", f"{ports.FIRST_VNI} or above", of=1)


@rule(about=(FLANNEL, VXLAN, WINDOWS), reads=(FLANNEL_CONFIG,))
def vxlan_port(evidence: Evidence) -> Finding:
    """Windows speaks VXLAN on UDP 4789 only; Linux' default is 8472."""
    port = _backend(evidence).get("Port", ports.VXLAN_OF_LINUX)
    return finding(int(port) == ports.VXLAN, f"port {port}", f"port {ports.VXLAN}", of=1)


@rule(about=(FLANNEL, VXLAN, WINDOWS), reads=(FLANNEL_CONFIG,))
def vxlan_options(evidence: Evidence) -> Finding:
    """Flannel on Windows refuses DirectRouting and GBP."""
    given = [name for name in ("DirectRouting", "GBP") if _backend(evidence).get(name)]
    return finding(
        not given, " and ".join(given) or "neither", "neither DirectRouting nor GBP", of=1
    )


@rule(about=(FLANNEL, KERNELSPACE), reads=(PROCESSES,))
def processes_running(evidence: Evidence) -> Finding:
    """kubelet, kube-proxy and flanneld run."""
    # sample: "kube-proxy.exe","3716","Services","0","43,148 K"
    names = {name.lower() for name in re.findall(r'(?m)^"([^"]+)"', evidence.text(PROCESSES))}
    if not names:
        raise UnreadableError("tasklist names no process")
    missing = [name for name in NEEDED if name not in names]
    return finding(
        not missing,
        f"no {', '.join(missing)}" if missing else "all three",
        f"{', '.join(NEEDED)} running",
        of=len(names),
    )


@rule(about=(FLANNEL,), reads=(SUBNET_FILE,))
def subnet_file(evidence: Evidence) -> Finding:
    """Flannel's lease on the node is its pod CIDR."""
    text = evidence.text(SUBNET_FILE)
    if not text.strip():
        raise UnreadableError(
            "C:\\run\\flannel\\subnet.env is not there: flanneld may keep its lease elsewhere"
        )
    # sample: FLANNEL_SUBNET=10.244.4.1/24
    match = re.search(r"FLANNEL_SUBNET=(\S+)", text)
    if match is None:
        return finding(False, "no FLANNEL_SUBNET", "a lease in subnet.env", of=1)  # noqa: FBT003
    subnet = ipaddress.ip_interface(match[1]).network
    pod_cidrs = evidence.networks("node-pod-cidrs")
    return finding(
        subnet in pod_cidrs, f"FLANNEL_SUBNET={match[1]}", f"{', '.join(map(str, pod_cidrs))}", of=1
    )


@rule(about=(FLANNEL, OVERLAY), reads=(SOURCE_VIP_FILES,))
def source_vip_files(evidence: Evidence) -> Finding:
    """The source VIP stored by start scripts is in the node's current pod CIDR."""
    text = evidence.text(SOURCE_VIP_FILES)
    if not text.strip():
        raise NothingThereError("no start script has kept a source VIP in C:\\k or C:\\sourcevip")
    texts = re.findall(rf"{_ADDRESS_KEY}\"([^\"]+)\"", text)
    if not texts:
        raise UnreadableError("SourceVip.json and SourceVipRequest.json name no address")
    kept_networks = [ipaddress.ip_interface(text).network for text in texts]
    pod_cidrs = evidence.networks("node-pod-cidrs")
    return finding(
        all(network in pod_cidrs for network in kept_networks),
        f"{', '.join(map(str, kept_networks)) or 'no network'} in SourceVip.json",
        f"the node's own, {', '.join(map(str, pod_cidrs))}",
        of=len(kept_networks),
    )


@rule(about=(FLANNEL,), reads=(FLANNEL_LOG,))
def flannel_network_made(evidence: Evidence) -> Finding:
    """flanneld is not stuck waiting for its network."""
    lines = [line for line in evidence.text(FLANNEL_LOG).splitlines() if MILESTONE.search(line)]
    if not lines:
        raise NothingThereError("no log of a Pod of flanneld on the node shows how it started")
    waiting = re.search(WAITING, lines[-1])
    observed = waiting[0] if waiting else "a network that was made"
    return finding(waiting is None, observed, "flanneld going on after its network", of=len(lines))


def _backend(evidence: Evidence) -> Object:
    data = evidence.object(FLANNEL_CONFIG).get("data") or {}
    try:
        network = read_json(data.get("net-conf.json", ""))
    except ValueError as error:
        raise UnreadableError("net-conf.json of Flannel's ConfigMap is not JSON") from error
    backend = network.get("Backend")
    if not isinstance(backend, dict):
        raise UnreadableError("net-conf.json of Flannel's ConfigMap names no Backend")
    return backend
