"""What of each reading is kept: the fields that its rules use, and nothing else. Pure.

``probes.inspect`` applies it before anything is recorded: readings hold whole objects of other tenants,
whose variables, arguments and annotations are nobody's business here. A rule that needs another field names
it here; its tests pass every text through ``reduced`` first.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from nettests.model.json_text import read_json
from nettests.rules import balancing, cni, hns, kube_proxy, load_balancers, node, windows
from nettests.rules.evidence import Object

KEEP = True
Kept = bool | dict[str, Any]
"""Fields by name, each with what is kept below it; of a list, what is kept of each item."""

_NAMED: dict[str, Any] = {"name": KEEP, "namespace": KEEP}
NODE: Kept = {
    "metadata": {
        "name": KEEP,
        "labels": dict.fromkeys((node.BUILD_LABEL, *node.CONTROL_PLANE_ROLES), KEEP),
    },
    "spec": {"taints": {"key": KEEP, "value": KEEP, "effect": KEEP}},
    "status": {
        "nodeInfo": {"kernelVersion": KEEP, "kubeletVersion": KEEP, "operatingSystem": KEEP},
        "addresses": {"type": KEEP, "address": KEEP},
    },
}
POD: Kept = {
    "metadata": {**_NAMED, "deletionTimestamp": KEEP},
    "spec": {"hostNetwork": KEEP, "containers": {"name": KEEP, "image": KEEP}},
    "status": {"phase": KEEP, "podIP": KEEP, "podIPs": {"ip": KEEP}},
}
VARIABLE: Kept = {
    "name": KEEP,
    "value": KEEP,
    "valueFrom": {"fieldRef": {"fieldPath": KEEP}},
}
SERVICE: Kept = {
    "metadata": {
        **_NAMED,
        "labels": {hns.RUN_LABEL: KEEP, balancing.OTHER_PROXY_LABEL: KEEP},
        "annotations": {balancing.PRESERVED: KEEP},
    },
    "spec": {
        "type": KEEP,
        "clusterIP": KEEP,
        "clusterIPs": KEEP,
        "externalIPs": KEEP,
        "externalTrafficPolicy": KEEP,
        "internalTrafficPolicy": KEEP,
        "healthCheckNodePort": KEEP,
        "ports": {
            "name": KEEP,
            "port": KEEP,
            "protocol": KEEP,
            "nodePort": KEEP,
            "targetPort": KEEP,
        },
    },
    "status": {"loadBalancer": {"ingress": {"ip": KEEP, "ipMode": KEEP}}},
}
SLICE: Kept = {
    "metadata": {**_NAMED, "labels": {hns.SERVICE_LABEL: KEEP}},
    "addressType": KEEP,
    "endpoints": {
        "addresses": KEEP,
        "nodeName": KEEP,
        "conditions": {"ready": KEEP, "serving": KEEP, "terminating": KEEP},
    },
    "ports": {"name": KEEP, "port": KEEP, "protocol": KEEP},
}
FLANNEL_BACKEND: Kept = {
    "Backend": {"Type": KEEP, "VNI": KEEP, "Port": KEEP, "DirectRouting": KEEP, "GBP": KEEP}
}
HNS = frozenset(
    {
        *("Name", "Type", "Subnets", "AddressPrefix", "Policies", "Settings", "VSID", "Port"),
        *("IPAddress", "VirtualNetworkName", "GatewayAddress", "IsRemoteEndpoint"),
        *("ExceptionList", "Exceptions", "ExternalPort", "InternalPort", "Protocol", "SourceVIP"),
        *("VIPs", "IsDSR", "ID", "References", "IPv6Address", "IPv6"),
    }
)
"""Properties of HNS' networks, endpoints and policy lists, on whatever level they stand."""
CNI = frozenset(
    {
        *("cniVersion", "name", "type", "Type", "ExceptionList", "Exceptions"),
        *("DestinationPrefix", "NeedEncap", "enableDualStack", "loopbackDSR"),
        *("apiVersion", "ApiVersion", "ProviderAddress", "PA"),
    }
)
"""Settings of a CNI configuration; what holds others is kept for their sake alone."""
SCHEMA = "Settings"
"""Whether a policy has it tells the schema that it is written in, even where nothing in it is kept."""
PROXY_FLAGS = (
    "config",
    "enable-dsr",
    "feature-gates",
    "hostname-override",
    "network-name",
    "proxy-mode",
    "source-vip",
)
"""Flags of kube-proxy, in its arguments and its log."""
PROXY_NETWORK = "KUBE_NETWORK"
_PROXY_FLAG = "|".join(PROXY_FLAGS)
FLANNEL_LEASE = ("FLANNEL_SUBNET", "FLANNEL_NETWORK", "FLANNEL_MTU", "FLANNEL_IPMASQ")


