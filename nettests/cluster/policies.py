"""Read whether an agent turns NetworkPolicies into rules on nodes of one OS. Pure.

Policy engines are DaemonSets: Calico beside another plugin, Azure's engine (``azure-npm``, for
Windows ``azure-npm-win``: Azure/azure-container-networking, ``npm/examples``), and plugins that have
their own. Amazon's is a container of ``aws-node`` on Linux nodes, switched by its argument and by
the ConfigMap of its controller (aws/amazon-vpc-cni-k8s, ``charts/aws-vpc-cni``, README "ConfigMap").
"""

from collections.abc import Iterator

from nettests.cluster.plugins import PluginObjects, origin_of, plugins_in
from nettests.cluster.shapes import containers_of, data_of, pod_spec_of
from nettests.model.facts import Fact, known, unknown
from nettests.model.flags import flags_in_arguments
from nettests.model.json_text import Object
from nettests.model.labels import OS_LABEL
from nettests.model.words import OS

AMAZON = "aws-vpc-cni"
AMAZON_SETTINGS = "kube-system/amazon-vpc-cni"
_AMAZON_AGENT, _AMAZON_FLAG = "aws-eks-nodeagent", "enable-network-policy"
_AMAZON_KEY = "enable-network-policy-controller"
_NAMED = ("azure-npm", "canal", "rke2-canal")
"""Azure's engine, and Calico's beside Flannel in one DaemonSet."""
_ENGINES = {"calico", "antrea", "cilium", "ovn-kubernetes", "weave", "kube-router"}
_ON_HOST = {"calico", "antrea"}
"""Plugins whose agent on Windows may be a service of the node, which no object shows."""


def enforced(os: OS, objects: PluginObjects) -> Fact[bool]:
    """Return whether NetworkPolicies take effect on nodes of ``os``."""
    if objects.reason:
        return unknown(f"DaemonSets cannot be listed: {objects.reason}")
    engines = [item for item in objects.daemon_sets if _is_engine(item)]
    for item in engines:
        if _system_of(item) is os:
            return known(value=True, origin=origin_of(item))
    for item in engines:
        if os is OS.WINDOWS and plugins_in(item) & _ON_HOST:
            return unknown(f"no object tells whether {origin_of(item)} has an agent on Windows")
    if os is OS.LINUX and (amazon := next(objects.of_plugin(AMAZON), None)):
        return _by_amazon(amazon, objects)
    return known(value=False, origin=f"no DaemonSet of a policy engine for {os} nodes")


def _is_engine(item: Object) -> bool:
    named = str(item["metadata"]["name"]).startswith(_NAMED)
    return named or bool(plugins_in(item) & _ENGINES)


def _system_of(item: Object) -> OS:
    """Return the OS by the node selector or, without one, by the name (``azure-npm-win``)."""
    selector = pod_spec_of(item).get("nodeSelector") or {}
    named = any(word.startswith("win") for word in str(item["metadata"]["name"]).split("-"))
    windows = selector.get(OS_LABEL) == OS.WINDOWS.value or (OS_LABEL not in selector and named)
    return OS.WINDOWS if windows else OS.LINUX


def _by_amazon(item: Object, objects: PluginObjects) -> Fact[bool]:
    """Return what both switches say: off if one is, on if both are."""
    origin, config_map = origin_of(item), objects.config_maps.get(AMAZON_SETTINGS)
    agents = [
        each for each in containers_of(pod_spec_of(item)) if each.get("name") == _AMAZON_AGENT
    ]
    if not agents:
        return known(value=False, origin=f"{origin} has no container {_AMAZON_AGENT}")
    flag = flags_in_arguments(list(_words(agents[0]))).get(_AMAZON_FLAG, "false")
    switches = (
        (flag, f"{origin}: --{_AMAZON_FLAG}"),
        (data_of(config_map).get(_AMAZON_KEY, ""), f"ConfigMap {AMAZON_SETTINGS}: {_AMAZON_KEY}"),
    )
    for value, where in switches:
        if value.lower() == "false":
            return known(value=False, origin=where)
    if all(value.lower() == "true" for value, _ in switches):
        return known(value=True, origin=" and ".join(where for _, where in switches))
    return unknown(f"ConfigMap {AMAZON_SETTINGS} does not say {_AMAZON_KEY}")


def _words(container: Object) -> Iterator[str]:
    yield from container.get("command") or ()
    yield from container.get("args") or ()
