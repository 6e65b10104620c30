"""The joined nodes of two runs, and the facts of cluster, pools and run that differ. Pure.

Nodes are joined by name, otherwise by position in the node pool. A node upgraded in place keeps its
name and may change its pool; a replaced one has another name at the same position. Other nodes were
added or removed.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from nettests.compare.known_facts import OF_CLUSTER, OF_NODE, text_of
from nettests.compare.recorded import RecordedRun
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.resources import lines_of

PAIR = " → "
"""Between the two nodes in the label of a member."""


@dataclass(frozen=True, slots=True)
class JoinedNodes:
    """The nodes that two runs share, in pairs."""

    pairs: tuple[tuple[NodeFacts, NodeFacts], ...] = ()

    @property
    def renamed(self) -> dict[str, str]:
        """Return the later names of renamed nodes."""
        return {old.name: new.name for old, new in self.pairs if old.name != new.name}

    def later(self, label: str) -> str:
        """Return an earlier run's member label with the later run's node names."""
        names = self.renamed
        return PAIR.join(names.get(part, part) for part in label.split(PAIR))


def join_nodes(before: ClusterFacts | None, after: ClusterFacts | None) -> JoinedNodes:
    """Return the nodes that two runs share, in the earlier run's order."""
    old, new = (facts.nodes if facts else () for facts in (before, after))
    by_name = {(node.name, node.os): node for node in new}
    joined = {
        node.name: by_name[node.name, node.os] for node in old if (node.name, node.os) in by_name
    }
    taken = {node.name for node in joined.values()}
    places = {(node.pool, node.member): node for node in new if node.name not in taken}
    for node in old:
        if node.name not in joined and (place := (node.pool, node.member)) in places:
            joined[node.name] = places.pop(place)
    return JoinedNodes(tuple((node, joined[node.name]) for node in old if node.name in joined))


ABSENT = "absent"
_CHOOSING = frozenset(lines_of("nettests.compare", "choosing.txt"))


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChange:
    """One fact with its two values.

    ``pool`` is empty for facts of the cluster or run. ``nodes`` are the later names of the pool's
    nodes that changed, or empty if all did.
    """

    name: str
    before: str
    after: str
    pool: str = ""
    nodes: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """Subject and name: ``windows-1 build``, ``win-2 (windows-1) build``, ``Kubernetes``."""
        if self.nodes:
            return f"{', '.join(self.nodes)} ({self.pool}) {self.name}"
        return f"{self.pool} {self.name}".lstrip()

    def __str__(self) -> str:
        return f"{self.subject}: {self.before} → {self.after}"


def fact_changes(
    before: RecordedRun, after: RecordedRun, nodes: JoinedNodes
) -> tuple[FactChange, ...]:
    """Return all that differs: the cluster's facts, those of pools and nodes, then the run's."""
    return (
        *_of_cluster(before.facts, after.facts, nodes),
        *_of_nodes(nodes),
        *_of_run(before, after),
    )


def _of_cluster(
    before: ClusterFacts | None, after: ClusterFacts | None, nodes: JoinedNodes
) -> Iterator[FactChange]:
    if before is None or after is None:
        return
    for name, read in OF_CLUSTER.items():
        yield from _changed(name, text_of(read(before)), text_of(read(after)))
    old, new = (Counter(node.pool for node in facts.nodes) for facts in (before, after))
    for pool in dict.fromkeys([*old, *new]):
        yield from _changed("nodes", str(old[pool] or ABSENT), str(new[pool] or ABSENT), pool)
    for was, now in nodes.pairs:
        yield from _changed("node name", was.name, now.name, now.pool)


def _of_nodes(nodes: JoinedNodes) -> Iterator[FactChange]:
    sizes = Counter(new.pool for _, new in nodes.pairs)
    for name, read in OF_NODE.items():
        alike: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
        for old, new in nodes.pairs:
            was, now = text_of(read(old)), text_of(read(new))
            if was != now:
                alike[new.pool, was, now].append(new.name)
        for (pool, was, now), changed in alike.items():
            names = tuple(changed) if len(changed) < sizes[pool] else ()
            yield FactChange(name=name, before=was, after=now, pool=pool, nodes=names)


def _of_run(before: RecordedRun, after: RecordedRun) -> Iterator[FactChange]:
    old, new = before.run, after.run
    options, now_options = options_of(old.argv), options_of(new.argv)
    for name, was, now in (
        ("nettests", old.nettests, new.nettests),
        ("suites", ", ".join(map(_name, old.suites)), ", ".join(map(_name, new.suites))),
        ("cluster profile", _name(old.cluster_profile or ""), _name(new.cluster_profile or "")),
        (
            "options",
            ", ".join(option for option in options if option not in now_options),
            ", ".join(option for option in now_options if option not in options),
        ),
    ):
        yield from _changed(name, was or ABSENT, now or ABSENT)
    # A run without pre-pulled images names none.
    images = [sorted({pull.image for pull in run.pulls}) for run in (before, after)]
    if all(images):
        yield from _changed("probe images", *map(", ".join, images))
    yield from manifest_changes(before, after)


def manifest_changes(before: RecordedRun, after: RecordedRun) -> Iterator[FactChange]:
    """Yield the limitation manifests with different digests, or in only one run."""
    old = {manifest.file: manifest.sha256[:12] for manifest in before.run.manifests}
    new = {manifest.file: manifest.sha256[:12] for manifest in after.run.manifests}
    for file in sorted({*old, *new}):
        yield from _changed(f"manifest {file}", old.get(file, ABSENT), new.get(file, ABSENT))


def options_of(argv: Sequence[str]) -> list[str]:
    """Return the options that choose checks, nodes or images; others change no verdict."""
    options = []
    for word, following in zip(argv, [*argv, ""][1:], strict=True):
        name, equals, value = word.partition("=")
        if name in _CHOOSING:
            options.append(f"{name}={value if equals else following}")
    return options


def choice_of(argv: Sequence[str], suites: Iterable[str]) -> Hashable:
    """Return what decides, besides the cluster, which checks a run plans."""
    return frozenset(options_of(argv)), frozenset(map(_name, suites))


def _name(path: str) -> str:
    """Return the last part of a path: the folder of a checkout or lab is irrelevant."""
    return PurePath(path).name or path


def _changed(name: str, before: str, after: str, pool: str = "") -> Iterator[FactChange]:
    if before != after:
        yield FactChange(name=name, before=before, after=after, pool=pool)