def reduced(reading: str, text: str) -> str:
    """Return what is kept of a reading; a text that has another form than expected is left out."""
    reduce = REDUCTIONS.get(reading)
    if reduce is None or not text.strip():
        return ""
    try:
        return reduce(text.replace("\r\n", "\n"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return f"(not as expected: {len(text)} characters)"


def _fields(value: Any, kept: Kept) -> Any:
    if kept is KEEP or value is None:
        return value
    if isinstance(value, list):
        return [_fields(item, kept) for item in value]
    if isinstance(value, dict) and isinstance(kept, dict):
        return {key: _fields(value[key], below) for key, below in kept.items() if key in value}
    return None


def _object(kept: Kept) -> Callable[[str], str]:
    def reduce(text: str) -> str:
        return json.dumps(_fields(read_json(text), kept))

    return reduce


def _items(kept: Kept) -> Callable[[str], str]:
    return _object({"items": kept})


def _pods(text: str) -> str:
    items = read_json(text)["items"]
    return json.dumps({"items": [_pod(item) for item in items]})


def _pod(pod: Object) -> Object:
    """Reduce a Pod; of kube-proxy's first container what says how it was started is kept too."""
    found: Object = _fields(pod, POD)
    if not str(pod["metadata"]["name"]).startswith("kube-proxy"):
        return found
    full, container = pod["spec"]["containers"][0], found["spec"]["containers"][0]
    words = [*(full.get("command") or []), *(full.get("args") or [])]
    container["args"] = _started(" ".join(map(str, words)))
    wanted = {PROXY_NETWORK, *re.findall(r"\$\(([\w.-]+)\)", " ".join(container["args"]))}
    env = [one for one in full.get("env") or [] if one.get("name") in wanted]
    container["env"] = [_fields(one, VARIABLE) for one in env]
    return found


def _started(command: str) -> list[str]:
    """Return the flags and the variable that rules look for in a command or a script."""
    # samples: --proxy-mode=kernelspace, --source-vip 10.244.2.2, $env:KUBE_NETWORK="cbr0"; kube-proxy.exe …
    value = r"(?:\"[^\"]*\"|'[^']*'|[^\s;\"']+)"
    flags = rf"--(?:{_PROXY_FLAG})(?![\w-])(?:[= ](?!-){value}?)?[\"',;]?"
    variables = re.findall(rf"{PROXY_NETWORK}\s*=\s*['\"]?[\w.-]+['\"]?", command)
    return [*variables, *(word.strip() for word in re.findall(flags, command))]


def _proxy_log(text: str) -> str:
    # sample: I1121 01:22:03.787132       1 flags.go:64] FLAG: --enable-dsr="false"
    return "".join(
        f"{line}\n" for line in re.findall(rf'FLAG: --(?:{_PROXY_FLAG})="[^"\n]*"', text)
    )


def _flannel(text: str) -> str:
    data = read_json(text).get("data") or {}
    network = data.get("net-conf.json")
    try:
        kept = json.dumps(_fields(read_json(network or ""), FLANNEL_BACKEND))
    except (ValueError, TypeError):
        kept = "(no JSON)"
    return json.dumps({"data": {"net-conf.json": kept}})


def _named(value: Any, names: frozenset[str]) -> Any:
    """Keep properties of these names wherever they stand, and what leads to them."""
    if isinstance(value, list):
        below = [_named(item, names) for item in value]
        return [item for item in below if item is not None]
    if not isinstance(value, dict):
        return None
    found: Object = {}
    for key, item in value.items():
        if key in names and _plain(item):
            found[key] = item
        elif (below := _named(item, names)) or key == SCHEMA:
            found[key] = below or {}
    return found


def _plain(value: Any) -> bool:
    """Whether a value holds no other properties."""
    if isinstance(value, list):
        return not any(isinstance(item, dict | list) for item in value)
    return not isinstance(value, dict)


def _hns(text: str) -> str:
    return json.dumps(_named(read_json(text), HNS))


def _cni(text: str) -> str:
    """Reduce configurations that were printed one after the other."""
    decoder, position, found = json.JSONDecoder(), 0, []
    while start := re.compile(r"\S").search(text, position):
        try:
            value, position = decoder.raw_decode(text, start.start())
        except ValueError:
            found.append(f"(no JSON: {len(text) - start.start()} characters)")
            break
        found.append(json.dumps(_named(value, CNI)))
    return "\n".join(found)


def _lines(pattern: str) -> Callable[[str], str]:
    def reduce(text: str) -> str:
        return "".join(f"{found[0]}\n" for found in re.finditer(pattern, text))

    return reduce


def _adapters(text: str) -> str:
    """Keep the names of adapters and the lines that end with an address."""
    # sample: Ethernet adapter vEthernet (Ethernet):
    #            IPv4 Address. . . . . . . . . . . : 172.30.0.13
    return _lines(r"(?m)^\S.{0,200}$|^[ \t]+.{0,80}: [0-9a-fA-F.:]*[.:][0-9a-fA-F.:]*.{0,20}$")(
        text
    )


def _processes(text: str) -> str:
    """Keep the names that rules look for, and how many others there are."""
    names = re.findall(r'(?m)^"([^"]+)"', text)
    known = [name for name in names if name.lower() in windows.FLANNEL_PROCESSES]
    others = len(names) - len(known)
    shown = [*known, *([f"({others} others)"] if others else [])]
    return "".join(f'"{name}"\n' for name in shown)


REDUCTIONS: Mapping[str, Callable[[str], str]] = {
    node.NODE: _object(NODE),
    node.NODES: _items(NODE),
    node.FLANNEL: _flannel,
    kube_proxy.PODS: _pods,
    kube_proxy.LOG: _proxy_log,
    hns.PODS_AFTER: _pods,
    hns.SERVICES: _items(SERVICE),
    hns.SERVICES_AFTER: _items(SERVICE),
    hns.SLICES: _items(SLICE),
    load_balancers.SLICES_AFTER: _items(SLICE),
    hns.NETWORKS: _hns,
    hns.ENDPOINTS: _hns,
    load_balancers.ENDPOINTS_BESIDE: _hns,
    hns.POLICIES: _hns,
    cni.CNI: _cni,
    **dict.fromkeys(
        cni.ABOUT.values(), _lines(r"(?m)^CNI [\w-]+ plugin .{0,40}$|versions supported: [\d., ]+")
    ),
    windows.VERSION: _lines(r"10\.0\.\d{5}\.\d+"),
    windows.ADAPTERS: _adapters,
    windows.DYNAMIC: _lines(r"(?m):\s*\d+\s*$"),
    windows.EXCLUDED: _lines(r"(?m)^-{4}[ -]*|^\s+\d+\s+\d+\s*\*?\s*$"),
    windows.PROCESSES: _processes,
    windows.SUBNET: _lines(rf"(?m)^(?:{'|'.join(FLANNEL_LEASE)})=\S+"),
}
"""By reading."""
