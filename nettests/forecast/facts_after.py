"""The facts after an upgrade: stated changes, facts that follow from them, and notes. Pure.

Facts that discovery derives by rule are derived again: the driver from the backend, HostProcess
from kubelet and runtime, kube-proxy's gate from its version. Facts from the old plugin's configuration are unknown for another plugin
or backend until stated. Unlikely changes (a downgrade, a version that no document names yet) are
computed like any other and noted.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from nettests.compare.sections import named
from nettests.errors import PlanError
from nettests.expect import Manifest
from nettests.forecast.expected_run import bounds, conditions
from nettests.forecast.keys import KEYS, Change
from nettests.model import network_drivers
from nettests.model.facts import (
    ClusterFacts,
    CniFacts,
    Fact,
    KubeProxyFacts,
    NodeFacts,
    gate_after,
    known,
    unknown,
)
from nettests.model.journal_records import ManifestFile
from nettests.model.nearest import nearest
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.windows_programs import host_process
from nettests.model.words import OS
from nettests.preflight.cluster import skews

T = TypeVar("T")
_ORDER = {name: number for number, name in enumerate(KEYS)}
_CONFIGURED = {
    "vni": "",
    "vxlan_port": "",
    "mtu": "cni.mtu",
    "nat_exceptions": "cni.natExceptions",
    "loopback_dsr": "cni.loopbackDSR",
}
"""What a plugin's configuration sets for one backend, with the key that states it."""


def changed(
    facts: ClusterFacts, changes: Iterable[Change], *, patch: int | None = None
) -> ClusterFacts:
    """Return the facts after the changes; ``patch`` completes Kubernetes versions without one."""
    in_order = sorted(changes, key=lambda change: _ORDER[change.key.name])
    after = facts
    for change in in_order:
        value = change.value
        if patch is not None and change.names_no_patch:
            value = replace(value, patch=patch)
        after = _with_change(after, change, Fact(value, change.origin))
    stated = {change.key.name for change in in_order}
    after = _other_network(facts, after, stated)
    _refuse_without_proxy(after.nodes, in_order)
    nodes = tuple(
        _followed(old, new, after, facts, stated)
        for old, new in zip(facts.nodes, after.nodes, strict=True)
    )
    return replace(after, nodes=nodes)


def _with_change(facts: ClusterFacts, change: Change, fact: Fact[Any]) -> ClusterFacts:
    if change.key.name == "kubernetes":
        return _upgraded(facts, fact)
    if not change.key.systems:
        return _with(facts, change.key.path, fact)
    if not any(node.os in change.key.systems for node in facts.nodes):
        systems = " or ".join(os.words for os in change.key.systems)
        raise PlanError(
            f"{change.origin}: it is a fact of {systems} nodes, and this cluster has none"
        )
    nodes = tuple(
        _with(node, change.key.path, fact) if node.os in change.key.systems else node
        for node in facts.nodes
    )
    return replace(facts, nodes=nodes)


def _upgraded(facts: ClusterFacts, fact: Fact[KubernetesVersion]) -> ClusterFacts:
    """Return the facts with another API server, and kubelets and kube-proxies of known versions."""
    version = fact.value
    assert version is not None, "a stated version"
    nodes = []
    for node in facts.nodes:
        proxy = node.kube_proxy
        nodes.append(
            replace(
                node,
                kubelet=fact if node.kubelet.known else node.kubelet,
                kube_proxy=replace(proxy, version=fact) if proxy.version.known else proxy,
            )
        )
    # A vendor's suffix of the next version is unknown, and no condition reads it.
    plain = facts.server_git_version.removeprefix("v") == str(facts.server_version)
    text = f"v{version}" if plain else facts.server_git_version
    return replace(facts, server_version=version, server_git_version=text, nodes=tuple(nodes))


def _with(value: T, path: str, fact: Fact[Any]) -> T:
    """Return a value with the fact at a path in it."""
    name, _, rest = path.partition(".")
    inner: Any = _with(getattr(value, name), rest, fact) if rest else fact
    return replace(value, **{name: inner})  # type: ignore[type-var]  # facts and their parts are dataclasses


