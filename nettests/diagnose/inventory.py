"""The commands that diagnostics run on a node: argv of tools that read and change nothing. Pure tables.

The inventory is that of Microsoft's ``collectlogs.ps1`` (microsoft/SDN, Kubernetes/windows/debug) as far as tools of
Windows Server itself answer it. A tool that a node or an image lacks is reported as missing.
"""

import re
from dataclasses import dataclass
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
from nettests.rules.readings import ToolOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One tool: the file that its output goes to, what it shows, its argv."""

    file: str
    title: str
    words: NodeArgv


def _from_reading(reading: ToolOutput, file: str, title: str) -> Command:
    return Command(file=file, title=title, words=reading.words)


def _shell(file: str, title: str, text: str) -> Command:
    return Command(file=file, title=title, words=to_the_end(text))


def _tool(file: str, title: str, *words: str) -> Command:
    return Command(file=file, title=title, words=node_argv(*words))


def _kube_proxy(curl: str) -> tuple[Command, ...]:
    """Return what kube-proxy tells on its node alone, at its default addresses."""
    return tuple(
        _tool(file, title, curl, "-sS", "-m", "5", f"http://127.0.0.1:{port}/{path}")
        for file, title, port, path in (
            (
                "kube-proxy-health.json",
                "kube-proxy's health: when its rules were written last",
                ports.KUBE_PROXY_HEALTH,
                "healthz",
            ),
            (
                "kube-proxy-mode.txt",
                "kube-proxy's mode, as it says itself",
                ports.KUBE_PROXY_METRICS,
                "proxyMode",
            ),
        )
    )


WINDOWS: tuple[Command, ...] = (
    _from_reading(POLICIES, "hns-load-balancers.json", "HNS load balancers (Get-HnsPolicyList)"),
    _from_reading(ENDPOINTS, "hns-endpoints.json", "HNS endpoints with their policies"),
    _from_reading(NETWORKS, "hns-networks.json", "HNS networks"),
    _shell("hns-namespaces.json", "HNS namespaces", script_of("Get-HnsNamespace")),
    _tool(
        "addresses.txt", "addresses of all compartments", "ipconfig.exe", "/allcompartments", "/all"
    ),
    _tool("routes.txt", "routes", "route.exe", "print"),
    _tool("neighbours.txt", "neighbours", "arp.exe", "-a"),
    _tool(
        "interfaces.txt",
        "interfaces and their MTU",
        "netsh.exe",
        "int",
        "ipv4",
        "show",
        "interfaces",
    ),
    _from_reading(DYNAMIC, "dynamic-ports.txt", "the dynamic port range"),
    _from_reading(EXCLUDED, "excluded-ports-tcp.txt", "excluded TCP ports: HNS' pools among them"),
    _tool(
        "excluded-ports-udp.txt",
        "excluded UDP ports",
        *("netsh.exe", "int", "ipv4", "show", "excludedportrange", "protocol=udp"),
    ),
    _tool(
        "connections.txt", "TCP connections", "netsh.exe", "int", "ipv4", "show", "tcpconnections"
    ),
    _from_reading(VERSION, "windows-version.txt", "build and patch level"),
    _shell("updates.txt", "installed updates", "Get-HotFix | Format-Table -AutoSize"),
    _shell(
        "services.txt",
        "services of the node",
        "Get-Service -Name 'hns','vfpext','vmcompute','kubelet','kube-proxy','containerd','flanneld' "
        "-ErrorAction SilentlyContinue | Format-Table -AutoSize 'Name','Status','StartType'",
    ),
    _from_reading(PROCESSES, "processes.csv", "processes"),
    _from_reading(CNI, "cni-configuration.txt", "CNI configuration"),
    _shell(
        "hns-events.txt",
        "the last events of the Host Networking Service",
        # By the pattern of its files in collectlogs.ps1: no document names its logs.
        "Get-WinEvent -ListLog 'Microsoft-Windows-Host-Network-Service*' | Where-Object RecordCount "
        "| ForEach-Object { Get-WinEvent -LogName $_.LogName -MaxEvents 50 } "
        "| Format-List 'TimeCreated','Id','LevelDisplayName','Message'",
    ),
    *_kube_proxy("curl.exe"),
)
"""What is run on a Windows node in a HostProcess container."""

LINUX: tuple[Command, ...] = (
    _tool("addresses.txt", "addresses and interfaces", "ip", "-details", "address", "show"),
    _tool("routes.txt", "routes of all tables", "ip", "route", "show", "table", "all"),
    _tool("neighbours.txt", "neighbours", "ip", "neighbour", "show"),
    _tool("nftables.txt", "nftables rules, kube-proxy's among them", "nft", "list", "ruleset"),
    _tool("iptables.txt", "iptables rules, kube-proxy's among them", "iptables-save"),
    *_kube_proxy("curl"),
)
"""What is run on a Linux node in a hostNetwork Pod, as far as the image holds the tools."""


def of_system(os: OS) -> tuple[Command, ...]:
    """Return what is run on a node of a system."""
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
"""So many ports' counters are read; a node may have hundreds."""


VFP_RULES_AT_MOST = 8
"""So many ports' layers and rules are read, which are long: what is wrong with one Pod's is often wrong with all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfPorts:
    """What is run for each port of the virtual switch, into one file."""

    file: str
    title: str
    words: tuple[NodeArgv, ...]


def of_vfp_ports(listed: str) -> tuple[OfPorts, ...]:
    """Return what to run for the ports that ``vfpctrl`` has listed: their counters, their layers, the rules in these.

    As ``collectlogs.ps1`` does; the layers hold load balancing, OutBoundNAT, encapsulation and ACLs in their order.
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
