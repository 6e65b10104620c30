"""The facts that an expectation depends on: those in the conditions of its deciding limitation. Pure.

``results.json`` has a sentence for each part of a condition (``because``), written by ``expect.condition``, and for
each undecided part. Every such sentence begins with the name of a fact; a test builds a sentence for every part of a
condition and looks it up here.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nettests.compare.known_facts import (
    BACKEND,
    EXTERNAL_TARGET,
    KUBE_PROXY,
    KUBERNETES,
    LOOPBACK_DSR,
    MODE,
    NAT_EXCEPTIONS,
    OF_CLUSTER,
    OF_NODE,
    PLATFORM,
    PLUGIN,
    RUNTIME_VERSION,
    text_of,
)
from nettests.compare.recorded import End, RecordedCheck
from nettests.model.expectation import AppliedLimitation
from nettests.model.facts import ClusterFacts, NodeFacts

Ends = tuple[End, End]
"""Source and target."""
DRIVER = "network driver"
CONDITIONED = (
    *("build", "kubelet", KUBE_PROXY, MODE, "DSR", DRIVER, "runtime", RUNTIME_VERSION),
    *("HostProcess", "firewall", "NodePorts at loopback", "DNS suffixes"),
)
"""The facts of a node that a condition can name."""
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
"""A version that no node reports is decided by that of the API server."""
_BY_PLUGIN = " makes "
"""A driver that no node reports is decided by what the plugin may make."""
_UNDECIDED = "depends on what is not known: "
AND = " and "
"""Between ids, where several limitations may decide."""


@dataclass(frozen=True, slots=True, order=True)
class Dependency:
    """A fact by its name, of the cluster or (``side`` ``source`` or ``target``) of an end of the check."""

    name: str
    side: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A fact that an expectation depends on and that differs between two runs."""

    fact: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.fact}: {self.before} → {self.after}"


def dependencies(check: RecordedCheck) -> tuple[Dependency, ...]:
    """Return the facts that the expectation of a check depends on, as far as its document says."""
    named = unknown_in(check.expected.undecided or "")
    return tuple(dict.fromkeys((*of_limitation(check.limitation), *named)))


def unknown_in(undecided: str) -> tuple[Dependency, ...]:
    """Return the facts that an expectation lacks, of the sentence that says why it is undecided."""
    sentences = undecided.partition(_UNDECIDED)[2].split("; ")
    return tuple(
        dict.fromkeys(dependency for sentence in sentences for dependency in named_in(sentence))
    )


def entries_in(undecided: str) -> tuple[str, ...]:
    """Return the ids of the limitations that may decide, of the same sentence."""
    return tuple(undecided.partition(f" {_UNDECIDED}")[0].split(AND))


def of_limitation(limitation: AppliedLimitation | None) -> tuple[Dependency, ...]:
    """Return the facts that the condition of a limitation names."""
    sentences = limitation.because if limitation else ()
    return tuple(
        dict.fromkeys(dependency for sentence in sentences for dependency in named_in(sentence))
    )


def named_in(sentence: str) -> Iterator[Dependency]:
    """Yield the facts by which the part of a condition was decided; none for parts that no cluster changes."""
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
    """Return what of the named facts differs between two runs for these ends, the earlier run's first."""
    before, after = facts
    if before is None or after is None:
        return ()
    differing = []
    for dependency in dict.fromkeys(named):
        was, now = value_of(dependency, ends[0], before), value_of(dependency, ends[1], after)
        if was != now:
            differing.append(
                Cause(fact=f"{dependency.side} {dependency.name}".lstrip(), before=was, after=now)
            )
    return tuple(differing)


def value_of(dependency: Dependency, ends: Ends, facts: ClusterFacts) -> str:
    """Return the value of a fact for a pair of ends: of the nodes of one of them, all that differ."""
    if not dependency.side:
        return text_of(OF_CLUSTER[dependency.name](facts))
    nodes = nodes_of(ends[0] if dependency.side == "source" else ends[1], facts)
    return (
        ", ".join(sorted({text_of(OF_NODE[dependency.name](node)) for node in nodes})) or "no node"
    )


def nodes_of(end: End, facts: ClusterFacts) -> list[NodeFacts]:
    """Return the nodes that an end stands for: its own, those of its pool, or of the fleet those of its system."""
    if end.node is not None:
        return [node for node in facts.nodes if node.name == end.node]
    if end.role is not None:
        return [node for node in facts.nodes if node.pool == end.role]
    return [node for node in facts.nodes if node.os is end.os]
