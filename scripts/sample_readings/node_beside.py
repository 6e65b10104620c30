"""A Windows node around one text of a sample: what the rules that read the text read besides. Nothing is read here.

A sample holds one output. Facts that the note of its row would state (the plugin, the node's range, the network that
kube-proxy is given) follow from the file's name and from what it names itself.
"""

import ipaddress
import json
import re
from collections.abc import Iterator, Mapping

from nettests.model.dns_names import DEFAULT_DOMAIN

NAME = "win-1"
PLUGINS = {
    "-aks": "azure-cni",
    "-acn": "azure-cni",
    "-eks": "aws-vpc-cni",
    "-vpc": "aws-vpc-cni",
    "-ocp": "ovn-kubernetes",
    "-antrea": "antrea",
    "-calico": "calico",
    "-gke": "sdnbridge",
}
"""Parts of files' names, and the plugin there; the others are Flannel's."""
OVERLAYS = ("flannel", "ovn-kubernetes")
ADDRESS = "10.244.3.5"
KUBELET = {"kubeletVersion": "v1.30.4", "kernelVersion": "10.0.20348.2527"}
NODE_INFO = {
    **KUBELET,
    "operatingSystem": "windows",
    "containerRuntimeVersion": "containerd://1.7.20",
}
NSSM = r"""HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\{name}
    Start    REG_DWORD    0x3
    ImagePath    REG_EXPAND_SZ    c:\k\nssm.exe

HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\{name}\Parameters\AppExit
    (Default)    REG_SZ    Restart
"""
"""A service that nssm runs, as AgentBaker's kubeletfunc.ps1 registers kubelet and kube-proxy."""


def facts_beside(file: str, text: str) -> Mapping[str, str]:
    """Return the facts of the node, by their names in ``Evidence``."""
    plugin = next((name for part, name in PLUGINS.items() if part in file), "flannel")
    named = [ip for ip in _of(text, "IPAddress", "AddressPrefix", "subnet") if _is_network(ip)]
    ranges = [network for network in named if "/" in network and network != "192.168.255.0/30"]
    vip = next(iter(_of(text, "SourceVip", "sourceVip")), "")
    ranges += [str(ipaddress.ip_network(f"{vip}/24", strict=False))] if vip else []
    facts = {
        "server": "1.30.4",
        "kubelet": "1.30.4",
        "build": "20348.2527",
        "runtime": "docker://19.3.14" if "-sdn-" in file else "containerd://1.7.20",
        "node": next(iter(_of(text, "HostnameOverride")), NAME),
        "plugin": plugin,
        "driver": "transparent"
        if plugin == "antrea"
        else "overlay"
        if plugin in OVERLAYS
        else "l2bridge",
        "dsr": "on",
        "dns-address": "10.96.0.10",
        "cluster-domain": DEFAULT_DOMAIN,
        "service-cidrs": "10.96.0.0/16",
        "node-pod-cidrs": next(iter(ranges), "10.244.3.0/24"),
        "node-addresses": "172.30.0.13",
        "management-address": "172.30.0.13/32",
        "management-addresses": "172.30.0.12/31",
    }
    if plugin != "aws-vpc-cni":  # no object of EKS names the ranges of Pods
        facts["pod-cidrs"] = "10.244.0.0/16"
    return facts


def texts_beside(text: str) -> Mapping[str, str]:
    """Return texts of other readings of the node, by the readings' names."""
    addresses = [ip for ip in _of(text, "IPAddress") if "/" not in ip]
    first = next(iter(_of(text, "subnet")), f"{ADDRESS}/24").partition("/")[0]
    address = next(iter(addresses), first if first.endswith(".5") else _inside(first))
    pod = {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"dnsPolicy": "ClusterFirst", "containers": [{"name": "web"}]},
        "status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]},
    }
    node = {"metadata": {"name": NAME}, "status": {"nodeInfo": NODE_INFO}}
    endpoint = {"IPAddress": address, "VirtualNetworkName": next(iter(_networks(text)), "azure")}
    return {
        "node": json.dumps(node),
        "node-pods": json.dumps({"items": [pod]}),
        "node-pods-after": json.dumps({"items": [pod]}),
        "hns-endpoints": json.dumps([endpoint]),
        "kube-proxy-command-line": json.dumps({"CommandLine": _command_line(text)}),
        "kube-proxy-version": 'kubernetes_build_info{git_version="v1.30.4"}',
        "kubelet-settings": "kubelet.exe --config=c:\\k\\kubeletconfig.yaml\n{}\n",
    }


def services_beside(listed: str) -> Mapping[str, str]:
    """Return what ``reg.exe`` shows of each service in a list, by its name."""
    names = re.findall(r"(?m)\\Services\\(\S+)\s*$", listed)
    return {name.lower(): NSSM.format(name=name) for name in names}


def _command_line(text: str) -> str:
    network = next(iter(_networks(text)), "")
    flag = f" --network-name={network}" if network else ""
    return f"kube-proxy.exe --proxy-mode=kernelspace --hostname-override={NAME}{flag}"


def _networks(text: str) -> Iterator[str]:
    """Yield the names of HNS networks that may carry Pods, those with the widest range first."""
    try:
        loaded = json.loads(text)
    except ValueError:
        return
    rows = [
        row for row in (loaded if isinstance(loaded, list) else [loaded]) if isinstance(row, dict)
    ]
    for row in rows:
        prefixes = [str(subnet.get("AddressPrefix")) for subnet in row.get("Subnets") or []]
        if "Name" in row and prefixes and not any(prefix.endswith("/30") for prefix in prefixes):
            yield str(row["Name"])


def _of(text: str, *keys: str) -> Iterator[str]:
    pattern = rf'"(?:{"|".join(keys)})"\s*:\s*"([^"]+)"'
    yield from re.findall(pattern, text)


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _inside(address: str) -> str:
    try:
        return str(ipaddress.ip_address(address) + 5)
    except ValueError:
        return ADDRESS
