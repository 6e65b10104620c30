"""Whether a run's cluster is within what a vendor profile supports: inside, outside, or unknown. Pure.

Outside of it a run proves none of the claims, however green it is.
"""

from collections.abc import Iterable, Sequence

from nettests.conformance.conformance_report import PoolRow, ScopeRow
from nettests.conformance.vendor_profile import BuildRange, VendorProfile
from nettests.expect.condition import Truth
from nettests.model.facts import ClusterFacts, Fact, NodeFacts
from nettests.model.words import OS

UNKNOWN = "unknown"
_WORST = (Truth.NO, Truth.UNKNOWN, Truth.YES)


def scope_rows(profile: VendorProfile, facts: ClusterFacts) -> tuple[ScopeRow, ...]:
    """Return what the profile supports, part by part, and whether the cluster is inside; without Windows nodes it is outside."""
    supports, cni, nodes = profile.supports, facts.cni, _windows(facts)
    builds = [_build(supports.builds, node) for node in nodes]
    drivers = [_one_of(supports.drivers, node.cni_driver) for node in nodes]
    version = Truth.YES if supports.kubernetes.holds(facts.server_version) else Truth.NO
    rows: list[tuple[str, Sequence[str], Sequence[object], Sequence[Truth]]] = [
        ("plugin", (profile.plugin,), [cni.plugin.value], [_one_of((profile.plugin,), cni.plugin)]),
        ("Kubernetes", (str(supports.kubernetes),), [facts.server_git_version], [version]),
        ("Windows build", [build.text for build in supports.builds], [node.build.value for node in nodes], builds),
        ("driver", supports.drivers, [node.cni_driver.value for node in nodes], drivers),
        ("backend", supports.backends, [cni.backend.value], [_one_of(supports.backends, cni.backend)]),
    ]  # fmt: skip
    return tuple(
        ScopeRow(
            subject=subject,
            claimed=", ".join(claimed),
            found=_each(seen) or "no Windows node",
            holds=next(each for each in _WORST if each in (truths or [Truth.NO])),
        )
        for subject, claimed, seen, truths in rows
        if claimed
    )


def not_covered(profile: VendorProfile, facts: ClusterFacts) -> tuple[str, ...]:
    """Return what the profile supports and this cluster does not have: the report says nothing about it."""
    supports, windows = profile.supports, _windows(facts)
    builds = [node.build.value for node in windows if node.build.value]
    drivers, backend = {node.cni_driver.value for node in windows}, facts.cni.backend.value
    return (
        *(f"Windows build {b.text}" for b in supports.builds if not any(map(b.holds, builds))),
        *(f"driver {driver}" for driver in supports.drivers if driver not in drivers),
        *(f"backend {supported}" for supported in supports.backends if supported != backend),
    )


def pool_rows(facts: ClusterFacts) -> tuple[PoolRow, ...]:
    """Return the node pools of a cluster, in the order of their names, with their versions."""
    pools: dict[str, list[NodeFacts]] = {}
    for node in facts.nodes:
        pools.setdefault(node.pool, []).append(node)
    return tuple(_pool(name, pools[name]) for name in sorted(pools))


def _pool(name: str, nodes: list[NodeFacts]) -> PoolRow:
    windows = nodes[0].os is OS.WINDOWS
    return PoolRow(
        pool=name,
        os=nodes[0].os.words,
        nodes=len(nodes),
        build=_each(node.build.value for node in nodes) if windows else "",
        driver=_each(node.cni_driver.value for node in nodes) if windows else "",
        kubelet=_each(node.kubelet.value for node in nodes),
        runtime=_each(node.runtime.value for node in nodes),
        kube_proxy=_each(map(_kube_proxy, nodes)),
    )


def _kube_proxy(node: NodeFacts) -> str:
    proxy = node.kube_proxy
    words = [str(proxy.version.value or UNKNOWN), proxy.mode.value or "unknown mode"]
    if node.os is OS.WINDOWS:
        words.append({True: "DSR", False: "no DSR", None: "DSR unknown"}[proxy.dsr.value])
    return " ".join(words)


def _build(ranges: tuple[BuildRange, ...], node: NodeFacts) -> Truth:
    build = node.build.value
    if build is None:
        return Truth.UNKNOWN
    truths = [build_range.holds(build) for build_range in ranges]
    return Truth.YES if True in truths else Truth.UNKNOWN if None in truths else Truth.NO


def _one_of(wanted: tuple[str, ...], fact: Fact[str]) -> Truth:
    if fact.value is None:
        return Truth.UNKNOWN
    return Truth.YES if fact.value in wanted else Truth.NO


def _windows(facts: ClusterFacts) -> list[NodeFacts]:
    return [node for node in facts.nodes if node.os is OS.WINDOWS]


def _each(values: Iterable[object]) -> str:
    return ", ".join(sorted({str(value or UNKNOWN) for value in values}))
