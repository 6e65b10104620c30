"""Findings about the API server, and whether versions and network plugin support Windows nodes."""

from collections.abc import Iterator

from nettests.model.facts import NodeFacts
from nettests.model.versions import KubernetesVersion, minors_behind
from nettests.model.visible import plural
from nettests.model.words import OS
from nettests.plan.node_pools import IPV6_SOURCE, ipv6_alone
from nettests.preflight.evidence import Evidence, Finding, Level, note, ok, worst
from nettests.rules.node import WITHOUT_AGENT

POLICY = "Kubernetes, version skew policy"


def reachability(evidence: Evidence) -> Finding:
    """Say which server answered; an unreachable cluster is reported before there is evidence."""
    facts = evidence.facts
    return Finding(
        topic="reachability",
        level=Level.OK,
        summary=f"{evidence.server} answers as {facts.server_git_version} (context {facts.context})",
    )


def distribution(evidence: Evidence) -> Finding:
    """Name the platform, its guide and the fitting cluster profile that states most."""
    topic, facts = "platform", evidence.facts
    read = (facts.platform.value, facts.cni.plugin.value, facts.cni.backend.value)
    fitting: dict[str, int] = {}
    for name, stated in evidence.ready.items():
        parts = [stated.platform, stated.cni_plugin, stated.cni_backend]
        if all(part in {None, value} for part, value in zip(parts, read, strict=True)):
            fitting[name] = sum(part is not None for part in parts)
    here = ", ".join(part for part in read if part) or "not known"
    if fitting:
        name = max(fitting, key=lambda name: fitting[name])
        guide = f"docs/guides/{name.partition('-')[0]}.md"
        here += f": read {guide}, and pass --cluster-profile {name}"
    else:
        here += ": no ready cluster profile fits, read docs/guides/real-clusters.md"
    return Finding(topic=topic, level=Level.NOTE, summary=here, details=(facts.platform.origin,))


def versions(evidence: Evidence) -> Finding:
    """Compare kubelets and kube-proxies with the API server."""
    server = evidence.facts.server_version
    problems = [skew for node in evidence.facts.nodes for skew in skews(node, server)]
    level = worst(level for level, _ in problems)
    if level is Level.OK:
        summary = f"versions of kubelets and kube-proxies fit Kubernetes {server}"
        return Finding(topic="version skew", level=level, summary=summary)
    newer = level is Level.BLOCKER
    return Finding(
        topic="version skew",
        level=level,
        summary="some components are newer than the API server, which Kubernetes does not support"
        if newer
        else "some components are older than Kubernetes supports, or of unknown version",
        details=tuple(text for _, text in problems),
        next_step=f"upgrade the older components, the API server first ({POLICY})",
    )


def network_plugin(evidence: Evidence) -> Finding:
    """Say whether the network plugin supports Windows nodes."""
    topic, plugin = "network plugin", evidence.facts.cni.plugin
    windows = sorted(node.name for node in evidence.facts.nodes if node.os is OS.WINDOWS)
    if not windows:
        return ok(topic, "no Windows node needs one")
    if plugin.value is None:
        return note(topic, f"the network plugin is not known: {plugin.origin}")
    if plugin.value not in WITHOUT_AGENT:
        return ok(topic, f"{plugin.value} is not known to lack an agent for Windows")
    return Finding(
        topic=topic,
        level=Level.BLOCKER,
        summary=f"{plugin.value} has no agent for Windows, and is documented as unsupported there",
        details=(
            f"unless another plugin provides a network, no Pod starts on {', '.join(windows)}",
            f"documented in: {WITHOUT_AGENT[plugin.value]}",
        ),
        next_step="give Windows nodes another plugin, and name it in the cluster profile (facts.cni.plugin)",
    )


def address_families(evidence: Evidence) -> Finding:
    """Say whether Windows nodes have an IP family that they support."""
    topic = "address families"
    windows = [node for node in evidence.facts.nodes if node.os is OS.WINDOWS]
    alone = ipv6_alone(evidence.facts)
    without = sorted(
        node.name
        for node in windows
        if alone or all(address.version != 4 for address in node.addresses)
    )
    if not without:
        return ok(topic, "every Windows node has IPv4" if windows else "there is no Windows node")
    return Finding(
        topic=topic,
        level=Level.BLOCKER,
        summary="the cluster has IPv6 only, which is documented as unsupported on Windows",
        details=(
            f"without IPv4: {', '.join(without)}{'; checks that need a Windows node are skipped' if alone else ''}",
            f"documented in: {IPV6_SOURCE}",
        ),
        next_step="give the cluster IPv4 or both families, or remove its Windows nodes",
    )


def components(evidence: Evidence) -> Finding:
    """Say whether the cluster's DNS, Service proxies and network plugins are Ready.

    Others' Pods are mentioned: if none on a Windows node is Ready, their probes may fail.
    """
    lacking = list(evidence.lacking_agents)
    if not evidence.facts.dns_pods.value:
        lacking.append("no Ready Pod of the cluster's DNS was found")
    windows = {node.name for node in evidence.facts.nodes if node.os is OS.WINDOWS}
    details = tuple(
        f"{name}: {plural(number, 'Pod')} of other workloads in the pod network, none Ready"
        for name, number in sorted(evidence.unready.items())
        if name in windows
    )
    level = Level.WARNING if lacking else Level.NOTE if details else Level.OK
    quiet = (
        "others' Pods are not Ready" if details else "DNS, Service proxies and plugins are Ready"
    )
    return Finding(
        topic="components",
        level=level,
        summary="; ".join(lacking) or quiet,
        details=details,
        next_step="see their Pods and logs (kubectl get pods -A -o wide)" if lacking else "",
    )


def skews(node: NodeFacts, server: KubernetesVersion) -> Iterator[tuple[Level, str]]:
    """Yield a node's versions that an API server does not support; used by ``forecast``, too."""
    parts = {"kubelet": node.kubelet, "kube-proxy": node.kube_proxy.version}
    behind = minors_behind(server)
    for name, fact in parts.items():
        version = fact.value
        if version is None:
            if name == "kubelet":
                yield Level.WARNING, f"{node.name}: its kubelet's version is unknown: {fact.origin}"
        elif (version.major, version.minor) > (server.major, server.minor):
            yield Level.BLOCKER, f"{node.name}: {name} {version} is newer than {server}"
        elif server.minor - version.minor > behind:
            text = f"{name} {version} is more than {behind} minor versions behind {server}"
            yield Level.WARNING, f"{node.name}: {text}"
