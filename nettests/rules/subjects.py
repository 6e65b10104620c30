"""What configuration rules are about, and the facts that they compare with.

Subjects are facts of a node or the cluster, each with a word, also for ``plan.applicability``
(``Case.when``). A rule about overlays does not apply to an l2bridge node, nor if the driver is
unknown: the check is then skipped with the reason of the unknown fact. ``probes.configuration``
records known facts beside the readings, so that findings can be recomputed.
"""

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from nettests.errors import PlanError
from nettests.model.facts import STATED, ClusterFacts, Fact, Network, NodeFacts
from nettests.model.versions import KubernetesVersion
from nettests.model.words import OS

ROOT_CA = KubernetesVersion.parse("1.20")
"""RootCAConfigMap's default from here on: each namespace has the API server's CA in a ConfigMap."""

Reader = Callable[[ClusterFacts, NodeFacts | None], Fact[str]]
Reported = Callable[[ClusterFacts, NodeFacts | None], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a rule may be about: the fact ``what``, if it has one of the ``wanted`` values."""

    word: str
    what: str
    read: Reader
    wanted: frozenset[str]
    of_node: bool
    """Whether nodes may differ in it."""
    reported: Reported | None = None
    """Whether the node itself reports an unknown fact during a run (``probes.host_facts``)."""


def _of_node(word: str, what: str, read: Reader, *wanted: str) -> Subject:
    return Subject(word=word, what=what, read=read, wanted=frozenset(wanted), of_node=True)


def _of_cluster(word: str, what: str, read: Reader, *wanted: str) -> Subject:
    return Subject(word=word, what=what, read=read, wanted=frozenset(wanted), of_node=False)


def _by_its_proxy(facts: ClusterFacts, node: NodeFacts | None) -> bool:
    """Whether the node reports kube-proxy's settings, because kube-proxy is not a Pod there."""
    return node is not None and not why_not_about(KUBE_PROXY_ON_HOST, facts, node)


def _by_hns(_facts: ClusterFacts, node: NodeFacts | None) -> bool:
    """Whether the node may report its HNS networks, from a HostProcess container."""
    return node is not None and node.os is OS.WINDOWS and node.host_process.value is not False


def _driver(_facts: ClusterFacts, node: NodeFacts | None) -> Fact[str]:
    return node.cni_driver if node else Fact(None, "a driver is a matter of nodes")


def _mode(_facts: ClusterFacts, node: NodeFacts | None) -> Fact[str]:
    return node.kube_proxy.mode if node else Fact(None, "kube-proxy's mode is a matter of nodes")


def _dsr(_facts: ClusterFacts, node: NodeFacts | None) -> Fact[str]:
    if node is None:
        return Fact(None, "DSR is a matter of nodes")
    dsr = node.kube_proxy.dsr
    return Fact(None if dsr.value is None else ("on" if dsr.value else "off"), dsr.origin)


def _proxy_pod(_facts: ClusterFacts, node: NodeFacts | None) -> Fact[str]:
    """Return whether kube-proxy runs as a Pod, whose image shows its version."""
    if node is None:
        return Fact(None, "kube-proxy's Pod is a matter of nodes")
    version = node.kube_proxy.version
    by_image = version.known and version.origin != STATED
    return Fact("pod" if by_image else None, version.origin)


def _proxy_on_host(_facts: ClusterFacts, node: NodeFacts | None) -> Fact[str]:
    """Return whether kube-proxy, if any, is a host process: no listed Pod is kube-proxy."""
    if node is None:
        return Fact(None, "kube-proxy's process is a matter of nodes")
    proxy = node.kube_proxy
    if proxy.replaced:
        return Fact("none", proxy.mode.origin)
    if proxy.as_pod.value is None:
        return Fact(None, proxy.as_pod.origin)
    return Fact("pod" if proxy.as_pod.value else "host", proxy.as_pod.origin)


def _proxy(facts: ClusterFacts, node: NodeFacts | None) -> Fact[str]:
    in_pod = _proxy_pod(facts, node)
    return in_pod if in_pod.known else _proxy_on_host(facts, node)


def _windows(facts: ClusterFacts, _node: NodeFacts | None) -> Fact[str]:
    count = sum(node.os is OS.WINDOWS for node in facts.nodes)
    return Fact("some" if count else "none", f"{count} Windows nodes")


def _classes(facts: ClusterFacts, _node: NodeFacts | None) -> Fact[str]:
    classes = facts.runtime_classes
    if classes.value is None:
        return Fact(None, classes.origin)
    return Fact("some" if classes.value else "none", classes.origin)


def _published(facts: ClusterFacts, _node: NodeFacts | None) -> Fact[str]:
    version = facts.server_version
    return Fact("some" if version >= ROOT_CA else "none", f"Kubernetes {version}")


def _of_driver(word: str, *wanted: str) -> Subject:
    return replace(_of_node(word, "the driver", _driver, *wanted), reported=_by_hns)


def _of_proxy(word: str, what: str, read: Reader, wanted: str) -> Subject:
    return replace(_of_node(word, what, read, wanted), reported=_by_its_proxy)


def _of_plugin(plugin: str) -> Subject:
    return replace(
        _of_cluster(plugin, "the network plugin", lambda facts, _node: facts.cni.plugin, plugin),
        reported=_by_hns,
    )


OVERLAY = _of_driver("overlay", "overlay")
L2BRIDGE = _of_driver("l2bridge", "l2bridge")
HNS = _of_driver("hns", "l2bridge", "l2tunnel", "overlay")
KERNELSPACE = _of_proxy("kernelspace", "kube-proxy's mode", _mode, "kernelspace")
DSR = _of_proxy("dsr", "DSR", _dsr, "on")
KUBE_PROXY = _of_node("kube-proxy", "kube-proxy", _proxy, "pod", "host")
KUBE_PROXY_POD = _of_node("kube-proxy-pod", "kube-proxy", _proxy_pod, "pod")
KUBE_PROXY_ON_HOST = _of_node("kube-proxy-on-host", "kube-proxy", _proxy_on_host, "host")
ANTREA = _of_plugin("antrea")
CALICO = _of_plugin("calico")
OVN_KUBERNETES = _of_plugin("ovn-kubernetes")
VPC = _of_plugin("aws-vpc-cni")
SDNBRIDGE = _of_plugin("sdnbridge")
FLANNEL = _of_plugin("flannel")
GKE = _of_cluster("gke", "the managed service", lambda facts, _node: facts.platform, "gke")
WINDOWS = _of_cluster("windows", "the number of Windows nodes", _windows, "some")
RUNTIME_CLASSES = _of_cluster(
    "runtime-classes", "the number of RuntimeClasses that steer Pods", _classes, "some"
)
PUBLISHED_CA = _of_cluster(
    "root-ca", "the number of ConfigMaps that every namespace has", _published, "some"
)
VXLAN = _of_cluster(
    "vxlan", "the plugin's backend", lambda facts, _node: facts.cni.backend, "vxlan"
)

SUBJECTS: Mapping[str, Subject] = {
    subject.word: subject for subject in tuple(globals().values()) if isinstance(subject, Subject)
}
"""All subjects above, by word."""


def subject_of(word: str) -> Subject:
    """Return the subject of a word; ``PlanError`` if there is none."""
    if word not in SUBJECTS:
        raise PlanError(f"a rule cannot be about {word!r}; valid: {', '.join(sorted(SUBJECTS))}")
    return SUBJECTS[word]


def why_not_about(subject: Subject, facts: ClusterFacts, node: NodeFacts | None) -> str:
    """Return why a rule about ``subject`` does not apply to this node or cluster, or nothing."""
    fact = subject.read(facts, node)
    where = f" of {node.name}" if node and subject.of_node else ""
    if fact.value is None:
        return f"{subject.what}{where} is not known: {fact.origin}"
    if fact.value in subject.wanted:
        return ""
    wanted = " or ".join(sorted(subject.wanted))
    return f"{subject.what}{where} is {fact.value}; the rule applies where it is {wanted}"


def is_reported_later(subject: Subject, facts: ClusterFacts, node: NodeFacts | None) -> bool:
    """Whether the node itself will report an unknown subject once a probe runs on it."""
    reported = subject.reported is not None and subject.reported(facts, node)
    return reported and not subject.read(facts, node).known


def known_facts(facts: ClusterFacts, node: NodeFacts | None) -> Mapping[str, str]:
    """Return the known facts of the cluster and the inspected node."""
    # OutBoundNAT is off by Calico's pools, or by excepting everything.
    everything = any(network.prefixlen == 0 for network in facts.cni.nat_exceptions.value or ())
    named_facts = {
        "server": str(facts.server_version),
        "pod-cidrs": _joined(facts.pod_cidrs.value),
        "service-cidrs": _joined(facts.service_cidrs.value),
        "backend": facts.cni.backend.value or "",
        "plugin": facts.cni.plugin.value or "",
        "nat": "off" if everything or facts.cni.nat_outgoing.value is False else "",
        "dns-address": str(facts.dns_address.value or ""),
        "cluster-domain": str(facts.cluster_domain.value or ""),
        "management-addresses": _joined(_blocks(facts.nodes)),
    }
    if node is not None:
        named_facts |= {
            "node": node.name,
            "kubelet": str(node.kubelet.value or ""),
            "driver": node.cni_driver.value or "",
            "dsr": _switched(node.kube_proxy.dsr.value),
            "build": str(node.build.value or ""),
            "runtime": node.runtime.value or "",
            "node-pod-cidrs": _joined(node.pod_cidrs),
            "node-addresses": ",".join(map(str, node.addresses)),
            "management-address": _joined(_blocks([node])),
        }
    return {name: value for name, value in named_facts.items() if value}


def _switched(value: bool | None) -> str:  # noqa: FBT001
    return "" if value is None else ("on" if value else "off")


def _blocks(nodes: Sequence[NodeFacts]) -> tuple[Network, ...]:
    """Return the first (internal) address of every node and family, adjacent ones merged."""
    first = {
        (node.name, address.version): address
        for node in nodes
        for address in reversed(node.addresses)
    }
    hosts = [ipaddress.ip_network(address) for address in first.values()]
    return (
        *ipaddress.collapse_addresses(net for net in hosts if net.version == 4),
        *ipaddress.collapse_addresses(net for net in hosts if net.version == 6),
    )


def _joined(networks: tuple[Network, ...] | None) -> str:
    return ",".join(map(str, networks or ()))
