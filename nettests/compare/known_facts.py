"""The facts by which runs are compared, by name, and those that expectations depend on. Pure.

Names in conditions of limitations are spelled like ``expect.condition``'s sentences. Facts that
change while networking does not are left out: addresses of nodes and Pods, the context.
``results.json`` has a sentence for each part of a condition (``because``), and for each undecided
part; each begins with the name of a fact. Tests compare all names and sentences.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nettests.compare.recorded import End, RecordedCheck
from nettests.model.expectation import AppliedLimitation
from nettests.model.facts import ClusterFacts, ExternalTarget, Fact, NodeFacts
from nettests.model.words import OS
from nettests.report.summary import fact_text

KUBERNETES, PLATFORM = "Kubernetes", "platform"
PLUGIN, BACKEND, LOOPBACK_DSR = "CNI plugin", "CNI backend", "loopbackDSR"
NAT_EXCEPTIONS, EXTERNAL_TARGET = "OutBoundNAT exceptions", "external target"
KUBE_PROXY, MODE, RUNTIME_VERSION = "kube-proxy", "kube-proxy mode", "runtime's version"

OF_CLUSTER: Mapping[str, Callable[[ClusterFacts], Any]] = {
    KUBERNETES: lambda facts: facts.server_version,
    # A vendor's suffix of the version (``v1.29.4+rke2r1``).
    "Kubernetes build": lambda facts: (
        None
        if facts.server_git_version.removeprefix("v") == str(facts.server_version)
        else facts.server_git_version
    ),
    PLATFORM: lambda facts: facts.platform,
    PLUGIN: lambda facts: facts.cni.plugin,
    BACKEND: lambda facts: facts.cni.backend,
    "VNI": lambda facts: facts.cni.vni,
    "VXLAN port": lambda facts: facts.cni.vxlan_port,
    "MTU of Pods": lambda facts: facts.cni.mtu,
    LOOPBACK_DSR: lambda facts: facts.cni.loopback_dsr,
    NAT_EXCEPTIONS: lambda facts: facts.cni.nat_exceptions,
    "Pod CIDRs": lambda facts: facts.pod_cidrs,
    "Service CIDRs": lambda facts: facts.service_cidrs,
    "IP families": lambda facts: tuple(family.value for family in facts.families),
    "cluster domain": lambda facts: facts.cluster_domain,
    "DNS address": lambda facts: facts.dns_address,
    "Pod records in DNS": lambda facts: facts.pod_records,
    EXTERNAL_TARGET: lambda facts: _outside(facts.external_target),
    "external vantage": lambda facts: facts.external_vantage,
    "UDP from outside": lambda facts: facts.external_udp,
    "Pod Security": lambda facts: facts.pod_security,
    "privileged containers": lambda facts: facts.privileged,
    "what the identity may not do": lambda facts: facts.denied,
    "RuntimeClasses": lambda facts: facts.runtime_classes,
    "nodes of the fleet sweep": lambda facts: facts.fleet.chosen,
}
OF_NODE: Mapping[str, Callable[[NodeFacts], Any]] = {
    "node pool": lambda node: node.pool,
    "build": lambda node: node.build if node.os is OS.WINDOWS else None,
    "OS image": lambda node: node.os_image,
    "kernel": lambda node: node.kernel if node.os is OS.LINUX else None,
    "architecture": lambda node: node.architecture,
    "kubelet": lambda node: node.kubelet,
    "runtime": lambda node: _part(node.runtime, 0),
    RUNTIME_VERSION: lambda node: _part(node.runtime, 2),
    KUBE_PROXY: lambda node: node.kube_proxy.version,
    MODE: lambda node: node.kube_proxy.mode,
    "DSR": lambda node: node.kube_proxy.dsr,
    "source VIP": lambda node: "set" if node.kube_proxy.source_vip.known else None,
    "NodePorts at loopback": lambda node: node.kube_proxy.localhost_node_ports,
    "network driver": lambda node: node.cni_driver,
    "HostProcess": lambda node: node.host_process,
    "firewall": lambda node: node.firewall,
    "terminating endpoints": lambda node: node.kube_proxy.terminating,
    "NetworkPolicies enforced": lambda node: node.policies,
    "DNS suffixes": lambda node: node.dns_suffixes,
    "zone": lambda node: node.zone,
    "taints": lambda node: tuple(
        f"{taint.key}={taint.value}:{taint.effect}" for taint in node.taints
    ),
    "takes part": lambda node: node.left_out or "yes",
}


def text_of(value: Any) -> str:
    """Return a value in words: ``UNKNOWN`` for a fact without one, ``none`` for nothing."""
    if isinstance(value, Fact):
        return fact_text(value)
    if value is None or value in {"", ()}:
        return "none"
    return fact_text(Fact(value, ""))


def _outside(target: ExternalTarget | None) -> str | None:
    if target is None:
        return None
    parts = (target.address, target.name, target.tcp_port, target.udp_port)
    return " ".join(str(part) for part in parts if part is not None)


def _part(runtime: Fact[str], which: int) -> Fact[str]:
    # sample: "containerd://1.7.20"
    return Fact(runtime.value and runtime.value.partition("://")[which], runtime.origin)


Ends = tuple[End, End]
"""Source and target."""
DRIVER = "network driver"
CONDITIONED = (
    *("build", "kubelet", KUBE_PROXY, MODE, "DSR", DRIVER, "runtime", RUNTIME_VERSION),
    *("HostProcess", "firewall", "NodePorts at loopback", "DNS suffixes"),
    *("NetworkPolicies enforced", "terminating endpoints"),
)
"""The facts of a node that conditions can name."""
# samples: "source build in <20348: 17763.1339 (nodeInfo.kernelVersion)", "target DSR: off (log of Pod kube-proxy-x)",
# "source build 17763 has no known patch level, and >=17763.1432 needs it"
_OF_END = re.compile(
    r"(?P<side>source|target) (?P<name>{})(?= in |:| \S+ has no known)".format(
        "|".join(sorted(map(re.escape, CONDITIONED), key=len, reverse=True))
    )
)
# samples: "Kubernetes in >=1.24 <1.25: 1.24.17 (the API server)", "loopbackDSR: on (cluster profile)"
_OF_CLUSTER = re.compile(
    rf"(?P<name>{KUBERNETES}|{PLATFORM}|{PLUGIN}|{BACKEND}|{LOOPBACK_DSR})(?= in |:)"
)
_EXCEPTED = "target in OutBoundNAT's exceptions:"
_BY_SKEW = "version skew policy"
"""A version that no node reports follows from the API server's."""
_BY_PLUGIN = " makes "
"""A driver that no node reports follows from what the plugin may create."""
_UNDECIDED = "depends on what is not known: "
AND = " and "
"""Between ids, if several limitations may decide."""


