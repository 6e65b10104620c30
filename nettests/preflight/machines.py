"""Which nodes can run probes, whether the image supports them, and whether they can be vantages."""

from collections.abc import Iterator

from nettests.model.facts import NodeFacts
from nettests.model.grouping import grouped
from nettests.model.visible import plural
from nettests.model.words import OS, VantageKind
from nettests.plan.node_pools import unusable
from nettests.preflight.evidence import Evidence, Finding, Level, note, ok, worst

UNWELL = (
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/network-unavailable",
    "node.cloudprovider.kubernetes.io/uninitialized",
)
"""Taints of nodes that do not work yet, or no longer (Kubernetes, taints and tolerations)."""


def nodes(evidence: Evidence) -> Finding:
    """Count usable nodes by OS and build."""
    groups = grouped((_kind(node), node) for node in evidence.facts.nodes)
    usable = {node.name for node in evidence.usable}
    lines = [
        f"{kind}: {sum(node.name in usable for node in group)} of {plural(len(group), 'node')} "
        f"usable{_unusable_nodes(group, usable)}"
        for kind, group in sorted(groups.items())
    ]
    windows = [node for node in evidence.usable if node.os is OS.WINDOWS]
    if not usable:
        level, summary = Level.BLOCKER, "no node is Ready and schedulable"
    elif not windows:
        level, summary = Level.WARNING, "no Windows node is usable: only Linux is tested"
    elif unready := [n.name for n in evidence.facts.nodes if not n.ready and n.schedulable]:
        summary = f"{', '.join(unready)} not Ready and not cordoned: they are not tested"
        level = Level.WARNING
    else:
        level, summary = Level.OK, f"{plural(len(usable), 'node')} can hold probes"
    step = "" if level is Level.OK else "see `kubectl get nodes`; uncordon or repair these nodes"
    return Finding(
        topic="nodes", level=level, summary=summary, details=tuple(lines), next_step=step
    )


def _kind(node: NodeFacts) -> str:
    return f"windows {node.build.value or 'of unknown build'}" if node.os is OS.WINDOWS else "linux"


def _unusable_nodes(group: list[NodeFacts], usable: set[str]) -> str:
    out = [f"{node.name} is {unusable(node)}" for node in group if node.name not in usable]
    return f" ({', '.join(out)})" if out else ""


def taints(evidence: Evidence) -> Finding:
    """Name the taints that probes tolerate, and the nodes that are tainted as not working."""
    unwell = {
        node.name
        for node in evidence.usable
        if any(taint.key in UNWELL and taint.effect != "PreferNoSchedule" for taint in node.taints)
    }
    lines = tuple(
        f"{node.name}: {', '.join(f'{taint.key}:{taint.effect}' for taint in node.taints)}"
        for node in evidence.usable
        if node.taints
    )
    if unwell:
        every = unwell == {node.name for node in evidence.usable}
        return Finding(
            topic="taints",
            level=Level.BLOCKER if every else Level.WARNING,
            summary=f"{', '.join(sorted(unwell))} "
            f"{'is' if len(unwell) == 1 else 'are'} tainted as not working",
            details=lines,
            next_step="wait until the taint is gone, or repair the node: its Pods may have no network",
        )
    level = Level.NOTE if lines else Level.OK
    summary = "probes tolerate the taints of their nodes" if lines else "no usable node is tainted"
    return Finding(topic="taints", level=level, summary=summary, details=lines)


def images(evidence: Evidence) -> Finding:
    """Name the nodes that no image supports: a run leaves them out."""
    used = sorted({evidence.images.get(node.name, "") for node in evidence.probe_nodes} - {""})
    lacking = dict(evidence.unserved)
    if lacking:
        skips = tuple(skip for skip in evidence.plan.skips if "not served" in skip.reason)
        return Finding(
            topic="images",
            level=worst((evidence.cost(skips), Level.WARNING)),
            summary=f"no image serves {', '.join(sorted(lacking))}: they are left out of a run",
            details=tuple(f"{name}: {why}" for name, why in sorted(lacking.items())),
            next_step="name an image for that build in the cluster profile",
        )
    text = ", ".join(used) or "none is needed"
    return ok("images", text)


def host_process(evidence: Evidence) -> Finding:
    """Name the Windows nodes without HostProcess containers, and the checks that this costs."""
    windows = [node for node in evidence.usable if node.os is OS.WINDOWS]
    lacking = [node for node in windows if node.host_process.value is not True]
    # sample: win-1 has no HostProcess containers: kubelet 1.22.0, containerd://1.5.0
    skips = tuple(s for s in evidence.plan.skips if "HostProcess containers" in s.reason)
    if not lacking:
        text = f"{plural(len(windows), 'Windows node')} can run them"
        return ok("HostProcess", text)
    problem = "cannot run them, or it is not known whether they can"
    return Finding(
        topic="HostProcess",
        level=evidence.cost(skips),
        summary=f"{len(lacking)} of {plural(len(windows), 'Windows node')} {problem}; "
        f"{plural(len(skips), 'check')} left out",
        details=tuple(f"{node.name}: {node.host_process.origin}" for node in lacking),
        next_step="they need kubelet 1.23 and containerd 1.6 or newer",
    )


def node_vantages(evidence: Evidence) -> Finding:
    """Say whether nodes can be vantages: permissions, admission, HostProcess and free ports."""
    topic = "node vantages"
    clashes = tuple(_clashes(evidence))
    possible = sum(check.source.kind is VantageKind.NODE for check in evidence.plan.each)
    planned = sum(check.source.kind is VantageKind.NODE for check in evidence.whole.each)
    if clashes:
        return Finding(
            topic=topic,
            level=Level.BLOCKER,
            summary="ports that probes on nodes need are in use",
            details=clashes,
            next_step="move that Pod, or cordon the node during a run",
        )
    if not planned and not possible:
        return note(topic, "none is needed or possible")
    if possible < planned:
        nothing = not evidence.plan.checks
        return Finding(
            topic=topic,
            level=Level.BLOCKER if nothing else Level.WARNING,
            summary=f"{planned - possible} of {plural(planned, 'check')} from nodes cannot be tested",
            next_step="see permissions and Pod Security",
        )
    words = ", ".join(sorted(evidence.vantages - {""}))
    summary = f"{plural(possible, 'check')} from {words}"
    return ok(topic, summary)


def _clashes(evidence: Evidence) -> Iterator[str]:
    for name in sorted(evidence.vantages):
        for port, holder in sorted(evidence.ports.get(name, {}).items()):
            yield f"{name}: port {port} is held by {holder}"
