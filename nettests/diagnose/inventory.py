"""The read-only commands that diagnostics run on a node. ``commands.txt`` lists most of them.

They follow Microsoft's ``collectlogs.ps1`` (microsoft/SDN, Kubernetes/windows/debug) as far as
Windows Server's own tools are enough. A tool that a node or image lacks is reported as missing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import assert_never

from nettests.model import ports
from nettests.model.powershell import to_the_end
from nettests.model.windows_programs import NodeArgv, node_argv
from nettests.model.words import OS
from nettests.rules.cni_files import CNI
from nettests.rules.flannel import PROCESSES
from nettests.rules.hns import script_of
from nettests.rules.hns_load_balancers import POLICIES
from nettests.rules.hns_networks import ENDPOINTS, NETWORKS
from nettests.rules.host import DYNAMIC, EXCLUDED
from nettests.rules.node import VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One tool: the file for its output, what it shows, its argv."""

    file: str
    title: str
    words: NodeArgv


def _kube_proxy(curl: str) -> Iterator[Command]:
    """Yield what kube-proxy reports at its default addresses on its own node."""
    for file, title, port, path in (
        ("kube-proxy-health.json", _HEALTH, ports.KUBE_PROXY_HEALTH, "healthz"),
        ("kube-proxy-mode.txt", _MODE, ports.KUBE_PROXY_METRICS, "proxyMode"),
    ):
        address = f"http://127.0.0.1:{port}/{path}"
        yield Command(file=file, title=title, words=node_argv(curl, "-sS", "-m", "5", address))


_HEALTH = "kube-proxy's health: when its rules were written last"
_MODE = "kube-proxy's mode, as it reports it"


def _listed(system: str) -> Iterator[Command]:
    for line in (files("nettests.diagnose") / "commands.txt").read_text("utf-8").splitlines():
        if not line.startswith(f"{system}; "):
            continue
        _, file, title, how, text = line.split("; ", 4)
        match how:
            case "tool":
                words = node_argv(*text.split())
            case "shell":
                words = to_the_end(text)
            case "hns":
                words = to_the_end(script_of(text))
            case _:
                words = _READINGS[text].words
        yield Command(file=file, title=title, words=words)


_READINGS = {
    reading.name: reading
    for reading in (POLICIES, ENDPOINTS, NETWORKS, DYNAMIC, EXCLUDED, VERSION, PROCESSES, CNI)
}
WINDOWS = (*_listed("windows"), *_kube_proxy("curl.exe"))
"""Run on a Windows node in a HostProcess container."""
LINUX = (*_listed("linux"), *_kube_proxy("curl"))
"""Run on a Linux node in a hostNetwork Pod, if the image has the tools."""


def of_system(os: OS) -> tuple[Command, ...]:
    """Return the commands for nodes of an OS."""
    match os:
        case OS.WINDOWS:
            return WINDOWS
        case OS.LINUX:
            return LINUX
        case _:
            assert_never(os)


VFP_PORTS = Command(
    file="vfp-ports.txt",
    title="ports of the virtual switch",
    words=node_argv("vfpctrl.exe", "/list-vmswitch-port"),
)
VFP_AT_MOST = 16
"""How many ports' counters are read; a node may have hundreds."""


VFP_RULES_AT_MOST = 8
"""How many ports' layers and rules are read: they are long, and often similar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfPorts:
    """The commands for each port of the virtual switch, with output in one file."""

    file: str
    title: str
    words: tuple[NodeArgv, ...]


def of_vfp_ports(listed: str) -> tuple[OfPorts, ...]:
    """Return the commands for ports that ``vfpctrl`` listed: counters, layers and their rules.

    As in ``collectlogs.ps1``; layers are load balancing, OutBoundNAT, encapsulation, ACLs.
    """
    # sample: "  Port name             : 7F1C2A54-5F5C-4E2B-9A6D-0B6D4D1C7E11"
    ports = re.findall(r"Port name\s*:\s*([0-9A-Fa-f-]{36})\b", listed)
    some = ports[:VFP_RULES_AT_MOST]
    return (
        OfPorts(
            file="vfp-counters.txt",
            title="counters of the virtual switch's ports",
            words=tuple(
                node_argv("vfpctrl.exe", "/port", port, "/get-port-counter")
                for port in ports[:VFP_AT_MOST]
            ),
        ),
        OfPorts(
            file="vfp-layers.txt",
            title="layers of the virtual switch's ports",
            words=tuple(node_argv("vfpctrl.exe", "/list-layer", "/port", port) for port in some),
        ),
        OfPorts(
            file="vfp-rules.txt",
            title="rules in these layers: load balancing, OutBoundNAT, encapsulation, ACLs",
            words=tuple(node_argv("vfpctrl.exe", "/list-rule", "/port", port) for port in some),
        ),
    )