def _network(cni: CniFacts) -> tuple[str | None, str | None]:
    return cni.plugin.value, cni.backend.value


def _other_network(before: ClusterFacts, after: ClusterFacts, stated: set[str]) -> ClusterFacts:
    """Return the facts without those from the configuration of a replaced plugin or backend."""
    cni = after.cni
    if cni.plugin.value != before.cni.plugin.value and "cni.backend" not in stated:
        cni = replace(cni, backend=unknown(_unread("cni.backend")))
    if _network(cni) == _network(before.cni):
        return after
    unread: dict[str, Any] = {
        field: Fact(None, _unread(key))
        for field, key in _CONFIGURED.items()
        if key not in stated and getattr(cni, field).known
    }
    return replace(after, cni=replace(cni, **unread))


def _unread(key: str) -> str:
    hint = f"; state it with --to {key}=" if key else ""
    return f"it was read from the network as it is now{hint}"


def _followed(
    old: NodeFacts, new: NodeFacts, after: ClusterFacts, before: ClusterFacts, stated: set[str]
) -> NodeFacts:
    """Return a node with what follows from its changed facts, unless that was stated."""
    if new.os is not OS.WINDOWS:
        proxy = new.kube_proxy
        if proxy.version.value is None or proxy.version == old.kube_proxy.version:
            return new
        gate = gate_after(proxy.version.value, proxy.terminating)
        return replace(new, kube_proxy=replace(proxy, terminating=gate))
    node, cni = new, after.cni
    if "cni.driver" not in stated and _network(cni) != _network(before.cni):
        driver = network_drivers.by_backend(cni.plugin, cni.backend)
        by_plugin = network_drivers.by_plugin(cni.plugin, after.platform)
        node = replace(node, cni_driver=driver or by_plugin)
    versions = (old.kubelet.value, old.runtime.value) != (new.kubelet.value, new.runtime.value)
    if versions and "windows.hostProcess" not in stated:
        supported = host_process(new.kubelet.value, new.runtime.value or "")
        node = replace(node, host_process=supported)
    if new.kube_proxy.replaced and not old.kube_proxy.replaced:
        node = replace(node, kube_proxy=_no_proxy(new.kube_proxy))
    return node


def _refuse_without_proxy(nodes: Sequence[NodeFacts], changes: Iterable[Change]) -> None:
    """Raise if a stated fact is about kube-proxy and none will run there."""
    for change in changes:
        affected = [node for node in nodes if node.os in change.key.systems]
        path = change.key.path
        if not path.startswith("kube_proxy.") or path == "kube_proxy.mode":
            continue
        if all(node.kube_proxy.replaced for node in affected):
            systems = " or ".join(os.words for os in change.key.systems)
            raise PlanError(
                f"{change.origin}: no kube-proxy runs on {systems} nodes then",
                hint="leave it out, or state the mode of kube-proxy there",
            )


def _no_proxy(proxy: KubeProxyFacts) -> KubeProxyFacts:
    mode = known("none", proxy.mode.origin)
    reason = f"no kube-proxy runs there ({mode.origin})"
    return KubeProxyFacts(
        version=unknown(reason), mode=mode, dsr=unknown(reason), source_vip=unknown(reason)
    )


Manifests = Sequence[Manifest]


def notes(
    facts: ClusterFacts, after: ClusterFacts, changes: Sequence[Change], manifests: Manifests = ()
) -> Iterator[str]:
    """Yield notes about the changes."""
    stated = {change.key.name for change in changes}
    if "kubernetes" in stated:
        yield (
            "kubernetes is the version of the API server, and of each kubelet and kube-proxy of known version unless"
            " kubelet or kubeProxy.version states another"
        )
    yield from _downwards(facts, changes)
    yield from _beyond(changes, manifests)
    yield from _unknown_names(changes, manifests)
    today, then = (
        {text for node in cluster.nodes for _, text in skews(node, cluster.server_version)}
        for cluster in (facts, after)
    )
    if then - today:
        yield f"outside the version skew policy of Kubernetes: {named(sorted(then - today), 'node')}"
    yield from _alike(facts, after)


