"""Whether a run's cluster is within what a vendor profile supports: inside, outside, or unknown. Pure.

Outside of it a run proves none of the claims, however green it is.
"""

from collections.abc import Callable, Iterable, Iterator

from nettests.conformance.conformance_report import PoolRow, ScopeRow
from nettests.conformance.vendor_profile import BuildRange, VendorProfile
from nettests.expect.condition import Truth
from nettests.model.facts import ClusterFacts, Fact, NodeFacts
from nettests.model.words import OS

UNKNOWN = "unknown"


def scope_rows(profile: VendorProfile, facts: ClusterFacts) -> tuple[ScopeRow, ...]:
    """Return what the profile supports, part by part, and whether the cluster is inside."""
    return tuple(_rows(profile, facts))


def not_covered(profile: VendorProfile, facts: ClusterFacts) -> tuple[str, ...]:
    """Return what the profile supports and this cluster does not have: the report says nothing about it."""
    windows = _windows(facts)
    untested = [
        f"Windows build {build.text}"
        for build in profile.supports.builds
        if not any(node.build.value and build.holds(node.build.value) for node in windows)
    ]
    drivers = {node.cni_driver.value for node in windows}
    untested += [f"driver {driver}" for driver in profile.supports.drivers if driver not in drivers]
    backend = facts.cni.backend.value
    untested += [
        f"backend {supported}" for supported in profile.supports.backends if supported != backend
    ]
    return tuple(untested)


def pool_rows(facts: ClusterFacts) -> tuple[PoolRow, ...]:
    """Return the node pools of a cluster, in the order of their names, with their versions."""
    pools: dict[str, list[NodeFacts]] = {}
    for node in facts.nodes:
        pools.setdefault(node.pool, []).append(node)
    return tuple(_pool(name, pools[name]) for name in sorted(pools))


def _rows(profile: VendorProfile, facts: ClusterFacts) -> Iterator[ScopeRow]:
    supports, windows = profile.supports, _windows(facts)
    yield ScopeRow(
        subject="plugin",
        claimed=profile.plugin,
        found=facts.cni.plugin.value or UNKNOWN,
        holds=_one_of((profile.plugin,), facts.cni.plugin),
    )
    yield ScopeRow(
        subject="Kubernetes",
        claimed=str(supports.kubernetes),
        found=facts.server_git_version,
        holds=_truth(supports.kubernetes.holds(facts.server_version)),
    )
    yield _of_nodes(
        "Windows build",
        ", ".join(build.text for build in supports.builds),
        windows,
        lambda node: str(node.build.value or UNKNOWN),
        lambda node: _build(supports.builds, node),
    )
    yield _of_nodes(
        "driver",
        ", ".join(supports.drivers),
        windows,
        lambda node: node.cni_driver.value or UNKNOWN,
        lambda node: _one_of(supports.drivers, node.cni_driver),
    )
    if supports.backends:
        yield ScopeRow(
            subject="backend",
            claimed=", ".join(supports.backends),
            found=facts.cni.backend.value or UNKNOWN,
            holds=_one_of(supports.backends, facts.cni.backend),
        )


def _of_nodes(
    subject: str,
    claimed: str,
    nodes: list[NodeFacts],
    describe: Callable[[NodeFacts], str],
    holds: Callable[[NodeFacts], Truth],
) -> ScopeRow:
    """Return a row about every Windows node; a cluster without one is outside."""
    truths = {holds(node) for node in nodes} or {Truth.NO}
    return ScopeRow(
        subject=subject,
        claimed=claimed,
        found=_each(map(describe, nodes)) or "no Windows node",
        holds=next(truth for truth in (Truth.NO, Truth.UNKNOWN, Truth.YES) if truth in truths),
    )


def _build(ranges: tuple[BuildRange, ...], node: NodeFacts) -> Truth:
    build = node.build.value
    if build is None:
        return Truth.UNKNOWN
    truths = [build_range.holds(build) for build_range in ranges]
    return Truth.YES if True in truths else Truth.UNKNOWN if None in truths else Truth.NO


def _one_of(wanted: tuple[str, ...], fact: Fact[str]) -> Truth:
    return Truth.UNKNOWN if fact.value is None else _truth(fact.value in wanted)


def _truth(holds: bool) -> Truth:  # noqa: FBT001
    return Truth.YES if holds else Truth.NO


def _windows(facts: ClusterFacts) -> list[NodeFacts]:
    return [node for node in facts.nodes if node.os is OS.WINDOWS]


def _pool(name: str, nodes: list[NodeFacts]) -> PoolRow:
    windows = nodes[0].os is OS.WINDOWS
    return PoolRow(
        pool=name,
        os=nodes[0].os.words,
        nodes=len(nodes),
        build=_each(str(node.build.value or UNKNOWN) for node in nodes) if windows else "",
        kubelet=_each(str(node.kubelet.value or UNKNOWN) for node in nodes),
        runtime=_each(node.runtime.value or UNKNOWN for node in nodes),
        driver=_each(node.cni_driver.value or UNKNOWN for node in nodes) if windows else "",
        kube_proxy=_each(map(_kube_proxy, nodes)),
    )


def _kube_proxy(node: NodeFacts) -> str:
    proxy = node.kube_proxy
    words = [str(proxy.version.value or UNKNOWN), proxy.mode.value or "unknown mode"]
    if node.os is OS.WINDOWS:
        words.append({True: "DSR", False: "no DSR", None: "DSR unknown"}[proxy.dsr.value])
    return " ".join(words)


def _each(values: Iterable[str]) -> str:
    return ", ".join(sorted(set(values)))
