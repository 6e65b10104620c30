"""Notes on a forecast: changes that follow from the stated ones, and what makes the forecast less certain. Pure.

Nothing is refused: a downgrade, or a version that no document names yet, is resolved like any other and noted.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from nettests.compare.sections import named
from nettests.expect import Manifest
from nettests.forecast.keys import Change
from nettests.forecast.planned import bounds, conditions
from nettests.model import network_drivers
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import ManifestFile
from nettests.model.nearest import nearest
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.words import OS
from nettests.preflight.cluster import skews

Manifests = Sequence[Manifest]


def notes(
    facts: ClusterFacts, after: ClusterFacts, changes: Sequence[Change], manifests: Manifests = ()
) -> Iterator[str]:
    """Yield what somebody has to know of the changes."""
    stated = {change.key.name for change in changes}
    if "kubernetes" in stated:
        yield (
            "kubernetes is the version of the API server, and of each kubelet and kube-proxy of known version unless"
            " kubelet or kubeProxy.version states another"
        )
    yield from _downwards(facts, changes)
    yield from _beyond(changes, manifests)
    yield from _unknown_names(changes, manifests)
    yield from _skewed(facts, after)
    yield from _alike(facts, after)


def other_manifests(
    then: Iterable[ManifestFile], now: Iterable[ManifestFile], *, of: str, by: str
) -> Iterator[str]:
    """Yield what to know where limitation manifests differ: ``of`` what read the first ones, ``by`` what the others."""
    old, new = ({manifest.file: manifest.sha256 for manifest in files} for files in (then, now))
    if not old or not new:
        return
    others = sorted(file for file in {*old, *new} if old.get(file) != new.get(file))
    if others:
        yield f"{of} read other limitation manifests than {by}: {named(others, 'file')}"


def _downwards(facts: ClusterFacts, changes: Sequence[Change]) -> Iterator[str]:
    stated = {change.key.name: change for change in changes}
    kubernetes = stated.get("kubernetes")
    if kubernetes is not None and kubernetes.last < facts.server_version:
        yield f"{kubernetes} is a downgrade from {facts.server_version}"
    build = stated.get("windows.build")
    for old in dict.fromkeys(node.build.value for node in facts.nodes if node.os is OS.WINDOWS):
        if build is not None and old is not None and _is_older(build.value, old):
            yield f"{build} is a downgrade from {old}"


def _is_older(build: WindowsBuild, than: WindowsBuild) -> bool:
    return build < than if build.patch_known and than.patch_known else build.build < than.build


def _beyond(changes: Iterable[Change], manifests: Manifests) -> Iterator[str]:
    """Yield versions newer than any that a manifest names: the newest known behaviour is assumed for them."""
    kubernetes, builds = _newest(manifests)
    for change in changes:
        newest = builds if isinstance(change.value, WindowsBuild) else kubernetes
        if newest and _line(change.value) > _line(newest):
            yield (
                f"{change} is newer than every version that limitation manifests name (up to {newest}): what documents"
                " say of it is not known, and what holds of the newest known version is taken to hold"
            )


def _line(version: object) -> tuple[int, ...]:
    """Return a version without its patch: patches newer than manifests come every month. Empty for what is none."""
    if isinstance(version, KubernetesVersion):
        return version.major, version.minor
    return (version.build,) if isinstance(version, WindowsBuild) else ()


def _newest(manifests: Manifests) -> tuple[KubernetesVersion | None, WindowsBuild | None]:
    """Return the newest Kubernetes and the newest Windows build in a bound of a condition."""
    named = [bound for _, bound in bounds(manifests)]
    builds = [bound for bound in named if isinstance(bound, WindowsBuild)]
    versions = [bound for bound in named if isinstance(bound, KubernetesVersion)]
    return max(versions, default=None), max(builds, default=None)


def _unknown_names(changes: Iterable[Change], manifests: Manifests) -> Iterator[str]:
    """Yield names of plugins and backends that no manifest and no rule names, such as typing errors."""
    every = list(conditions(manifests))
    backends = {name for drivers in network_drivers.BACKEND_DRIVERS.values() for name in drivers}
    known_names = {
        "cni.plugin": {
            *network_drivers.PLUGIN_DRIVERS,
            *network_drivers.BACKEND_DRIVERS,
            *(name for condition in every for name in condition.cni),
        },
        "cni.backend": {
            *backends,
            *(name for condition in every for name in condition.backend),
        },
    }
    for change in changes:
        names = known_names.get(change.key.name)
        if names and change.value not in names:
            hint = nearest(change.value, sorted(names), what="known are")
            yield f"no limitation manifest and no rule names {change}; {hint}"


def _skewed(facts: ClusterFacts, after: ClusterFacts) -> Iterator[str]:
    """Yield what will violate the version skew policy and does not today."""
    today, then = (
        {text for node in cluster.nodes for _, text in skews(node, cluster.server_version)}
        for cluster in (facts, after)
    )
    if then - today:
        yield f"outside the version skew policy of Kubernetes: {named(sorted(then - today), 'node')}"


def _alike(facts: ClusterFacts, after: ClusterFacts) -> Iterator[str]:
    """Yield node pools that differ in their builds today and will not then."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    before: defaultdict[str, set[str]] = defaultdict(set)
    for old, new in zip(facts.nodes, after.nodes, strict=True):
        if new.build.known and new.pool not in alike[str(new.build.value)]:
            alike[str(new.build.value)].append(new.pool)
        before[str(new.build.value)].add(str(old.build.value))
    for build, pools in alike.items():
        if len(pools) > 1 and len(before[build]) > 1:
            yield (
                f"{', '.join(pools)} have one build then, {build}: pools that neither a label of their platform nor"
                " nodePools of the cluster profile keeps apart become one, and ids of checks change"
            )
