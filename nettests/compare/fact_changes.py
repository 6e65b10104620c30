"""Facts that differ between two runs: of the cluster, node pools, single nodes, and the run's options. Pure."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from nettests.compare.known_facts import OF_CLUSTER, OF_NODE, text_of
from nettests.compare.nodes import JoinedNodes, pools
from nettests.compare.recorded import RecordedRun
from nettests.model.facts import NodeFacts

ABSENT = "absent"
_CHOOSING = frozenset(
    {
        *("--flow", "--check", "--rerun-failed", "--enable", "--nodes", "--exclude-node", "-k"),
        *("--image", "--registry", "--namespace", "--limitations"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChange:
    """One fact with its two values.

    ``pool`` is empty for what is one for the cluster or the run. ``nodes`` are the nodes of the pool that changed so,
    by their later names, and empty where all of them did.
    """

    name: str
    before: str
    after: str
    pool: str = ""
    nodes: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """What the fact is about, and its name: ``windows-1 build``, ``win-2 (windows-1) build``, ``Kubernetes``."""
        if self.nodes:
            return f"{', '.join(self.nodes)} ({self.pool}) {self.name}"
        return f"{self.pool} {self.name}".lstrip()

    def __str__(self) -> str:
        return f"{self.subject}: {self.before} → {self.after}"


def fact_changes(
    before: RecordedRun, after: RecordedRun, nodes: JoinedNodes
) -> tuple[FactChange, ...]:
    """Return all that differs: the cluster's facts first, then those of node pools and nodes, then the run's."""
    return (
        *_of_cluster(before, after),
        *_of_pools(before, after, nodes),
        *_of_nodes(nodes),
        *_of_run(before, after),
    )


def _of_cluster(before: RecordedRun, after: RecordedRun) -> Iterator[FactChange]:
    if before.facts is None or after.facts is None:
        return
    for name, read in OF_CLUSTER.items():
        yield from _changed(name, text_of(read(before.facts)), text_of(read(after.facts)))


def _of_pools(before: RecordedRun, after: RecordedRun, nodes: JoinedNodes) -> Iterator[FactChange]:
    """Yield how many nodes a pool has, and which have another name."""
    if before.facts is None or after.facts is None:
        return
    old, new = pools(before.facts.nodes), pools(after.facts.nodes)
    for pool in dict.fromkeys([*old, *new]):
        had, has = len(old.get(pool, ())), len(new.get(pool, ()))
        yield from _changed("nodes", str(had or ABSENT), str(has or ABSENT), pool)
    for was, now in nodes.pairs:
        if was.name != now.name:
            yield FactChange(name="node name", before=was.name, after=now.name, pool=now.pool)


def _of_nodes(nodes: JoinedNodes) -> Iterator[FactChange]:
    sizes = {pool: len(members) for pool, members in pools(new for _, new in nodes.pairs).items()}
    for name, read in OF_NODE.items():
        alike: dict[tuple[str, str, str], list[NodeFacts]] = {}
        for old, new in nodes.pairs:
            was, now = text_of(read(old)), text_of(read(new))
            if was != now:
                alike.setdefault((new.pool, was, now), []).append(new)
        for (pool, was, now), changed in alike.items():
            some = len(changed) < sizes[pool]
            names = tuple(node.name for node in changed) if some else ()
            yield FactChange(name=name, before=was, after=now, pool=pool, nodes=names)


def _of_run(before: RecordedRun, after: RecordedRun) -> Iterator[FactChange]:
    old, new = before.run, after.run
    yield from _changed("nettests", old.nettests or ABSENT, new.nettests or ABSENT)
    yield from _changed("suites", _joined(map(_name, old.suites)), _joined(map(_name, new.suites)))
    profiles = (_name(old.cluster_profile or ABSENT), _name(new.cluster_profile or ABSENT))
    yield from _changed("cluster profile", *profiles)
    given, now_given = options_of(old.argv), options_of(new.argv)
    yield from _changed(
        "options",
        _joined(option for option in given if option not in now_given),
        _joined(option for option in now_given if option not in given),
    )
    mine, yours = _images(before), _images(after)
    if mine and yours:
        yield from _changed("probe images", _joined(sorted(mine)), _joined(sorted(yours)))
    yield from manifest_changes(before, after)


def manifest_changes(before: RecordedRun, after: RecordedRun) -> Iterator[FactChange]:
    """Yield the limitation manifests of which the digest differs, or that only one run read."""
    old = {manifest.file: manifest.sha256[:12] for manifest in before.run.manifests}
    new = {manifest.file: manifest.sha256[:12] for manifest in after.run.manifests}
    for file in sorted({*old, *new}):
        yield from _changed(f"manifest {file}", old.get(file, ABSENT), new.get(file, ABSENT))


def options_of(argv: Sequence[str]) -> list[str]:
    """Return the options that choose checks, nodes or images, each with its value: the others change no verdict."""
    options = []
    for word, following in zip(argv, [*argv, ""][1:], strict=True):
        name, equals, value = word.partition("=")
        if name in _CHOOSING:
            options.append(f"{name}={value if equals else following}")
    return options


def choice_of(argv: Sequence[str], suites: Iterable[str]) -> Hashable:
    """Return what decides, beside the cluster, which checks a run plans."""
    return frozenset(options_of(argv)), frozenset(map(_name, suites))


def _name(path: str) -> str:
    """Return the last part of a path: where a checkout or a lab stands is no fact of a cluster."""
    return PurePath(path).name or path


def _images(run: RecordedRun) -> set[str]:
    """Return the images that were pulled beforehand; a run that pulled none names none."""
    return {pull.image for pull in run.pulls}


def _joined(words: Iterable[str]) -> str:
    return ", ".join(words) or ABSENT


def _changed(name: str, before: str, after: str, pool: str = "") -> Iterator[FactChange]:
    if before != after:
        yield FactChange(name=name, before=before, after=after, pool=pool)
