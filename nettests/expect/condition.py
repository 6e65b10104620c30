"""Evaluate conditions on facts: true, false or undecided, each with a sentence.

The second step of ``expect``. A condition on an unknown fact is undecided only if everything else
holds: an entry that cannot apply anyway leaves nothing undecided.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

from nettests.expect.manifest import Condition, Limitation, NodeCondition
from nettests.model.check import Check, Target, Vantage
from nettests.model.facts import Address, ClusterFacts, Fact, NodeFacts
from nettests.model.target_kinds import Owner
from nettests.model.versions import KubernetesVersion, VersionRange, WindowsBuild
from nettests.model.words import OS, NatException, Placement, Question, Setting
from nettests.rules.dns_suffixes import kind_of

T = TypeVar("T")

DRIVERS_OF = {"azure-cni": ("l2bridge", "l2tunnel")}
"""HNS network types that a plugin may create if only the node knows which one: the network modes of
"Intro to Windows support in Kubernetes"."""


class Truth(Enum):
    """Whether something holds."""

    YES = "holds"
    NO = "does not hold"
    UNKNOWN = "cannot be decided"


@dataclass(frozen=True, slots=True)
class Finding:
    """One part of a condition, evaluated: the sentence names the fact, its value and its origin."""

    truth: Truth
    sentence: str
    demanded: str = ""
    """What the entry demands, where the sentence names the fact alone."""

    @property
    def explained(self) -> str:
        """The sentence; if it does not hold, with what was demanded: ``source DSR: off (…), not on``."""
        lacking = self.demanded and self.truth is Truth.NO
        return f"{self.sentence}, not {self.demanded}" if lacking else self.sentence


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A whole condition, evaluated."""

    truth: Truth
    findings: tuple[Finding, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of all parts."""
        return tuple(finding.sentence for finding in self.findings)

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The sentences of the parts that cannot be decided."""
        return tuple(f.sentence for f in self.findings if f.truth is Truth.UNKNOWN)


def covers(limitation: Limitation, check: Check) -> bool:
    """Whether the entry is about this check's flow, protocol, family and case at all."""
    case = check.action.case
    return (
        (check.flow in limitation.flows or check.alike in limitation.flows)
        and (not limitation.protocols or check.action.protocol in limitation.protocols)
        and (not limitation.families or check.action.family in limitation.families)
        and (not limitation.cases or (case is not None and case.label in limitation.cases))
    )


def evaluate(condition: Condition, check: Check, facts: ClusterFacts) -> Evaluation:
    """Return whether ``condition`` holds for ``check`` on ``facts``."""
    findings = tuple(_findings(condition, check, facts))
    truths = {finding.truth for finding in findings}
    if Truth.NO in truths:
        return Evaluation(Truth.NO, findings)
    return Evaluation(Truth.UNKNOWN if Truth.UNKNOWN in truths else Truth.YES, findings)


def _findings(condition: Condition, check: Check, facts: ClusterFacts) -> Iterator[Finding]:
    if condition.kubernetes:
        version = Fact(facts.server_version, "the API server")
        yield _in_range(condition.kubernetes, version, "Kubernetes")
    if condition.platform:
        yield _one_of(condition.platform, facts.platform, "platform")
    if condition.cni:
        yield _one_of(condition.cni, facts.cni.plugin, "CNI plugin")
    if condition.backend:
        yield _one_of(condition.backend, facts.cni.backend, "CNI backend")
    if condition.loopback_dsr:
        yield _set(condition.loopback_dsr, facts.cni.loopback_dsr, "loopbackDSR")
    yield from _side_findings(condition.source, "source", check.source, facts)
    yield from _side_findings(condition.target, "target", check.target, facts)
    if condition.placement:
        yield _listed(condition.placement, check.placement, f"placement {check.placement}")
    if condition.backend_placement:
        where = backend_placement(check, facts)
        yield _listed(condition.backend_placement, where, f"backend placement {where or 'none'}")
    if condition.nat_exception:
        yield _excepted(condition, check, facts)
    if condition.resolver:
        resolver = check.action.resolver
        yield _listed(condition.resolver, resolver, f"resolver {resolver or 'none'}")


def _excepted(condition: Condition, check: Check, facts: ClusterFacts) -> Finding:
    where = nat_exception(check, facts)
    origin = facts.cni.nat_exceptions.origin
    description = f"target in OutBoundNAT's exceptions: {where} ({origin})"
    return _listed(condition.nat_exception, where, description)


def nat_exception(check: Check, facts: ClusterFacts) -> NatException:
    """Return whether OutBoundNAT exceptions include the target's address; unknown is a value too.

    The external host has the same address by its own name and through an ExternalName Service. A
    check that only resolves a name sends packets to a name server, never to that host.
    """
    address: Address | None = None
    if _outside(check) and facts.external_target:
        address = facts.external_target.address
    elif check.target.descriptor.on_node_network and check.target.node:
        address = facts.node(check.target.node).addresses[0]
    exceptions = facts.cni.nat_exceptions.value
    if address is None or exceptions is None:
        return NatException.UNKNOWN
    inside = any(address in network for network in exceptions)
    return NatException.INSIDE if inside else NatException.OUTSIDE


def _outside(check: Check) -> bool:
    if check.action.question is Question.RESOLVE:
        return False
    settings = check.target.settings
    by_service = settings is not None and settings.external_name
    return by_service or check.target.descriptor.owner is Owner.OUTSIDE


def backend_placement(check: Check, facts: ClusterFacts) -> Placement | None:
    """Return the placement of a NodePort's backends relative to the node that owns the address."""
    owner = check.target.node
    if owner is None or not check.target.backends:
        return None
    pool = facts.node(owner)
    server = f"server-{pool.pool}-{pool.member}"
    local = any(name in {server, f"{server}-b"} for name in check.target.backends)
    return Placement.SAME_NODE if local else Placement.OTHER_NODE


def _side_findings(
    condition: NodeCondition, side: str, end: Vantage | Target, facts: ClusterFacts
) -> Iterator[Finding]:
    """Evaluate the condition on one end: its node or, for a Service over a node pool, all nodes."""
    if condition == NodeCondition():
        return
    if condition.os:
        if end.os is None:
            yield _stated(False, f"{side} runs no system of this cluster")  # noqa: FBT003
        else:
            yield _listed((condition.os,), end.os, f"{side} runs {end.os}")
    if replace(condition, os=None) == NodeCondition():
        return
    members = _members(end, facts)
    if not members:
        yield _stated(False, f"the {side} is no node of this cluster")  # noqa: FBT003
        return
    yield from _together(
        [_node_findings(condition, side, node, facts) for node in members],
        f"the nodes of the {side}, {end.pool}, differ in it",
    )


def _together(members: list[list[Finding]], differ: str) -> list[Finding]:
    """Merge findings on a pool's nodes: false if false for any, else undecided if so for any."""
    truths = [{finding.truth for finding in findings} for findings in members]
    if any(Truth.NO in seen for seen in truths):
        alike = all(
            [finding.truth for finding in findings] == [member.truth for member in members[0]]
            for findings in members
        )
        return members[0] if alike else [_stated(False, differ)]  # noqa: FBT003
    undecided = (
        findings for findings, seen in zip(members, truths, strict=True) if Truth.UNKNOWN in seen
    )
    return next(undecided, members[0])


def _members(end: Vantage | Target, facts: ClusterFacts) -> list[NodeFacts]:
    if end.node is not None:
        return [facts.node(end.node)]
    return [node for node in facts.nodes if node.pool == end.pool]


def _node_findings(
    condition: NodeCondition, side: str, node: NodeFacts, facts: ClusterFacts
) -> list[Finding]:
    if node.os is not OS.WINDOWS and _windows_only(condition):
        return [_stated(False, f"{side} runs {node.os}, which has no such setting")]  # noqa: FBT003
    return [
        *_settings(condition, side, node, facts),
        *_suffixes(condition, side, node, facts.cluster_domain.value),
    ]


def _windows_only(condition: NodeCondition) -> bool:
    stated = (condition.dsr, condition.host_process)
    shown = condition.build or condition.driver or condition.firewall or condition.dns_suffixes
    return bool(shown or stated != (None, None))


def _settings(
    condition: NodeCondition, side: str, node: NodeFacts, facts: ClusterFacts
) -> Iterator[Finding]:
    if condition.build:
        yield _build(condition.build, node.build, f"{side} build")
    if condition.kubelet:
        yield _in_range(condition.kubelet, node.kubelet, f"{side} kubelet")
    if condition.kube_proxy:
        yield _kube_proxy(condition.kube_proxy, node, f"{side} kube-proxy", facts.server_version)
    if condition.mode:
        yield _one_of(condition.mode, node.kube_proxy.mode, f"{side} kube-proxy mode")
    if condition.dsr is not None:
        wanted = condition.dsr
        yield _switched(node.kube_proxy.dsr, f"{side} DSR", wanted=wanted)
    if condition.driver:
        yield _driver(condition.driver, node, f"{side} network driver", facts.cni.plugin)
    if condition.runtime:
        yield _one_of(condition.runtime, _name_of(node.runtime), f"{side} runtime")
    if condition.runtime_version:
        version = _version_of(node.runtime)
        yield _in_range(condition.runtime_version, version, f"{side} runtime's version")
    if condition.host_process is not None:
        possible = condition.host_process
        yield _switched(node.host_process, f"{side} HostProcess", wanted=possible)
    proxy = node.kube_proxy
    for stated, fact, name in (
        (condition.firewall, node.firewall, "firewall"),
        (condition.localhost_node_ports, proxy.localhost_node_ports, "NodePorts at loopback"),
        (condition.terminating_endpoints, proxy.terminating, "terminating endpoints"),
        (condition.policies, node.policies, "NetworkPolicies enforced"),
    ):
        if stated:
            yield _set(stated, fact, f"{side} {name}")


def _suffixes(
    condition: NodeCondition, side: str, node: NodeFacts, domain: str | None
) -> Iterator[Finding]:
    """Evaluate the DNS suffixes of Pods; ``unknown`` is a value that a condition can name."""
    if not condition.dns_suffixes:
        return
    fact = node.dns_suffixes
    kind = kind_of(fact.value, domain)
    listed = f" ({', '.join(fact.value)})" if fact.value else ""
    description = f"{side} DNS suffixes: {kind}{listed} ({fact.origin})"
    yield _listed(condition.dns_suffixes, kind, description)


def _kube_proxy(
    wanted: VersionRange, node: NodeFacts, name: str, server: KubernetesVersion
) -> Finding:
    """Evaluate kube-proxy's version or, if unknown, the versions allowed with the API server.

    A kube-proxy that is a host service does not show its version; most ranges are so old that all
    or none of the versions allowed by the skew policy are inside. If the network plugin replaces
    kube-proxy, no range contains its version.
    """
    if node.kube_proxy.replaced:
        none = f"{name} in {wanted}: none runs there ({node.kube_proxy.mode.origin})"
        return Finding(Truth.NO, none)
    version = node.kube_proxy.version
    settled = None if version.known else wanted.holds_within_skew(server)
    if settled is None:
        return _in_range(wanted, version, name)
    which = "each" if settled else "none"
    policy = f"{which} that the version skew policy allows beside Kubernetes {server} is"
    return _stated(settled, f"{name} in {wanted}: {policy} ({version.origin})")


def _driver(wanted: tuple[str, ...], node: NodeFacts, name: str, plugin: Fact[str]) -> Finding:
    """Evaluate the driver or, if no API object shows it, those that the plugin may use."""
    possible = DRIVERS_OF.get(plugin.value or "", ())
    chosen = [driver in wanted for driver in possible]
    if node.cni_driver.known or not chosen or any(chosen) is not all(chosen):
        return _one_of(wanted, node.cni_driver, name)
    each = f"{plugin.value} makes {' or '.join(possible)} ({plugin.origin})"
    return _stated(all(chosen), f"{name} in {', '.join(wanted)}: {each}")


def _name_of(runtime: Fact[str]) -> Fact[str]:
    # sample: "containerd://1.7.20"
    return Fact(runtime.value and runtime.value.partition("://")[0], runtime.origin)


def _version_of(runtime: Fact[str]) -> Fact[KubernetesVersion]:
    # sample: "containerd://1.7.20"; runtimes count their releases as Kubernetes does
    if runtime.value is None:
        return Fact(None, runtime.origin)
    try:
        return Fact(
            KubernetesVersion.parse(runtime.value.partition("://")[2]), f"runtime {runtime.value}"
        )
    except ValueError as error:
        return Fact(None, str(error))


def _build(wanted: VersionRange, fact: Fact[WindowsBuild], name: str) -> Finding:
    build = fact.value
    if build is not None and not build.patch_known and wanted.decides_by_patch(build):
        return Finding(
            Truth.UNKNOWN, f"{name} {build} has no known patch level, and {wanted} needs it"
        )
    return _in_range(wanted, fact, name)


def _in_range(wanted: VersionRange, fact: Fact[T], name: str) -> Finding:
    return _decided(fact, f"{name} in {wanted}", wanted.holds)  # type: ignore[arg-type]  # the kind of version is the range's own


def _one_of(wanted: tuple[str, ...], fact: Fact[str], name: str) -> Finding:
    return _decided(fact, f"{name} in {', '.join(wanted)}", lambda value: value in wanted)


def _set(wanted: tuple[Setting, ...], fact: Fact[bool], name: str) -> Finding:
    """Evaluate a setting; ``unknown`` is a value that a condition can name."""
    setting = Setting.UNKNOWN if fact.value is None else Setting.ON if fact.value else Setting.OFF
    return _listed(wanted, setting, f"{name}: {setting} ({fact.origin})")


def _switched(fact: Fact[bool], name: str, *, wanted: bool) -> Finding:
    finding = _decided(fact, name, lambda value: value is wanted)
    return replace(finding, demanded="on" if wanted else "off")


def _listed(wanted: Sequence[object], value: object, sentence: str) -> Finding:
    finding = _stated(value in wanted, sentence)
    return replace(finding, demanded=" or ".join(map(str, wanted)))


def _decided(fact: Fact[T], name: str, holds: Callable[[T], bool]) -> Finding:
    if fact.value is None:
        return Finding(Truth.UNKNOWN, f"{name}: unknown ({fact.origin})")
    truth = Truth.YES if holds(fact.value) else Truth.NO
    value = {True: "on", False: "off"}.get(fact.value, fact.value)  # type: ignore[call-overload]  # any fact may be looked up
    return Finding(truth, f"{name}: {value} ({fact.origin})")


def _stated(holds: bool, sentence: str) -> Finding:  # noqa: FBT001
    return Finding(Truth.YES if holds else Truth.NO, sentence)