def other_manifests(
    then: Iterable[ManifestFile], now: Iterable[ManifestFile], *, of: str, by: str
) -> Iterator[str]:
    """Yield a note if manifests differ: ``of`` read the first ones, ``by`` the others."""
    old, new = ({manifest.file: manifest.sha256 for manifest in files} for files in (then, now))
    if not old or not new:
        return
    others = sorted(file for file in {*old, *new} if old.get(file) != new.get(file))
    if others:
        yield f"{of} read other limitation manifests than {by}: {named(others, 'file')}"


def _downwards(facts: ClusterFacts, changes: Sequence[Change]) -> Iterator[str]:
    stated = {change.key.name: change for change in changes}
    kubernetes, build = stated.get("kubernetes"), stated.get("windows.build")
    if kubernetes is not None and kubernetes.last < facts.server_version:
        yield f"{kubernetes} is a downgrade from {facts.server_version}"
    for old in dict.fromkeys(node.build.value for node in facts.nodes if node.os is OS.WINDOWS):
        if build is not None and old is not None:
            patches = build.value.patch_known and old.patch_known
            if build.value < old if patches else build.value.build < old.build:
                yield f"{build} is a downgrade from {old}"


def _beyond(changes: Iterable[Change], manifests: Manifests) -> Iterator[str]:
    """Yield versions newer than any in manifests: the newest known behaviour is assumed."""
    named = [bound for _, bound in bounds(manifests)]
    for change in changes:
        kind: Any = type(change.value)
        newest: Any = max((bound for bound in named if type(bound) is kind), default=None)
        if newest is not None and _line(change.value) > _line(newest):
            yield (
                f"{change} is newer than every version that limitation manifests name (up to {newest}): what documents"
                " say of it is not known, so it is treated as the newest known version"
            )


def _line(version: object) -> tuple[int, ...]:
    """Return a version without its patch, as new patches come every month; empty for others."""
    if isinstance(version, KubernetesVersion):
        return version.major, version.minor
    return (version.build,) if isinstance(version, WindowsBuild) else ()


def _unknown_names(changes: Iterable[Change], manifests: Manifests) -> Iterator[str]:
    """Yield names of plugins and backends that no manifest or rule has, such as typing errors."""
    every = list(conditions(manifests))
    known_names = {
        "cni.plugin": {*network_drivers.PLUGIN_DRIVERS, *network_drivers.BACKEND_DRIVERS},
        "cni.backend": {
            name for names in network_drivers.BACKEND_DRIVERS.values() for name in names
        },
    }
    known_names["cni.plugin"].update(name for condition in every for name in condition.cni)
    known_names["cni.backend"].update(name for condition in every for name in condition.backend)
    for change in changes:
        names = known_names.get(change.key.name)
        if names and change.value not in names:
            hint = nearest(change.value, sorted(names), what="known are")
            yield f"no limitation manifest and no rule names {change}; {hint}"


def _alike(facts: ClusterFacts, after: ClusterFacts) -> Iterator[str]:
    """Yield node pools whose builds differ today and will be the same."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    before: defaultdict[str, set[str]] = defaultdict(set)
    for old, new in zip(facts.nodes, after.nodes, strict=True):
        if new.build.known and new.pool not in alike[str(new.build.value)]:
            alike[str(new.build.value)].append(new.pool)
        before[str(new.build.value)].add(str(old.build.value))
    for build, pools in alike.items():
        if len(pools) > 1 and len(before[build]) > 1:
            yield (
                f"{', '.join(pools)} will all have build {build}: unless a label of their platform or nodePools of the"
                " cluster profile keeps them apart, they become one pool, and ids of checks change"
            )
