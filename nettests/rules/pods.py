"""Pods of a node as rules read them: kube-proxy's container, and all Pods' addresses.

No rule is declared here. Rules that also read the node read Pods before and after, as they change.
"""

import ipaddress
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from nettests.model.facts import ClusterFacts, Network, NodeFacts
from nettests.model.json_text import Object, read_json
from nettests.model.permission import LIST_ALL_PODS
from nettests.rules import reduction
from nettests.rules.evidence import Evidence, UnreadableError, name_of
from nettests.rules.readings import ApiObjects, Request
from nettests.rules.reduction import KEPT

FLAGS = (
    *("config", "enable-dsr", "feature-gates", "hostname-override", "network-name"),
    *("nodeport-addresses", "proxy-mode", "source-vip"),
)
"""Flags of kube-proxy that are kept from its arguments and its log."""
FLAG = "|".join(FLAGS)
NETWORK_VARIABLE = "KUBE_NETWORK"


def _pods(text: str) -> str:
    items = read_json(text)["items"]
    return json.dumps({"items": [_pod(item) for item in items]})


def _pod(pod: Object) -> Object:
    reduced: Object = reduction.fields(pod, KEPT["pod"])
    if not str(pod["metadata"]["name"]).startswith("kube-proxy"):
        return reduced
    full, container = pod["spec"]["containers"][0], reduced["spec"]["containers"][0]
    words = [*(full.get("command") or []), *(full.get("args") or [])]
    container["args"] = started(" ".join(map(str, words)))
    wanted = {NETWORK_VARIABLE, *re.findall(r"\$\(([\w.-]+)\)", " ".join(container["args"]))}
    env = [variable for variable in full.get("env") or [] if variable.get("name") in wanted]
    container["env"] = [reduction.fields(variable, KEPT["variable"]) for variable in env]
    return reduced


def started(command: str) -> list[str]:
    """Return the flags and the variable in a kube-proxy command or script that rules look for."""
    # samples: --proxy-mode=kernelspace, --source-vip 10.244.2.2, $env:KUBE_NETWORK="cbr0"; kube-proxy.exe …
    variables = re.findall(rf"{NETWORK_VARIABLE}\s*=\s*['\"]?[\w.-]+['\"]?", command)
    return [*variables, *reduction.flags(command, FLAGS)]


def _of_node(_facts: ClusterFacts, node: NodeFacts | None) -> Request:
    name = node.name if node else ""
    return Request(path="/api/v1/pods", query={"fieldSelector": f"spec.nodeName={name}"})


PODS = ApiObjects(name="node-pods", request=_of_node, permission=LIST_ALL_PODS, keep=_pods)
PODS_AFTER = replace(PODS, name="node-pods-after")


def running_pods(evidence: Evidence, reading: ApiObjects = PODS) -> Iterator[tuple[str, str]]:
    """Yield address and name of the node's running Pods in the Pod network."""
    for pod in evidence.items(reading):
        status = pod.get("status") or {}
        if status.get("phase") != "Running" or pod["spec"].get("hostNetwork"):
            continue
        if pod["metadata"].get("deletionTimestamp") or not status.get("podIP"):
            continue
        yield str(status["podIP"]), name_of(pod)


def pod_addresses(
    pods: list[Object],
) -> Iterator[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Yield the addresses of Pods in the Pod network."""
    for pod in pods:
        if not pod.get("spec", {}).get("hostNetwork"):
            for entry in pod.get("status", {}).get("podIPs") or []:
                yield ipaddress.ip_address(entry["ip"])


def of_pod_families(evidence: Evidence, networks: Iterable[Network]) -> tuple[Network, ...]:
    """Return the networks of families in which the node's Pods have addresses.

    In a dual-stack cluster plugins may give Windows Pods only one family; settings for the other
    are then unused. ``pod_families`` tests the missing family, so that not every rule must.
    """
    given = tuple(networks)
    if len({network.version for network in given}) < 2:
        return given
    versions = {address.version for address in pod_addresses(evidence.items(PODS))}
    if not versions:
        raise UnreadableError("no Pod on the node tells by its addresses which families Pods have")
    return tuple(network for network in given if network.version in versions)