@dataclass(frozen=True, slots=True, order=True)
class Dependency:
    """A fact by name, of the cluster or of an end of the check (``side``: source or target)."""

    name: str
    side: str = ""

    def __str__(self) -> str:
        return f"{self.side} {self.name}".lstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A fact that an expectation depends on and that differs between two runs."""

    fact: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.fact}: {self.before} → {self.after}"


def dependencies(check: RecordedCheck) -> tuple[Dependency, ...]:
    """Return the facts that a check's expectation depends on, as recorded."""
    named = unknown_in(check.expected.undecided or "")
    return tuple(dict.fromkeys((*of_limitation(check.limitation), *named)))


def unknown_in(undecided: str) -> tuple[Dependency, ...]:
    """Return the facts that an expectation lacks, from the sentence about why it is undecided."""
    return _named_in_each(undecided.partition(_UNDECIDED)[2].split("; "))


def entries_in(undecided: str) -> tuple[str, ...]:
    """Return the ids of the limitations that may decide, from the same sentence."""
    return tuple(undecided.partition(f" {_UNDECIDED}")[0].split(AND))


def of_limitation(limitation: AppliedLimitation | None) -> tuple[Dependency, ...]:
    """Return the facts in the condition of a limitation."""
    return _named_in_each(limitation.because if limitation else ())


def _named_in_each(sentences: Iterable[str]) -> tuple[Dependency, ...]:
    return tuple(dict.fromkeys(fact for sentence in sentences for fact in named_in(sentence)))


def named_in(sentence: str) -> Iterator[Dependency]:
    """Yield the facts that decided a part of a condition; none if no cluster changes it."""
    if sentence.startswith(_EXCEPTED):
        yield Dependency(NAT_EXCEPTIONS)
        yield Dependency(EXTERNAL_TARGET)
    elif match := _OF_CLUSTER.match(sentence):
        yield Dependency(match["name"])
    elif match := _OF_END.match(sentence):
        yield Dependency(match["name"], match["side"])
        if match["name"] == KUBE_PROXY and _BY_SKEW in sentence:
            yield Dependency(KUBERNETES)
        if match["name"] == DRIVER and _BY_PLUGIN in sentence:
            yield Dependency(PLUGIN)


def causes(
    facts: tuple[ClusterFacts | None, ClusterFacts | None],
    ends: tuple[Ends, Ends],
    named: Iterable[Dependency],
) -> tuple[Cause, ...]:
    """Return the named facts that differ between two runs for these ends, the earlier first."""
    before, after = facts
    if before is None or after is None:
        return ()
    values = {
        fact: (value_of(fact, ends[0], before), value_of(fact, ends[1], after))
        for fact in dict.fromkeys(named)
    }
    return tuple(
        Cause(fact=str(fact), before=was, after=now)
        for fact, (was, now) in values.items()
        if was != now
    )


def value_of(dependency: Dependency, ends: Ends, facts: ClusterFacts) -> str:
    """Return the value of a fact for a check's ends; all different values of an end's nodes."""
    if not dependency.side:
        return text_of(OF_CLUSTER[dependency.name](facts))
    nodes = nodes_of(ends[0] if dependency.side == "source" else ends[1], facts)
    return (
        ", ".join(sorted({text_of(OF_NODE[dependency.name](node)) for node in nodes})) or "no node"
    )


def nodes_of(end: End, facts: ClusterFacts) -> list[NodeFacts]:
    """Return the nodes that an end stands for: its own, those of its pool, or those of its OS."""
    if end.node is not None:
        return [node for node in facts.nodes if node.name == end.node]
    if end.role is not None:
        return [node for node in facts.nodes if node.pool == end.role]
    return [node for node in facts.nodes if node.os is end.os]
